// The light client beside the official one: the same commands, answers and errors.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ConditionalCheckFailedException,
  DescribeTableCommand,
  DynamoDB,
  DynamoDBClient,
  DynamoDBServiceException,
  ExecuteStatementCommand,
  GetItemCommand,
  paginateQuery,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { ListStreamsCommand } from '@aws-sdk/client-dynamodb-streams'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { open, type Store } from '../../src/store/store.js'

const TableName = 'Light'
const item = (id: string) => ({ id: { S: id }, at: { N: '1' }, bytes: { B: new Uint8Array([1, 2]) } })

describe('the light client', () => {
  let store: Store
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'at', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'id', KeyType: 'HASH' },
        { AttributeName: 'at', KeyType: 'RANGE' },
      ],
    })
  })
  after(() => store.close())

  const caught = (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> =>
    promise.then(
      () => assert.fail('was accepted'),
      (error: unknown) => error as never,
    )

  test('answers commands as the official client does, with $metadata', async () => {
    const light = store.lightClient()
    const put = new PutItemCommand({ TableName, Item: item('a'), ReturnValues: 'ALL_OLD' })
    const written = await light.send(put)
    assert.equal(written.$metadata.httpStatusCode, 200)
    assert.equal(written.$metadata.attempts, 1)
    const get = new GetItemCommand({ TableName, Key: { id: { S: 'a' }, at: { N: '1' } } })
    const { $metadata: _, ...answer } = await light.send(get)
    const { $metadata: __, ...official } = await store.client().send(get)
    assert.deepEqual(answer, official)
    const described = await light.send(new DescribeTableCommand({ TableName }))
    assert.ok(described.Table?.CreationDateTime instanceof Date)
    const statement = new ExecuteStatementCommand({ Statement: `SELECT * FROM "Light" WHERE id = 'a'` })
    assert.equal((await light.send(statement)).Items?.length, 1)
    assert.deepEqual((await light.send(new ListStreamsCommand({}))).Streams, [])
  })

  test('calls back, with options or without, and sends nothing that was aborted', async () => {
    const light = store.lightClient()
    const get = new GetItemCommand({ TableName, Key: { id: { S: 'none' }, at: { N: '1' } } })
    const answer = await new Promise((resolve) => light.send(get, {}, (_, output) => resolve(output?.Item)))
    assert.equal(answer, undefined)
    const refused = new GetItemCommand({ TableName: 'Nope', Key: {} })
    const error = await new Promise<Error>((resolve) => light.send(refused, (told) => resolve(told as Error)))
    assert.equal(error.name, 'ResourceNotFoundException')
    const put = new PutItemCommand({ TableName, Item: item('aborted') })
    assert.equal((await caught(light.send(put, { abortSignal: AbortSignal.abort() }))).name, 'AbortError')
    const { Item } = await light.send(
      new GetItemCommand({ TableName, Key: { id: { S: 'aborted' }, at: { N: '1' } } }),
    )
    assert.equal(Item, undefined)
  })

  test('rejects with what programs look for in errors of the SDK', async () => {
    const light = store.lightClient()
    await light.send(new PutItemCommand({ TableName, Item: item('taken') }))
    const put = {
      TableName,
      Item: item('taken'),
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }
    const failed = await caught(light.send(new PutItemCommand(put)))
    const official = await caught(store.client().send(new PutItemCommand(put)))
    assert.ok(failed instanceof ConditionalCheckFailedException)
    for (const member of ['name', 'message', '$fault', 'Item'])
      assert.deepEqual(failed[member], official[member], member)
    assert.equal((failed['$metadata'] as { httpStatusCode: number }).httpStatusCode, 400)
    const { ReturnValuesOnConditionCheckFailure: _, ...Put } = put
    const transaction = new TransactWriteItemsCommand({ TransactItems: [{ Put }] })
    const cancelled = await caught(light.send(transaction))
    assert.ok(cancelled instanceof TransactionCanceledException)
    assert.equal(cancelled.CancellationReasons?.[0]?.Code, 'ConditionalCheckFailed')
  })

  test('errors are instances of the class that is given for them', async () => {
    const light = store.lightClient({ errors: DynamoDBServiceException })
    const error = await caught(light.send(new GetItemCommand({ TableName: 'Nope', Key: {} })))
    assert.ok(error instanceof DynamoDBServiceException)
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'ResourceNotFoundException')
  })

  test('takes document commands with plain values', async () => {
    const light = store.lightClient({ marshallOptions: { removeUndefinedValues: true } })
    const Item = {
      id: 'plain',
      at: 7,
      list: [1, 'two', null, true, { deep: new Set(['b', 'a']) }],
      numbers: new Set([3, 1]),
      bytes: new Uint8Array([9]),
      big: 12345678901234567890n,
      gone: undefined,
      constructor: 'an attribute of that name',
    }
    await light.send(new PutCommand({ TableName, Item }))
    const Key = { id: 'plain', at: 7 }
    const read = await light.send(new GetCommand({ TableName, Key }))
    const official = await DynamoDBDocumentClient.from(store.client()).send(
      new GetCommand({ TableName, Key }),
    )
    assert.deepEqual(read.Item, official.Item)
    assert.equal(read.Item?.['big'], 12345678901234567890n)
    const updated = await light.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET n = :n',
        ExpressionAttributeValues: { ':n': { a: [1] } },
        ReturnValues: 'UPDATED_NEW',
      }),
    )
    assert.deepEqual(updated.Attributes, { n: { a: [1] } })
    await light.send(
      new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: { id: 't', at: 1 } } }] }),
    )
    await light.send(
      new BatchWriteCommand({
        RequestItems: { [TableName]: [{ PutRequest: { Item: { id: 't', at: 2 } } }] },
      }),
    )
    const batch = await light.send(
      new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ id: 't', at: 2 }] } } }),
    )
    assert.deepEqual(batch.Responses?.[TableName], [{ id: 't', at: 2 }])
    const queried = await light.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'id = :id',
        ExpressionAttributeValues: { ':id': 't' },
        Limit: 1,
      }),
    )
    assert.deepEqual(queried.Items, [{ id: 't', at: 1 }])
    assert.deepEqual(queried.LastEvaluatedKey, { id: 't', at: 1 })
  })

  test('refuses plain values as util-dynamodb does', async () => {
    const light = store.lightClient()
    const official = DynamoDBDocumentClient.from(store.client())
    const bad: unknown[] = [
      [undefined],
      NaN,
      2 ** 60,
      new Set(),
      new Set([{}]),
      new URL('http://example.test/'),
      Symbol('s'),
    ]
    for (const value of bad) {
      const put = (): PutCommand => new PutCommand({ TableName, Item: { id: 'bad', at: 1, value } })
      const told = await caught(light.send(put()))
      if (typeof value === 'symbol') continue
      assert.equal(told.message, (await caught(official.send(put()))).message)
    }
  })

  test('wraps numbers with a function', async () => {
    const light = store.lightClient({ unmarshallOptions: { wrapNumbers: (digits) => `n${digits}` } })
    await light.send(new PutCommand({ TableName, Item: { id: 'wrapped', at: 5 } }))
    const { Item } = await light.send(new GetCommand({ TableName, Key: { id: 'wrapped', at: 5 } }))
    assert.deepEqual(Item, { id: 'wrapped', at: 'n5' })
  })

  test('is an instance of the class that it is made as, so that paginators take it', async () => {
    const client = store.lightClient({ as: DynamoDBClient })
    for (let at = 0; at < 5; at++)
      await client.send(new PutItemCommand({ TableName, Item: { id: { S: 'p' }, at: { N: `${at}` } } }))
    const pages: number[] = []
    const input = {
      TableName,
      KeyConditionExpression: 'id = :id',
      ExpressionAttributeValues: { ':id': { S: 'p' } },
    }
    for await (const page of paginateQuery({ client, pageSize: 2 }, input)) pages.push(page.Count ?? 0)
    assert.deepEqual(pages, [2, 2, 1])
    const { state } = await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName })
    assert.equal(state, 'SUCCESS')
    const methods = store.lightClient({ as: DynamoDB })
    const { Item } = await methods.getItem({ TableName, Key: { id: { S: 'p' }, at: { N: '3' } } })
    assert.equal(Item?.['at']?.N, '3')
    const documents = store.lightClient({ as: DynamoDBDocumentClient })
    let count = 0
    for await (const page of paginateScan({ client: documents, pageSize: 3 }, { TableName }))
      count += page.Items?.length ?? 0
    assert.ok(count >= 5)
  })

  test('says what it takes when it is given something else, and nothing once the store is closed', async () => {
    const other = await open({ memory: true })
    const light = other.lightClient()
    assert.match((await caught(light.send({} as never))).message, /^send\(\) takes a command of the AWS SDK/)
    await other.close()
    assert.equal((await caught(light.send(new ListStreamsCommand({})))).message, 'This store is closed.')
  })

  test('the ARNs of its answers have its region', async () => {
    const light = store.lightClient({ region: 'eu-west-2' })
    const { Table } = await light.send(new DescribeTableCommand({ TableName }))
    assert.match(Table?.TableArn ?? '', /:eu-west-2:/)
    assert.equal(await light.config.region(), 'eu-west-2')
  })
})
