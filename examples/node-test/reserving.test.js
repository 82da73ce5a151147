// Time to live without waiting: the store takes its time from a clock that the test moves.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { manualClock, open } from 'seriatim'
import { Bookshop } from './bookshop.js'
import { createTables } from './tables.js'

const HOUR_MS = 60 * 60 * 1000
const start = Date.parse('2030-01-01T00:00:00Z')
const clock = manualClock(start)
let store
let shop

before(async () => {
  store = await open({ memory: true, clock })
  await createTables(store)
  shop = new Bookshop(store.client())
})

after(() => store.close())

test('a reservation lasts until its time has passed', async () => {
  await shop.reserve('dune', 'ada', start + 2 * HOUR_MS)

  clock.advance(HOUR_MS)
  await store.idle()
  assert.equal(await shop.reservedBy('dune'), 'ada')

  clock.advance(2 * HOUR_MS)
  await store.idle()
  assert.equal(await shop.reservedBy('dune'), undefined)
})
