import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { positionIn, sequenceNumberOf } from '../../src/commit-log/sequence-number.js'
import { spaceId, type KeyBytes } from '../../src/model/brand.js'
import {
  childrenOf,
  ended,
  firstGeneration,
  hasKey,
  isShardId,
  rolled,
  shardHolding,
  shardOf,
  shardsAfter,
  shardsFor,
  shardsOf,
  streamLimits,
  withoutOld,
} from '../../src/router/lineage/lineage.js'
import { CatalogDraft } from '../../src/router/tables/catalog/catalog-draft.js'
import type { TableRecord } from '../../src/router/tables/record/table-record.js'
import { withStream } from '../../src/router/tables/table-stream.js'
import { testRuntime } from '../support/test-runtime.js'
import { labelAt, type StreamRecord } from '../../src/router/lineage/stream-record.js'

const streamFrom = (from: number, shards: number): StreamRecord => ({
  tableName: 'Orders',
  tableId: 'id',
  space: spaceId(1),
  keySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  label: '2030-01-01T12:00:00.250',
  viewType: 'KEYS_ONLY',
  createdAtMicros: 0,
  status: 'ENABLED',
  secret: '',
  generations: [firstGeneration(from, 1_000_000, shards)],
})

const rolls = fc.array(
  fc.record({
    written: fc.nat(20),
    waitedMs: fc.nat(3) /* also not at all, as if the clock stood still */,
    shards: fc.constantFrom(1, 2, 4, 8),
  }),
  { maxLength: 12 },
)

/** The stream after those rolls, and the number of the last record. */
function after(steps: readonly { written: number; waitedMs: number; shards: number }[]): {
  stream: StreamRecord
  last: number
} {
  let stream = streamFrom(5, 1)
  let last = 4
  let nowMicros = 1_000_000
  for (const { written, waitedMs, shards } of steps) {
    last += written
    nowMicros += waitedMs * 1000
    stream = rolled(stream, { last, nowMicros, shards })
  }
  return { stream, last }
}

const keys = fc.integer({ min: 0, max: 0xffff_ffff }).map((hash) => {
  const bytes = [hash >>> 24, (hash >>> 16) & 255, (hash >>> 8) & 255, hash & 255]
  return `${String.fromCharCode(...bytes)}rest` as KeyBytes
})

test('streams: every record of a key is in one shard, and the shards of a key are each the parent of the next', () => {
  fc.assert(
    fc.property(rolls, keys, (steps, key) => {
      const { stream, last } = after(steps)
      const own = [...shardsOf(stream)].filter((shard) => hasKey(shard, key))
      assert.equal(own.length, stream.generations.length)
      for (let number = 5; number <= last; number++)
        assert.equal(own.filter(({ from, to }) => number >= from && number <= (to ?? Infinity)).length, 1)
      for (const [at, shard] of own.entries()) {
        assert.equal(shard.parentId, own[at - 1]?.id)
        assert.equal(shard.to === undefined, at === own.length - 1)
      }
    }),
  )
})

test('streams: ids of shards are different, and their order is that of their creation', () => {
  fc.assert(
    fc.property(rolls, (steps) => {
      const ids = [...shardsOf(after(steps).stream)].map((shard) => shard.id)
      assert.deepEqual(ids, ids.toSorted())
      assert.equal(new Set(ids).size, ids.length)
      for (const id of ids) assert.match(id, /^shardId-\d{20}-[0-9a-f]{8}$/)
    }),
  )
})

test('streams: what is looked up by id or by number is what a walk over all shards finds', () => {
  fc.assert(
    fc.property(rolls, keys, fc.nat(60), fc.nat(2), (steps, key, number, forgotten) => {
      const whole = after(steps).stream
      const ids = Array.from(shardsOf(whole), ({ id }) => id)
      const stream = { ...whole, generations: whole.generations.slice(-1 - forgotten) }
      const all = [...shardsOf(stream)]
      for (const id of [...ids, 'shardId-00000000000000000001-00000000', 'no id']) {
        assert.deepEqual(
          shardOf(stream, id),
          all.find((shard) => shard.id === id),
        )
        assert.deepEqual(
          childrenOf(stream, id),
          all.filter(({ parentId }) => parentId === id),
        )
        assert.deepEqual(
          [...shardsAfter(stream, id)],
          all.filter((shard) => isShardId(id) && shard.id > id),
        )
      }
      assert.deepEqual(
        shardHolding(stream, number, key),
        all.find((shard) => hasKey(shard, key) && shard.from <= number && number <= (shard.to ?? Infinity)),
      )
    }),
  )
})

test('streams: a shard that is open at the end of its stream is closed there', () => {
  const stream = ended(streamFrom(5, 2), 9, 0)
  assert.deepEqual(
    [...shardsOf(stream)].map(({ from, to }) => [from, to]),
    [
      [5, 9],
      [5, 9],
    ],
  )
  // Nothing was written.
  assert.deepEqual([...shardsOf(ended(streamFrom(5, 1), 2, 0))][0]?.to, 4)
})

