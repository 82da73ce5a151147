// Simulated fleets: several servers on one engine that loses answers, applies steps late and freezes, with clocks hours apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { ledgerSlot, timestamp, txId } from '../../src/model/brand.js'
import { openEngineNode } from '../../src/storage/engine/engine-node.js'
import { fleetMutants } from '../../sim/engine/mutants.js'
import { runFleet } from '../../sim/engine/world.js'
import { sized } from '../support/sizes.js'
import { testRuntime } from '../support/test-runtime.js'

const SEEDS = sized(3, 40)
const TRANSACTIONS = sized(250, 600)
/** Recovery on its own server once overtook the commit of a transaction that was on its way to the engine. */
const FOUND = [127]

test('fleets are strictly serializable, read what was acknowledged, and have every index entry', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { anomalies } = await runFleet({ seed, transactions: TRANSACTIONS })
    assert.deepEqual(anomalies, [], `seed ${seed}`)
  }
})

test('worlds that once went wrong do not any more, and one seed is one world', async () => {
  for (const seed of FOUND) {
    const first = await runFleet({ seed, transactions: 300 })
    assert.deepEqual(first.anomalies, [], `seed ${seed}`)
    const second = await runFleet({ seed, transactions: 300 })
    assert.equal(second.traceHash, first.traceHash)
  }
})

for (const { name, options } of fleetMutants.filter((mutant) => mutant.name !== 'tombstone too short'))
  test(`a fleet with this fault is found out: ${name}`, async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { anomalies } = await runFleet({ seed, transactions: 400, ...options })
      if (anomalies.length > 0) return
    }
    assert.fail('20 worlds found nothing')
  })

test('a fault is found out: tombstones that go before a frozen coordinator wakes', async () => {
  const slot = ledgerSlot('a'.repeat(32))
  const tx = txId(slot, 'n')
  const at = timestamp(1)
  const decided = async (keepMs: number | undefined): Promise<string | undefined> => {
    const engine = new MemoryEngine()
    const runtime = testRuntime(1)
    const tuning = keepMs === undefined ? {} : { keepMs }
    const [frozen, other] = await Promise.all([1, 2].map(() => openEngineNode({ engine, runtime, tuning })))
    await frozen!.ledger.begin({ tx, timestamp: at, participants: [] })
    await other!.ledger.decide(tx, 'cancel', { timestamp: at })
    await other!.ledger.unfinished(ledgerSlot('0'.repeat(32)), 10)
    runtime.clock.advance(20_000)
    await other!.ledger.purge(10)
    return (await frozen!.ledger.decide(tx, 'commit', { timestamp: at })).decision
  }
  assert.equal(await decided(undefined), 'cancel')
  assert.equal(await decided(0), 'commit')
})
