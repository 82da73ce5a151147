// Random histories of a node with snapshots, compared with a model that forgets nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { knobs as defaults } from '../../../src/model/knobs.js'
import { smallKnobs } from '../../../sim/knobs.js'
import { Random } from '../../../src/runtime/seeded-random.js'
import { type LocalNodeTuning, openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { testFolder } from '../../support/folder.js'
import { testRuntime } from '../../support/test-runtime.js'
import { type Draw, OPERATIONS, UnitsHistory } from './units-history.js'
import { sized } from '../../support/sizes.js'

const draw: fc.Arbitrary<Draw> = fc.record({
  what: fc.constantFrom(...OPERATIONS),
  a: fc.nat(1000),
  b: fc.nat(1000),
  c: fc.nat(1000),
})

const units = { snapshotAgeMs: 3_600_000 }

/** Without those that refuse what the model allows, and with room enough: the clock stands, and would make none. */
const knobs = fc.nat(1000).map((seed): LocalNodeTuning => {
  const small = smallKnobs(new Random(seed), 0.7)
  const { snapshotsMax, historyBytesMax, unitLocksMax, waitersMax, overlayBytesMax } = defaults
  return { ...small, snapshotsMax, historyBytesMax, unitLocksMax, waitersMax, overlayBytesMax }
})

async function run(
  draws: readonly Draw[],
  tuning: LocalNodeTuning,
  path?: string,
): Promise<UnitsHistory['seen']> {
  const runtime = testRuntime(1)
  const node = await openLocalNode({
    runtime,
    units,
    tuning,
    ...(path === undefined ? { memory: true } : { path }),
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
    fc.asyncProperty(
      fc.array(draw, { minLength: 20, maxLength: 120, size: 'max' }),
      knobs,
      async (draws, tuning) => {
        const counts = await run(draws, tuning)
        for (const name of Object.keys(seen) as (keyof typeof seen)[]) seen[name] += counts[name]
      },
    ),
    { numRuns: sized(200, 600) },
  )
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 50, `${what}: ${count}`)
})

test('units: and on disk', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(draw, { minLength: 60, maxLength: 100, size: 'max' }),
      knobs,
      async (draws, tuning) => {
        await run(draws, { applyChangesMax: 5, ...tuning }, testFolder())
      },
    ),
    { numRuns: sized(5, 15) },
  )
})
