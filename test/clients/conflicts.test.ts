// Contention as an application meets it: the official SDK, a server of four nodes, many clients and few items.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { spawnServer } from '../support/spawned-server.js'

const CLIENTS = 60
const ROUNDS = sized(1, 3)
/**
 * Small transactions are prepared, decided and carried out at once, and hardly ever meet. These are so large together that
 * some have to wait for room at one node while they are prepared at another.
 */
const STATEMENT = 'x'.repeat(300_000)

test('concurrency: the SDK sees real TransactionConflict answers on four nodes, and money is neither made nor lost', async () => {
  const server = await spawnServer(['--path', testFolder(), '--nodes', '4'])
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  })
  try {
    await client.send(
      new CreateTableCommand({
        TableName: 'Accounts',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    )
    const accounts = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const id of accounts) {
      await client.send(new PutItemCommand({ TableName: 'Accounts', Item: { id: { S: id }, n: { N: '0' } } }))
    }
    const add = (id: string, amount: number) => ({
      Update: {
        TableName: 'Accounts',
        Key: { id: { S: id } },
        UpdateExpression: 'SET n = n + :x, statement = :s',
        ConditionExpression: 'n > :min',
        ExpressionAttributeValues: {
          ':x': { N: String(amount) },
          ':min': { N: '-1000000' },
          ':s': { S: STATEMENT },
        },
      },
    })
    const reasons = new Map<string, number>()
    let committed = 0
    const move = async (): Promise<void> => {
      try {
        // Every transaction writes all accounts, in the same order of actions.
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: accounts.map((id, at) => add(id, at === 0 ? -5 : 1)),
          }),
        )
        committed++
      } catch (error) {
        assert.ok(error instanceof TransactionCanceledException, String(error))
        assert.equal(error.CancellationReasons?.length, accounts.length)
        for (const { Code = '' } of error.CancellationReasons ?? [])
          reasons.set(Code, (reasons.get(Code) ?? 0) + 1)
      }
    }
    for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: CLIENTS }, move))
    assert.ok(committed > 0)
    assert.ok((reasons.get('TransactionConflict') ?? 0) > 0, `no conflict in ${committed} transactions`)
    const { Responses = [] } = await client.send(
      new TransactGetItemsCommand({
        TransactItems: accounts.map((id) => ({ Get: { TableName: 'Accounts', Key: { id: { S: id } } } })),
      }),
    )
    const numbers = Responses.map((response) => Number(response.Item?.['n']?.N))
    assert.deepEqual(
      numbers,
      accounts.map((_, at) => (at === 0 ? -5 * committed : committed)),
    )
    const { Item } = await client.send(new GetItemCommand({ TableName: 'Accounts', Key: { id: { S: 'a' } } }))
    assert.equal(Item?.['n']?.N, String(-5 * committed))
  } finally {
    client.destroy()
    await server.stop()
  }
})
