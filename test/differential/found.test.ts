// What the fuzzer found, one sentence each.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, type Store, type StoreInput } from '../../src/index.js'

describe('found by comparing with DynamoDB Local', () => {
  let store: Store
  const Key = { pk: { S: 'p' } }

  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: 'Indexed',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'g', AttributeType: 'S' },
      ],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byG',
          KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    })
  })
  after(() => store.close())

  const scalar = {
    name: 'ValidationException',
    message:
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g",
  }
  const TableName = 'Indexed'

  test('no expression reaches into a key attribute of an index', async () => {
    const write = { TableName, Key, ExpressionAttributeValues: { ':v': { S: 'x' } } }
    const calls = [
      store.call('GetItem', { TableName, Key, ProjectionExpression: 'g.a' }),
      store.call('BatchGetItem', {
        RequestItems: { Indexed: { Keys: [Key], ProjectionExpression: 'g[0]' } },
      }),
      store.call('Scan', { TableName, FilterExpression: 'attribute_exists(g.a)' }),
      store.call('PutItem', { TableName, Item: Key, ConditionExpression: 'attribute_exists(g.a)' }),
      store.call('DeleteItem', { TableName, Key, ConditionExpression: 'attribute_exists(g[1])' }),
      store.call('UpdateItem', { ...write, UpdateExpression: 'SET g.a = :v' }),
      store.call('UpdateItem', { ...write, UpdateExpression: 'SET b = if_not_exists(g.a, :v)' }),
    ]
    for (const call of calls) await assert.rejects(call, scalar)
  })

  test('a key attribute of the table is named before one of an index', async () => {
    const call = store.call('Scan', { TableName, FilterExpression: 'attribute_exists(g.a) OR pk.a = pk.b' })
    await assert.rejects(call, /not allowed: Key: pk$/)
  })

  test('GetItem and BatchGetItem do not look at ExpressionAttributeValues, which they do not have', async () => {
    const ExpressionAttributeValues = { ':v': { S: 'x' } }
    const get = { TableName, Key, ExpressionAttributeValues } as StoreInput<'GetItem'>
    assert.deepEqual(await store.call('GetItem', get), {})
    const keys = { Keys: [Key], ExpressionAttributeValues }
    const { Responses } = await store.call('BatchGetItem', { RequestItems: { Indexed: keys } })
    assert.deepEqual(Responses, { Indexed: [] })
  })

  test('AttributeUpdates delete no set from a key attribute of an index', async () => {
    const call = store.call('UpdateItem', {
      TableName,
      Key,
      AttributeUpdates: { g: { Action: 'DELETE', Value: { SS: ['a'] } } },
    })
    await assert.rejects(call, /Type mismatch for Index Key g Expected: S Actual: SS IndexName: byG$/)
  })

  test('a syntax error at the start quotes the spaces before it', async () => {
    const call = store.call('Scan', { TableName, FilterExpression: '  = a' })
    await assert.rejects(call, /Syntax error; token: "=", near: " {2}= a"$/)
  })
})