test('streams: a generation goes 24 hours after the next one began, and its children then have no parent', () => {
  const dayMicros = streamLimits.retentionMs * 1000
  const nowMicros = 9_000_000
  const stream = rolled(streamFrom(5, 1), { last: 9, nowMicros, shards: 1 })
  assert.equal(withoutOld(stream, nowMicros + dayMicros - 1), stream)
  const left = withoutOld(stream, nowMicros + dayMicros)!
  assert.deepEqual(
    [...shardsOf(left)].map((shard) => [shard.from, shard.parentId]),
    [[10, undefined]],
  )
  // The open shards of a stream stay, however old they are; all of a stream that has ended goes.
  assert.equal(withoutOld(left, nowMicros + 100 * dayMicros), left)
  assert.equal(withoutOld(ended(left, 12, nowMicros), nowMicros + dayMicros), undefined)
})

test('streams: there are never more generations than 24 hours of the shortest shards need', () => {
  let stream = streamFrom(1, 1)
  for (let last = 1; last < 2000; last++) stream = rolled(stream, { last, nowMicros: last, shards: 1 })
  assert.equal(stream.generations.length, streamLimits.generationsMax)
})

test('streams: of a table, and of all tables, so many streams that have ended are remembered, and the oldest go', () => {
  const endedAt = (tableName: string, at: number): StreamRecord => ({
    ...ended(streamFrom(5, 1), 9, at),
    tableName,
    label: labelAt(at * 1000, undefined),
  })
  const leftWith = (streams: readonly StreamRecord[]): readonly (string | undefined)[] => {
    const draft = new CatalogDraft(
      {
        find: () => undefined,
        record: () => assert.fail(),
        streams: () => streams,
        stream: () => undefined,
        lastRecord: 0,
      },
      () => spaceId(2),
      0,
    )
    const table: TableRecord = {
      name: 'Orders',
      id: 'id',
      createdAtMicros: 0,
      space: spaceId(2),
      keySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      attributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      billingMode: 'PAY_PER_REQUEST',
      throughput: { readUnits: 0, writeUnits: 0, decreasesToday: 0 },
      indexes: [],
      tags: [],
      deletionProtection: false,
    }
    const input = { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } as const
    withStream(draft, table, input, { runtime: testRuntime(1) })
    return [...draft.streams].flatMap(([key, stream]) => (stream === undefined ? [key] : []))
  }
  const own = Array.from({ length: streamLimits.endedOfTableMax }, (_, at) => endedAt('Orders', at))
  assert.deepEqual(leftWith(own.slice(1)), [])
  assert.deepEqual(leftWith(own), ['Orders/1970-01-01T00:00:00.000'])
  const others = Array.from({ length: streamLimits.endedMax }, (_, at) =>
    endedAt(`Of${String(at).padStart(6, '0')}`, streamLimits.endedMax - at),
  )
  assert.deepEqual(leftWith(others.slice(1)), [])
  assert.deepEqual(leftWith(others), ['Of009999/1970-01-01T00:00:00.001'])
})

test('streams: a table has as many shards as its write capacity asks for', () => {
  const shards = [1, 1000, 1001, 2000, 2001, 4001, 8000, 40_000].map((units) => shardsFor(units))
  assert.deepEqual(shards, [1, 1, 2, 2, 4, 8, 8, 8])
})

test('streams: a label is later than the one before it, also when the clock is set back', () => {
  assert.equal(labelAt(1_893_499_200_250_999, undefined), '2030-01-01T12:00:00.250')
  assert.equal(labelAt(1_893_499_200_250_999, '2030-01-01T12:00:00.250'), '2030-01-01T12:00:00.251')
  assert.equal(labelAt(0, '2030-01-01T12:00:00.999'), '2030-01-01T12:00:01.000')
})

test('streams: sequence numbers have 21 digits, stand in the order of changes, and can be read back', () => {
  const places = fc
    .tuple(fc.integer({ min: 0, max: 999_999_999_999_999 }), fc.nat(99_999))
    .map(([number, position]) => ({ number, position }))
  fc.assert(
    fc.property(places, places, (one, other) => {
      const text = sequenceNumberOf(one)
      assert.match(text, /^1\d{20}$/)
      assert.deepEqual(positionIn(text), one)
      assert.deepEqual(positionIn(`000${text}`), one)
      const order = one.number - other.number || one.position - other.position
      assert.equal(Math.sign(Number(BigInt(text) - BigInt(sequenceNumberOf(other)))), Math.sign(order))
    }),
  )
  assert.equal(positionIn('x'.repeat(21)), undefined)
  assert.equal(positionIn('9'.repeat(21)), undefined)
})
