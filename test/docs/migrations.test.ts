// The scripts of the migration guides, run with the real thing on the other side where there is one.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  paginateScan,
  PutItemCommand,
  type AttributeValue,
  type CreateTableCommandInput,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { findDynamoDbLocal } from '../../bench/targets/dynamodb-local.js'
import { startDynamoDbLocal } from '../differential/peers.js'
import { wholeOnly } from '../support/sizes.js'
import { locks } from '../../src/toolkit/index.js'
import { dynalite } from '../support/dynalite.js'
import { spawnServer } from '../support/spawned-server.js'
import { Installation, scriptOf } from './programs.js'

const installation = new Installation()
after(() => installation[Symbol.dispose]())

const CREDENTIALS = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any' }
const clientOf = (url: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  })

async function withServer(use: (url: string, client: DynamoDBClient) => Promise<void>): Promise<void> {
  const server = await spawnServer()
  const client = clientOf(server.url)
  try {
    await use(server.url, client)
  } finally {
    client.destroy()
    await server.stop()
  }
}

const S = 'S' as const
const KEYS: Pick<CreateTableCommandInput, 'KeySchema' | 'AttributeDefinitions'> = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: S }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

// Copying tables, from DynamoDB Local and dynalite.

const copyTables = scriptOf('docs/how-to/migrate-from-dynamodb-local.md', 'copy-tables.mjs')
const ORDERS: CreateTableCommandInput = {
  TableName: 'Orders',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'customer', AttributeType: S },
    { AttributeName: 'number', AttributeType: 'N' },
    { AttributeName: 'status', AttributeType: S },
  ],
  KeySchema: [
    { AttributeName: 'customer', KeyType: 'HASH' },
    { AttributeName: 'number', KeyType: 'RANGE' },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: 'byStatus',
      KeySchema: [
        { AttributeName: 'customer', KeyType: 'HASH' },
        { AttributeName: 'status', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'statuses',
      KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
    },
  ],
}
/** More than a page of a scan, and every type. */
const order = (number: number): Record<string, AttributeValue> => ({
  customer: { S: number % 2 === 0 ? 'ada' : 'grace' },
  number: { N: String(number) },
  status: { S: 'open' },
  total: { N: '99.5' },
  bytes: { B: new Uint8Array([0, number, 255]) },
  flags: { M: { paid: { BOOL: true }, note: { NULL: true }, steps: { L: [{ S: 'a' }, { N: '1' }] } } },
  tags: { SS: ['x', 'y'] },
  sizes: { NS: ['1', '2.5'] },
  blobs: { BS: [new Uint8Array([1]), new Uint8Array([2])] },
  text: { S: 'é'.repeat(20_000) },
})
const ORDER_COUNT = 60

async function makeOrders(client: DynamoDBClient): Promise<void> {
  await client.send(new CreateTableCommand(ORDERS))
  for (let number = 1; number <= ORDER_COUNT; number++)
    await client.send(new PutItemCommand({ TableName: 'Orders', Item: order(number) }))
}

async function itemsOf(client: DynamoDBClient, TableName: string): Promise<Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = []
  for await (const { Items } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    items.push(...Items!)
  return items
}

const byNumber = (items: readonly Record<string, AttributeValue>[]): Record<string, AttributeValue>[] =>
  items.toSorted((one, other) => Number(one['number']!.N) - Number(other['number']!.N))

interface IndexShape {
  readonly IndexName?: string | undefined
  readonly KeySchema?: unknown
  readonly Projection?: unknown
}
interface TableShape {
  readonly KeySchema?: unknown
  readonly LocalSecondaryIndexes?: readonly IndexShape[] | undefined
  readonly GlobalSecondaryIndexes?: readonly IndexShape[] | undefined
}
const indexShape = ({ IndexName, KeySchema, Projection }: IndexShape): object => ({
  IndexName,
  KeySchema,
  Projection,
})
const shapeOf = ({ KeySchema, LocalSecondaryIndexes, GlobalSecondaryIndexes }: TableShape): object => ({
  KeySchema,
  local: LocalSecondaryIndexes?.map(indexShape),
  global: GlobalSecondaryIndexes?.map(indexShape),
})

async function assertCopied(from: DynamoDBClient, to: DynamoDBClient): Promise<void> {
  const copied = byNumber(await itemsOf(to, 'Orders'))
  assert.equal(copied.length, ORDER_COUNT)
  assert.deepEqual(copied, byNumber(await itemsOf(from, 'Orders')))
  const { Table } = await to.send(new DescribeTableCommand({ TableName: 'Orders' }))
  assert.deepEqual(shapeOf(Table!), shapeOf(ORDERS))
}

