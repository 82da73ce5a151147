// The loop around a lambda, on a store whose commits are made to fail.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { manualClock, type ManualClock } from '../../../src/runtime/manual-clock.js'
import type { Runtime } from '../../../src/runtime/runtime.js'
import { open, type Store } from '../../../src/store/store.js'
import {
  ConditionFailed,
  Conflict,
  OutcomeUnknown,
  SnapshotTooOld,
  UnitAborted,
  UnitExpired,
} from '../../../src/toolkit/endpoint/errors.js'
import { EarlierCommitted } from '../../../src/toolkit/unit/protocol.js'
import { Overloaded } from '../../../src/toolkit/endpoint/refusals.js'
import type { AttemptStart, ItemAddress, Protocol } from '../../../src/toolkit/unit/protocol.js'
import type { OutcomeInfo, Transactor, TransactorOptions } from '../../../src/toolkit/unit/transactor.js'
import { unitTransactor } from '../../../src/toolkit/unit/unit-transactor.js'
import { Pace, ConcurrencyLimit } from '../../../src/toolkit/endpoint/waiting.js'
import { seededRandom } from '../../suites/seeded-random.js'
import { PlainAttempt } from './plain-attempt.js'

let store: Store
before(async () => {
  store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
})
after(() => store.close())

/** What becomes of the n-th commit: an error, or nothing for the real thing. */
type Script = (commit: number) => unknown

interface World {
  readonly t: Transactor
  readonly clock: ManualClock
  readonly starts: AttemptStart[]
  /** Ends of attempts that were given up. */
  readonly ended: (readonly ItemAddress[])[]
  /** What was waited for, in order. */
  readonly waits: number[]
}

function world(script: Script, options: TransactorOptions = {}, more: { isDoubtful?: boolean } = {}): World {
  const clock = manualClock(1_000_000)
  const waits: number[] = []
  const choose = seededRandom(7)
  const runtime: Runtime = {
    clock: {
      nowMicros: () => clock.nowMicros(),
      timer: (delayMs, callback) => {
        // Deadlines are long; everything shorter is a wait between attempts, and passes at once.
        if (delayMs >= 10_000) return clock.timer(delayMs, callback)
        waits.push(delayMs)
        queueMicrotask(callback)
        return () => undefined
      },
    },
    randomBytes: (count) => Uint8Array.from({ length: count }, () => choose(256)),
    defer: (callback) => queueMicrotask(callback),
  }
  const starts: AttemptStart[] = []
  const ended: (readonly ItemAddress[])[] = []
  let commits = 0
  const protocol: Protocol = {
    ordersLikeSeriatim: true,
    attempt: (start) => {
      starts.push(start)
      const real = new PlainAttempt(store)
      return {
        commitsReads: false,
        usage: real.usage,
        layout: (table) => real.layout(table),
        get: (addresses) => real.get(addresses),
        page: (...range) => real.page(...range),
        commit: (work) => {
          const error = script(++commits)
          return error === undefined ? real.commit(work) : Promise.reject(error)
        },
        end: (locks) => void ended.push(locks),
        carry: () => `attempt ${start.attempt}`,
        ...(more.isDoubtful !== undefined && { isDoubtful: more.isDoubtful }),
      }
    },
    setup: () => Promise.resolve(),
    outcome: () => Promise.resolve('unknown'),
    sweep: () => Promise.resolve({ committed: 0, cancelled: 0, orphans: 0, deleted: 0 }),
    idle: () => Promise.resolve(),
  }
  return { t: unitTransactor(() => protocol, options, runtime), clock, starts, ended, waits }
}

function deferred<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((settle) => (resolve = settle))
  return { promise, resolve }
}

const conflicts =
  (times: number): Script =>
  (commit) =>
    commit <= times
      ? new Conflict('Things {"id":"x"} was changed by transaction 9.', { table: 'Things', competitor: '9' })
      : undefined

