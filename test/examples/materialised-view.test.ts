// The materialised view of examples/ against a server that is killed, and a reader that is killed: it stays what the table says.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { DynamoDBClient, type TransactWriteItem } from '@aws-sdk/client-dynamodb'
import {
  CreateTableCommand,
  DeleteItemCommand,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { seededRandom } from '../suites/seeded-random.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js'

const VIEW = resolve(import.meta.dirname, '../../../examples/materialised-view/view.mjs')
const KILLS = sized(5, 100)
const SEED = 7
const ORDERS = 40
const CUSTOMERS = 6
const WORKERS = 4
const LOOK_MS = 50
const LOOKS_MAX = 1200

const environmentOf = (url: string): NodeJS.ProcessEnv => ({
  ...process.env,
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
})

const clientAt = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  })

const tableOf = (TableName: string, AttributeName: string) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [{ AttributeName, AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName, KeyType: 'HASH' as const }],
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

async function killServer(server: SpawnedServer): Promise<void> {
  process.kill(server.pid, 'SIGKILL')
  await server.ended
}

const startReader = (url: string, ...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [VIEW, ...args], { env: environmentOf(url), stdio: 'ignore' })

/** One random write: an order put, replaced or deleted, or three in a transaction. */
async function write(client: DynamoDBClient, random: (below: number) => number): Promise<void> {
  const Item = () => ({
    id: { S: `order-${random(ORDERS)}` },
    customer: { S: `customer-${random(CUSTOMERS)}` },
    total: { N: String(1 + random(100)) },
  })
  const kind = random(4)
  if (kind === 0) {
    const Key = { id: Item().id }
    await client.send(new DeleteItemCommand({ TableName: 'Orders', Key }))
  } else if (kind === 1) {
    const items = new Map([Item(), Item(), Item()].map((item) => [item.id.S, item]))
    const TransactItems: TransactWriteItem[] = Array.from(items.values(), (item) => ({
      Put: { TableName: 'Orders', Item: item },
    }))
    await client.send(new TransactWriteItemsCommand({ TransactItems }))
  } else await client.send(new PutItemCommand({ TableName: 'Orders', Item: Item() }))
}

/** By customer: how many orders, and their total. */
async function expected(client: DynamoDBClient): Promise<Readonly<Record<string, string>>> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: 'Orders', ConsistentRead: true }))
  const sums = new Map<string, { orders: number; total: number }>()
  for (const { customer, total } of Items) {
    const sum = sums.get(customer?.S ?? '') ?? { orders: 0, total: 0 }
    sum.orders += 1
    sum.total += Number(total?.N)
    sums.set(customer?.S ?? '', sum)
  }
  return sorted([...sums].map(([customer, { orders, total }]) => [customer, `${orders} ${total}`]))
}

async function seen(client: DynamoDBClient): Promise<Readonly<Record<string, string>>> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: 'Totals', ConsistentRead: true }))
  const rows = Items.filter(({ customer }) => customer?.S !== '#position')
  return sorted(
    rows
      .map(({ customer, orders, total }): [string, string] => [customer?.S ?? '', `${orders?.N} ${total?.N}`])
      .filter(([, sum]) => sum !== '0 0'),
  )
}

const sorted = (entries: readonly [string, string][]): Readonly<Record<string, string>> =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** Waits until the view has come up to the table; it may take as long as it needs, but not for ever. */
async function assertComesUp(client: DynamoDBClient, when: string): Promise<void> {
  const wanted = await expected(client)
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    if (JSON.stringify(await seen(client)) === JSON.stringify(wanted)) return
    await wait(LOOK_MS)
  }
  assert.deepEqual(await seen(client), wanted, when)
}

test(`examples, materialised view: after ${KILLS} kills of server or reader it is what the table says (seed ${SEED})`, async () => {
  const path = testFolder()
  const random = seededRandom(SEED)
  let server = await spawnServer(['--path', path, '--shard-minutes', '1', '--nodes', '3'])
  const { url } = server
  const client = clientAt(url)
  await client.send(
    new CreateTableCommand({
      ...tableOf('Orders', 'id'),
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  )
  await client.send(new CreateTableCommand(tableOf('Totals', 'customer')))
  let reader = startReader(url)
  try {
    const load = { isOn: false, written: 0 }
    for (let kills = 1; kills <= KILLS; kills++) {
      load.isOn = true
      const workers = Array.from({ length: WORKERS }, async () => {
        while (load.isOn) {
          await write(client, random).then(
            () => load.written++,
            () => wait(LOOK_MS),
          )
        }
      })
      const wanted = load.written + 20 + random(100)
      for (let looks = 0; load.written < wanted && looks < LOOKS_MAX; looks++) await wait(LOOK_MS)
      assert.ok(load.written >= wanted, 'no write is acknowledged any more')
      if (random(3) === 0) {
        await kill(reader)
        reader = startReader(url)
      } else {
        await killServer(server)
        server = await spawnServer(['--path', path, '--shard-minutes', '1', '--nodes', '3'], {
          port: Number(new URL(url).port),
        })
      }
      load.isOn = false
      await Promise.all(workers)
      if (kills % 10 === 0 || kills === KILLS) await assertComesUp(client, `after ${kills} kills`)
    }
    // Once more from the start, and then on.
    await kill(reader)
    reader = startReader(url, '--rebuild')
    await assertComesUp(client, 'rebuilt')
    for (let at = 0; at < 20; at++) await write(client, random)
    await assertComesUp(client, 'after the rebuild')
  } finally {
    await kill(reader)
    client.destroy()
    await killServer(server)
  }
})
