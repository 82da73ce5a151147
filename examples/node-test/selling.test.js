// Every test file has a store of its own, in its own process: files run in parallel and never meet.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { open } from 'seriatim'
import { Bookshop } from './bookshop.js'
import { createTables } from './tables.js'

let store
let shop

before(async () => {
  store = await open({ memory: true })
  shop = new Bookshop(store.client())
})

beforeEach(async () => {
  await store.reset()
  await createTables(store)
})

after(() => store.close())

test('a book is added once', async () => {
  await shop.addBook('dune', 3)
  await assert.rejects(shop.addBook('dune', 5), { name: 'ConditionalCheckFailedException' })
})

test('the last copy is sold only once', async () => {
  // The book of the test before is gone: this one starts with empty tables.
  await shop.addBook('dune', 1)
  assert.equal(await shop.sell('dune'), 0)
  await assert.rejects(shop.sell('dune'), { name: 'ConditionalCheckFailedException' })
})

test('of many customers at once as many get a copy as there are', async () => {
  await shop.addBook('dune', 3)
  const sales = await Promise.allSettled(Array.from({ length: 10 }, () => shop.sell('dune')))
  assert.equal(sales.filter(({ status }) => status === 'fulfilled').length, 3)
})
