// What is particular to units of work on endpoints without Seriatim's protocol.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Conflict, OutcomeUnknown } from '../../../src/toolkit/endpoint/errors.js'
import { INTENT } from '../../../src/toolkit/intents/protocol/records.js'
import type { OutcomeInfo, Transactor } from '../../../src/toolkit/unit/transactor.js'
import { plainGet } from '../../suites/transactor.js'
import { dynalitePlace, intentsTransactor, type Place, seriatim } from './endpoints.js'

const TABLE = 'Things'
const QUICK = { graceMs: 20, waitMs: 60, pollMs: 2, pollMaxMs: 10 }

for (const [name, place] of [
  ['Seriatim', seriatim],
  ['dynalite', dynalitePlace],
] as const) {
  describe(`intents on ${name}`, () => {
    let opened: Place
    let t: Transactor
    before(async () => {
      opened = await place()
      await opened.endpoint.call('CreateTable', {
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['p', 's', 'price', 'colour'].map((AttributeName) => ({
          AttributeName,
          AttributeType: AttributeName === 'price' ? 'N' : 'S',
        })),
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
        GlobalSecondaryIndexes: [
          {
            IndexName: 'by-colour',
            KeySchema: [{ AttributeName: 'colour', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      })
      for (;;) {
        const { Table } = await opened.endpoint.call('DescribeTable', { TableName: TABLE })
        if (Table?.TableStatus === 'ACTIVE') break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      t = intentsTransactor(opened.endpoint, { always: true, patience: QUICK })
      await t.setup()
    })
    after(async () => {
      await t.idle()
      await opened.close()
    })

    const raw = (s: string): ReturnType<typeof plainGet> => plainGet(opened.endpoint, TABLE, { p: 'x', s })

    test('setup verifies a table that is there', async () => {
      await t.setup()
      const wrong = intentsTransactor(opened.endpoint, { record: TABLE })
      await assert.rejects(wrong.setup(), /its partition key is p \(S\), not id \(S\)/)
    })

    test('items of nearly 400 KB are changed, their redo in records of its own', async () => {
      const text = 'a'.repeat(398_000)
      await t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'big', text }))
      await t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'big', text: 'ä€𝄞'.repeat(40_000) }))
      assert.equal(
        (await t.transact((tx) => tx.get(TABLE, { p: 'x', s: 'big' })))?.['text'],
        'ä€𝄞'.repeat(40_000),
      )
      await t.transact((tx) => tx.update(TABLE, { p: 'x', s: 'big' }, { set: { text } }))
      await t.idle()
      assert.equal((await raw('big'))?.['text'], text)
      await assert.rejects(
        t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'big', text: 'a'.repeat(410_000) })),
        /Item size has exceeded/,
      )
    })

    test('what an index would refuse is refused before anything is written', async () => {
      const put = t.transact((tx) => {
        tx.put(TABLE, { p: 'x', s: 'fine' })
        tx.put(TABLE, { p: 'x', s: 'wrong', price: 'cheap' })
      })
      await assert.rejects(put, { name: 'ValidationException', message: /Type mismatch for Index Key price/ })
      const reserved = t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'wrong', [INTENT]: 1 }))
      await assert.rejects(reserved, /reserved for transactions/)
      assert.equal(await raw('fine'), undefined)
    })

    test('a local index is read through its table, a global one is refused', async () => {
      await t.transact((tx) => {
        for (const [s, price] of [
          ['a', 3],
          ['b', 1],
          ['c', 2],
        ] as const)
          tx.put(TABLE, { p: 'lsi', s, price })
        tx.put(TABLE, { p: 'lsi', s: 'd' })
      })
      const query = { index: 'by-price', key: 'p = :p AND price >= :two', values: { ':p': 'lsi', ':two': 2 } }
      const rows = await t.transact((tx) => tx.query(TABLE, query))
      assert.deepEqual(
        rows.map(({ s }) => s as string),
        ['c', 'a'],
      )
      let attempts = 0
      await t.transact(async (tx) => {
        await tx.query(TABLE, query)
        // Moved into the range.
        if (++attempts === 1)
          await t.transact((other) => other.update(TABLE, { p: 'lsi', s: 'd' }, { set: { price: 9 } }))
        tx.put(TABLE, { p: 'lsi', s: 'seen' })
      })
      assert.equal(attempts, 2)
      const global = { index: 'by-colour', key: 'colour = :c', values: { ':c': 'red' } }
      await assert.rejects(
        t.transact((tx) => tx.query(TABLE, global)),
        /cannot be read consistently/,
      )
      assert.deepEqual(await t.transact((tx) => tx.query(TABLE, global), { isolation: 'read-committed' }), [])
    })

    test('a detached unit is added to and committed by somebody else, and its fate can be asked for', async () => {
      const handle = await t.begin()
      handle.put(TABLE, { p: 'x', s: 'first' })
      const id = await handle.detach()
      assert.equal(await t.outcome(id), 'pending')
      assert.equal(await raw('first'), undefined)
      const other = intentsTransactor(opened.endpoint)
      const resumed = await other.resume(id)
      resumed.put(TABLE, { p: 'x', s: 'second' })
      await resumed.commit()
      await other.idle()
      assert.ok((await raw('first')) && (await raw('second')))
      assert.equal(await t.outcome(id), 'committed')
      await assert.rejects(t.resume(id), Conflict)
      assert.equal(await t.outcome('nobody'), 'unknown')
    })

    test('a detached unit whose reads have changed is refused', async () => {
      await t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'read', n: 1 }))
      const handle = await t.begin()
      await handle.get(TABLE, { p: 'x', s: 'read' })
      await handle.query(TABLE, { key: 'p = :p', values: { ':p': 'rows' } })
      handle.put(TABLE, { p: 'x', s: 'written' })
      const id = await handle.detach()
      await t.transact((tx) => tx.put(TABLE, { p: 'rows', s: '1' }))
      await assert.rejects((await t.resume(id)).commit(), Conflict)
      assert.equal(await t.outcome(id), 'cancelled')
      assert.equal(await raw('written'), undefined)
    })

    test('of two coordinators that go on with one transaction one commits it', async () => {
      const handle = await t.begin()
      handle.put(TABLE, { p: 'x', s: 'two' })
      const id = await handle.detach()
      const transactors = [1, 2].map(() => intentsTransactor(opened.endpoint))
      const others = await Promise.all(transactors.map((other) => other.resume(id)))
      const ends = await Promise.allSettled(others.map((other) => other.commit()))
      const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
      assert.ok(
        failed.length <= 1 && failed.every((error) => error instanceof OutcomeUnknown),
        String(failed),
      )
      assert.equal(await t.outcome(id), 'committed')
      await Promise.all(transactors.map((other) => other.idle()))
    })

    test('a rolled back unit gives its locks back, and holds them until then', async () => {
      await t.transact((tx) => tx.put(TABLE, { p: 'x', s: 'held', n: 0 }))
      const handle = await t.begin()
      await handle.get(TABLE, { p: 'x', s: 'held' }, { lock: true })
      await handle.get(TABLE, { p: 'x', s: 'not there' }, { lock: true })
      // Ages are in milliseconds, and of two of the same age the id decides: the other unit has to begin in a later one.
      const heldMs = Date.now()
      while (Date.now() === heldMs) await new Promise((resolve) => setTimeout(resolve, 1))
      const younger = t.transact((tx) => tx.update(TABLE, { p: 'x', s: 'held' }, { add: { n: 1 } }), {
        retry: { limit: 0 },
      })
      await assert.rejects(younger, (error) => {
        assert.ok(error instanceof Conflict, String(error))
        assert.equal(error.detail.competitor, handle.id)
        assert.deepEqual(error.detail.key, { p: 'x', s: 'held' })
        return true
      })
      await handle.rollback()
      assert.equal(await t.outcome(handle.id), 'cancelled')
      assert.equal(await raw('not there'), undefined)
      await t.transact((tx) => tx.update(TABLE, { p: 'x', s: 'held' }, { add: { n: 1 } }))
      await t.idle()
      assert.equal((await raw('held'))?.['n'], 1)
    })

    test('the outcome says how a unit was committed', async () => {
      const outcomes: OutcomeInfo[] = []
      const auto = intentsTransactor(
        opened.endpoint,
        { protocol: 'intents' },
        { onOutcome: (info) => void outcomes.push(info) },
      )
      await auto.transact((tx) => tx.put(TABLE, { p: 'x', s: 'one' }))
      await auto.transact(async (tx) => {
        await tx.get(TABLE, { p: 'x', s: 'one' })
        tx.put(TABLE, { p: 'x', s: 'one', n: 1 })
        tx.put(TABLE, { p: 'x', s: 'other' })
      })
      await auto.transact((tx) => tx.get(TABLE, { p: 'x', s: 'one' }))
      await auto.idle()
      assert.deepEqual(
        outcomes.map(({ protocol }) => protocol),
        ['single', 'intents', 'read-only'],
      )
      assert.ok(outcomes.every(({ requests, capacity }) => requests > 0 && capacity > 0))
    })
  })
}
