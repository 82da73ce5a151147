import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { client, clock, store } from './store.js'

const MINUTE_MS = 60_000
const get = async (id: string) =>
  (await client.send(new GetItemCommand({ TableName: 'Sessions', Key: { id: { S: id } } }))).Item

test('a session expires', async () => {
  const expires = { N: String(clock.nowMicros() / 1e6 + 30 * 60) }
  await client.send(new PutItemCommand({ TableName: 'Sessions', Item: { id: { S: 's1' }, expires } }))

  clock.advance(29 * MINUTE_MS)
  await store.idle()
  expect(await get('s1')).toEqual({ id: { S: 's1' }, expires })

  clock.advance(2 * MINUTE_MS)
  await store.idle()
  expect(await get('s1')).toBeUndefined()
})
