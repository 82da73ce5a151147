import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Aims } from '../../sim/planned-crashes.js'
import { coverCrashPoints, CRASH_POINTS } from '../../sim/crash-points.js'
import { FAULTS } from '../../sim/faults.js'
import { wholeOnly } from '../support/sizes.js'
import { simulateWorld, WORKLOADS } from '../../sim/simulate.js'

const workloads = Object.keys(WORKLOADS)

test('sim: an aim is met once, at its arrival', () => {
  const aims = new Aims([3, 5].map((arrival) => ({ point: 'node:after-sync', arrival })))
  const met = Array.from({ length: 6 }, () => aims.isMet('node:after-sync'))
  assert.deepEqual(met, [false, false, true, false, true, false])
  assert.equal(aims.isMet('node:before-sync'), false)
})

for (const point of ['node:after-sync', 'coordinator:before-send:commit', 'recovery:after-send:unfinished']) {
  test(`sim: a world without any other fault crashes where it is told to, at ${point}, and is sound`, async () => {
    const circumstances = { nodes: 4, faults: new Set<never>(), rules: 'all' as const, workloads: ['bank'] }
    const { tally, anomalies } = await simulateWorld(circumstances, 7, 800, [{ point, arrival: 1 }])
    assert.deepEqual(tally.under('crash/'), [[point, 1]])
    assert.deepEqual(anomalies, [])
  })
}

test(
  'sim: the list of crash points has every point that is passed, and each is crashed at',
  { skip: wholeOnly },
  async () => {
    const report = await coverCrashPoints({
      seed: 500,
      seedsEach: 1,
      nodes: 4,
      faults: new Set(FAULTS),
      workloads,
    })
    assert.deepEqual(report.unlisted, [])
    assert.deepEqual([...report.seedsOf.keys()], CRASH_POINTS.many)
    const never = [...report.seedsOf].filter(([, seeds]) => seeds === 0)
    assert.deepEqual(never, [])
    const [broken] = report.broken
    assert.equal(broken, undefined, `seed ${broken?.seed}: ${broken?.anomalies[0]?.explanation}`)
  },
)