test('copy-tables.mjs copies tables with their indexes from dynalite, and overwrites nothing', async () => {
  await using peer = await dynalite()
  const from = clientOf(peer.url)
  await makeOrders(from)
  await withServer(async (url, to) => {
    assert.equal(
      await installation.run(copyTables, [peer.url, url], CREDENTIALS),
      `Orders: ${ORDER_COUNT} items\n`,
    )
    await assertCopied(from, to)

    const changed = { TableName: 'Orders', Item: { ...order(1), status: { S: 'changed since' } } }
    await to.send(new PutItemCommand(changed))
    await assert.rejects(installation.run(copyTables, [peer.url, url], CREDENTIALS), /ResourceInUseException/)
    const [first] = byNumber(await itemsOf(to, 'Orders'))
    assert.equal(first!['status']!.S, 'changed since')
  })
  from.destroy()
})

const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
const noLocal = wholeOnly || (localFolder === undefined && 'DYNAMODB_LOCAL names no folder that has it')
test(
  'copy-tables.mjs copies the wanted tables with time to live from DynamoDB Local',
  { skip: noLocal },
  async () => {
    await using peer = await startDynamoDbLocal(localFolder!)
    const from = clientOf(peer.url)
    await makeOrders(from)
    const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true }
    await from.send(new UpdateTimeToLiveCommand({ TableName: 'Orders', TimeToLiveSpecification }))
    await from.send(new CreateTableCommand({ TableName: 'Other', BillingMode: 'PAY_PER_REQUEST', ...KEYS }))
    await withServer(async (url, to) => {
      const printed = await installation.run(copyTables, [peer.url, url, 'Orders'], CREDENTIALS)
      assert.equal(printed, `Orders: ${ORDER_COUNT} items\n`)
      await assertCopied(from, to)
      const described = await to.send(new DescribeTimeToLiveCommand({ TableName: 'Orders' }))
      assert.deepEqual(described.TimeToLiveDescription, {
        TimeToLiveStatus: 'ENABLED',
        AttributeName: 'expiresAt',
      })
    })
    from.destroy()
  },
)

test('migrate-from-dynalite.md names the operations that dynalite does not know and Seriatim does', async () => {
  await using peer = await dynalite()
  const old = clientOf(peer.url)
  await withServer(async (_, client) => {
    for (const one of [old, client])
      await one.send(new CreateTableCommand({ TableName: 'Users', BillingMode: 'PAY_PER_REQUEST', ...KEYS }))
    const Key = { id: { S: 'ada' } }
    const commands = [
      new TransactWriteItemsCommand({ TransactItems: [{ Delete: { TableName: 'Users', Key } }] }),
      new TransactGetItemsCommand({ TransactItems: [{ Get: { TableName: 'Users', Key } }] }),
      new UpdateTimeToLiveCommand({
        TableName: 'Users',
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      }),
      new ExecuteStatementCommand({ Statement: 'SELECT * FROM "Users"' }),
    ]
    for (const command of commands) {
      await assert.rejects(old.send(command as TransactWriteItemsCommand), {
        name: 'UnknownOperationException',
      })
      await client.send(command as TransactWriteItemsCommand)
    }
  })
  old.destroy()
})

// Lock clients.

/** As far as it is used here; version 0.7.3 with version 2 of the AWS SDK. */
interface OldLockClient {
  acquireLock(id: string, callback: (error: Error | undefined, lock: OldLock) => void): void
}
interface OldLock {
  release(callback: (error?: Error) => void): void
}

const lockClientFolder = process.env['DYNAMODB_LOCK_CLIENT']
const noLockClient =
  lockClientFolder === undefined &&
  'DYNAMODB_LOCK_CLIENT names no folder with dynamodb-lock-client and aws-sdk'