test('a conflict is tried again with the same id and what the attempt before left', async () => {
  const { t, starts, ended } = world(conflicts(2))
  const seen: number[] = []
  const result = await t.transact((tx) => {
    seen.push(tx.attempt)
    tx.put('Things', { id: 'again' })
    return `done at ${tx.attempt}`
  })
  assert.equal(result, 'done at 3')
  assert.deepEqual(seen, [1, 2, 3])
  assert.equal(new Set(starts.map(({ id }) => id)).size, 1)
  assert.deepEqual(
    starts.map(({ carried }) => carried),
    [undefined, 'attempt 1', 'attempt 2'],
  )
  assert.equal(ended.length, 2)
})

test('after four further attempts the conflict surfaces: table, key, competitor and attempts', async () => {
  const { t, starts, waits } = world(conflicts(99))
  const refused = t.transact((tx) => tx.put('Things', { id: 'x' }))
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof Conflict)
    assert.equal(error.attempts, 5)
    assert.equal(error.detail.competitor, '9')
    assert.match(
      error.message,
      /Things \{"id":"x"\} was changed by transaction 9\. Gave up after 5 attempts\./,
    )
    return true
  })
  assert.equal(starts.length, 5)
  // Full jitter: each between nothing and 20 ms times two to the number of the attempt.
  assert.equal(waits.length, 4)
  for (const [at, wait] of waits.entries()) assert.ok(wait >= 0 && wait < 20 * 2 ** (at + 1), String(waits))
  assert.ok(new Set(waits).size > 1)
})

test('the limit of a call comes before that of its transactor, and a backoff may be given', async () => {
  const none = world(conflicts(99), { retry: { limit: 2 } })
  await assert.rejects(
    none.t.transact((tx) => tx.put('Things', { id: 'x' }), { retry: { limit: 0 } }),
    Conflict,
  )
  assert.equal(none.starts.length, 1)
  const two = world(conflicts(99), { retry: { limit: 2, backoffMs: (attempt) => attempt * 100 } })
  await assert.rejects(
    two.t.transact((tx) => tx.put('Things', { id: 'x' })),
    Conflict,
  )
  assert.equal(two.starts.length, 3)
  assert.deepEqual(two.waits, [100, 200])
  const mixed = world(conflicts(99), { retry: { limit: 1, backoffMs: () => 5 } })
  await assert.rejects(
    mixed.t.transact((tx) => tx.put('Things', { id: 'x' }), { retry: { backoffMs: () => 9 } }),
    Conflict,
  )
  assert.deepEqual(mixed.waits, [9])
})

test('only what can succeed is tried again', async () => {
  const final: readonly (readonly [unknown, new (...args: never[]) => Error])[] = [
    [new ConditionFailed('no'), ConditionFailed],
    [new OutcomeUnknown('?', 'id'), OutcomeUnknown],
    [new UnitExpired('late'), UnitExpired],
    [new RangeError('other'), RangeError],
  ]
  for (const [error, kind] of final) {
    const { t, starts } = world(() => error)
    await assert.rejects(
      t.transact((tx) => tx.put('Things', { id: 'x' })),
      kind,
    )
    assert.equal(starts.length, 1)
  }
  const old = world((commit) => (commit === 1 ? new SnapshotTooOld('gone') : undefined))
  await old.t.transact((tx) => tx.put('Things', { id: 'x' }))
  assert.equal(old.starts.length, 2)
})

test('an error of the lambda is not tried again and passes unchanged', async () => {
  const { t, starts, ended } = world(() => undefined)
  const mine = new Error('mine')
  await assert.rejects(
    t.transact((tx) => {
      tx.put('Things', { id: 'thrown' })
      throw mine
    }),
    (error) => error === mine,
  )
  assert.equal(starts.length, 1)
  assert.equal(ended.length, 1)
})

