import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestInfo } from '../../src/server/dispatch/dispatch.js'
import { Metrics } from '../../src/server/dispatch/metrics.js'
import { ask, requestOf, serve } from './support.js'

test('metrics: requests are counted by operation and result, on a page that Prometheus reads', async (t) => {
  const server = await serve(t)
  for (let count = 0; count < 3; count++) await ask(t, server, requestOf())
  await ask(t, server, requestOf({ body: '[' }))
  await ask(t, server, requestOf({ headers: { 'x-amz-target': 'DynamoDB_20120810.Nothing"\n' } }))
  await ask(t, server, 'garbage\r\n\r\n')
  const page = (
    await ask(t, server, requestOf({ method: 'GET', path: '/metrics', body: '' }))
  ).body.toString()
  const lines = page.split('\n')
  for (const line of [
    'seriatim_requests_total{operation="ListTables",result="ok"} 3',
    'seriatim_requests_total{operation="ListTables",result="SerializationException"} 1',
    'seriatim_request_duration_seconds_bucket{operation="ListTables",le="+Inf"} 4',
    'seriatim_request_duration_seconds_count{operation="ListTables"} 4',
    'seriatim_requests_in_flight 1',
    'seriatim_connections_total 7',
    'seriatim_malformed_requests_total 2',
  ]) {
    assert.ok(lines.includes(line), `${line}\n\n${page}`)
  }
  for (const line of lines) assert.match(line, /^(# (HELP|TYPE) .+|\w+(\{[^}]*\})? [\d.e+-]+|)$/)
  assert.match(page, /^process_resident_memory_bytes \d+$/m)
})

test('metrics: a latency falls into the first bucket that holds it, and buckets add up', () => {
  const metrics = new Metrics()
  const operation = metrics.operation('GetItem')
  for (const durationMs of [0.1, 0.11, 1, 20_000]) operation.record(durationMs, undefined)
  const page = metrics.render()
  const bucket = (le: string): number =>
    Number(new RegExp(`_bucket\\{operation="GetItem",le="${le}"\\} (\\d+)`).exec(page)![1])
  assert.deepEqual(['0.0001', '0.00025', '0.0005', '0.001', '10', '\\+Inf'].map(bucket), [1, 2, 2, 3, 3, 4])
})

test('metrics: whoever asks is told of each request, and may fail at it', async (t) => {
  const told: RequestInfo[] = []
  const warnings: Error[] = []
  const onWarning = (warning: Error): number => warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const server = await serve(t, {
    onRequest: (info) => {
      told.push(info)
      throw new Error('the log is full')
    },
  })
  assert.equal((await ask(t, server, requestOf())).status, 200)
  assert.equal((await ask(t, server, requestOf({ headers: { 'x-amz-target': null } }))).status, 400)
  assert.deepEqual(
    told.map(({ operation, status, error }) => ({ operation, status, error })),
    [
      { operation: 'ListTables', status: 200, error: undefined },
      { operation: undefined, status: 400, error: 'UnknownOperationException' },
    ],
  )
})
