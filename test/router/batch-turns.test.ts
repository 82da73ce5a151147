import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { turnsUntil } from './many-support.js'

test('BatchWriteItem: large items are checked and written in several turns, between which others are served', async () => {
  await using store = await open({ memory: true })
  const TableName = 'Batches'
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const writes = (bytes: number) =>
    Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: { id: { S: `${at}` }, text: { S: 'x'.repeat(bytes) } } },
    }))
  const turnsFor = (bytes: number): Promise<number> =>
    turnsUntil(store.call('BatchWriteItem', { RequestItems: { [TableName]: writes(bytes) } }))
  const small = await turnsFor(100)
  assert.ok((await turnsFor(390 * 1024)) >= small + 45)
  assert.equal((await store.call('Scan', { TableName, Select: 'COUNT', Limit: 30 })).Count, 3)
})

test('BatchWriteItem: an index that is added between the turns of a batch has all its items', async () => {
  await using store = await open({ memory: true })
  for (const turns of [1, 15, 27, 40]) {
    const TableName = `Batches-${turns}`
    const S = 'S' as const
    await store.call('CreateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: S }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    })
    const puts = Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: { id: { S: `${at}` }, by: { S: 'all' }, text: { S: 'x'.repeat(300 * 1024) } } },
    }))
    const written = store.call('BatchWriteItem', { RequestItems: { [TableName]: puts } })
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    await store.call('UpdateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'by', AttributeType: S }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'by-all',
            KeySchema: [{ AttributeName: 'by', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        },
      ],
    })
    assert.deepEqual((await written).UnprocessedItems, {})
    for (;;) {
      const { Table } = await store.call('DescribeTable', { TableName })
      if (Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus === 'ACTIVE') break
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await store.call('Scan', { TableName, IndexName: 'by-all', Select: 'COUNT' })).Count, 25)
  }
})
