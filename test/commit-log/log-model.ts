// A log of commits as a plain array, and random histories that a storage has to agree with.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { LogTrimmed } from '../../src/commit-log/commit-log.js'
import type { CommitRecord, LoggedChange } from '../../src/commit-log/commit-record.js'
import type { LogPosition, LogStorage } from '../../src/commit-log/log-storage.js'
import { type KeyBytes, spaceId, timestamp, type TxId } from '../../src/model/brand.js'
import { assertRecords } from '../suites/log-storage.js'

export type Step =
  | { readonly kind: 'append'; readonly records: readonly Omit<CommitRecord, 'number'>[] }
  | {
      readonly kind: 'read'
      readonly at: number
      readonly recordsMax: number
      readonly bytesMax: number
      readonly spaces: readonly number[]
    }
  | { readonly kind: 'time'; readonly time: number }
  | {
      readonly kind: 'item'
      readonly space: number
      readonly key: string
      readonly at: number
      readonly length: number
      readonly reverse: boolean
      readonly entriesMax: number
    }
  | { readonly kind: 'trim'; readonly time: number }
  | { readonly kind: 'reopen' }
  /** The power fails at that step of the disk from now on; some of what was not synced comes back. */
  | { readonly kind: 'crash'; readonly afterSteps: number; readonly pages: number }

const SPACES = [1, 2, 3]
const KEYS = ['', 'a', 'b', 'key c']
const TIME_MAX = 1000

const image = fc.option(fc.uint8Array({ maxLength: 60 }), { nil: undefined })
/** JSON has no line feed, which stands between the keys and what the change is about. */
const LINE_FEED = 10
const json = (bytes: Uint8Array): Uint8Array => bytes.filter((byte) => byte !== LINE_FEED)
const keysAndAbout = fc.oneof(
  fc.constant({}),
  fc.record(
    { keys: fc.uint8Array({ maxLength: 60 }).map(json), about: fc.uint8Array({ maxLength: 60 }).map(json) },
    { requiredKeys: ['keys'] },
  ),
)
const change: fc.Arbitrary<LoggedChange> = fc
  .record({
    space: fc.constantFrom(...SPACES).map(spaceId),
    key: fc.constantFrom(...KEYS) as fc.Arbitrary<KeyBytes>,
    event: fc.constantFrom('insert' as const, 'modify' as const, 'remove' as const),
    operation: fc.constantFrom('put' as const, 'update' as const, 'delete' as const),
    cause: fc.constantFrom('request' as const, 'expiry' as const),
    keysAndAbout,
    old: image,
    new: image,
  })
  .map(
    ({ keysAndAbout: both, ...rest }) =>
      Object.fromEntries(
        Object.entries({ ...rest, ...both }).filter(([, value]) => value !== undefined),
      ) as unknown as LoggedChange,
  )

const record = fc
  .record({
    timestamp: fc.nat({ max: TIME_MAX }).map(timestamp),
    tx: fc.option(
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 50 }) as unknown as fc.Arbitrary<TxId>,
      { nil: undefined },
    ),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  })
  .map(({ tx, ...rest }) => (tx === undefined ? rest : { ...rest, tx }))

const small = fc.nat({ max: 12 })
const append = fc.record({
  kind: fc.constant('append' as const),
  records: fc.array(record, { maxLength: 4 }),
})

export const stepsOf = (kinds: 'kept' | 'forgotten'): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: append },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('read' as const),
          at: small,
          recordsMax: fc.integer({ min: 1, max: 6 }),
          bytesMax: fc.integer({ min: 1, max: 2000 }),
          spaces: fc.subarray(SPACES),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('time' as const), time: fc.nat({ max: TIME_MAX + 1 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('item' as const),
          space: fc.constantFrom(...SPACES),
          key: fc.constantFrom(...KEYS),
          at: small,
          length: fc.nat({ max: 20 }),
          reverse: fc.boolean(),
          entriesMax: fc.integer({ min: 1, max: 5 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('trim' as const), time: fc.nat({ max: TIME_MAX + 1 }) }),
      },
      ...(kinds === 'kept'
        ? [
            { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
            {
              weight: 2,
              arbitrary: fc.record({
                kind: fc.constant('crash' as const),
                afterSteps: fc.nat({ max: 14 }),
                pages: fc.nat({ max: 63 }),
              }),
            },
          ]
        : []),
    ),
    { minLength: 5, maxLength: 60, size: 'max' },
  )

/** What the storage should hold. */
export class LogModel {
  readonly records: CommitRecord[] = []
  position: LogPosition = { upTo: 0, number: 0 }
  /** As the storage last said: whole parts are let go, and the model does not know where they end. */
  first = 1

  get last(): number {
    return this.records.length
  }

  /** Numbered to follow, with the position that goes with it. */
  next(records: readonly Omit<CommitRecord, 'number'>[]): { records: CommitRecord[]; position: LogPosition } {
    const numbered = records.map((one, at) => ({ ...one, number: this.last + 1 + at }))
    return {
      records: numbered,
      position: { upTo: this.position.upTo + 10 + records.length, number: this.last + records.length },
    }
  }

  kept(): CommitRecord[] {
    return this.records.slice(this.first - 1)
  }
}

/** Compares one answer of the storage. */
export async function agree(
  model: LogModel,
  storage: LogStorage,
  step: Exclude<Step, { kind: 'append' | 'reopen' | 'crash' }>,
): Promise<void> {
  switch (step.kind) {
    case 'read':
      return agreeOnRead(model, storage, step)
    case 'time': {
      const right = model.kept().find((one) => one.timestamp >= step.time)?.number ?? model.last + 1
      assert.equal(await storage.numberAt(timestamp(step.time)), right)
      return
    }
    case 'item': {
      const { space, key, at, length, reverse, entriesMax } = step
      const [from, to] = [model.first + at - 2, model.first + at - 2 + length]
      const numbers = model
        .kept()
        .filter(({ number }) => number >= from && number <= to)
        .filter(({ changes }) => changes.some((one) => one.space === space && one.key === key))
        .map(({ number }) => number)
      const right = (reverse ? numbers.toReversed() : numbers).slice(0, entriesMax)
      assert.deepEqual(
        await storage.ofItem({ space: spaceId(space), key: key as KeyBytes, from, to, reverse, entriesMax }),
        right,
      )
      return
    }
    case 'trim': {
      const first = await storage.trim(timestamp(step.time))
      assert.ok(first >= model.first && first <= model.last + 1)
      for (const one of model.records.slice(model.first - 1, first - 1))
        assert.ok(one.timestamp < step.time, 'was kept too short')
      model.first = first
      return
    }
  }
}

async function agreeOnRead(
  model: LogModel,
  storage: LogStorage,
  step: Extract<Step, { kind: 'read' }>,
): Promise<void> {
  const from = model.first + step.at - 1
  const { recordsMax, bytesMax } = step
  const spaces = step.spaces.length === SPACES.length ? undefined : new Set(step.spaces.map(spaceId))
  const reading = storage.read({ from, recordsMax, bytesMax, ...(spaces && { spaces }) })
  if (from < model.first) return assert.rejects(reading, (error) => error instanceof LogTrimmed)
  const { records, next } = await reading
  assert.ok(records.length <= recordsMax)
  assert.ok(from > model.last ? next === from : next > from && next <= model.last + 1)
  const right = model.records
    .slice(from - 1, next - 1)
    .map((one) =>
      spaces === undefined ? one : { ...one, changes: one.changes.filter(({ space }) => spaces.has(space)) },
    )
    .filter(({ changes }) => changes.length > 0)
  assertRecords(records, right)
}
