// A materialised view: for each customer the number and the total of the orders. It follows the table Orders through its
// stream, and stores its position together with what it has counted, in one transaction. So every change counts exactly once,
// whichever process is killed when.
//
//   node view.mjs              follows
//   node view.mjs --rebuild    begins anew with the oldest change, then follows
//
// AWS_ENDPOINT_URL names the server, for example http://127.0.0.1:8000. Orders has a stream with NEW_AND_OLD_IMAGES since it was
// created; Totals has the partition key customer.
import {
  BatchWriteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams'
import { setTimeout as wait } from 'node:timers/promises'
import { pagesOf } from './follow-shards.mjs'

const VIEW = 'Totals'
const POSITION = { customer: { S: '#position' } }
const RETRY_MS = 100

const client = new DynamoDBClient({ maxAttempts: 1 })
const streams = new DynamoDBStreamsClient({ maxAttempts: 1 })

/** The position that was stored; undefined while the view is being emptied. */
async function storedPosition() {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: VIEW, Key: POSITION, ConsistentRead: true }),
  )
  return Item === undefined ? '{}' : Item.shards?.S
}

/** While the position has no shards, the rest is not to be relied upon: a rebuild that was killed begins again. */
async function empty() {
  await client.send(new PutItemCommand({ TableName: VIEW, Item: POSITION }))
  for (;;) {
    const { Items } = await client.send(new ScanCommand({ TableName: VIEW, ConsistentRead: true, Limit: 25 }))
    const rows = Items.filter(({ customer }) => customer.S !== POSITION.customer.S)
    if (rows.length === 0) break
    const deletes = rows.map(({ customer }) => ({ DeleteRequest: { Key: { customer } } }))
    await client.send(new BatchWriteItemCommand({ RequestItems: { [VIEW]: deletes } }))
  }
  await client.send(new PutItemCommand({ TableName: VIEW, Item: { ...POSITION, shards: { S: '{}' } } }))
}

/** What the records change: by customer, how many orders more and how much more in total. */
function differences(records) {
  const changes = new Map()
  const count = (image, sign) => {
    if (image === undefined) return
    const change = changes.get(image.customer.S) ?? { orders: 0, total: 0 }
    change.orders += sign
    change.total += sign * Number(image.total.N)
    changes.set(image.customer.S, change)
  }
  for (const { dynamodb } of records) {
    count(dynamodb.OldImage, -1)
    count(dynamodb.NewImage, 1)
  }
  return [...changes].filter(([, { orders, total }]) => orders !== 0 || total !== 0)
}

/** The view and its position change together, and only if the position is still the one that was read from. */
async function apply(records, before, after) {
  const updates = differences(records).map(([customer, { orders, total }]) => ({
    Update: {
      TableName: VIEW,
      Key: { customer: { S: customer } },
      UpdateExpression: 'ADD orders :orders, #total :total',
      ExpressionAttributeNames: { '#total': 'total' },
      ExpressionAttributeValues: { ':orders': { N: String(orders) }, ':total': { N: String(total) } },
    },
  }))
  const position = {
    Put: {
      TableName: VIEW,
      Item: { ...POSITION, shards: { S: after } },
      ConditionExpression:
        before === '{}' ? 'attribute_not_exists(shards) OR shards = :before' : 'shards = :before',
      ExpressionAttributeValues: { ':before': { S: before } },
    },
  }
  await client.send(new TransactWriteItemsCommand({ TransactItems: [...updates, position] }))
}

async function follow() {
  let before = await storedPosition()
  if (before === undefined) {
    await empty()
    before = '{}'
  }
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Orders' }))
  for await (const { records, position } of pagesOf(streams, Table.LatestStreamArn, JSON.parse(before))) {
    const after = JSON.stringify(position)
    await apply(records, before, after)
    before = after
  }
}

let isToBeEmptied = process.argv.includes('--rebuild')
for (;;) {
  try {
    if (isToBeEmptied) await empty()
    isToBeEmptied = false
    await follow()
  } catch (error) {
    // The server is gone, or an answer was lost: what is stored says how far it came.
    console.error(`${error.name}: ${error.message}`)
    // Changes that were not counted are not kept any more.
    if (error.name === 'TrimmedDataAccessException') process.exit(1)
    await wait(RETRY_MS)
  }
}
