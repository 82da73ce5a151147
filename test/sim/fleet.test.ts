// Simulated fleets: several servers on one engine that loses answers, applies steps late and freezes, with clocks hours apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { ledgerSlot, timestamp, txId } from '../../src/model/brand.js'
import { openEngineNode } from '../../src/storage/engine/engine-node.js'
import { fleetMutants } from '../../sim/engine/mutants.js'
import { runFleet } from '../../sim/engine/world.js'
import { sized, wholeOnly } from '../support/sizes.js'
import { testRuntime } from '../support/test-runtime.js'

/** Many more are played by `npm run sim:fleet`, which is part of `npm run check`. */
const SEEDS = sized(3, 20)
const TRANSACTIONS = 250
const WORLDS_MAX = 40
const FOUND = [
  // Recovery on its own server overtook the commit of a transaction that was on its way to the engine.
  { seed: 127, transactions: 300 },
  // Another request had renewed the lease when the step of a server that was frozen ended.
  { seed: 20_048, transactions: 800 },
]

test('fleets are strictly serializable, read what was acknowledged, and have every index entry', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { anomalies } = await runFleet({ seed, transactions: TRANSACTIONS, isRepeating: seed % 2 === 1 })
    assert.deepEqual(anomalies, [], `seed ${seed}`)
  }
})

test('a host that does not know a table yet is not taken for one that knows that it has no items', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { anomalies } = await runFleet({ seed, transactions: TRANSACTIONS, faults: { ignorant: 0.03 } })
    assert.deepEqual(anomalies, [], `seed ${seed}`)
  }
})

test('worlds that once went wrong do not any more, and one seed is one world', async () => {
  for (const { seed, transactions } of FOUND) {
    const first = await runFleet({ seed, transactions })
    assert.deepEqual(first.anomalies, [], `seed ${seed}`)
    const second = await runFleet({ seed, transactions })
    assert.equal(second.traceHash, first.traceHash)
  }
})

for (const { name, options, isCostly } of fleetMutants)
  test(
    `a fleet with this fault is found out: ${name}`,
    { skip: isCostly === true && wholeOnly },
    async () => {
      for (let seed = 1; seed <= WORLDS_MAX; seed++) {
        const { anomalies } = await runFleet({ seed, transactions: 400, ...options })
        if (anomalies.length > 0) return
      }
      assert.fail(`${WORLDS_MAX} worlds found nothing`)
    },
  )

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
