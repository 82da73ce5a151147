// Entries of a local index are read before their items, which another server may change in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { spaceId } from '../../../src/model/brand.js'
import { indexRange } from '../../../src/model/key-range.js'
import type { TableShape } from '../../../src/model/table.js'
import { openEngineNode } from '../../../src/storage/engine/engine-node.js'
import { page } from '../../suites/storage-node.js'
import { itemOf, number, put } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const table: TableShape = {
  name: 'weighed',
  space: spaceId(20),
  key: { partition: { name: 'id', type: 'S' }, sort: { name: 'n', type: 'N' } },
  indexes: [
    {
      name: 'by-weight',
      space: spaceId(21),
      kind: 'local',
      key: { partition: { name: 'id', type: 'S' }, sort: { name: 'weight', type: 'N' } },
      projection: { type: 'ALL' },
    },
  ],
}
const [byWeight] = table.indexes
const item = (n: number, weight: number) => ({ id: { S: 'p' }, n: number(n), weight: number(weight) })

/** What the index answers to one server while `between` happens at another, each time between an entry and its item. */
async function readWhile(
  between: (write: (n: number, weight: number) => Promise<unknown>) => Promise<unknown>,
) {
  const runtime = testRuntime(1)
  const engine = new MemoryEngine()
  const other = await openEngineNode({ engine, runtime })
  const write = (n: number, weight: number) => put(other, table, item(n, weight))
  const reader: Engine = {
    name: engine.name,
    limits: engine.limits,
    scopeOf: (address) => engine.scopeOf(address),
    read: (...args) => engine.read(...args),
    cas: (changes) => engine.cas(changes),
    write: (rows) => engine.write(rows),
    range: async (request) => {
      const rows = await engine.range(request)
      await between(write)
      return rows
    },
    createSpace: (space) => engine.createSpace(space),
    dropSpace: (space) => engine.dropSpace(space),
    close: () => engine.close(),
  }
  await write(1, 1)
  await write(2, 2)
  const node = await openEngineNode({ engine: reader, runtime })
  await node.setShape(table)
  const range = indexRange(byWeight!.key, { S: 'p' })
  const { entries } = await node.range({ ...page(byWeight!.space), itemSpace: table.space, ...range })
  return entries.map(({ record }) => itemOf(record))
}

test('an item that another server moves within a local index while it is read is answered once, and where it is', async () => {
  let moves = 1
  const found = await readWhile(async (write) => moves-- > 0 && write(1, 3))
  assert.deepEqual(found, [item(2, 2), item(1, 3)])
})

test('an item that is moved each time that a local index is read is never answered where it is not', async () => {
  let weight = 2
  assert.deepEqual(await readWhile((write) => write(1, ++weight)), [item(2, 2)])
})