test('abort is final, even if the lambda catches it', async () => {
  const { t, starts } = world(() => undefined)
  const aborted = t.transact((tx) => {
    tx.put('Things', { id: 'aborted' })
    try {
      tx.abort('insufficient funds')
    } catch {
      // Looked away.
    }
  })
  await assert.rejects(aborted, (error) => {
    assert.ok(error instanceof UnitAborted)
    assert.equal(error.reason, 'insufficient funds')
    return true
  })
  assert.equal(starts.length, 1)
  const { Item } = await store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'aborted' } } })
  assert.equal(Item, undefined)
})

test('onCommit runs once, after the commit only, and one that throws hides no other', async () => {
  const told: string[] = []
  const errors: unknown[] = []
  const { t } = world(conflicts(2), { onError: (error) => void errors.push(error) })
  const result = await t.transact((tx) => {
    tx.onCommit(() => void told.push(`first of attempt ${tx.attempt}`))
    tx.onCommit(() => {
      throw new Error('in a callback')
    })
    tx.onCommit(async () => {
      await Promise.resolve()
      told.push('last')
    })
    tx.put('Things', { id: 'told' })
    return 1
  })
  assert.equal(result, 1)
  assert.deepEqual(told, ['first of attempt 3', 'last'])
  assert.match(String(errors), /in a callback/)
  const refused = world(() => new ConditionFailed('no'))
  await assert.rejects(
    refused.t.transact((tx) => {
      tx.onCommit(() => void told.push('never'))
      tx.put('Things', { id: 'x' })
    }),
  )
  assert.ok(!told.includes('never'))
})

test('onOutcome tells how a unit was committed', async () => {
  const infos: OutcomeInfo[] = []
  const { t } = world(conflicts(1), { onOutcome: (info) => void infos.push(info) })
  await t.transact(async (tx) => {
    await tx.get('Things', { id: 'a' })
    tx.put('Things', { id: 'b' })
  })
  await t.transact((tx) => tx.get('Things', { id: 'a' }))
  assert.deepEqual(
    infos.map(({ protocol, attempts, requests }) => ({ protocol, attempts, requests })),
    [
      { protocol: 'transact', attempts: 2, requests: 2 },
      { protocol: 'read-only', attempts: 1, requests: 1 },
    ],
  )
})

test('an attempt that takes longer than timeoutMs is UnitExpired, and what it does later fails', async () => {
  const { t, clock } = world(() => undefined)
  const begun = deferred()
  const goOn = deferred()
  const later = deferred<unknown>()
  const expired = t.transact(
    async (tx) => {
      begun.resolve()
      await goOn.promise
      try {
        tx.put('Things', { id: 'late' })
        later.resolve('it was taken')
      } catch (error) {
        later.resolve(String(error))
      }
    },
    { timeoutMs: 20_000 },
  )
  await begun.promise
  clock.advance(19_999)
  clock.advance(1)
  await assert.rejects(expired, UnitExpired)
  goOn.resolve()
  assert.match((await later.promise) as string, /has ended/)
})

test('a signal ends an attempt, a wait between attempts, and a wait for a turn', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const { t } = world(() => undefined)
  const ended = t.transact(() => new Promise(() => controller.abort(reason)), { signal: controller.signal })
  await assert.rejects(ended, (error) => error === reason)

  const between = new AbortController()
  const backoffMs = (): number => {
    between.abort(reason)
    return 50
  }
  const retrying = world(conflicts(9)).t.transact((tx) => tx.put('Things', { id: 'x' }), {
    signal: between.signal,
    retry: { backoffMs },
  })
  await assert.rejects(retrying, (error) => error === reason)

  const narrow = world(() => undefined, { concurrency: 1 })
  const finish = deferred()
  const first = narrow.t.transact(() => finish.promise)
  const waiting = new AbortController()
  const second = narrow.t.transact(() => 2, { signal: waiting.signal })
  const third = narrow.t.transact(() => 3)
  waiting.abort(reason)
  await assert.rejects(second, (error) => error === reason)
  finish.resolve()
  await first
  assert.equal(await third, 3)
})

