// What every transactor promises, whatever it commits with. Each endpoint runs this suite.
import assert from 'node:assert/strict'
import { after, before, describe, test as nodeTest } from 'node:test'
import type { Endpoint } from '../../src/toolkit/endpoint/endpoint.js'
import { ConditionFailed, Conflict, UnitAborted } from '../../src/toolkit/endpoint/errors.js'
import type {
  OutcomeInfo,
  Transactor,
  TransactorOptions,
  UnitOfWork,
} from '../../src/toolkit/unit/transactor.js'
import { fromSdkItem, marshallItem, toSdkItem, unmarshallItem } from '../../src/toolkit/values/values.js'
import { testUnitStatements } from './unit-statements.js'

/** An endpoint to run the suite on. */
export interface TransactorSubject {
  transactor(options?: TransactorOptions): Transactor
  /** Another client of the same endpoint, that knows nothing of units. */
  readonly plain: Pick<Endpoint, 'call'>
  close(): Promise<void>
}

/** What not every endpoint has. */
export interface TransactorFeatures {
  /** Reads come from a snapshot: readers never conflict, and what they see is consistent at any moment. */
  readonly snapshots: boolean
  /** A range conflicts only with writes that match it. */
  readonly precision: boolean
  /** Two units that only add to the same attribute do not conflict. */
  readonly adds: boolean
  readonly locks: boolean
  /** Global secondary indexes at serializable. */
  readonly globalIndexes: boolean
}

/** `some`: for an endpoint that is slow, one test of each thing that units do. */
export type TransactorTests = 'all' | 'some'

const SOME: ReadonlySet<string> = new Set([
  'a unit is committed whole, and resolves to what its lambda returned',
  'values come back as they were given',
  'a failed condition refuses the whole unit, says where, and is not tried again',
  'reads see the own writes of the unit: items, queries in order with a limit, scans',
  'a read that was changed before the commit is a conflict that names table, key and attempts',
  'no write skew: of two who both go off call one stays',
  'a handle is committed or rolled back by its owner',
  'who locks what he reads is not overtaken',
  'reserved words stand in expressions as they are',
])

export const ACCOUNTS = 'Accounts'
export const ORDERS = 'Orders'

type Plain = Record<string, unknown>

