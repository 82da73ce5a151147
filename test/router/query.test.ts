import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTable, openTestStore } from './many-support.js'

test('smoke', async () => {
  await using store = await openTestStore(1)
  await createTable(store, 'Things', 'pk:S sk:S', { gsi: { key: 'g:S', projection: 'x' }, lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' } })
  await store.putAll('Things', [{ pk: { S: 'a' }, sk: { S: '1' }, g: { S: 'g' }, x: { S: 'x' }, y: { S: 'y' } }])
  console.log(JSON.stringify(await store.call('Query', { TableName: 'Things', KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'a' } } })))
  console.log(JSON.stringify(await store.call('Query', { TableName: 'Things', IndexName: 'gsi', Limit: 1, ReturnConsumedCapacity: 'INDEXES', KeyConditionExpression: 'g = :p', ExpressionAttributeValues: { ':p': { S: 'g' } } })))
  assert.ok(true)
})
