import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sized } from '../../support/sizes.js'
import { costOf, KINDS, prepareCosts } from './cost-table.js'
import { dynalitePlace, type Place, seriatim } from './endpoints.js'

for (const [name, place, transactions, counts] of [
  ['Seriatim', seriatim, true, [2, 3, 10, 100, 1000]],
  ['dynalite', dynalitePlace, false, sized([2, 3, 10, 100], [2, 3, 10, 100, 1000])],
] as const) {
  describe(`costs on ${name}`, () => {
    let opened: Place
    before(async () => {
      opened = await place()
      await prepareCosts(opened.endpoint)
    })
    after(() => opened.close())

    for (const items of counts) {
      // dynalite takes its time over a thousand.
      for (const kind of items === 1000 && !transactions ? KINDS.slice(1) : KINDS) {
        test(`${items} items, ${kind}: at most N + 2 writes before the answer, 2 N + 3 in all`, async () => {
          const { before, inAll, protocol, rounds } = await costOf(opened.endpoint, items, kind, {
            protocol: 'intents',
          })
          assert.equal(protocol, 'intents')
          assert.equal(before.writes, items + 2)
          assert.equal(inAll.writes, 2 * items + 3)
          // Blind writes are looked at first, a hundred at a time.
          assert.equal(before.reads, kind === 'blind puts' ? Math.ceil(items / 100) : 0)
          // More than 64 requests are not under way at once.
          if (items < 60) assert.equal(rounds, kind === 'blind puts' ? 3 : 2)
          assert.equal(before.spills, items > 100 ? 1 : 0)
        })
      }
    }

    test('one item that was read is one conditional write', async () => {
      const { before, inAll, protocol } = await costOf(opened.endpoint, 1, 'read and changed', {
        protocol: 'intents',
      })
      assert.deepEqual([protocol, before.writes, before.reads, inAll.writes], ['single', 1, 0, 1])
    })

    if (transactions) {
      for (const items of [1, 3, 10, 100]) {
        for (const kind of KINDS) {
          test(`${items} items, ${kind}: one request where there are transactions`, async () => {
            const { before, inAll } = await costOf(opened.endpoint, items, kind, {})
            assert.deepEqual([before.writes, before.reads, inAll.writes], [1, 0, 1])
          })
        }
      }
    }
  })
}
