// Tables and indexes that stay CREATING for as long as a test chooses.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  AttributeDefinition,
  CreateGlobalSecondaryIndexAction,
  CreateTableCommandInput,
  VectorIndex,
} from '@aws-sdk/client-dynamodb'
import { manualClock, type ManualClock } from '../../src/runtime/manual-clock.js'
import { open, type Store } from '../../src/store/store.js'

const TABLE: CreateTableCommandInput = {
  TableName: 'Orders',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}
const TableName = 'Orders'
const BY_GROUP: CreateGlobalSecondaryIndexAction = {
  IndexName: 'by-group',
  KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
  Projection: { ProjectionType: 'ALL' },
}
const NEAR: VectorIndex = {
  IndexName: 'near',
  VectorAttribute: { AttributeName: 'v' },
  Dimensions: 1,
  DistanceFunction: 'EUCLIDEAN',
  Projection: { ProjectionType: 'ALL' },
}

async function opened(t: TestContext, creatingMs = 1000): Promise<{ store: Store; clock: ManualClock }> {
  const clock = manualClock(Date.parse('2030-01-01'))
  const store = await open({ memory: true, clock, creatingMs })
  t.after(() => store.close())
  return { store, clock }
}

const failure = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    (error: Error) => `${error.name}: ${error.message}`,
  )

test('creation: a table stays CREATING for its time, and can be neither used, changed nor deleted before', async (t) => {
  const { store, clock } = await opened(t)
  const created = await store.call('CreateTable', TABLE)
  assert.equal(created.TableDescription?.TableStatus, 'CREATING')
  clock.advance(999)
  assert.equal((await store.call('DescribeTable', { TableName })).Table?.TableStatus, 'CREATING')
  const MISSING = 'ResourceNotFoundException: Requested resource not found'
  assert.equal(await failure(store.call('GetItem', { TableName, Key: { id: { S: '1' } } })), MISSING)
  assert.equal(await failure(store.call('PutItem', { TableName, Item: { id: { S: '1' } } })), MISSING)
  const IN_USE =
    'ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: Orders'
  assert.equal(await failure(store.call('DeleteTable', { TableName })), IN_USE)
  assert.equal(
    await failure(store.call('UpdateTable', { TableName, DeletionProtectionEnabled: true })),
    IN_USE,
  )
  clock.advance(1)
  assert.equal((await store.call('DescribeTable', { TableName })).Table?.TableStatus, 'ACTIVE')
  await store.call('PutItem', { TableName, Item: { id: { S: '1' } } })
  await store.call('DeleteTable', { TableName })
})

test('creation: an index that is added is allocated, then filled, then ACTIVE; its table is UPDATING at first', async (t) => {
  const { store, clock } = await opened(t)
  await store.call('CreateTable', TABLE)
  clock.advance(1000)
  await store.call('PutItem', { TableName, Item: { id: { S: '1' }, group: { S: 'a' } } })
  const definitions: AttributeDefinition[] = [
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'group', AttributeType: 'S' },
  ]
  await store.call('UpdateTable', {
    TableName,
    AttributeDefinitions: definitions,
    GlobalSecondaryIndexUpdates: [{ Create: BY_GROUP }],
  })
  await store.idle()
  const seen = async () => {
    const { Table } = await store.call('DescribeTable', { TableName })
    const [index] = Table?.GlobalSecondaryIndexes ?? []
    return [Table?.TableStatus, index?.IndexStatus, index?.Backfilling]
  }
  const query = () =>
    store.call('Query', {
      TableName,
      IndexName: 'by-group',
      KeyConditionExpression: '#g = :g',
      ExpressionAttributeNames: { '#g': 'group' },
      ExpressionAttributeValues: { ':g': { S: 'a' } },
    })
  const remove = () =>
    store.call('UpdateTable', {
      TableName,
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-group' } }],
    })
  assert.deepEqual(await seen(), ['UPDATING', 'CREATING', false])
  assert.match(
    await failure(remove()),
    /^ResourceInUseException: .* in resource allocation phase\..* Index: by-group$/,
  )
  assert.match(
    await failure(store.call('UpdateTable', { TableName, VectorIndexUpdates: [{ Create: NEAR }] })),
    /^LimitExceededException: Subscriber limit exceeded: Only 1 online index/,
  )
  clock.advance(500)
  assert.deepEqual(await seen(), ['ACTIVE', 'CREATING', true])
  assert.match(
    await failure(query()),
    /^ValidationException: Cannot read from backfilling global secondary index/,
  )
  assert.equal(
    await failure(store.call('DeleteTable', { TableName })),
    'ResourceInUseException: Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, updated, or deleted.',
  )
  clock.advance(500)
  assert.deepEqual(await seen(), ['ACTIVE', 'ACTIVE', undefined])
  assert.equal((await query()).Count, 1)
  await remove()
})

test('creation: a vector index that is added cannot be searched before it is ACTIVE', async (t) => {
  const { store, clock } = await opened(t)
  await store.call('CreateTable', TABLE)
  clock.advance(1000)
  await store.call('PutItem', { TableName, Item: { id: { S: '1' }, v: { L: [{ N: '1' }] } } })
  const answer = await store.call('UpdateTable', { TableName, VectorIndexUpdates: [{ Create: NEAR }] })
  assert.equal(answer.TableDescription?.TableStatus, 'UPDATING')
  const search = () =>
    store.call('SearchVectors', { TableName, IndexName: 'near', SearchVector: [{ N: '0' }], TopK: 1 })
  assert.equal(
    await failure(search()),
    'ValidationException: The table does not have the specified index: near',
  )
  clock.advance(500)
  assert.equal(await failure(search()), 'ValidationException: Cannot search backfilling vector index: near')
  clock.advance(500)
  assert.equal((await search()).SearchResults?.[0]?.Score, 1)
})

test('creation: without the option everything is ACTIVE at once', async (t) => {
  const { store } = await opened(t, 0)
  await store.call('CreateTable', TABLE)
  assert.equal((await store.call('DescribeTable', { TableName })).Table?.TableStatus, 'ACTIVE')
  await store.call('PutItem', { TableName, Item: { id: { S: '1' } } })
  await assert.rejects(
    open({ memory: true, creatingMs: -1 }),
    /creatingMs is a whole number from 0 on, not -1/,
  )
})

test('creation: without a time to take a table is there at once, also if the clock goes back', async (t) => {
  const { store, clock } = await opened(t, 0)
  await store.call('CreateTable', TABLE)
  clock.jump(-3_600_000)
  assert.equal((await store.call('DescribeTable', { TableName })).Table?.TableStatus, 'ACTIVE')
  await store.call('UpdateTable', { TableName, DeletionProtectionEnabled: true })
})
