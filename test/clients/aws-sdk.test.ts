// The AWS SDK for JavaScript on a server in a process of its own: every operation once, with its paginators and waiters.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeEndpointsCommand,
  DescribeLimitsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  ScanCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  paginateListTables,
  paginateQuery,
  paginateScan,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js'

const TableName = 'Orders'
/** Seconds; the waiters of the SDK would wait 20 between two tries. */
const SOON = { minDelay: 1, maxDelay: 1, maxWaitTime: 10 }
const orderKey = (order: number) => ({ customer: { S: 'ada' }, order: { N: String(order) } })

describe('AWS SDK for JavaScript over HTTP', () => {
  let server: SpawnedServer
  let client: DynamoDBClient
  let TableArn: string

  before(async () => {
    server = await spawnServer()
    client = new DynamoDBClient({
      endpoint: server.url,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    })
  })
  after(async () => {
    client.destroy()
    assert.equal(await server.stop(), 0)
  })

  test('CreateTable, and a waiter until it exists', async () => {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'customer', AttributeType: 'S' },
          { AttributeName: 'order', AttributeType: 'N' },
          { AttributeName: 'city', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'customer', KeyType: 'HASH' },
          { AttributeName: 'order', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'byCity',
            KeySchema: [{ AttributeName: 'city', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    )
    TableArn = TableDescription!.TableArn!
    assert.ok(TableDescription!.CreationDateTime instanceof Date)
    const waited = await waitUntilTableExists({ client, ...SOON }, { TableName })
    assert.equal(waited.state, 'SUCCESS')
  })

  test('DescribeTable and ListTables', async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    assert.equal(Table?.TableStatus, 'ACTIVE')
    assert.deepEqual((await client.send(new ListTablesCommand({}))).TableNames, [TableName])
  })

  test('PutItem and GetItem keep every type of value', async () => {
    const Item = {
      ...orderKey(1),
      s: { S: 'text, Ω and 😀' },
      n: { N: '12345678901234567890.12345678901234567' },
      b: { B: new Uint8Array([0, 1, 255]) },
      yes: { BOOL: true },
      none: { NULL: true },
      ss: { SS: ['a', 'b'] },
      ns: { NS: ['1', '2.5'] },
      bs: { BS: [new Uint8Array([1]), new Uint8Array([2])] },
      list: { L: [{ S: 'x' }, { M: { deep: { N: '1' } } }] },
    }
    await client.send(new PutItemCommand({ TableName, Item }))
    const got = await client.send(new GetItemCommand({ TableName, Key: orderKey(1), ConsistentRead: true }))
    assert.deepEqual(got.Item, Item)
    assert.equal(typeof got.$metadata.requestId, 'string')
  })

  test('UpdateItem counts, and a failed condition is the exception of the SDK with the item', async () => {
    const update = {
      TableName,
      Key: orderKey(1),
      UpdateExpression: 'ADD visits :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }
    const { Attributes } = await client.send(
      new UpdateItemCommand({ ...update, ReturnValues: 'UPDATED_NEW' }),
    )
    assert.deepEqual(Attributes, { visits: { N: '1' } })
    const refused = client.send(
      new UpdateItemCommand({
        ...update,
        ConditionExpression: 'attribute_not_exists(visits)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof ConditionalCheckFailedException)
      assert.deepEqual(error.Item?.['visits'], { N: '1' })
      return true
    })
  })

  test('DeleteItem returns what was there', async () => {
    const { Attributes } = await client.send(
      new DeleteItemCommand({ TableName, Key: orderKey(1), ReturnValues: 'ALL_OLD' }),
    )
    assert.deepEqual(Attributes?.['yes'], { BOOL: true })
  })

  test('BatchWriteItem and BatchGetItem', async () => {
    const orders = Array.from({ length: 25 }, (_, order) => ({
      PutRequest: { Item: { ...orderKey(order), city: { S: order % 2 === 0 ? 'Turin' : 'London' } } },
    }))
    const { UnprocessedItems } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [TableName]: orders } }),
    )
    assert.deepEqual(UnprocessedItems, {})
    const Keys = [orderKey(3), orderKey(4), orderKey(999)]
    const { Responses } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }),
    )
    assert.equal(Responses?.[TableName]?.length, 2)
  })

  const query = {
    TableName,
    KeyConditionExpression: 'customer = :c AND #o >= :from',
    ExpressionAttributeNames: { '#o': 'order' },
    ExpressionAttributeValues: { ':c': { S: 'ada' }, ':from': { N: '5' } },
  }

  test('Query, and its paginator to the last page', async () => {
    const { Items } = await client.send(new QueryCommand({ ...query, Limit: 2, ScanIndexForward: false }))
    assert.deepEqual(
      Items?.map((item) => item['order']?.N),
      ['24', '23'],
    )
    const orders: string[] = []
    for await (const page of paginateQuery({ client, pageSize: 6 }, query)) {
      orders.push(...page.Items!.map((item) => item['order']!.N!))
    }
    assert.deepEqual(
      orders,
      Array.from({ length: 20 }, (_, at) => String(at + 5)),
    )
  })

  test('Scan of an index, and its paginator', async () => {
    const { Count } = await client.send(new ScanCommand({ TableName, IndexName: 'byCity', Select: 'COUNT' }))
    assert.equal(Count, 25)
    let scanned = 0
    for await (const page of paginateScan({ client, pageSize: 7 }, { TableName })) scanned += page.Count!
    assert.equal(scanned, 25)
  })

  test('UpdateTable drops an index', async () => {
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName: 'byCity' } }]
    await client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }))
    await waitUntilTableExists({ client, ...SOON }, { TableName })
    const gone = client.send(new ScanCommand({ TableName, IndexName: 'byCity' }))
    await assert.rejects(gone, { name: 'ValidationException' })
  })

  test('UpdateTimeToLive and DescribeTimeToLive', async () => {
    const TimeToLiveSpecification = { AttributeName: 'expires', Enabled: true }
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
    assert.equal(TimeToLiveDescription?.AttributeName, 'expires')
  })

  test('TagResource, ListTagsOfResource and UntagResource', async () => {
    const Tags = [{ Key: 'team', Value: 'books' }]
    await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags }))
    const tags = () => client.send(new ListTagsOfResourceCommand({ ResourceArn: TableArn }))
    assert.deepEqual((await tags()).Tags, Tags)
    await client.send(new UntagResourceCommand({ ResourceArn: TableArn, TagKeys: ['team'] }))
    assert.deepEqual((await tags()).Tags, [])
  })

  test('DescribeLimits and DescribeEndpoints', async () => {
    const { TableMaxReadCapacityUnits } = await client.send(new DescribeLimitsCommand({}))
    assert.ok(TableMaxReadCapacityUnits! > 0)
    const { Endpoints } = await client.send(new DescribeEndpointsCommand({}))
    assert.equal(Endpoints?.length, 1)
  })

  test('ListTables through its paginator, then DeleteTable and a waiter until it is gone', async () => {
    const names: string[] = []
    for await (const page of paginateListTables({ client, pageSize: 1 }, {})) names.push(...page.TableNames!)
    assert.deepEqual(names, [TableName])
    await client.send(new DeleteTableCommand({ TableName }))
    const waited = await waitUntilTableNotExists({ client, ...SOON }, { TableName })
    assert.equal(waited.state, 'SUCCESS')
    await assert.rejects(client.send(new DescribeTableCommand({ TableName })), ResourceNotFoundException)
  })
})
