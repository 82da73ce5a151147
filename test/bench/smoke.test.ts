// A short load on a real store, over a real socket, from the generator's own process.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fillPeerTables } from '../../src/bench/fill.js'
import { Generator } from '../../src/bench/load/generator-process.js'
import type { LoadJob, LoadResult } from '../../src/bench/load/load.js'
import { peerWorkloads } from '../../src/bench/load/workloads.js'
import { open, type Store } from '../../src/store/store.js'

const SCALE = { items: 300, partitions: 5 }
const SHORT = { warmupMs: 30, durationMs: 120, seed: 1 }
let store: Store
let endpoint = ''
let generator: Generator

before(async () => {
  store = await open({ memory: true })
  const { port } = await store.listen({ port: 0 })
  endpoint = `http://127.0.0.1:${port}`
  await fillPeerTables(endpoint, SCALE)
  generator = new Generator()
})

after(async () => {
  await generator.close()
  await store.close()
})

const mixOf = (...names: readonly string[]): LoadJob['mix'] =>
  peerWorkloads(SCALE)
    .filter(({ name }) => names.includes(name))
    .map((workload) => ({ weight: 1, workload }))

const TRIES_MAX = 100

/** A machine with much else to do may see no answer in so short a time. */
async function untilAnswered(job: LoadJob): Promise<LoadResult> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const result = await generator.run(job)
    if (result.answers > 0) return result
  }
  return assert.fail(`no answer in ${TRIES_MAX} tries`)
}

for (const { name } of peerWorkloads(SCALE)) {
  test(`closed loop: ${name} is answered`, async () => {
    const mode = { kind: 'closed', clients: 3 } as const
    const result = await untilAnswered({ ...SHORT, endpoint, mix: mixOf(name), mode })
    assert.deepEqual(result.parts[0]?.refusals, {})
    assert.ok(result.latency.p50Micros <= result.latency.p99Micros)
  })
}

test('open loop: a mix arrives, and each part of it is counted apart', async () => {
  const mode = { kind: 'open', perSecond: 500, connections: 8, spacing: 'poisson' } as const
  let measuring = 0
  const job = { ...SHORT, endpoint, mix: mixOf('GetItem', 'PutItem'), mode }
  const result = await generator.run(job, () => measuring++)
  assert.equal(measuring, 1)
  assert.equal(result.unsent, 0)
  const [first, second] = result.parts
  assert.ok(first !== undefined && second !== undefined)
  assert.equal(first.answers + second.answers, result.answers)
  assert.ok(first.answers > 0 && second.answers > 0)
})

test('refusals are counted by their names', async () => {
  const [{ workload } = assert.fail()] = mixOf('GetItem')
  const mix = [{ weight: 1, workload: { ...workload, table: 'seriatim-bench-nowhere' } }]
  const result = await untilAnswered({ ...SHORT, endpoint, mix, mode: { kind: 'closed', clients: 1 } })
  assert.equal(result.perSecond, 0)
  assert.equal(result.parts[0]?.refusals['ResourceNotFoundException'], result.answers)
})

test('a server that is not there is an error, and the generator lives on', async () => {
  const mode = { kind: 'closed', clients: 1 } as const
  const nowhere = { ...SHORT, endpoint: 'http://127.0.0.1:1', mix: mixOf('GetItem'), mode }
  await assert.rejects(generator.run(nowhere), /ECONNREFUSED/)
  const result = await untilAnswered({ ...nowhere, endpoint })
  assert.equal(result.refused, 0)
})
