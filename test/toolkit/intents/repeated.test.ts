// An insert whose intent arrives a second time, after somebody has deleted the item: absence keeps no version, so only
// the header of the inserter can tell.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../../src/store/store.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { foreign, intentsTransactor } from './endpoints.js'

const PATIENCE = { stalledMs: 20, graceMs: 5, waitMs: 50, pollMs: 2, pollMaxMs: 5 }

test('intents: a delete makes sure that the inserter is done, so that its repeated intent is dropped', async () => {
  await using store = await open({ memory: true })
  const plain = foreign({ call: (operation, input) => store.call(operation, input) })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const repeated: (() => Promise<unknown>)[] = []
  /** Keeps what places an intent, and never says that a transaction is done. */
  const dying: Endpoint = foreign({
    call(operation, input) {
      const { UpdateExpression: update } = input as { UpdateExpression?: string }
      if (update === 'SET #done = :true') return Promise.reject(new Error('socket hang up'))
      if (update === 'SET #i = :intent') repeated.push(() => plain.call(operation, input))
      return plain.call(operation, input)
    },
  })
  const inserter = intentsTransactor(dying, { always: true, patience: PATIENCE })
  await inserter.setup()
  await inserter.transact((tx) => tx.put('Things', { id: 'x' }))
  await inserter.idle()

  const t = intentsTransactor(plain, { always: true, patience: PATIENCE })
  await t.transact((tx) => tx.delete('Things', { id: 'x' }))
  await t.idle()
  assert.equal(repeated.length, 1)
  await repeated[0]!()
  assert.equal(await t.transact((tx) => tx.get('Things', { id: 'x' })), undefined)
  for (let rounds = 0; rounds < 200; rounds++) {
    await t.sweep({ tables: ['Things'] })
    const { Count } = await store.call('Scan', { TableName: 'Things', ConsistentRead: true })
    if (Count === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.fail('the deleted item is there again')
})
