// The work behind the requests on nodes with a journal whose memory is full most of the time: writers wait in line with
// the shape they read, while shapes change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orGone } from '../suites/tables.js'
import { testFolder } from '../support/folder.js'
import { HASH, index, openTables, S, table, type TestTables } from './tables-support.js'

const FILLER = 'x'.repeat(500)

const putOrder = (tables: TestTables, id: number, group: string): Promise<void> =>
  tables.put('Orders', { id: { S: `order-${id}` }, group: { S: group }, filler: { S: FILLER } })

const changeIndex = (tables: TestTables, update: object): Promise<unknown> =>
  tables.call('UpdateTable', {
    TableName: 'Orders',
    AttributeDefinitions: [S('group')],
    GlobalSecondaryIndexUpdates: [update],
  })

/** Until the background has caught up with all that was asked of it. */
async function settle(tables: TestTables): Promise<void> {
  await tables.catalog.idle()
  assert.deepEqual(tables.backgroundErrors, [])
}

async function indexedIds(tables: TestTables): Promise<string[]> {
  const { space, indexes } = tables.catalog.table('Orders').shape
  assert.ok(indexes[0])
  const entries = await tables.entries(indexes[0].space, space)
  return entries.map(({ record }) => String(JSON.parse(Buffer.from(record.json).toString()).id.S)).toSorted()
}

test('an index added while writers wait in line misses none of their items', async () => {
  const tables = await openTables({ nodeCount: 2, folder: testFolder() })
  await tables.call('CreateTable', table('Orders'))
  const writes: Promise<void>[] = []
  let id = 0
  for (; id < 300; id++) writes.push(putOrder(tables, id, 'first'))
  const adding = changeIndex(tables, { Create: index('by-group', [HASH('group')]) })
  for (let round = 0; round < 30; round++) {
    for (let at = 0; at < 20; at++) writes.push(putOrder(tables, id++, 'second'))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([adding, ...writes])
  await settle(tables)
  const expected = Array.from({ length: id }, (_, at) => `order-${at}`).toSorted()
  assert.deepEqual(await indexedIds(tables), expected)
  assert.equal((await tables.catalog.count(tables.catalog.table('Orders').shape.space)).items, id)
  await tables.reopen()
  assert.deepEqual(await indexedIds(tables), expected)
  await tables.close()
})

test('a backfill is taken up after a restart on disk', async () => {
  const tables = await openTables({ nodeCount: 2, folder: testFolder() })
  await tables.call('CreateTable', table('Orders'))
  await Promise.all(Array.from({ length: 1500 }, (_, id) => putOrder(tables, id, 'first')))
  await changeIndex(tables, { Create: index('by-group', [HASH('group')]) })
  await tables.reopen()
  assert.equal(tables.catalog.table('Orders').readableIndexes.size, 0)
  await settle(tables)
  assert.ok(tables.catalog.table('Orders').readableIndexes.has('by-group'))
  assert.equal((await indexedIds(tables)).length, 1500)
  await tables.close()
})

test('a table and an index dropped while writers wait in line leave nothing behind', async () => {
  const tables = await openTables({ nodeCount: 2, folder: testFolder() })
  await tables.call('CreateTable', table('Orders'))
  await changeIndex(tables, { Create: index('by-group', [HASH('group')]) })
  await settle(tables)
  const { space, indexes } = tables.catalog.table('Orders').shape
  const spaces = [space, ...indexes.map((entry) => entry.space)]
  const writes: Promise<void>[] = []
  for (let id = 0; id < 300; id++) writes.push(putOrder(tables, id, 'first'))
  const dropped = changeIndex(tables, { Delete: { IndexName: 'by-group' } })
  for (let id = 300; id < 600; id++) writes.push(putOrder(tables, id, 'second'))
  await dropped
  for (let id = 600; id < 900; id++) writes.push(putOrder(tables, id, 'third'))
  await tables.call('DeleteTable', { TableName: 'Orders' })
  // Those of the last are told that the table is gone, or done before.
  await Promise.all(writes.map(orGone))
  await settle(tables)
  assert.deepEqual(tables.catalog.droppedSpaces(), [])
  for (const gone of spaces) {
    assert.deepEqual(await tables.entries(gone), [])
    assert.equal((await tables.catalog.count(gone)).items, 0)
  }
  await tables.close()
})
