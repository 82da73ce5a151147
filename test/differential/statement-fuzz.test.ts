import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import { open, type Store } from '../../src/store/store.js'
import type { StoreOperation } from '../../src/store/store-operations.js'
import { sized } from '../support/sizes.js'
import { findDynamoDbLocal } from '../../bench/targets/dynamodb-local.js'
import { startDynamoDbLocal, type Peer } from './peers.js'
import { comparePeers, compareWithExpressions, type Ask } from './statement-trials.js'

const askStore =
  (store: Store): Ask =>
  async (operation, input) => {
    try {
      return { answer: await store.call(operation as StoreOperation, input) }
    } catch (error) {
      if (!(error instanceof DynamoError)) throw error
      return { error }
    }
  }

const askPeer =
  (peer: Peer): Ask =>
  async (operation, input) => {
    const { status, body } = await peer.send({ operation, body: JSON.stringify(input) })
    const answer = body as Readonly<Record<string, unknown>>
    if (status === 200) return { answer }
    const name = String(answer['__type']).split('#').at(-1)!
    return { error: { name, message: String(answer['message'] ?? answer['Message']) } }
  }

test('PartiQL: random statements answer what the same requests of the other operations answer', async () => {
  await using store = await open({ memory: true, nodes: 2 })
  assert.deepEqual(await compareWithExpressions(askStore(store), 1, sized(1_500, 100_000)), [])
})

const local = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
test(
  'PartiQL: random statements answer what DynamoDB Local answers',
  { skip: local === undefined && 'DynamoDB Local is not installed' },
  async () => {
    await using store = await open({ memory: true })
    await using peer = await startDynamoDbLocal(local!)
    assert.deepEqual(await comparePeers(askStore(store), askPeer(peer), 1, sized(300, 20_000)), [])
  },
)
