import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coverCrashPoints, CRASH_POINTS } from '../../sim/crash-points.js'
import { missing } from '../../sim/coverage.js'
import { FAULTS, Tally } from '../../sim/faults.js'
import { simulate, simulateWorld, type SimulationReport, WORKLOADS } from '../../sim/simulate.js'
import { sized, wholeOnly } from '../support/sizes.js'

const faults = new Set(FAULTS)
const workloads = Object.keys(WORKLOADS)
const ONE = 'world/one process'
const WORLDS = sized(5, 24)

function run(seed: number, worlds: number, rules: 'all' | 'none' = 'all'): Promise<SimulationReport> {
  return simulate({
    seed,
    transactions: worlds * 100,
    worldTransactions: 100,
    nodes: 4,
    faults,
    rules,
    workloads,
    processes: 'one',
  })
}

function assertSound({ broken }: Pick<SimulationReport, 'broken'>): void {
  const [world] = broken
  const [anomaly] = world?.anomalies ?? []
  assert.equal(anomaly, undefined, `seed ${world?.seed}: ${anomaly?.kind}: ${anomaly?.explanation}`)
}

for (const rules of ['all', 'none'] as const) {
  test(`sim, one process: a server that coordinates by itself is sound under all faults, with ${rules} of the rules`, async () => {
    const report = await run(600, WORLDS, rules)
    assertSound(report)
    const { tally } = report
    assert.equal(tally.of(ONE), WORLDS)
    assert.equal(tally.of('world/shared journal'), WORLDS)
    for (const name of ['fault/killed', 'fault/power-cut', 'fault/cut-off'])
      assert.ok(tally.of(name) > 0, `${name} never happened`)
    assert.equal(tally.of('fault/repeat'), 0, 'a call within a process cannot be repeated')
  })
}

test('sim, one process: a transaction in one round whose answer was lost is known by what it wrote', async () => {
  const { tally, broken } = await run(700, sized(5, 16))
  assertSound({ broken })
  assert.ok(tally.of('unknown: committed') > 0, 'none was committed unknown to its client')
  assert.ok(tally.of('unknown: not committed') > 0, 'each was committed')
})

test('sim, one process: requests that are begun in one turn meet each other halfway', async () => {
  const { tally } = await run(800, sized(4, 16))
  assert.ok(tally.of('rule/severalPrepared') > 0, 'no transaction met a prepared one')
})

test('sim, one process: one seed is one world, to the last event', async () => {
  const [first, second] = [await run(311, 3), await run(311, 3)]
  assert.equal(first.traceHash, second.traceHash)
  assert.deepEqual(first.tally.under(''), second.tally.under(''))
})

for (const point of ['node:before-call:decide', 'node:after-call:transact', 'node:before-answer:write']) {
  test(`sim, one process: a world without any other fault crashes at ${point}, and is sound`, async () => {
    const circumstances = {
      nodes: 4,
      faults: new Set<never>(),
      rules: 'all' as const,
      workloads: ['bank'],
      processes: 'one' as const,
    }
    const { tally, anomalies } = await simulateWorld(circumstances, 8, sized(150, 400), [
      { point, arrival: 3 },
    ])
    assert.deepEqual(tally.under('crash/'), [[point, 1]])
    assert.deepEqual(anomalies, [])
  })
}

test(
  'sim, one process: the list of crash points has every point that is passed, and each is crashed at',
  { skip: wholeOnly },
  async () => {
    const report = await coverCrashPoints({
      seed: 900,
      seedsEach: 1,
      nodes: 4,
      faults,
      workloads,
      processes: 'one',
    })
    assert.deepEqual(report.unlisted, [])
    assert.deepEqual([...report.seedsOf.keys()], CRASH_POINTS.one)
    assert.deepEqual(
      [...report.seedsOf].filter(([, seeds]) => seeds === 0),
      [],
    )
    assertSound(report)
  },
)

test('sim, one process: a run of it lacks something without such a world, but no repeated call', () => {
  const lacking = missing(new Tally(), { faults, rules: 'all', processes: 'one' })
  assert.ok(lacking.includes(ONE))
  assert.ok(!lacking.includes('fault/repeat'))
  assert.ok(missing(new Tally(), { faults, rules: 'all' }).includes('fault/repeat'))
})

test('sim, one process: no two digests of a ledger contradict each other, and each commit is one block, through all faults', async () => {
  const worlds = sized(4, 16)
  const { tally, ...report } = await simulate({
    seed: 900,
    transactions: worlds * 100,
    worldTransactions: 100,
    nodes: 4,
    faults,
    rules: 'all',
    workloads: ['bank'],
    processes: 'one',
    log: 'blocks',
  })
  assertSound(report)
  for (const name of ['blocks/digests', 'blocks/made', 'fault/killed']) assert.ok(tally.of(name) > 0, name)
})
