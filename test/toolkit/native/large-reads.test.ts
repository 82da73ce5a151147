import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Item } from '../../../src/model/value.js'
import { fittingCount } from '../../../src/router/units/unit-get-items.js'
import { open, type Store } from '../../../src/store/store.js'
import { callExtension } from '../../../src/toolkit/endpoint/extension.js'
import { transactor } from '../../../src/toolkit/index.js'

const TableName = 'Large'
const ITEMS = 100
const ids = Array.from({ length: ITEMS }, (_, at) => `item ${at}`)
const KB = 1024

async function fill(store: Store): Promise<void> {
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  for (const id of ids)
    await store.call('PutItem', { TableName, Item: { id: { S: id }, text: { S: id.padEnd(390 * KB) } } })
}

test('UnitGetItems: an answer has at most 16 MB of items, and names the gets that are left', async () => {
  await using store = await open({ memory: true })
  await fill(store)
  const client = store.client()
  const answers: { Responses: { Item: Item }[]; ReadTimestamp: number }[] = []
  let Gets: unknown[] = ids.map((id) => ({ TableName, Key: { id: { S: id } }, Lock: true }))
  while (Gets.length > 0) {
    const ReadTimestamp = answers[0]?.ReadTimestamp
    const answer = (await callExtension(client, 'UnitGetItems', {
      Unit: { Id: 'u', Isolation: 'snapshot', ...(ReadTimestamp !== undefined && { ReadTimestamp }) },
      Gets,
    })) as (typeof answers)[number] & { UnprocessedGets?: unknown[] }
    const { Responses, UnprocessedGets = [] } = answer
    assert.ok(Responses.length * 390 * KB <= 16 * KB * KB)
    assert.deepEqual(UnprocessedGets, Gets.slice(Responses.length))
    answers.push(answer)
    // What is left is read as of the same moment, whatever is written meanwhile to items that are not locked.
    Gets = UnprocessedGets
  }
  const items = answers.flatMap(({ Responses }) => Responses.map(({ Item }) => Item))
  assert.deepEqual(
    items.map(({ id }) => id),
    ids.map((id) => ({ S: id })),
  )
  assert.equal(answers.length, 3)
})

test('UnitGetItems: 16 MB are counted in items and in text, and one item always goes', () => {
  const MB = KB * KB
  const record = (itemBytes: number, jsonBytes: number) => ({
    itemBytes,
    json: { length: jsonBytes } as Buffer,
  })
  const small = record(100, 200)
  assert.equal(fittingCount([]), 0)
  assert.equal(fittingCount([small, undefined, small]), 3)
  assert.equal(fittingCount([record(8 * MB, 1), record(8 * MB, 1), small]), 2)
  assert.equal(fittingCount([record(1, 9 * MB), undefined, record(1, 9 * MB), small]), 2)
  assert.equal(fittingCount([record(1, 17 * MB), small]), 1)
})

for (const place of ['over HTTP', 'in this process'] as const) {
  test(`transact, ${place}: a unit reads 100 items of 390 KB in one getAll`, async () => {
    await using store = await open({ memory: true })
    await fill(store)
    const server = await store.listen({ port: 0 })
    const client = new DynamoDBClient({
      region: 'us-east-1',
      endpoint: server.url,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    })
    const units = place === 'over HTTP' ? transactor(client) : store.transactor()
    const read = await units.transact(async (tx) =>
      (
        await tx.getAll(
          TableName,
          ids.map((id) => ({ id })),
        )
      ).map((item) => String(item?.['text']).trim()),
    )
    assert.deepEqual(read, ids)
    client.destroy()
  })
}
