import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Timestamp, ledgerSlot, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { Item } from '../../src/model/value.js'
import { allRules, noRules, type TransactionRules } from '../../src/rules/item/section-4.js'
import { createTable, openTestStore } from './many-support.js'

const TX = txId(ledgerSlot('0'.repeat(32)), 'n')
const Get = (id: string) => ({ Get: { TableName: 'Things', Key: { id: { S: id } } } })

/** A store in which a transaction that nobody decides is prepared to put version 2 of the items a and b. */
async function prepared(rules: TransactionRules) {
  const store = await openTestStore(1, rules)
  await createTable(store, 'Things', 'id:S')
  const versions = (n: string): Item[] => ['a', 'b'].map((id) => ({ id: { S: id }, n: { N: n } }))
  await store.putAll('Things', versions('1'))
  const table = store.shapeOf('Things')
  const actions = versions('2').map((item) => {
    const keyAttributes = { id: item['id'] } as Item
    return {
      table,
      key: itemKey(table.key, keyAttributes),
      keyAttributes,
      mutation: { kind: 'put' as const, item },
    }
  })
  const timestamp = (store.runtime.clock.nowMicros() + 1000) as Timestamp
  const [node] = store.nodes
  await node?.prepare({ tx: TX, timestamp, actions })
  const items = actions.map(({ key }) => ({ space: table.space, key }))
  return { store, commit: () => node?.commit({ tx: TX, timestamp, items }) }
}

test('TransactGetItems of one item reads what is committed of it, as GetItem does, and is not held up', async () => {
  const { store, commit } = await prepared(allRules)
  await using _ = store
  const one = (): Promise<unknown> => store.call('TransactGetItems', { TransactItems: [Get('a')] })
  const answerOf = (n: string) => ({ Responses: [{ Item: { id: { S: 'a' }, n: { N: n } } }] })
  assert.deepEqual(await one(), answerOf('1'))
  await commit()
  assert.deepEqual(await one(), answerOf('2'))
  assert.deepEqual(await store.call('TransactGetItems', { TransactItems: [Get('none')] }), {
    Responses: [{}],
  })
})

test('TransactGetItems of one item is cancelled by a prepared transaction where section 4’s rules are off', async () => {
  const { store, commit } = await prepared(noRules)
  await using _ = store
  const reading = store.refusal('TransactGetItems', { TransactItems: [Get('a')] })
  for (let wait = 0; wait < 20; wait++) {
    await new Promise((resolve) => setImmediate(resolve))
    store.runtime.clock.advance(100)
  }
  assert.match(await reading, /^TransactionCanceledException: .*\[TransactionConflict\]$/)
  await commit()
  assert.deepEqual(await store.call('TransactGetItems', { TransactItems: [Get('a')] }), {
    Responses: [{ Item: { id: { S: 'a' }, n: { N: '2' } } }],
  })
})

test('an item of which nothing is asked for is left out of TransactGetItems, and empty in BatchGetItem', async () => {
  await using store = await openTestStore(1, allRules)
  await createTable(store, 'Things', 'id:S')
  await store.putAll('Things', [{ id: { S: 'a' }, n: { N: '1' } }])
  const nothing = { ...Get('a').Get, ProjectionExpression: 'nowhere' }
  const something = { ...Get('a').Get, ProjectionExpression: 'nowhere, n' }
  assert.deepEqual(await store.call('TransactGetItems', { TransactItems: [{ Get: nothing }] }), {
    Responses: [{}],
  })
  assert.deepEqual(await store.call('TransactGetItems', { TransactItems: [{ Get: something }] }), {
    Responses: [{ Item: { n: { N: '1' } } }],
  })
  const keys = { Keys: [nothing.Key], ProjectionExpression: 'nowhere' }
  const batch: unknown = await store.call('BatchGetItem', { RequestItems: { Things: keys } })
  assert.deepEqual((batch as { Responses: unknown }).Responses, { Things: [{}] })
})
