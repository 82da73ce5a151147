import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { client } from './store.js'

const count = async () =>
  (await client.send(new ScanCommand({ TableName: 'Sessions', Select: 'COUNT' }))).Count

test('a test sees what it has written', async () => {
  await client.send(new PutItemCommand({ TableName: 'Sessions', Item: { id: { S: 'mine' } } }))
  expect(await count()).toBe(1)
})

test('the next one, and every other file, sees nothing of it', async () => {
  expect(await count()).toBe(0)
})
