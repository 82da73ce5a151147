// Guards against phantoms: a record for each partition, written by its writers and relied on by its readers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Conflict } from '../../../src/toolkit/endpoint/errors.js'
import { type IntentsOptions, RECORDS } from '../../../src/toolkit/intents/intents-protocol.js'
import { INTENT, VERSION } from '../../../src/toolkit/intents/protocol/records.js'
import type { CommitProtocol, Transactor, UnitOfWork } from '../../../src/toolkit/unit/transactor.js'
import { dynalitePlace, foreign, intentsTransactor, type Place, seriatim } from './endpoints.js'

const ROWS = 'Rows'
const ONCE = { retry: { limit: 0 } }
const QUICK = { graceMs: 20, waitMs: 2_000, stalledMs: 50, keepMs: 0, pollMs: 2, pollMaxMs: 10 }
const RELY: IntentsOptions = { guards: { [ROWS]: 'rely' }, patience: QUICK }

for (const [name, place, settings] of [
  ['Seriatim with TransactWriteItems', seriatim, RELY],
  ['Seriatim by intents', seriatim, { ...RELY, always: true }],
  ['dynalite', dynalitePlace, RELY],
] as const) {
  describe(`guards on ${name}`, () => {
    let opened: Place
    let t: Transactor
    before(async () => {
      opened = await place()
      await opened.endpoint.call('CreateTable', {
        TableName: ROWS,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'p', AttributeType: 'S' },
          { AttributeName: 's', AttributeType: 'N' },
          { AttributeName: 'price', AttributeType: 'N' },
        ],
        KeySchema: [
          { AttributeName: 'p', KeyType: 'HASH' },
          { AttributeName: 's', KeyType: 'RANGE' },
        ],
        LocalSecondaryIndexes: [
          {
            IndexName: 'by-price',
            KeySchema: [
              { AttributeName: 'p', KeyType: 'HASH' },
              { AttributeName: 'price', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      })
      await opened.endpoint.call('CreateTable', {
        TableName: 'Flat',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      })
      t = intentsTransactor(opened.endpoint, settings)
      await t.setup()
      for (const TableName of [ROWS, 'Flat']) await untilActive(TableName)
    })
    after(async () => {
      await t.idle()
      await opened.close()
    })

    async function untilActive(TableName: string): Promise<void> {
      for (let rounds = 0; rounds < 500; rounds++) {
        const { Table } = await opened.endpoint.call('DescribeTable', { TableName })
        if (Table?.TableStatus === 'ACTIVE') return
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }

    const rowsOf = (tx: Pick<UnitOfWork, 'query'>, p: string) =>
      tx.query(ROWS, { key: 'p = :p', values: { ':p': p } })

    /** Counts requests by operation, and notes how units were committed. */
    function watched(): {
      readonly t: Transactor
      readonly sent: Map<string, number>
      readonly ways: CommitProtocol[]
    } {
      const sent = new Map<string, number>()
      const ways: CommitProtocol[] = []
      const endpoint = foreign({
        call: (operation, input, options) => {
          sent.set(operation, (sent.get(operation) ?? 0) + 1)
          return opened.endpoint.call(operation, input, options)
        },
      })
      const counted = intentsTransactor(endpoint, settings, {
        onOutcome: ({ protocol }) => ways.push(protocol),
      })
      return { t: counted, sent, ways }
    }

    test('a range is read once, and its guard is compared at the commit', async () => {
      await t.transact((tx) => [1, 2, 3].forEach((s) => tx.put(ROWS, { p: 'once', s })))
      const { t: counted, sent, ways } = watched()
      const total = await counted.transact(async (tx) => {
        const rows = await rowsOf(tx, 'once')
        tx.put(ROWS, { p: 'sums', s: 1, total: rows.length })
        return rows.length
      })
      assert.equal(total, 3)
      assert.equal(sent.get('Query'), 1)
      if (name === 'Seriatim with TransactWriteItems') assert.deepEqual(ways, ['transact'])
      assert.deepEqual((await counted.transact((tx) => rowsOf(tx, 'once'))).length, 3)
      assert.equal(sent.get('Query'), 2)
      await counted.idle()
    })

    test('without guards the same unit reads the range twice', async () => {
      let queries = 0
      const endpoint = foreign({
        call: (operation, input, options) => {
          if (operation === 'Query') queries++
          return opened.endpoint.call(operation, input, options)
        },
      })
      const rereading = intentsTransactor(endpoint, { ...settings, guards: { [ROWS]: 'write' } })
      await rereading.transact(async (tx) => {
        const rows = await rowsOf(tx, 'once')
        tx.put(ROWS, { p: 'sums', s: 2, total: rows.length })
      })
      await rereading.idle()
      assert.equal(queries, 2)
    })

    test('rows that come, go or change between read and commit are conflicts, also for who only reads', async () => {
      const changes: readonly ((tx: UnitOfWork) => void)[] = [
        (tx) => tx.put(ROWS, { p: 'changing', s: 9 }),
        (tx) => tx.update(ROWS, { p: 'changing', s: 9 }, { set: { n: 1 } }),
        (tx) => tx.delete(ROWS, { p: 'changing', s: 9 }),
      ]
      for (const writes of ['writes', 'only reads'])
        for (const change of changes) {
          const unit = t.transact(async (tx) => {
            await rowsOf(tx, 'changing')
            await t.transact(change)
            if (writes === 'writes') tx.put(ROWS, { p: 'elsewhere', s: 1 })
          }, ONCE)
          await assert.rejects(unit, Conflict)
        }
    })

    test('an index of the partition is guarded, too, and other partitions do not matter', async () => {
      const cheap = (tx: Pick<UnitOfWork, 'query'>) =>
        tx.query(ROWS, {
          key: 'p = :p AND price < :m',
          values: { ':p': 'shop', ':m': 10 },
          index: 'by-price',
        })
      await t.transact((tx) => tx.put(ROWS, { p: 'shop', s: 1, price: 20 }))
      const overtaken = t.transact(async (tx) => {
        assert.equal((await cheap(tx)).length, 0)
        await t.transact((other) => other.update(ROWS, { p: 'shop', s: 1 }, { set: { price: 5 } }))
        tx.put(ROWS, { p: 'elsewhere', s: 2 })
      }, ONCE)
      await assert.rejects(overtaken, Conflict)
      await t.transact(async (tx) => {
        assert.equal((await cheap(tx)).length, 1)
        await t.transact((other) => other.put(ROWS, { p: 'another shop', s: 1, price: 5 }))
        tx.put(ROWS, { p: 'elsewhere', s: 3 })
      }, ONCE)
    })

    test('writers of one partition go one after another, most of them at their first attempt', async () => {
      const attempts: number[] = []
      const counted = intentsTransactor(opened.endpoint, settings, {
        onOutcome: (info) => attempts.push(info.attempts),
      })
      const writers = Array.from({ length: 6 }, (_, s) =>
        counted.transact((tx) => tx.put(ROWS, { p: 'busy', s }), { retry: { limit: 20 } }),
      )
      await Promise.all(writers)
      await counted.idle()
      assert.equal((await t.transact((tx) => rowsOf(tx, 'busy'))).length, 6)
      assert.ok(attempts.filter((count) => count === 1).length >= 3, `attempts: ${attempts.join(', ')}`)
    })

    test('a detached unit takes along the guards that it has seen', async () => {
      const begun = await t.begin()
      await rowsOf(begun, 'detached')
      begun.put(ROWS, { p: 'elsewhere', s: 4 })
      const id = await begun.detach()
      await t.transact((tx) => tx.put(ROWS, { p: 'detached', s: 1 }))
      await assert.rejects((await t.resume(id)).commit(), Conflict)
      const again = await t.begin()
      await rowsOf(again, 'detached')
      again.put(ROWS, { p: 'elsewhere', s: 5 })
      await (await t.resume(await again.detach())).commit()
    })

    test('keys of any length have guards, and no two the same', async () => {
      const long = 'k'.repeat(2_048)
      for (const p of [long, `${'k'.repeat(2_047)}l`])
        await t.transact(async (tx) => {
          assert.equal((await rowsOf(tx, p)).length, 0)
          tx.put(ROWS, { p, s: 1 })
        }, ONCE)
      const unit = t.transact(async (tx) => {
        await rowsOf(tx, long)
        await t.transact((other) => other.put(ROWS, { p: long, s: 2 }))
        tx.put(ROWS, { p: 'elsewhere', s: 6 })
      }, ONCE)
      await assert.rejects(unit, Conflict)
    })

    test('guards live in the record table, and a sweep frees them and leaves them there', async () => {
      await t.transact((tx) => tx.put(ROWS, { p: 'kept', s: 1 }))
      await t.idle()
      const guard = async () => {
        const { Item } = await opened.endpoint.call('GetItem', {
          TableName: RECORDS,
          Key: { id: { S: 'guard/Rows/S/kept' }, part: { S: 'guard' } },
          ConsistentRead: true,
        })
        return Item
      }
      assert.ok((await guard())?.[VERSION]?.S)
      // An intent of somebody who was never heard of again.
      await opened.endpoint.call('UpdateItem', {
        TableName: RECORDS,
        Key: { id: { S: 'guard/Rows/S/kept' }, part: { S: 'guard' } },
        UpdateExpression: 'SET #i = :intent',
        ExpressionAttributeNames: { '#i': INTENT },
        ExpressionAttributeValues: {
          ':intent': {
            M: {
              id: { S: 'nobody' },
              turn: { N: '1' },
              since: { N: '1' },
              patienceMs: { N: '20' },
              act: { S: 'keep' },
            },
          },
        },
      })
      for (let rounds = 0; (await guard())?.[INTENT] !== undefined; rounds++) {
        assert.ok(rounds < 500, 'the intent is still there')
        await t.sweep()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assert.equal(await t.outcome('nobody.1'), 'cancelled')
      // Records of what is done are deleted at once with this patience; guards never.
      await t.sweep()
      await t.sweep()
      assert.ok((await guard())?.[VERSION]?.S)
    })

    test('who does not take part is not noticed, as the documentation says', async () => {
      const stranger = intentsTransactor(opened.endpoint, { patience: QUICK })
      await t.transact(async (tx) => {
        await rowsOf(tx, 'strange')
        await stranger.transact((other) => other.put(ROWS, { p: 'strange', s: 1 }))
        tx.put(ROWS, { p: 'elsewhere', s: 7 })
      }, ONCE)
      await stranger.idle()
    })

    test('a table without a sort key is refused', async () => {
      const flat = intentsTransactor(opened.endpoint, { ...settings, guards: { Flat: 'write' } })
      await assert.rejects(
        flat.transact((tx) => tx.put('Flat', { id: 'x' })),
        /the table Flat has no sort key: no query of it needs a guard/,
      )
    })
  })
}
