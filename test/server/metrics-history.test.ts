// The last hour of counters, for charts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, requestOf, serve } from './support.js'

interface History {
  readonly IntervalMs: number
  readonly BucketsSeconds: readonly number[]
  readonly Samples: readonly {
    readonly Ok: number
    readonly Errors: number
    readonly Buckets: readonly number[]
  }[]
}

test('metrics history: the last row is of now, counts operations and no pages, and needs no signature', async (t) => {
  const server = await serve(t)
  const read = async (): Promise<History> =>
    (await (await fetch(`${server.url}/metrics/history`)).json()) as History
  await ask(t, server, requestOf({}))
  await fetch(`${server.url}/health`)
  const { IntervalMs, BucketsSeconds, Samples } = await read()
  assert.equal(IntervalMs, 10_000)
  const last = Samples.at(-1)!
  assert.equal(last.Buckets.length, BucketsSeconds.length + 1)
  assert.equal(last.Ok + last.Errors, 1)
  assert.equal(
    last.Buckets.reduce((sum, each) => sum + each, 0),
    1,
  )
})
