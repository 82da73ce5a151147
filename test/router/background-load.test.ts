// Work behind the requests ends while they go on: an index becomes active, `idle()` resolves. No time is measured: a load
// ends when what it is to hold up has happened, or after a count of writes that is far more than it needs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { HASH, index, openTables, S, START_MS, table } from './tables-support.js'

const WRITERS = 300
const WRITES_MAX = 150_000
const TEXT = 'x'.repeat(1500)

test('background: an index becomes active and idle() resolves while 300 writers go on and a dropped table is swept', async () => {
  await using store = await open({ path: testFolder() })
  await store.call('CreateTable', table('Load') as never)
  await store.call('CreateTable', table('Dropped') as never)
  const fill = (name: string, count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        store.call('PutItem', {
          TableName: name,
          Item: { id: { S: `${i}` }, group: { S: `g${i % 7}` }, text: { S: TEXT } },
        }),
      ),
    )
  await fill('Dropped', 4000)
  await fill('Load', 2000)
  let writes = 0
  const load = { isOver: false }
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; writes < WRITES_MAX && !load.isOver; i++) {
      writes++
      await store.call('PutItem', {
        TableName: 'Load',
        Item: { id: { S: `${writer}-${i % 20}` }, group: { S: 'load' }, text: { S: TEXT } },
      })
      // Out of step with each other, so that a batch is always under way.
      for (let turn = 0; turn < writer % 7; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  })
  await store.call('DeleteTable', { TableName: 'Dropped' })
  await store.call('UpdateTable', {
    TableName: 'Load',
    AttributeDefinitions: [S('group')],
    GlobalSecondaryIndexUpdates: [{ Create: index('by-group', [HASH('group')]) }],
  } as never)
  await store.idle()
  assert.ok(writes < WRITES_MAX, `nothing was done before the load ended, after ${writes} writes`)
  load.isOver = true
  const { Table } = await store.call('DescribeTable', { TableName: 'Load' })
  assert.equal(Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus, 'ACTIVE')
  await Promise.all(writers)
})

test('background: idle() does not wait for what comes after it', async () => {
  const tables = await openTables()
  await tables.call('CreateTable', table('Kept'))
  await tables.call('CreateTable', table('Gone0'))
  for (let i = 0; i < 10; i++) await tables.put('Gone0', { id: { S: `${i}` } })
  const [node] = tables.nodes
  assert.ok(node)
  // With each space that is swept another table comes and goes.
  const sweep = node.sweep.bind(node)
  let gone = 0
  const dropped: Promise<unknown>[] = []
  node.sweep = async (space, entriesMax) => {
    if (gone < 100) {
      gone++
      await tables.call('CreateTable', table(`Gone${gone}`))
      dropped.push(tables.call('DeleteTable', { TableName: `Gone${gone}` }))
      await dropped.at(-1)
    }
    return sweep(space, entriesMax)
  }
  await tables.call('DeleteTable', { TableName: 'Gone0' })
  await tables.catalog.idle()
  assert.ok(gone < 5, `${gone} tables came and went before the first was swept`)
  gone = 100
  await Promise.all(dropped)
  await tables.catalog.idle()
  assert.deepEqual(tables.catalog.droppedSpaces(), [])
  await tables.close()
})

test('background: a sweep that does not end holds up no backfill', async () => {
  const tables = await openTables()
  await tables.call('CreateTable', table('Kept'))
  await tables.call('CreateTable', table('Gone'))
  for (let i = 0; i < 500; i++) await tables.put('Kept', { id: { S: `${i}` }, group: { S: 'g' } })
  const [node] = tables.nodes
  assert.ok(node)
  const sweep = node.sweep.bind(node)
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  node.sweep = async (...args) => {
    await held
    return sweep(...args)
  }
  await tables.call('DeleteTable', { TableName: 'Gone' })
  await tables.call('UpdateTable', {
    TableName: 'Kept',
    AttributeDefinitions: [S('group')],
    GlobalSecondaryIndexUpdates: [{ Create: index('by-group', [HASH('group')]) }],
  })
  const status = async (): Promise<string> =>
    (await tables.call('DescribeTable', { TableName: 'Kept' })).Table.GlobalSecondaryIndexes[0].IndexStatus
  for (let turn = 0; turn < 1000 && (await status()) !== 'ACTIVE'; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await status(), 'ACTIVE')
  release()
  await tables.close()
})

test('background: an index that is dropped while it is filled is emptied on every node', async () => {
  const tables = await openTables({ nodeCount: 2 })
  await tables.call('CreateTable', table('Orders'))
  for (let i = 0; i < 600; i++) await tables.put('Orders', { id: { S: `${i}` }, group: { S: 'g' } })
  await tables.call('UpdateTable', {
    TableName: 'Orders',
    AttributeDefinitions: [S('group')],
    GlobalSecondaryIndexUpdates: [{ Create: index('by-group', [HASH('group')]) }],
  })
  const space = tables.catalog.table('Orders').shape.indexes[0]?.space
  assert.ok(space)
  const [first, second] = tables.nodes
  assert.ok(first && second)
  // The first node is filled, and the second has begun.
  for (let turn = 0; turn < 1000 && (await second.count(space)).items === 0; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  await tables.call('UpdateTable', {
    TableName: 'Orders',
    GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-group' } }],
  })
  await tables.catalog.idle()
  assert.deepEqual(await tables.entries(space), [])
  await tables.close()
})

test('background: idle() deletes what has expired, and does not wait for items that are written expired meanwhile', async () => {
  const tables = await openTables()
  await tables.call('CreateTable', table('Sessions'))
  await tables.call('UpdateTimeToLive', {
    TableName: 'Sessions',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await tables.catalog.idle()
  const past = String(Math.floor(START_MS / 1000) - 100)
  const put = (id: number): Promise<void> =>
    tables.put('Sessions', { id: { S: `${id}` }, until: { N: past } })
  for (let id = 0; id < 1200; id++) await put(id)
  const [node] = tables.nodes
  assert.ok(node)
  const range = node.range.bind(node)
  let written = 1200
  // With each page that is looked at another page of expired items comes.
  node.range = async (request) => {
    if (written < 60_000) for (let i = 0; i < 600; i++) await put(written++)
    return range(request)
  }
  await tables.catalog.idle()
  assert.ok(written < 10_000, `${written} were written before it resolved`)
  written = 60_000
  await tables.catalog.idle()
  assert.deepEqual(await tables.entries(tables.catalog.table('Sessions').shape.space), [])
  await tables.close()
})
