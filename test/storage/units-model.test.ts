// Random histories of a node with snapshots, compared with a model that forgets nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openLocalNode } from '../../src/storage/open-local-node.js'
import { testFolder } from '../suites/folder.js'
import { testRuntime } from '../suites/test-runtime.js'
import { type Draw, OPERATIONS, UnitsHistory } from './units-history.js'

const draw: fc.Arbitrary<Draw> = fc.record({
  what: fc.constantFrom(...OPERATIONS),
  a: fc.nat(1000),
  b: fc.nat(1000),
  c: fc.nat(1000),
})

const units = { snapshotAgeMs: 3_600_000 }

async function run(draws: readonly Draw[], path?: string): Promise<UnitsHistory['seen']> {
  const runtime = testRuntime(1)
  const node = await openLocalNode({
    runtime,
    units,
    ...(path === undefined ? { memory: true } : { path, tuning: { applyChangesMax: 5 } }),
  })
  try {
    const history = new UnitsHistory(node, runtime.clock)
    for (const each of draws) await history.take(each)
    await history.end()
    return history.seen
  } finally {
    await node.close()
  }
}

test('units: what is read at a snapshot is what a model that keeps every version has there', async () => {
  const seen = { values: 0, pending: 0, pages: 0, changed: 0, holds: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(draw, { minLength: 20, maxLength: 120, size: 'max' }), async (draws) => {
      const counts = await run(draws)
      for (const name of Object.keys(seen) as (keyof typeof seen)[]) seen[name] += counts[name]
    }),
    { numRuns: 600 },
  )
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 50, `${what}: ${count}`)
})

test('units: and on disk', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(draw, { minLength: 60, maxLength: 100, size: 'max' }), async (draws) => {
      await run(draws, testFolder())
    }),
    { numRuns: 15 },
  )
})
