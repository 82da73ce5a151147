// Blocks of large transactions: what reads them lets others have their turn.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { fewestTurnsUntil, turnsUntil } from '../router/many-support.js'

const TableName = 'Books'
const ITEMS = 60

async function openLedger() {
  const store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
  })
  const text = { S: 'x'.repeat(50_000) }
  await store.call('TransactWriteItems', {
    TransactItems: Array.from({ length: ITEMS }, (_, at) => ({
      Put: { TableName, Item: { id: { S: `${at}` }, text } },
    })),
  })
  await store.call('PutItem', { TableName, Item: { id: { S: 'small' } } })
  const { size } = await store.ledger.digest()
  return { store, last: size - 1 }
}

test('ledger: of many reads of large blocks one at a time is done, in turns, and small ones pass them', async () => {
  const { store, last } = await openLedger()
  const [large, small] = [last - 1, last]
  const { entries, header } = await store.ledger.block(large)
  assert.ok(entries.length >= ITEMS)
  const { tx } = JSON.parse(header) as { readonly tx: string }
  const asks: readonly (() => Promise<unknown>)[] = [
    () => store.ledger.block(large),
    () => store.ledger.transaction(tx),
  ]
  for (const ask of asks) {
    const alone = await fewestTurnsUntil(ask)
    assert.ok(alone >= 10, `${alone} turns for 3 MB`)
    const eight = await turnsUntil(Promise.all(Array.from({ length: 8 }, ask)))
    assert.ok(eight >= 6 * alone, `${eight} turns, and ${alone} of one`)
  }
  let isOver = false
  const many = Promise.all(Array.from({ length: 8 }, () => store.ledger.block(large)))
  const over = many.then(() => (isOver = true))
  assert.equal((await store.ledger.block(small)).block, small)
  assert.equal(isOver, false)
  for (const each of await many) assert.deepEqual(each.entries.length, entries.length)
  await over
  await store.close()
})
