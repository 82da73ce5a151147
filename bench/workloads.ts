// What is measured: items of 900 bytes, uniform keys.
import { benchKey } from './http-load.js'
import { post } from './targets.js'

export interface Workload {
  readonly name: string
  readonly operation: string
  /** `%KEY%` stands for a key. */
  readonly body: string
  readonly keys: number
}

const ITEMS = 10_000
const PARTITIONS = 100
const PARTITION_ITEMS = 20
const DATA = 'x'.repeat(860)

const userItem = (key: string): object => ({ id: { S: key }, data: { S: DATA } })
const orderItem = (partition: string, sort: number): object => ({
  pk: { S: partition },
  sk: { N: String(sort) },
  data: { S: DATA },
})

export const workloads: readonly Workload[] = [
  {
    name: 'GetItem',
    operation: 'GetItem',
    body: JSON.stringify({ TableName: 'Users', Key: { id: { S: '%KEY%' } } }),
    keys: ITEMS,
  },
  {
    name: 'PutItem',
    operation: 'PutItem',
    body: JSON.stringify({ TableName: 'Users', Item: userItem('%KEY%') }),
    keys: ITEMS,
  },
  {
    name: 'UpdateItem, conditional',
    operation: 'UpdateItem',
    body: JSON.stringify({
      TableName: 'Users',
      Key: { id: { S: '%KEY%' } },
      UpdateExpression: 'ADD visits :one',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }),
    keys: ITEMS,
  },
  {
    name: 'Query of 10',
    operation: 'Query',
    body: JSON.stringify({
      TableName: 'Orders',
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': { S: '%KEY%' } },
      Limit: 10,
    }),
    keys: PARTITIONS,
  },
]

/** As many bytes as the real answers have, for the bare server. */
export const ANSWERS: ReadonlyMap<string, Buffer> = new Map([
  ['GetItem', Buffer.from(JSON.stringify({ Item: userItem(benchKey(1)) }))],
  ['PutItem', Buffer.from('{}')],
  ['UpdateItem', Buffer.from('{}')],
  [
    'Query',
    Buffer.from(
      JSON.stringify({
        Items: Array.from({ length: 10 }, (_, sort) => orderItem(benchKey(1), sort)),
        Count: 10,
        ScannedCount: 10,
        LastEvaluatedKey: { pk: { S: benchKey(1) }, sk: { N: '9' } },
      }),
    ),
  ],
])

/** Makes the tables and their items. */
export async function fill(port: number, items = ITEMS): Promise<void> {
  await createTable(port, 'Users', [['id', 'S']])
  await createTable(port, 'Orders', [
    ['pk', 'S'],
    ['sk', 'N'],
  ])
  await batches(port, 'Users', items, (number) => userItem(benchKey(number)))
  await batches(port, 'Orders', PARTITIONS * PARTITION_ITEMS, (number) =>
    orderItem(benchKey(number % PARTITIONS), Math.floor(number / PARTITIONS)),
  )
}

async function createTable(
  port: number,
  name: string,
  key: readonly (readonly [string, string])[],
): Promise<void> {
  await post(port, 'CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: key.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: key.map(([AttributeName], at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
  })
  for (;;) {
    const answer = (await post(port, 'DescribeTable', { TableName: name })) as {
      Table: { TableStatus: string }
    }
    if (answer.Table.TableStatus === 'ACTIVE') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const BATCH = 25

async function batches(
  port: number,
  table: string,
  count: number,
  item: (number: number) => object,
): Promise<void> {
  const starts = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => batch * BATCH)
  const writer = async (): Promise<void> => {
    for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
      const from = start
      const size = Math.min(BATCH, count - from)
      const puts = Array.from({ length: size }, (_, at) => ({ PutRequest: { Item: item(from + at) } }))
      await post(port, 'BatchWriteItem', { RequestItems: { [table]: puts } })
    }
  }
  await Promise.all(Array.from({ length: 8 }, writer))
}
