import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store.js'

test('BatchWriteItem: large items are checked in several turns, between which others are served', async () => {
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
  /** Turns of the event loop until it is answered. */
  const turnsFor = async (bytes: number): Promise<number> => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await store.call('BatchWriteItem', { RequestItems: { [TableName]: writes(bytes) } })
    isOver = true
    return turns
  }
  const small = await turnsFor(100)
  assert.ok((await turnsFor(390 * 1024)) >= small + 20)
  assert.equal((await store.call('Scan', { TableName, Select: 'COUNT', Limit: 30 })).Count, 3)
})
