// Writes that carry the fence and store it, in one call.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PutItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { open } from '../../../src/store/store.js'
import {
  fencedPut,
  fencedPutUnit,
  fencedUpdate,
  fencedUpdateUnit,
  locks,
} from '../../../src/toolkit/index.js'

async function setUp() {
  const store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Invoices',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const client = store.client()
  const invoices = locks(client, { table: 'Locks' })
  await invoices.setup()
  const older = await invoices.acquire('invoice-1')
  await older.release()
  const newer = await invoices.acquire('invoice-1')
  const item = async () =>
    (await store.call('GetItem', { TableName: 'Invoices', Key: { id: { S: '1' } } })).Item
  return { store, client, older, newer, item, [Symbol.asyncDispose]: () => store.close() }
}

const REFUSED = { name: 'ConditionalCheckFailedException' }

test('fencedPut: stores the fence, and refuses who was overtaken', async () => {
  await using world = await setUp()
  const put = (lock: { readonly fence: bigint }, state: string) =>
    world.client.send(
      new PutItemCommand(
        fencedPut(lock, { TableName: 'Invoices', Item: { id: { S: '1' }, state: { S: state } } }),
      ),
    )
  await put(world.older, 'first')
  await put(world.newer, 'second')
  await assert.rejects(put(world.older, 'late'), REFUSED)
  assert.deepEqual(await world.item(), {
    id: { S: '1' },
    state: { S: 'second' },
    fence: { N: world.newer.fence.toString() },
  })
})

test('fencedPut: keeps a condition with an OR of its own, and works in a transaction', async () => {
  await using world = await setUp()
  const input = {
    TableName: 'Invoices',
    Item: { id: { S: '1' }, n: { N: '1' } },
    ConditionExpression: 'attribute_not_exists(id) OR #n < :max',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':max': { N: '9' } },
  }
  const transact = (lock: { readonly fence: bigint }) =>
    world.client.send(
      new TransactWriteItemsCommand({ TransactItems: [{ Put: fencedPut(lock, input, 'token') }] }),
    )
  await transact(world.newer)
  await assert.rejects(transact(world.older), { name: 'TransactionCanceledException' })
  assert.equal((await world.item())?.['token']?.N, world.newer.fence.toString())
  assert.throws(() => fencedPut(world.newer, input, 'n'), /has an attribute n already/)
})

test('fencedUpdate: joins the SET clause that is there, or adds one', async () => {
  await using world = await setUp()
  const update = (lock: { readonly fence: bigint }, UpdateExpression: string, values = {}) =>
    world.client.send(
      new UpdateItemCommand(
        fencedUpdate(lock, {
          TableName: 'Invoices',
          Key: { id: { S: '1' } },
          UpdateExpression,
          ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
        }),
      ),
    )
  await update(world.older, 'set a = :a', { ':a': { N: '1' } })
  await update(world.newer, 'ADD b :b SET c = :b', { ':b': { N: '2' } })
  await update(world.newer, 'REMOVE a')
  await update(world.newer, '')
  await assert.rejects(update(world.older, 'SET a = :a', { ':a': { N: '3' } }), REFUSED)
  assert.deepEqual(await world.item(), {
    id: { S: '1' },
    b: { N: '2' },
    c: { N: '2' },
    fence: { N: world.newer.fence.toString() },
  })
})

test('fencedPutUnit and fencedUpdateUnit: the same in a unit of work, beside a condition', async () => {
  await using world = await setUp()
  const t = world.store.transactor()
  await t.transact((tx) => fencedPutUnit(tx, world.newer, 'Invoices', { id: '1', n: 1 }))
  await t.transact((tx) => {
    fencedUpdateUnit(tx, world.newer, 'Invoices', { id: '1' }, { add: { n: 1 } })
  })
  const expression = { expression: 'ADD n :one', values: { ':one': 1 } }
  await t.transact((tx) => fencedUpdateUnit(tx, world.newer, 'Invoices', { id: '1' }, expression))
  const condition = { expression: 'n = :n OR n = :m', values: { ':n': 3, ':m': 4 } }
  await t.transact((tx) =>
    fencedUpdateUnit(tx, world.newer, 'Invoices', { id: '1' }, { set: { paid: true } }, { condition }),
  )
  for (const write of [
    (tx: never) => fencedPutUnit(tx, world.older, 'Invoices', { id: '1' }, { condition }),
    (tx: never) => fencedUpdateUnit(tx, world.older, 'Invoices', { id: '1' }, expression),
  ])
    await assert.rejects(
      t.transact((tx) => write(tx as never)),
      { name: 'ConditionFailed' },
    )
  assert.deepEqual(await world.item(), {
    id: { S: '1' },
    n: { N: '3' },
    paid: { BOOL: true },
    fence: { N: world.newer.fence.toString() },
  })
})
