import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareStreams, told } from './http-fuzz/compare.js'

const STREAMS = 600

test('fuzz: whatever bytes come, in whatever pieces, they are understood as node:http understands them', async () => {
  const seed = Number(process.env['HTTP_FUZZ_SEED'] ?? 1)
  const { asked, disagreements } = await compareStreams(seed, (streams) => streams >= STREAMS)
  assert.deepEqual(disagreements.map(told), [])
  assert.ok(asked > STREAMS / 10, 'the streams hold requests')
})