/** Opens when it is told to. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}
export function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

export async function createTables(plain: Pick<Endpoint, 'call'>): Promise<void> {
  await plain.call('CreateTable', {
    TableName: ACCOUNTS,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await plain.call('CreateTable', {
    TableName: ORDERS,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'customer', AttributeType: 'S' },
      { AttributeName: 'number', AttributeType: 'N' },
      { AttributeName: 'status', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'customer', KeyType: 'HASH' },
      { AttributeName: 'number', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-status',
        KeySchema: [
          { AttributeName: 'status', KeyType: 'HASH' },
          { AttributeName: 'number', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  for (const TableName of [ACCOUNTS, ORDERS]) {
    for (;;) {
      const { Table } = await plain.call('DescribeTable', { TableName })
      const indexes = Table?.GlobalSecondaryIndexes ?? []
      if (Table?.TableStatus === 'ACTIVE' && indexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE'))
        break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

export async function plainGet(
  plain: Pick<Endpoint, 'call'>,
  table: string,
  key: object,
): Promise<Plain | undefined> {
  const { Item } = await plain.call('GetItem', {
    TableName: table,
    Key: toSdkItem(marshallItem(key)),
    ConsistentRead: true,
  })
  if (Item === undefined) return undefined
  // Where there are no transactions below, items say who wrote them.
  const { seriatimVersion: _writer, ...item } = unmarshallItem(fromSdkItem(Item))
  return item
}

export function testTransactor(
  name: string,
  open: () => Promise<TransactorSubject>,
  features: TransactorFeatures,
  tests: TransactorTests = 'all',
): void {
  const test = (sentence: string, run: () => Promise<void>): void => {
    if (tests === 'all' || SOME.has(sentence)) void nodeTest(sentence, run)
  }
  describe(name, () => {
    let subject: TransactorSubject
    let t: Transactor
    const patient: TransactorOptions = { retry: { limit: 200, backoffMs: () => Math.random() * 20 } }
    before(async () => {
      subject = await open()
      await createTables(subject.plain)
      t = subject.transactor()
      await t.setup()
    })
    after(() => subject.close())

    const given = (...accounts: Plain[]): Promise<void> =>
      t.transact((tx) => accounts.forEach((account) => tx.put(ACCOUNTS, account)))
    const account = async (id: string): Promise<Plain | undefined> => {
      await t.idle()
      return plainGet(subject.plain, ACCOUNTS, { id })
    }

    test('a unit is committed whole, and resolves to what its lambda returned', async () => {
      await given({ id: 'a1', balance: 100 }, { id: 'a2', balance: 0 })
      const left = await t.transact(async (tx) => {
        const from = await tx.get(ACCOUNTS, { id: 'a1' })
        tx.update(ACCOUNTS, { id: 'a1' }, { add: { balance: -30 } })
        tx.update(ACCOUNTS, { id: 'a2' }, { add: { balance: 30 } })
        tx.put(ORDERS, { customer: 'a1', number: 1, amount: 30, status: 'done' })
        return (from?.['balance'] as number) - 30
      })
      assert.equal(left, 70)
      assert.deepEqual(await account('a1'), { id: 'a1', balance: 70 })
      assert.deepEqual(await account('a2'), { id: 'a2', balance: 30 })
      assert.ok(await plainGet(subject.plain, ORDERS, { customer: 'a1', number: 1 }))
    })

    test('values come back as they were given', async () => {
      const item = {
        id: 'values',
        text: 'ä€𝄞',
        whole: 12345678901234567890n,
        part: 0.1,
        yes: true,
        none: null,
        bytes: new Uint8Array([0, 255]),
        words: new Set(['a', 'b']),
        list: [1, { deep: ['x'] }],
      }
      await given(item)
      assert.deepEqual(await t.transact((tx) => tx.get(ACCOUNTS, { id: 'values' })), item)
    })

    test('a failed condition refuses the whole unit, says where, and is not tried again', async () => {
      await given({ id: 'c1', n: 1 })
      let attempts = 0
      const refused = t.transact((tx) => {
        attempts++
        tx.put(ACCOUNTS, { id: 'c2' })
        tx.check(ACCOUNTS, { id: 'c1' }, { expression: 'n = :two', values: { ':two': 2 } })
      })
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof ConditionFailed, String(error))
        assert.equal(error.detail.table, ACCOUNTS)
        assert.deepEqual(error.detail.key, { id: 'c1' })
        return true
      })
      assert.equal(attempts, 1)
      assert.equal(await account('c2'), undefined)
    })

    test('abort and a thrown error leave nothing behind and are not tried again', async () => {
      let attempts = 0
      await assert.rejects(
        t.transact((tx) => {
          attempts++
          tx.put(ACCOUNTS, { id: 'aborted' })
          return tx.abort('enough')
        }),
        (error) => error instanceof UnitAborted && error.reason === 'enough',
      )
      const mine = new Error('mine')
      await assert.rejects(
        t.transact(async (tx) => {
          attempts++
          await tx.get(ACCOUNTS, { id: 'aborted' })
          tx.put(ACCOUNTS, { id: 'aborted' })
          throw mine
        }),
        (error) => error === mine,
      )
      assert.equal(attempts, 2)
      assert.equal(await account('aborted'), undefined)
    })

    test('point 18: a lambda that fails because it has read two moments is tried again, and its error does not surface', async () => {
      await t.transact((tx) => ['skew-a', 'skew-b'].forEach((id) => tx.put(ACCOUNTS, { id, n: 100 })))
      const move = (): Promise<unknown> =>
        t.transact((tx) => {
          tx.update(ACCOUNTS, { id: 'skew-a' }, { add: { n: -50 } })
          tx.update(ACCOUNTS, { id: 'skew-b' }, { add: { n: 50 } })
        })
      for (const fail of [
        () => assert.fail('money was made'),
        (tx: UnitOfWork) => tx.abort('money was made'),
      ]) {
        let moved = false
        const sum = await t.transact(async (tx) => {
          const first = await tx.get(ACCOUNTS, { id: 'skew-a' })
          if (!moved) await move()
          moved = true
          const second = await tx.get(ACCOUNTS, { id: 'skew-b' })
          const total = Number(first?.['n']) + Number(second?.['n'])
          return total === 200 ? total : fail(tx)
        })
        assert.equal(sum, 200)
      }
    })

    test('reads see the own writes of the unit: items, queries in order with a limit, scans', async () => {
      await t.transact((tx) => {
        for (const number of [1, 3, 5]) tx.put(ORDERS, { customer: 'own', number, status: 'old' })
      })
      await t.transact(async (tx) => {
        tx.put(ORDERS, { customer: 'own', number: 4, status: 'new' })
        tx.update(ORDERS, { customer: 'own', number: 3 }, { set: { status: 'changed' } })
        tx.delete(ORDERS, { customer: 'own', number: 1 })
        const input = { key: 'customer = :c', values: { ':c': 'own' } }
        const shown = (rows: Plain[]): string =>
          rows.map(({ number, status }) => [number, status].join(' ')).join(', ')
        assert.equal(shown(await tx.query(ORDERS, input)), '3 changed, 4 new, 5 old')
        assert.equal(shown(await tx.query(ORDERS, { ...input, limit: 2, reverse: true })), '5 old, 4 new')
        const filtered = {
          ...input,
          filter: '#s = :s',
          names: { '#s': 'status' },
          values: { ':c': 'own', ':s': 'old' },
        }
        assert.equal(shown(await tx.query(ORDERS, filtered)), '5 old')
        const scanned = await tx.scan(ORDERS, { filter: 'customer = :c', values: { ':c': 'own' } })
        assert.equal(scanned.length, 3)
        const iterated: unknown[] = []
        for await (const row of tx.query(ORDERS, input)) iterated.push(row['number'])
        assert.deepEqual(iterated, [3, 4, 5])
        assert.equal(await tx.get(ORDERS, { customer: 'own', number: 1 }), undefined)
      })
    })

    test('several operations on one item are one write of their result', async () => {
      await given({ id: 'several', n: 1 })
      await t.transact(async (tx) => {
        tx.update(ACCOUNTS, { id: 'several' }, { add: { n: 1 } })
        tx.update(ACCOUNTS, { id: 'several' }, { expression: 'SET twice = n + n' })
        tx.check(ACCOUNTS, { id: 'several' }, { expression: 'twice = :four', values: { ':four': 4 } })
        assert.deepEqual(await tx.get(ACCOUNTS, { id: 'several' }), { id: 'several', n: 2, twice: 4 })
      })
      assert.deepEqual(await account('several'), { id: 'several', n: 2, twice: 4 })
    })

    test('no update is lost: eight read-modify-write units at once are all counted', async () => {
      await given({ id: 'counter', n: 0 })
      const outcomes: OutcomeInfo[] = []
      const each = subject.transactor({ ...patient, onOutcome: (info) => void outcomes.push(info) })
      const increment = async (tx: UnitOfWork): Promise<void> => {
        const { n } = (await tx.get(ACCOUNTS, { id: 'counter' })) as { n: number }
        tx.put(ACCOUNTS, { id: 'counter', n: n + 1 })
      }
      await Promise.all(Array.from({ length: 8 }, () => each.transact(increment)))
      await each.idle()
      assert.deepEqual(await account('counter'), { id: 'counter', n: 8 })
      assert.equal(outcomes.length, 8)
    })

    test('a read that was changed before the commit is a conflict that names table, key and attempts', async () => {
      await given({ id: 'read', n: 0 })
      const conflicting = t.transact(
        async (tx) => {
          await tx.get(ACCOUNTS, { id: 'read' })
          await given({ id: 'read', n: 1 })
          tx.put(ACCOUNTS, { id: 'written' })
        },
        { retry: { limit: 0 } },
      )
      await assert.rejects(conflicting, (error) => {
        assert.ok(error instanceof Conflict, String(error))
        assert.equal(error.detail.table, ACCOUNTS)
        assert.deepEqual(error.detail.key, { id: 'read' })
        assert.equal(error.attempts, 1)
        return true
      })
      assert.equal(await account('written'), undefined)
    })

    test('no write skew: of two who both go off call one stays', async () => {
      await given({ id: 'alice', onCall: true }, { id: 'bob', onCall: true })
      const both = gate()
      let reading = 0
      const leave = (id: string): Promise<string> =>
        subject.transactor(patient).transact(async (tx) => {
          const doctors = await tx.getAll(ACCOUNTS, [{ id: 'alice' }, { id: 'bob' }])
          if (++reading >= 2) both.open()
          await both.opened
          if (doctors.filter((doctor) => doctor?.['onCall']).length < 2) return 'stays'
          tx.update(ACCOUNTS, { id }, { set: { onCall: false } })
          return 'leaves'
        })
      const ends = await Promise.all([leave('alice'), leave('bob')])
      assert.deepEqual(ends.toSorted(), ['leaves', 'stays'])
    })

    test('no phantoms: an address found to be free by a scan is taken by one of two', async () => {
      const both = gate()
      let reading = 0
      const register = (id: string): Promise<string> =>
        subject.transactor(patient).transact(async (tx) => {
          const found = await tx.scan(ACCOUNTS, { filter: 'email = :e', values: { ':e': 'm@example.org' } })
          if (++reading >= 2) both.open()
          await both.opened
          if (found.length > 0) return 'taken'
          tx.put(ACCOUNTS, { id, email: 'm@example.org' })
          return 'registered'
        })
      const ends = await Promise.all([register('m1'), register('m2')])
      assert.deepEqual(ends.toSorted(), ['registered', 'taken'])
    })

    test('no phantoms: rows that come, go or change within a range are conflicts', async () => {
      const changes: readonly ((tx: UnitOfWork) => void)[] = [
        (tx) => tx.put(ORDERS, { customer: 'range', number: 2, status: 's' }),
        (tx) => tx.update(ORDERS, { customer: 'range', number: 1 }, { set: { amount: 5 } }),
        (tx) => tx.delete(ORDERS, { customer: 'range', number: 1 }),
      ]
      for (const change of changes) {
        await t.transact((tx) => {
          tx.put(ORDERS, { customer: 'range', number: 1, status: 's' })
          tx.delete(ORDERS, { customer: 'range', number: 2 })
        })
        let attempts = 0
        await t.transact(async (tx) => {
          await tx.query(ORDERS, { key: 'customer = :c', values: { ':c': 'range' } })
          if (++attempts === 1) await t.transact(change)
          tx.put(ACCOUNTS, { id: 'range' })
        })
        assert.equal(attempts, 2)
      }
    })

    test('callbacks run once, after the commit, and attempts are counted', async () => {
      await given({ id: 'told', n: 0 })
      const told: number[] = []
      const outcomes: OutcomeInfo[] = []
      await subject
        .transactor({ ...patient, onOutcome: (info) => void outcomes.push(info) })
        .transact(async (tx) => {
          tx.onCommit(() => void told.push(tx.attempt))
          const { n } = (await tx.get(ACCOUNTS, { id: 'told' })) as { n: number }
          if (tx.attempt === 1) await given({ id: 'told', n: 10 })
          tx.put(ACCOUNTS, { id: 'told', n: n + 1 })
        })
      assert.deepEqual(told, [2])
      assert.equal(outcomes[0]?.attempts, 2)
      assert.deepEqual(await account('told'), { id: 'told', n: 11 })
    })

    test('more than a hundred items are one unit', async () => {
      const keys = Array.from({ length: 130 }, (_, number) => ({ id: `many-${number}` }))
      await t.transact((tx) => keys.forEach((key) => tx.put(ACCOUNTS, { ...key, n: 1 })))
      const read = await t.transact((tx) => tx.getAll(ACCOUNTS, keys))
      assert.ok(read.every((item) => item?.['n'] === 1))
      await assert.rejects(
        t.transact((tx) => {
          for (const key of keys) tx.update(ACCOUNTS, key, { add: { n: 1 } })
          tx.check(ACCOUNTS, { id: 'many-none' }, { expression: 'attribute_exists(id)' })
        }),
        ConditionFailed,
      )
      assert.equal((await account('many-7'))?.['n'], 1)
    })

    test('a handle is committed or rolled back by its owner', async () => {
      const first = await t.begin()
      first.put(ACCOUNTS, { id: 'handle', n: 1 })
      await first.commit()
      const second = await t.begin()
      assert.deepEqual(await second.get(ACCOUNTS, { id: 'handle' }), { id: 'handle', n: 1 })
      second.put(ACCOUNTS, { id: 'handle', n: 2 })
      await second.rollback()
      assert.throws(() => second.put(ACCOUNTS, { id: 'handle' }), /rolled back/)
      assert.deepEqual(await account('handle'), { id: 'handle', n: 1 })
      const third = await t.begin()
      const fourth = await t.begin()
      for (const handle of [third, fourth]) await handle.get(ACCOUNTS, { id: 'handle' })
      third.put(ACCOUNTS, { id: 'handle', n: 3 })
      fourth.put(ACCOUNTS, { id: 'handle', n: 4 })
      await third.commit()
      await assert.rejects(fourth.commit(), Conflict)
      assert.equal((await account('handle'))?.['n'], 3)
    })

    test('money is neither made nor lost by many transfers at once, and no auditor sees it so', async () => {
      const ids = Array.from({ length: 6 }, (_, number) => `bank-${number}`)
      await given(...ids.map((id) => ({ id, balance: 100 })))
      const clerk = subject.transactor(patient)
      let seen = 0
      const transfer = (number: number): Promise<void> =>
        clerk.transact(async (tx) => {
          const [from, to] = [ids[number % 6]!, ids[(number * 5 + 1) % 6]!]
          const [payer, payee] = await tx.getAll(ACCOUNTS, [{ id: from }, { id: to }])
          if (from === to || (payer?.['balance'] as number) < 7) return
          tx.put(ACCOUNTS, { id: from, balance: (payer?.['balance'] as number) - 7 })
          tx.put(ACCOUNTS, { id: to, balance: (payee?.['balance'] as number) + 7 })
        })
      const audit = (): Promise<void> =>
        clerk.transact(async (tx) => {
          const found = await tx.getAll(
            ACCOUNTS,
            ids.map((id) => ({ id })),
          )
          const total = found.reduce((sum, one) => sum + (one?.['balance'] as number), 0)
          assert.equal(total, 600)
          seen++
        })
      await Promise.all(
        Array.from({ length: 24 }, (_, number) => (number % 4 === 3 ? audit() : transfer(number))),
      )
      await audit()
      assert.ok(seen >= 7)
    })

    if (features.snapshots) {
      test('a reader of a snapshot sees the state of its first read, and never conflicts', async () => {
        await given({ id: 's1', n: 1 }, { id: 's2', n: 1 })
        for (const isolation of ['snapshot', 'serializable'] as const) {
          await given({ id: 's1', n: 1 }, { id: 's2', n: 1 })
          const outcomes: OutcomeInfo[] = []
          const reader = subject.transactor({ onOutcome: (info) => void outcomes.push(info) })
          const seen = await reader.transact(
            async (tx) => {
              const first = await tx.get(ACCOUNTS, { id: 's1' })
              await given({ id: 's1', n: 2 }, { id: 's2', n: 2 })
              const second = await tx.get(ACCOUNTS, { id: 's2' })
              const rows = await tx.scan(ACCOUNTS, { filter: 'begins_with(id, :s)', values: { ':s': 's' } })
              return [first, second, ...rows].flatMap((item) =>
                String(item?.['id']).length === 2 ? [item?.['n']] : [],
              )
            },
            { isolation },
          )
          assert.deepEqual(seen, [1, 1, 1, 1])
          assert.deepEqual(
            outcomes.map(({ protocol, attempts }) => ({ protocol, attempts })),
            [{ protocol: 'read-only', attempts: 1 }],
          )
        }
      })
    }

    if (features.precision) {
      test('a range conflicts only with writes that match it', async () => {
        let attempts = 0
        await t.transact(async (tx) => {
          attempts++
          await tx.scan(ACCOUNTS, { filter: 'email = :e', values: { ':e': 'nobody@example.org' } })
          await t.transact((other) => other.put(ACCOUNTS, { id: 'other', email: 'other@example.org' }))
          tx.put(ACCOUNTS, { id: 'nobody', email: 'nobody@example.org' })
        })
        assert.equal(attempts, 1)
      })

      test('what lies beyond the limit of a query was not read', async () => {
        await t.transact((tx) => {
          for (let number = 1; number <= 5; number++)
            tx.put(ORDERS, { customer: 'limit', number, status: 's' })
        })
        const input = { key: 'customer = :c', values: { ':c': 'limit' }, limit: 2 }
        const attemptsWith = async (number: number): Promise<number> => {
          let attempts = 0
          await t.transact(async (tx) => {
            attempts++
            await tx.query(ORDERS, input)
            if (attempts === 1)
              await t.transact((other) =>
                other.update(ORDERS, { customer: 'limit', number }, { add: { n: 1 } }),
              )
            tx.put(ACCOUNTS, { id: 'limit' })
          })
          return attempts
        }
        assert.equal(await attemptsWith(3), 1)
        assert.equal(await attemptsWith(2), 2)
      })
    }

    if (features.adds) {
      test('units that only add to the same attribute do not conflict', async () => {
        for (const isolation of ['snapshot', 'serializable'] as const) {
          await given({ id: 'sum', n: 0 })
          const started = gate()
          let waiting = 0
          const attempts = await Promise.all(
            Array.from({ length: 6 }, (_, number) =>
              t.transact(
                async (tx) => {
                  await tx.get(ACCOUNTS, { id: `nobody-${number}` })
                  if (++waiting === 6) started.open()
                  await started.opened
                  tx.update(ACCOUNTS, { id: 'sum' }, { add: { n: 1 } })
                  return tx.attempt
                },
                { isolation },
              ),
            ),
          )
          assert.deepEqual(attempts, [1, 1, 1, 1, 1, 1])
          assert.deepEqual(await account('sum'), { id: 'sum', n: 6 })
        }
      })
    }

    if (features.locks) {
      test('who locks what he reads is not overtaken', async () => {
        await given({ id: 'locked', n: 0 })
        const attempts = await Promise.all(
          Array.from({ length: 6 }, () =>
            t.transact(async (tx) => {
              const item = await tx.get(ACCOUNTS, { id: 'locked' }, { lock: true })
              tx.put(ACCOUNTS, { id: 'locked', n: (item?.['n'] as number) + 1 })
              return tx.attempt
            }, patient),
          ),
        )
        assert.deepEqual(await account('locked'), { id: 'locked', n: 6 })
        assert.equal(attempts.length, 6)
      })
    }

    test('reserved words stand in expressions as they are', async () => {
      await t.transact((tx) => {
        for (const number of [1, 2, 3])
          tx.put(ORDERS, {
            customer: 'reserved',
            number,
            status: number === 2 ? 'paid' : 'held',
            size: number,
          })
      })
      const rows = await t.transact((tx) =>
        tx.query(ORDERS, {
          key: 'customer = :c AND number BETWEEN :from AND :to',
          filter: 'NOT status = :s OR size IN (:two, :three)',
          values: { ':c': 'reserved', ':from': 1, ':to': 2, ':s': 'held', ':two': 2, ':three': 3 },
        }),
      )
      assert.deepEqual(
        rows.map(({ number }) => number),
        [2],
      )
      await t.transact((tx) =>
        tx.update(
          ORDERS,
          { customer: 'reserved', number: 1 },
          {
            expression: 'SET status = :s, #v = :v REMOVE size',
            names: { '#v': 'value' },
            values: { ':s': 'done', ':v': 1 },
          },
          { expression: 'size < :max AND attribute_exists(status)', values: { ':max': 2 } },
        ),
      )
      const scanned = await t.transact((tx) =>
        tx.scan(ORDERS, { filter: 'status = :s AND value = :v', values: { ':s': 'done', ':v': 1 } }),
      )
      assert.deepEqual(scanned, [{ customer: 'reserved', number: 1, status: 'done', value: 1 }])
    })

    test('a failed condition comes with the item that it failed on', async () => {
      await t.transact((tx) => tx.put(ACCOUNTS, { id: 'failed', n: 7, big: 12345678901234567890n }))
      const failure = async (id: string): Promise<unknown> =>
        t
          .transact((tx) => tx.put(ACCOUNTS, { id, n: 1 }, { expression: 'n = :one', values: { ':one': 1 } }))
          .catch((error: unknown) => error)
      const failed = await failure('failed')
      assert.ok(failed instanceof ConditionFailed)
      assert.deepEqual(failed.item, { id: 'failed', n: 7, big: 12345678901234567890n })
      assert.deepEqual(failed.detail.key, { id: 'failed' })
      assert.match(failed.message, /Accounts \{"id":"failed"\}/)
      const absent = await failure('never there')
      assert.ok(absent instanceof ConditionFailed)
      assert.equal(absent.item, undefined)
    })

    test('a read that is not awaited before the commit is an error, and nothing is written', async () => {
      let floating: PromiseLike<unknown> | undefined
      for (const read of [
        (tx: UnitOfWork) => tx.get(ACCOUNTS, { id: 'other' }),
        (tx: UnitOfWork) => tx.getAll(ACCOUNTS, [{ id: 'other' }]),
        (tx: UnitOfWork) => tx.scan(ACCOUNTS).then((rows) => rows),
      ]) {
        const unit = t.transact((tx) => {
          tx.put(ACCOUNTS, { id: 'floating' })
          floating = read(tx)
        })
        await assert.rejects(unit, { name: 'TypeError', message: /A read of Accounts.* await it/ })
      }
      assert.ok(floating)
      assert.equal(await account('floating'), undefined)
    })

    testUnitStatements(() => ({ t, patient: subject.transactor(patient) }))

    if (features.globalIndexes) {
      test('an index is part of the snapshot, and of what is validated', async () => {
        await t.transact((tx) => tx.put(ORDERS, { customer: 'x', number: 1, status: 'open' }))
        const input = {
          index: 'by-status',
          key: '#s = :s',
          names: { '#s': 'status' },
          values: { ':s': 'open' },
        }
        let attempts = 0
        const counts: number[] = []
        await t.transact(async (tx) => {
          attempts++
          const before = await tx.query(ORDERS, input)
          if (attempts === 1)
            await t.transact((other) => other.put(ORDERS, { customer: 'y', number: 2, status: 'open' }))
          const again = await tx.query(ORDERS, input)
          assert.deepEqual(again, before)
          counts.push(before.length)
          tx.put(ORDERS, { customer: 'z', number: 3, status: 'open' })
          assert.equal((await tx.query(ORDERS, input)).length, before.length + 1)
        })
        assert.deepEqual(counts, [1, 2])
      })
    }
  })
}
