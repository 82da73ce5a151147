// Which spaces of an engine a node makes, and what may become of rows that were removed from them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpaceKind } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { ledgerSlot, timestamp, txId } from '../../../src/model/brand.js'
import { clientRuntime } from '../../../src/runtime/real-runtime.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { ledgerRow } from '../../../src/storage/engine/rows.js'
import { plain, plainItem, put, rich } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

test('rows of items and of the catalogue last; entries of indexes and records of transactions may be forgotten early', async () => {
  const kinds = new Map<string, SpaceKind | undefined>()
  class Noting extends MemoryEngine {
    override createSpace(space: string, kind?: SpaceKind): Promise<void> {
      kinds.set(space, kind)
      return super.createSpace(space)
    }
  }
  const node = await openEngineNode({ engine: new Noting(), runtime: testRuntime(1) })
  await node.createSpaces(rich)
  assert.deepEqual(Object.fromEntries(kinds), {
    ledger: 'passing',
    meta: 'lasting',
    t10: 'lasting',
    t11: 'passing',
    t12: 'passing',
    t13: 'passing',
  })
})

test('many writes that miss the same space ask the engine for it once, and go on in their order', async () => {
  const asked: string[] = []
  class Slow extends MemoryEngine {
    override async createSpace(space: string): Promise<void> {
      asked.push(space)
      // A later request would be answered first.
      for (let turns = 50 - asked.length; turns > 0; turns--)
        await new Promise((resolve) => void setImmediate(resolve))
      return super.createSpace(space)
    }
  }
  const node = await openEngineNode({ engine: new Slow(), runtime: clientRuntime() })
  const item = plainItem('a')
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => put(node, plain, item, { condition: 'attribute_not_exists(id)' })),
  )
  assert.deepEqual(
    outcomes.map(({ verdict }) => verdict),
    ['done', ...Array.from({ length: 19 }, () => 'condition-failed')],
  )
  assert.deepEqual(asked.slice(2), [`t${plain.space}`])
})

test('records of transactions go once they were seen for ten minutes, those first that were seen first', async () => {
  const runtime = testRuntime(1)
  const engine = new MemoryEngine()
  const { ledger } = await openEngineNode({ engine, runtime })
  const slots = ['a', 'b', 'c'].map((digit) => ledgerSlot(digit.repeat(32)))
  const left = (): number => slots.filter((slot) => engine.rowNow(ledgerRow(slot)) !== undefined).length
  for (const slot of slots) await ledger.decide(txId(slot, 'n'), 'cancel', { timestamp: timestamp(1) })
  await ledger.unfinished(ledgerSlot('0'.repeat(32)), 10)
  runtime.clock.advance(9 * 60_000)
  assert.equal(await ledger.purge(2), true)
  assert.equal(left(), 3)
  runtime.clock.advance(2 * 60_000)
  assert.equal(await ledger.purge(2), false)
  assert.equal(left(), 1)
  assert.equal(await ledger.purge(2), true)
  assert.equal(left(), 0)
})