test(
  'changing over from dynamodb-lock-client: a worker with both waits for the old lock, one with the new lock for both',
  {
    skip: noLockClient,
  },
  async () => {
    const required = createRequire(join(lockClientFolder!, 'index.js'))
    const sdk = required('aws-sdk') as { DynamoDB: { DocumentClient: new (options: object) => object } }
    const { FailOpen } = required('dynamodb-lock-client') as {
      FailOpen: new (options: object) => OldLockClient
    }
    await withServer(async (url, client) => {
      await client.send(new CreateTableCommand({ TableName: 'old', BillingMode: 'PAY_PER_REQUEST', ...KEYS }))
      const dynamodb = new sdk.DynamoDB.DocumentClient({
        endpoint: url,
        region: 'us-east-1',
        credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      })
      const settings = { dynamodb, lockTable: 'old', partitionKey: 'id', retryCount: 100 }
      const old = new FailOpen({ ...settings, leaseDurationMs: 3_000, heartbeatPeriodMs: 500 })
      const acquireOld = (): Promise<OldLock> =>
        new Promise((resolve, reject) => {
          old.acquireLock('Moe', (error, lock) => (error ? reject(error) : resolve(lock)))
        })
      const releaseOld = (lock: OldLock): Promise<void> =>
        new Promise((resolve, reject) => {
          lock.release((error) => (error ? reject(error) : resolve()))
        })
      const campaigns = locks(client, { table: 'LockQueue' })
      await campaigns.setup()

      const inside: string[] = []
      const oldOnly = await acquireOld()
      inside.push('old')
      const both = (async () => {
        const lock = await acquireOld()
        const added = await campaigns.acquire('Moe')
        inside.push('both')
        return { lock, added }
      })()
      const first = await campaigns.acquire('Moe', { waitMs: 0 }) // both does not have it yet
      await first.release()
      assert.deepEqual(inside, ['old'])
      await releaseOld(oldOnly)

      const { lock, added } = await both
      const newOnly = campaigns.acquire('Moe').then((held) => {
        inside.push('new')
        return held
      })
      assert.equal(await campaigns.tryAcquire('Moe'), undefined)
      assert.deepEqual(inside, ['old', 'both'])
      await added.release()
      await releaseOld(lock)
      await (await newOnly).release()
      assert.deepEqual(inside, ['old', 'both', 'new'])
    })
  },
)

// The transaction library.

test('check-settled.mjs names what the transaction library has left pending, and nothing else', async () => {
  const script = scriptOf('docs/how-to/migrate-from-transaction-library.md', 'check-settled.mjs')
  await withServer(async (url, client) => {
    const environment = { ...CREDENTIALS, AWS_ENDPOINT_URL: url }
    await client.send(
      new CreateTableCommand({ TableName: 'Accounts', BillingMode: 'PAY_PER_REQUEST', ...KEYS }),
    )
    await client.send(
      new CreateTableCommand({
        TableName: 'Transactions',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: '_TxId', AttributeType: S }],
        KeySchema: [{ AttributeName: '_TxId', KeyType: 'HASH' }],
      }),
    )
    const put = (TableName: string, Item: Record<string, AttributeValue>): Promise<unknown> =>
      client.send(new PutItemCommand({ TableName, Item }))
    // As version 1.1.2 has left them.
    const pending = { S: '7379d574-6f25-4fd8-a086-cde9da1e96c8' }
    await put('Accounts', { id: { S: 'bob' }, balance: { N: '100' } })
    await put('Accounts', {
      id: { S: 'alice' },
      balance: { N: '70' },
      _TxId: pending,
      _TxD: { N: '1794854447.572' },
      _TxA: { S: '1' },
    })
    await put('Transactions', { _TxId: pending, _TxS: { S: 'P' }, _TxV: { N: '2' } })
    await put('Transactions', { _TxId: { S: 'done' }, _TxS: { S: 'C' }, _TxV: { N: '4' }, _TxF: { S: '1' } })

    await assert.rejects(installation.run(script, ['Transactions', 'Accounts'], environment), (error) => {
      const { stdout } = error as { readonly stdout: string }
      assert.match(stdout, /^Accounts: .*"alice".*\nTransactions: .*7379d574.*\n2 not settled\n$/)
      return true
    })

    await client.send(
      new UpdateItemCommand({
        TableName: 'Accounts',
        Key: { id: { S: 'alice' } },
        UpdateExpression: 'SET balance = :before REMOVE #id, #date, #applied',
        ExpressionAttributeNames: { '#id': '_TxId', '#date': '_TxD', '#applied': '_TxA' },
        ExpressionAttributeValues: { ':before': { N: '100' } },
      }),
    )
    await put('Transactions', { _TxId: pending, _TxS: { S: 'R' }, _TxV: { N: '2' }, _TxF: { S: '1' } })
    assert.equal(await installation.run(script, ['Transactions', 'Accounts'], environment), 'settled\n')
  })
})
