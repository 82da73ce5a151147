// What a ledger on an engine decides for a server that was frozen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { ledgerSlot, timestamp, txId } from '../../../src/model/brand.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { testRuntime } from '../../support/test-runtime.js'

const KEPT_MS = 10 * 60_000
const slot = ledgerSlot('a'.repeat(32))
const tx = txId(slot, 'n')
const at = timestamp(1)
const first = ledgerSlot('0'.repeat(32))

test('a server that was frozen until the tombstone of its transaction is gone commits nothing', async () => {
  const engine = new MemoryEngine()
  const runtime = testRuntime(1)
  const [frozen, other] = await Promise.all([1, 2].map(() => openEngineNode({ engine, runtime })))
  await frozen!.ledger.begin({ tx, timestamp: at, participants: [] })
  await other!.ledger.decide(tx, 'cancel', { timestamp: at })
  await other!.ledger.unfinished(first, 10)
  runtime.clock.advance(KEPT_MS + 1)
  await other!.ledger.purge(10)
  assert.equal(await other!.ledger.read(slot), undefined)
  const { decision } = await frozen!.ledger.decide(tx, 'commit', { timestamp: at })
  assert.equal(decision, 'cancel')
  assert.equal((await other!.ledger.read(slot))?.decision, 'cancel')
})

test('nor does one whose clock was set back meanwhile, or that was suspended with its steady clock', async () => {
  for (const pass of ['set back', 'suspended'] as const) {
    const runtime = testRuntime(1)
    const node = await openEngineNode({ engine: new MemoryEngine(), runtime })
    await node.ledger.begin({ tx, timestamp: at, participants: [] })
    if (pass === 'set back') {
      runtime.clock.jump(-KEPT_MS)
      runtime.clock.advance(KEPT_MS)
    } else runtime.clock.jump(KEPT_MS)
    const { decision } = await node.ledger.decide(tx, 'commit', { timestamp: at })
    assert.equal(decision, 'cancel', pass)
  }
})

test('a transaction that is decided within a minute is committed', async () => {
  const runtime = testRuntime(1)
  const node = await openEngineNode({ engine: new MemoryEngine(), runtime })
  await node.ledger.begin({ tx, timestamp: at, participants: [] })
  runtime.clock.advance(59_000)
  assert.equal((await node.ledger.decide(tx, 'commit', { timestamp: at })).decision, 'commit')
})
