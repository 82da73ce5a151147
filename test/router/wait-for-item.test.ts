import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open, type OpenOptions } from '../../src/store/store.js'
import { callExtension } from '../../src/toolkit/endpoint/extension.js'
import { testFolder } from '../support/folder.js'

const TableName = 'Things'
const Key = { id: { S: 'a' } }
const table = {
  TableName,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  BillingMode: 'PAY_PER_REQUEST' as const,
}

async function opened(options: OpenOptions = { memory: true }) {
  const store = await open(options)
  await store.call('CreateTable', table)
  const client = store.client()
  const wait = (ConditionExpression: string, more: object = {}) =>
    callExtension(client, 'WaitForItem', { TableName, Key, ConditionExpression, ...more })
  return { store, wait, [Symbol.asyncDispose]: () => store.close() }
}

/** Long enough for a request in this process to be waiting. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

for (const place of ['memory', 'disk'] as const) {
  const options = (): OpenOptions =>
    place === 'memory' ? { memory: true } : { path: testFolder(), nodes: 2 }

  test(`WaitForItem, ${place}: answers at once if the condition holds`, async () => {
    await using world = await opened(options())
    assert.deepEqual(await world.wait('attribute_not_exists(id)'), { Met: true })
  })

  test(`WaitForItem, ${place}: answers when a put, a delete or a transaction makes the condition hold`, async () => {
    await using world = await opened(options())
    const { store, wait } = world
    const exists = wait('attribute_exists(id)')
    await turns()
    await store.call('PutItem', { TableName, Item: Key })
    assert.deepEqual(await exists, { Met: true, Item: Key })

    const marked = wait('n = :n', { ExpressionAttributeValues: { ':n': { N: '2' } } })
    await turns()
    const Other = { ...Key, id: { S: 'b' } }
    await store.call('TransactWriteItems', {
      TransactItems: [
        { Put: { TableName, Item: { ...Key, n: { N: '1' } } } },
        { Put: { TableName, Item: Other } },
      ],
    })
    await store.call('TransactWriteItems', {
      TransactItems: [
        { Put: { TableName, Item: { ...Key, n: { N: '2' } } } },
        { Delete: { TableName, Key: Other } },
      ],
    })
    assert.deepEqual(await marked, { Met: true, Item: { ...Key, n: { N: '2' } } })

    const gone = wait('attribute_not_exists(id)')
    await turns()
    await store.call('DeleteItem', { TableName, Key })
    assert.deepEqual(await gone, { Met: true })
  })
}

test('WaitForItem: answers that it did not hold when its time is over', async () => {
  const clock = manualClock(1_900_000_000_000)
  await using world = await opened({ memory: true, clock })
  const waiting = world.wait('attribute_exists(id)', { TimeoutMs: 5_000 })
  await turns()
  clock.advance(4_999)
  await turns()
  clock.advance(1)
  assert.deepEqual(await waiting, { Met: false })
})

test('WaitForItem: a store that is closed lets everybody go', async () => {
  const world = await opened()
  const waiting = world.wait('attribute_exists(id)')
  await turns()
  await world.store.close()
  assert.deepEqual(await waiting, { Met: false })
})

test('WaitForItem: a server that is stopped does not wait for those who wait', async () => {
  await using world = await opened()
  const server = await world.store.listen({ port: 0 })
  const waiting = fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'Seriatim_20261101.WaitForItem',
    },
    body: JSON.stringify({ TableName, Key, ConditionExpression: 'attribute_exists(id)' }),
  })
  // Until the request is being waited on: only then does stopping end it.
  const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text()
  while (!/in_flight 2\b/.test(await metrics())) await turns()
  await server.stop()
  assert.deepEqual(await (await waiting).json(), { Met: false })
})

test('WaitForItem: what is wrong with a request is said', async () => {
  await using world = await opened()
  const refusal = (more: object): Promise<unknown> =>
    assert.rejects(world.wait('attribute_exists(id)', more), { name: 'ValidationException' })
  await refusal({ TimeoutMs: 20_001 })
  await refusal({ ConditionExpression: undefined })
  await refusal({ Key: { other: { S: 'a' } } })
  await refusal({ ExpressionAttributeValues: { ':unused': { S: 'a' } } })
  await assert.rejects(world.wait('attribute_exists(id)', { TableName: 'Nothing' }), {
    name: 'ResourceNotFoundException',
  })
})
