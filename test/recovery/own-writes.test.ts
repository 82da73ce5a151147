// A transaction comes after everything that the store has answered before it, whatever the clock says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open, type Store } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'

const TableName = 'Accounts'
const item = (id: string, v: number) => ({ id: { S: id }, v: { N: String(v) } })
/** On several nodes, so that they are written in two phases. */
const IDS = Array.from({ length: 12 }, (_, at) => `a${at}`)

async function createTable(store: Store): Promise<void> {
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
}

async function putEach(store: Store, v: number): Promise<void> {
  for (const id of IDS) await store.call('PutItem', { TableName, Item: item(id, v) })
}

const putBatch = (store: Store, v: number) =>
  store.call('BatchWriteItem', {
    RequestItems: { [TableName]: IDS.map((id) => ({ PutRequest: { Item: item(id, v) } })) },
  })

const putTogether = (store: Store, v: number) =>
  store.call('TransactWriteItems', {
    TransactItems: IDS.map((id) => ({ Put: { TableName, Item: item(id, v) } })),
  })

async function assertAll(store: Store, v: number): Promise<void> {
  for (const id of IDS) {
    const { Item } = await store.call('GetItem', { TableName, Key: { id: { S: id } } })
    assert.deepEqual(Item, item(id, v))
  }
}

for (const [how, write] of [
  ['single writes', putEach],
  ['a batch', putBatch],
] as const) {
  test(`§4 a transaction is not overtaken by ${how} answered before it`, async () => {
    await using store = await open({ memory: true, nodes: 4, clock: manualClock(1_900_000_000_000) })
    await createTable(store)
    await write(store, 1)
    await putTogether(store, 2)
    await assertAll(store, 2)
  })
}

test('§4 a transaction is not overtaken by writes of before the start, though the clock was set back', async () => {
  const path = testFolder()
  const clock = manualClock(1_900_000_000_000)
  {
    await using store = await open({ path, nodes: 4, clock })
    await createTable(store)
    await putEach(store, 1)
  }
  clock.jump(-3_600_000)
  await using store = await open({ path, clock })
  await putTogether(store, 2)
  await assertAll(store, 2)
})