test('no more units are in flight than concurrency says, and they go in the order in which they came', async () => {
  const { t } = world(() => undefined, { concurrency: 3 })
  const order: number[] = []
  let running = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      t.transact(async () => {
        order.push(number)
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      }),
    ),
  )
  assert.equal(most, 3)
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, number) => number),
  )
})

test('an overloaded endpoint slows everybody down until it answers again', async () => {
  const overloaded = new Overloaded('patience', { cause: new RangeError('throttled') })
  const { t, waits } = world((commit) => (commit <= 3 ? overloaded : undefined), {
    retry: { limit: 9, backoffMs: () => 0 },
  })
  await t.transact((tx) => tx.put('Things', { id: 'x' }))
  const paced = waits.filter((wait) => wait > 0)
  assert.equal(paced.length, 3)
  assert.ok(paced[0]! >= 12.5 && paced[0]! <= 25 && paced[2]! >= 50 && paced[2]! <= 100, String(paced))
  const refused = world(() => overloaded, { retry: { limit: 1 } })
  await assert.rejects(
    refused.t.transact((tx) => tx.put('Things', { id: 'x' })),
    RangeError,
  )
  const pace = new Pace()
  for (let times = 0; times < 50; times++) pace.overloaded()
  assert.equal(pace.delayMs, 5000)
  for (let times = 0; times < 50; times++) pace.succeeded()
  assert.equal(pace.delayMs, 0)
})

test('where a lost commit took effect after all, its own result and callbacks are what counts', async () => {
  const told: number[] = []
  const script: Script = (commit) =>
    commit === 1 ? new Conflict('late') : new EarlierCommitted('it was the first')
  const { t } = world(script, {}, { isDoubtful: true })
  const result = await t.transact((tx) => {
    const { attempt } = tx
    tx.onCommit(() => void told.push(attempt))
    tx.put('Things', { id: 'x' })
    return attempt
  })
  assert.equal(result, 1)
  assert.deepEqual(told, [1])
  const twice = world(
    (commit) => (commit <= 2 ? new Conflict('late') : new EarlierCommitted('one of them')),
    {},
    { isDoubtful: true },
  )
  await assert.rejects(
    twice.t.transact((tx) => tx.put('Things', { id: 'x' })),
    OutcomeUnknown,
  )
})

test('a handle is committed, rolled back, or given up by its deadline, and then gives its turn back', async () => {
  const { t, clock, ended } = world(() => undefined, { concurrency: 1 })
  const first = await t.begin()
  first.put('Things', { id: 'handle', n: 1 })
  assert.deepEqual(await first.get('Things', { id: 'handle' }), { id: 'handle', n: 1 })
  await first.commit()
  assert.throws(() => first.put('Things', { id: 'handle' }), /has ended/)
  await assert.rejects(first.commit(), /has ended/)

  {
    await using second = await t.begin()
    second.put('Things', { id: 'handle', n: 2 })
  }
  assert.equal(ended.length, 1)
  const third = await t.begin({ timeoutMs: 15_000 })
  clock.advance(15_000)
  await assert.rejects(third.get('Things', { id: 'handle' }), /has ended: its time is over/)
  assert.deepEqual(await t.transact((tx) => tx.get('Things', { id: 'handle' })), { id: 'handle', n: 1 })
  const fourth = await t.begin()
  await assert.rejects(fourth.detach(), /keeps no unfinished units/)
  await fourth.rollback()
})

test('turns are given in order, and a number below one is refused', async () => {
  assert.throws(() => new ConcurrencyLimit(0), /concurrency/)
  const turns = new ConcurrencyLimit(1)
  await turns.take()
  const order: number[] = []
  const waiting = Array.from({ length: 3000 }, async (_, number) => {
    await turns.take()
    order.push(number)
    turns.give()
  })
  turns.give()
  await Promise.all(waiting)
  assert.deepEqual(
    order,
    Array.from({ length: 3000 }, (_, number) => number),
  )
})
