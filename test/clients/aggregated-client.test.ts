// The in-process client for libraries that call a method for each operation (dynamoose and others).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDB, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { open } from '../../src/store/store.js'
import { table } from '../router/tables-support.js'

test('store.client() is a DynamoDBClient and answers the methods of the aggregated client too', async () => {
  await using store = await open({ memory: true })
  const client: DynamoDBClient & DynamoDB = store.client()
  assert.ok(client instanceof DynamoDBClient)
  await client.createTable(table('Books') as never)
  await client.putItem({ TableName: 'Books', Item: { id: { S: 'b1' } } })
  const key = { TableName: 'Books', Key: { id: { S: 'b1' } } }
  const { Item } = await client.getItem(key)
  assert.deepEqual(Item, { id: { S: 'b1' } })
  assert.deepEqual((await client.send(new GetItemCommand(key))).Item, Item)
  const pages: unknown[] = []
  for await (const page of client.paginateListTables({})) pages.push(page.TableNames)
  assert.deepEqual(pages, [['Books']])
  await assert.rejects(client.getItem({ ...key, TableName: 'Nothing' }), {
    name: 'ResourceNotFoundException',
  })
})

test('store.client() calls back where the aggregated client does', async () => {
  await using store = await open({ memory: true })
  const names = await new Promise((resolve, reject) => {
    store.client().listTables({}, (error: unknown, answer) => {
      if (answer === undefined) reject(error)
      else resolve(answer.TableNames)
    })
  })
  assert.deepEqual(names, [])
})
