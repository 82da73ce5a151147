// A compare-and-set of which the engine says that nothing was done is taken again, a few times; and what rows tell of one that was
// not answered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CasOutcome,
  EngineUnavailable,
  type EngineRow,
  type RowChange,
  type VersionId,
} from '../../../src/engine/engine.js'
import { MemoryEngine } from '../../../src/engine/memory-engine.js'
import { DurabilityUnknown } from '../../../src/line/errors.js'
import type { KeyBytes } from '../../../src/model/brand.js'
import { nextPut, SureCas } from '../../../src/storage/engine/sure-cas.js'

/** Waits for nothing. */
const runtime = {
  clock: {
    nowMicros: () => 0,
    timer: (_: number, callback: () => void) => {
      setImmediate(callback)
      return () => undefined
    },
  },
  randomBytes: (count: number) => new Uint8Array(count),
  defer: (callback: () => void) => void setImmediate(callback),
}

const change: RowChange = {
  address: { space: 't1', partition: 'p' as KeyBytes, row: 'r' as KeyBytes },
  seen: 'absent',
  next: { version: 'a'.repeat(24) as VersionId, past: [], cells: { head: Buffer.from('x') } },
}

async function sure(failures: number) {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  let calls = 0
  const cas = new SureCas({
    runtime,
    engine: {
      read: (...args) => engine.read(...args),
      cas: (changes) =>
        ++calls <= failures ? Promise.reject(new EngineUnavailable('no host answers')) : engine.cas(changes),
    },
  })
  return { cas, calls: () => calls }
}

test('a host that is busy for a moment is no failure of a write', async () => {
  const { cas, calls } = await sure(3)
  assert.deepEqual(await cas.cas([change]), { outcome: 'applied' })
  assert.equal(calls(), 4)
})

test('an engine that stays away is told of after four tries', async () => {
  const { cas, calls } = await sure(Infinity)
  await assert.rejects(cas.cas([change]), EngineUnavailable)
  assert.equal(calls(), 4)
})

const version = (digit: string): VersionId => digit.repeat(24) as VersionId
const rowAt = (row: string) => ({ ...change.address, row: row as KeyBytes })
const put = (row: string, to: string, before: EngineRow | undefined): RowChange => ({
  address: rowAt(row),
  seen: before?.version ?? 'absent',
  next: nextPut(before, version(to), { head: Buffer.from(to) }),
})

/** Rows a and b of one partition; the first compare-and-set on both is not answered, and `meanwhile` says what becomes of it. */
async function unanswered(
  changes: (a: EngineRow | undefined, b: EngineRow | undefined) => readonly RowChange[],
  meanwhile: (engine: MemoryEngine, mine: readonly RowChange[]) => Promise<void>,
) {
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  await engine.cas([put('a', '1', undefined), put('b', '2', undefined)])
  const [a, b] = await engine.read([rowAt('a'), rowAt('b')], 'consistent')
  const mine = changes(a, b)
  let calls = 0
  const cas = new SureCas({
    runtime,
    engine: {
      read: (...args) => engine.read(...args),
      cas: async (given): Promise<CasOutcome> => {
        if (++calls > 1) return engine.cas(given)
        await meanwhile(engine, mine)
        return { outcome: 'unknown', cause: new Error('no answer') }
      },
    },
  })
  return { outcome: (await cas.cas(mine)).outcome, calls: () => calls }
}

const changedBy = async (engine: MemoryEngine, row: string, digits: string): Promise<void> => {
  for (const digit of digits) await engine.cas([put(row, digit, engine.rowNow(rowAt(row)))])
}

test('a step on two rows was not carried out, and never will be, if another has changed the second one', async () => {
  const { outcome, calls } = await unanswered(
    (a, b) => [put('a', '3', a), put('b', '4', b)],
    (engine) => changedBy(engine, 'b', '5'),
  )
  assert.equal(outcome, 'refused')
  assert.equal(calls(), 1)
})

test('a step whose other row is only compared is refused for good once that row has changed', async () => {
  const { outcome, calls } = await unanswered(
    (a, b) => [put('a', '3', a), { address: rowAt('b'), seen: b!.version }],
    (engine) => changedBy(engine, 'b', '5'),
  )
  assert.equal(outcome, 'refused')
  assert.equal(calls(), 2)
})

test('a step was carried out if one of its rows remembers it, though another has changed too often since', async () => {
  const { outcome } = await unanswered(
    (a, b) => [put('a', '3', a), put('b', '4', b)],
    async (engine, mine) => {
      await engine.cas(mine)
      await changedBy(engine, 'a', '56789abcde')
    },
  )
  assert.equal(outcome, 'applied')
})

/** A server that is frozen for so long at its first pause, by the clocks that go on meanwhile. */
async function frozen(
  ms: { readonly steady: number; readonly wall: number },
  first: () => Promise<CasOutcome>,
) {
  const now = { steady: 0, wall: 1_700_000_000_000_000 }
  const engine = new MemoryEngine()
  await engine.createSpace('t1')
  let calls = 0
  const cas = new SureCas({
    runtime: {
      ...runtime,
      clock: {
        nowMicros: () => now.wall,
        monotonicMicros: () => now.steady,
        timer: (_, callback) => {
          now.steady += ms.steady * 1000
          now.wall += ms.wall * 1000
          setImmediate(callback)
          return () => undefined
        },
      },
    },
    engine: {
      read: (...args) => engine.read(...args),
      cas: (changes) => (++calls === 1 ? first() : engine.cas(changes)),
    },
  })
  return { cas, calls: () => calls }
}

const LONG = [
  { steady: 660_000, wall: 660_000 },
  // The machine was suspended, and its steady clock with it.
  { steady: 10, wall: 660_000 },
  // The clock of the wall was set back meanwhile.
  { steady: 660_000, wall: -3_600_000 },
]

test('what was not answered is not sent again after a minute: a row that is absent may have come and gone', async () => {
  for (const ms of LONG) {
    const { cas, calls } = await frozen(ms, () =>
      Promise.resolve({ outcome: 'unknown', cause: new Error('no answer') }),
    )
    await assert.rejects(cas.cas([change]), DurabilityUnknown)
    assert.equal(calls(), 1)
  }
})

test('what the engine turned away is not sent again after a minute', async () => {
  for (const ms of LONG) {
    const { cas, calls } = await frozen(ms, () => Promise.reject(new EngineUnavailable('no host answers')))
    await assert.rejects(cas.cas([change]), EngineUnavailable)
    assert.equal(calls(), 1)
  }
})
