import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { authOf } from '../../../src/server/access/auth.js'
import { open } from '../../../src/store/store.js'
import { callExtension } from '../../../src/toolkit/endpoint/extension.js'
import { dynalite } from '../../support/dynalite.js'

const config = (endpoint: string, secretAccessKey = 's'): DynamoDBClientConfig => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'A', secretAccessKey },
})

test('extension: an operation of our own goes through an official client, signed, over HTTP and in process', async () => {
  await using store = await open({ memory: true })
  const auth = authOf([{ accessKeyId: 'A', secretAccessKey: 's', tables: ['*'], access: ['admin'] }])
  const server = await store.listen({ port: 0, auth })
  for (const client of [new DynamoDBClient(config(server.url)), store.client()]) {
    const answer = await callExtension(client, 'ListTransactions', { Limit: 10 })
    assert.deepEqual(answer, { InFlight: [], Recent: [], Recovered: [] })
    await assert.rejects(callExtension(client, 'ListTransactions', { Limit: 0 }), {
      name: 'ValidationException',
    })
    client.destroy()
  }
  const stranger = new DynamoDBClient(config(server.url, 'wrong'))
  await assert.rejects(callExtension(stranger, 'ListTransactions', {}), { name: 'InvalidSignatureException' })
  stranger.destroy()
})

test('extension: an endpoint that is not Seriatim answers UnknownOperationException', async () => {
  await using foreign = await dynalite()
  const client = new DynamoDBClient(config(foreign.url))
  await assert.rejects(callExtension(client, 'ListTransactions', {}), { name: 'UnknownOperationException' })
  client.destroy()
})
