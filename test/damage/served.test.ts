import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open, type Store } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'

const ITEMS = 12

async function filled(): Promise<string> {
  const path = testFolder()
  const store = await open({ path })
  await store.call('CreateTable', {
    TableName: 'Orders',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'n', AttributeType: 'N' },
      { AttributeName: 'town', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'n', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'ByTown',
        KeySchema: [{ AttributeName: 'town', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  for (let n = 0; n < ITEMS; n++)
    await store.call('PutItem', { TableName: 'Orders', Item: item(n, `the text of item ${n}.`) })
  await store.idle()
  await store.close()
  return path
}

const keyOf = (n: number) => ({ id: { S: n < 6 ? 'a' : 'b' }, n: { N: String(n) } })
const item = (n: number, text: string) => ({ ...keyOf(n), town: { S: 'Ghent' }, text: { S: text } })

/** Flips a bit wherever this text stands in the index. */
function flip(path: string, text: string): void {
  const file = join(path, 'node-0', 'index', 'data.mdb')
  const bytes = readFileSync(file)
  assert.ok(bytes.includes(text))
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

const DAMAGED =
  /^The stored item of table Orders with key \{"id":\{"S":"a"\},"n":\{"N":"3"\}\} is damaged \(wrong checksum\)\. Run seriatim verify/

const refused = (answer: Promise<unknown>): Promise<void> =>
  assert.rejects(answer, (error: Error) => {
    assert.equal(error.name, 'InternalServerError')
    assert.match(error.message, DAMAGED)
    return true
  })

async function damagedStore(): Promise<{ store: Store; told: unknown[] }> {
  const path = await filled()
  flip(path, 'the text of item 3.')
  const told: unknown[] = []
  return { store: await open({ path, onError: (error) => told.push(error) }), told }
}

test('damage: an item with a flipped bit is an error that names table and key, for every way of reading it', async () => {
  const { store } = await damagedStore()
  const table = { TableName: 'Orders' }
  await refused(store.call('GetItem', { ...table, Key: keyOf(3) }))
  await refused(store.call('BatchGetItem', { RequestItems: { Orders: { Keys: [keyOf(2), keyOf(3)] } } }))
  await refused(store.call('TransactGetItems', { TransactItems: [{ Get: { ...table, Key: keyOf(3) } }] }))
  await refused(store.call('Scan', table))
  await refused(store.call('Scan', { ...table, IndexName: 'ByTown' }))
  const ofPartition = { ...table, KeyConditionExpression: 'id = :id' }
  const values = (id: string) => ({ ExpressionAttributeValues: { ':id': { S: id } } })
  await refused(store.call('Query', { ...ofPartition, ...values('a') }))
  await refused(
    store.call('Query', { ...ofPartition, ...values('a'), FilterExpression: 'attribute_exists(town)' }),
  )
  await refused(
    store.call('Query', {
      ...table,
      IndexName: 'ByTown',
      KeyConditionExpression: 'town = :id',
      ...values('Ghent'),
    }),
  )
  await assert.rejects(
    store.transactor().transact((tx) => tx.get('Orders', { id: 'a', n: 3 })),
    { message: DAMAGED },
  )
  // All others are there.
  for (let n = 0; n < ITEMS; n++) {
    if (n === 3) continue
    const { Item } = await store.call('GetItem', { ...table, Key: keyOf(n) })
    assert.deepEqual(Item, item(n, `the text of item ${n}.`))
  }
  assert.equal((await store.call('Query', { ...ofPartition, ...values('b') })).Count, 6)
  assert.equal((await store.call('GetItem', { ...table, Key: keyOf(77) })).Item, undefined)
  await store.close()
})

test('damage: no write replaces a damaged item, for its index entries would stay behind', async () => {
  const { store } = await damagedStore()
  const table = { TableName: 'Orders' }
  await refused(store.call('PutItem', { ...table, Item: item(3, 'new') }))
  await refused(store.call('DeleteItem', { ...table, Key: keyOf(3) }))
  await refused(
    store.call('UpdateItem', {
      ...table,
      Key: keyOf(3),
      UpdateExpression: 'SET x = :x',
      ExpressionAttributeValues: { ':x': { S: '1' } },
    }),
  )
  await refused(
    store.call('TransactWriteItems', {
      TransactItems: [
        { Put: { ...table, Item: item(4, 'new') } },
        { Put: { ...table, Item: item(3, 'new') } },
      ],
    }),
  )
  // Nothing of the transaction was done, and others go on.
  const { Item } = await store.call('GetItem', { ...table, Key: keyOf(4) })
  assert.deepEqual(Item, item(4, 'the text of item 4.'))
  await store.call('PutItem', { ...table, Item: item(4, 'new') })
  await store.call('PutItem', { ...table, Item: item(99, 'new') })
  await store.idle()
  await store.close()
})

test('damage: an expired item that is damaged keeps no other from being deleted, and is told of', async () => {
  const path = await filled()
  const first = await open({ path })
  await first.call('UpdateTimeToLive', {
    TableName: 'Orders',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await first.idle()
  // In the future: nothing is deleted before the damage is done.
  const until = { N: String(Math.floor(Date.now() / 1000) + 10_000) }
  for (const n of [2, 3, 4])
    await first.call('PutItem', {
      TableName: 'Orders',
      Item: { ...item(n, `the text of item ${n}.`), until },
    })
  await first.close()
  flip(path, 'the text of item 3.')
  const told: unknown[] = []
  const clock = manualClock(Date.now() + 20_000_000)
  const store = await open({ path, clock, onError: (error) => told.push(error) })
  await store.idle()
  for (const n of [2, 4])
    assert.equal((await store.call('GetItem', { TableName: 'Orders', Key: keyOf(n) })).Item, undefined)
  await refused(store.call('GetItem', { TableName: 'Orders', Key: keyOf(3) }))
  assert.ok(told.some((error) => /is damaged/.test(String(error))))
  await store.close()
})

test('damage: a record that a start needs is refused with a sentence', async () => {
  const path = await filled()
  flip(path, 'table/Orders')
  await assert.rejects(open({ path }), {
    name: 'FolderRefused',
    message: new RegExp(
      `^The record "table/Orders" of the catalogue of tables is damaged .*, and the data folder ${path} cannot be opened`,
    ),
  })
})
