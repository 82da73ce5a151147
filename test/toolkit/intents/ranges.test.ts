// A filtered query conflicts with what its filter lets through, and with nothing else; a conflict names the row.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Conflict } from '../../../src/toolkit/endpoint/errors.js'
import type { QueryInput, Transactor, UnitOfWork } from '../../../src/toolkit/unit/transactor.js'
import { createTables, ORDERS } from '../../suites/transactor.js'
import { dynalitePlace, intentsTransactor, type Place, seriatim } from './endpoints.js'

const OPEN: QueryInput = {
  key: 'customer = :c',
  filter: '#status = :s',
  names: { '#status': 'status' },
  values: { ':c': 'alice', ':s': 'open' },
}

for (const [name, place] of [
  ['Seriatim', seriatim],
  ['dynalite', dynalitePlace],
] as const) {
  describe(`filtered ranges on ${name}`, () => {
    let opened: Place
    let t: Transactor
    before(async () => {
      opened = await place()
      await createTables(opened.endpoint)
      t = intentsTransactor(opened.endpoint, { protocol: 'intents' })
      await t.setup()
    })
    after(async () => {
      await t.idle()
      await opened.close()
    })

    /** What a unit meets that has asked for open orders, when another one does this meanwhile. */
    const met = async (
      meanwhile: (tx: UnitOfWork) => void,
      input: QueryInput = OPEN,
    ): Promise<Conflict | undefined> => {
      await t.transact((tx) => {
        for (let number = 1; number <= 8; number++)
          tx.put(ORDERS, { customer: 'alice', number, status: number % 2 === 0 ? 'open' : 'done' })
        for (let number = 9; number <= 10; number++) tx.delete(ORDERS, { customer: 'alice', number })
      })
      const unit = t.transact(
        async (tx) => {
          const rows = await tx.query(ORDERS, input)
          await t.transact(meanwhile)
          tx.put(ORDERS, { customer: 'bob', number: 1, status: 'seen', open: rows.length })
        },
        { retry: { limit: 0 } },
      )
      try {
        await unit
        return undefined
      } catch (error) {
        assert.ok(error instanceof Conflict, String(error))
        return error
      }
    }
    const order = (number: number): object => ({ customer: 'alice', number })

    test('rows that do not match may change, come and go', async () => {
      assert.equal(
        await met((tx) => {
          tx.update(ORDERS, order(1), { set: { note: 'changed' } })
          tx.put(ORDERS, { ...order(9), status: 'done' })
          tx.delete(ORDERS, order(3))
        }),
        undefined,
      )
    })

    for (const [what, meanwhile, number] of [
      ['changed', (tx) => tx.update(ORDERS, order(2), { set: { note: 'changed' } }), 2],
      ['deleted', (tx) => tx.delete(ORDERS, order(4)), 4],
      ['inserted', (tx) => tx.put(ORDERS, { ...order(10), status: 'open' }), 10],
      ['changed so that it matches', (tx) => tx.update(ORDERS, order(5), { set: { status: 'open' } }), 5],
      [
        'changed so that it matches no more',
        (tx) => tx.update(ORDERS, order(6), { set: { status: 'x' } }),
        6,
      ],
    ] as readonly [string, (tx: UnitOfWork) => void, number][])
      test(`a row that is ${what} is a conflict, and the conflict names its key`, async () => {
        const conflict = await met(meanwhile)
        assert.equal(conflict?.detail.table, ORDERS)
        assert.deepEqual(conflict.detail.key, order(number))
        assert.match(conflict.message, /Orders \{"customer":"alice","number":\d+\}/)
      })

    test('beyond the limit nothing was read, not even if the last row that was read is deleted', async () => {
      const { filter: _filter, names: _names, ...whole } = OPEN
      const limited = { ...whole, values: { ':c': 'alice' }, limit: 3 }
      assert.equal(await met((tx) => tx.delete(ORDERS, order(4)), limited), undefined)
      const conflict = await met((tx) => tx.delete(ORDERS, order(3)), limited)
      assert.deepEqual(conflict?.detail.key, order(3))
      const reversed = { ...limited, reverse: true }
      assert.equal(await met((tx) => tx.delete(ORDERS, order(5)), reversed), undefined)
      assert.deepEqual((await met((tx) => tx.delete(ORDERS, order(6)), reversed))?.detail.key, order(6))
    })
  })
}
