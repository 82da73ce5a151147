import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Latencies } from '../../src/bench/load/latencies.js'
import { median, spreadOf } from '../../src/bench/statistics.js'

const RELATIVE_ERROR = 0.001

test('percentiles of a thousand even latencies are where they belong, to three figures', () => {
  const latencies = new Latencies()
  for (let micros = 1; micros <= 1000; micros++) latencies.record(micros)
  const { count, meanMicros, p50Micros, p90Micros, p99Micros, p999Micros, maxMicros } = latencies.summary()
  assert.deepEqual(
    { count, meanMicros, p50Micros, p90Micros, p99Micros, p999Micros, maxMicros },
    {
      count: 1000,
      meanMicros: 500.5,
      p50Micros: 500,
      p90Micros: 900,
      p99Micros: 990,
      p999Micros: 999,
      maxMicros: 1000,
    },
  )
})

test('whatever was recorded, a percentile is as near to the exact one as three figures allow', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 60_000_000 }), { minLength: 1, maxLength: 300 }),
      (all) => {
        const latencies = new Latencies()
        for (const micros of all) latencies.record(micros)
        const sorted = all.toSorted((a, b) => a - b)
        const summary = latencies.summary()
        for (const [share, seen] of [
          [0.5, summary.p50Micros],
          [0.99, summary.p99Micros],
        ] as const) {
          const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
          assert.ok(Math.abs(seen - exact) <= Math.max(1, exact * RELATIVE_ERROR), `${seen} for ${exact}`)
        }
      },
    ),
  )
})

test('a latency below a microsecond counts as one, and one beyond all measure as the longest', () => {
  const latencies = new Latencies()
  latencies.record(0.2)
  latencies.record(Number.MAX_SAFE_INTEGER)
  const { count, p50Micros, maxMicros } = latencies.summary()
  assert.equal(count, 2)
  assert.equal(p50Micros, 1)
  assert.ok(maxMicros >= 600_000_000 * (1 - RELATIVE_ERROR))
})

test('nothing recorded is nothing, not NaN', () => {
  assert.equal(new Latencies().summary().p99Micros, 0)
})

test('the median of an even number of rounds is between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
  assert.deepEqual(spreadOf([5, 1, 9]), { median: 5, min: 1, max: 9, rounds: 3 })
})
