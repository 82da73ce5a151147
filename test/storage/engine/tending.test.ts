// A walk behind requests puts right what a server that died has left in the middle, although nobody reads it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import type { KeyBytes } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import { indexRange } from '../../../src/model/key-range.js'
import type { TableShape } from '../../../src/model/table.js'
import { type EngineNode, openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { itemRow, spaceName } from '../../../src/storage/engine/rows.js'
import { page } from '../../suites/storage-node.js'
import { itemOf, number, put, remove, rich } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const WATCH_MS = 10 * 60_000
const [byColor] = rich.indexes
const bare: TableShape = { ...rich, version: 1, indexes: [] }
const indexed: TableShape = { ...rich, version: 2, indexes: [byColor!] }
const item = (n: number, color: string) => ({
  id: { S: 'p' },
  n: number(n),
  weight: number(1),
  color: { S: color },
})

async function opened() {
  const runtime = testRuntime(1)
  const engine = new MemoryEngine()
  return { runtime, engine, node: await openEngineNode({ engine, runtime }) }
}

async function tended(node: EngineNode, table: TableShape): Promise<void> {
  for (const { space } of [table, ...table.indexes])
    for (let from: KeyBytes | undefined = '' as KeyBytes; from !== undefined;)
      from = await node.tend(table, space, from, 2)
  await node.idle()
}

const reds = async (node: EngineNode): Promise<unknown[]> => {
  const range = indexRange(byColor!.key, { S: 'red' })
  const { entries } = await node.range({ ...page(byColor!.space), itemSpace: rich.space, ...range })
  return entries.map(({ record }) => itemOf(record)?.['n'])
}

test('rows of deleted items go once they were seen unchanged for ten minutes, and rows that changed meanwhile stay', async () => {
  const { runtime, engine, node } = await opened()
  const rowOf = (n: number) => engine.rowNow(itemRow(rich.space, itemKey(rich.key, item(n, 'red'))))
  for (const n of [1, 2, 3]) await put(node, bare, item(n, 'red'))
  for (const n of [1, 2]) await remove(node, bare, item(n, 'red'))
  await tended(node, bare)
  assert.ok(rowOf(1) !== undefined && rowOf(2) !== undefined)
  await put(node, bare, item(2, 'blue'))
  await remove(node, bare, item(2, 'blue'))
  runtime.clock.advance(WATCH_MS)
  await tended(node, bare)
  assert.equal(rowOf(1), undefined)
  assert.ok(rowOf(2) !== undefined && rowOf(3) !== undefined)
  runtime.clock.advance(WATCH_MS)
  await tended(node, bare)
  assert.equal(rowOf(2), undefined)
  assert.ok(rowOf(3) !== undefined)
})

test('an item that a dead server has written with an older shape gets its entry', async () => {
  const { node, engine, runtime } = await opened()
  const other = await openEngineNode({ engine, runtime })
  await node.setShape(indexed)
  await put(node, indexed, item(1, 'red'))
  await put(other, bare, item(2, 'red'))
  assert.deepEqual(await reds(node), [number(1)])
  await tended(node, indexed)
  assert.deepEqual(await reds(node), [number(1), number(2)])
})

test('an entry that no item names is removed once it was seen so for ten minutes', async () => {
  const { node, engine, runtime } = await opened()
  await node.setShape(indexed)
  await put(node, indexed, item(1, 'red'))
  const key = itemKey(rich.key, item(1, 'red'))
  const space = spaceName(byColor!.space)
  const { rows } = await engine.range({ space, rowsMax: 10 })
  const there = rows[0]!
  const left = { ...there.address, row: `${there.address.row.slice(0, -16)}0123456789abcdef` as KeyBytes }
  await engine.write([{ address: left, head: Buffer.from(key.bytes, 'latin1') }])
  await tended(node, indexed)
  assert.ok(engine.rowNow(left) !== undefined)
  runtime.clock.advance(WATCH_MS)
  await tended(node, indexed)
  assert.equal(engine.rowNow(left), undefined)
  assert.deepEqual(await reds(node), [number(1)])
})
