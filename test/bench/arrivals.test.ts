import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Arrivals, OpenLoop } from '../../src/bench/load/arrivals.js'
import { Random } from '../../src/runtime/seeded-random.js'

test('even arrivals are a rate apart, from the start on', () => {
  const arrivals = new Arrivals(500, 1000)
  assert.deepEqual([arrivals.take(), arrivals.take(), arrivals.take()], [500, 1500, 2500])
})

test('arrivals of independent clients keep the rate, but not the gaps', () => {
  const arrivals = new Arrivals(0, 1000, new Random(7))
  const times = Array.from({ length: 20_001 }, () => arrivals.take())
  const gaps = times.slice(1).map((time, at) => time - times[at]!)
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  assert.ok(Math.abs(mean - 1000) < 30, `a mean gap of ${mean}, seed 7`)
  // Of exponential gaps, 1 - 1/e are shorter than their mean.
  const shorter = gaps.filter((gap) => gap < 1000).length / gaps.length
  assert.ok(Math.abs(shorter - (1 - 1 / Math.E)) < 0.02, `${shorter} of them below the mean, seed 7`)
})

test('a rate must be one', () => {
  assert.throws(() => new Arrivals(0, 0), RangeError)
})

test('requests that are due take free lanes in order, and nothing is sent before its time', () => {
  const loop = new OpenLoop(new Arrivals(0, 1000), 2, 10_000)
  assert.deepEqual(loop.next(0), { lane: 0, intendedMicros: 0 })
  assert.equal(loop.next(999), undefined)
  assert.equal(loop.wakeMicros, 1000)
  assert.deepEqual(loop.next(1000), { lane: 1, intendedMicros: 1000 })
})

test('a request that waits for a lane counts from when it was meant to start: a stall is not omitted', () => {
  // One lane, a request each millisecond, and a server that stalls for ten on the first of them.
  const loop = new OpenLoop(new Arrivals(0, 1000), 1, 5000)
  const latencies: number[] = []
  let now = 0
  let start = loop.next(now)
  for (const tookMicros of [10_000, 100, 100, 100, 100]) {
    assert.ok(start !== undefined)
    assert.equal(loop.wakeMicros, undefined, 'nobody is free to be woken')
    now = Math.max(now, start.intendedMicros) + tookMicros
    latencies.push(now - start.intendedMicros)
    loop.answered(start.lane)
    start = loop.next(now)
  }
  assert.deepEqual(latencies, [10_000, 9100, 8200, 7300, 6400])
  assert.equal(start, undefined, 'nothing starts after the end')
  assert.equal(loop.wakeMicros, undefined)
})

test('what was due and never sent is counted', () => {
  const loop = new OpenLoop(new Arrivals(0, 1000), 1, 5000)
  loop.next(0)
  assert.equal(loop.countUnsent(), 4)
})
