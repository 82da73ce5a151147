import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeRealTime } from '../../sim/check/real-time.js'
import { FAULTS } from '../../sim/faults.js'
import type { HistoryEntry } from '../../sim/history.js'
import { simulate, type SimulationReport, WORKLOADS } from '../../sim/simulate.js'
import { sized } from '../support/sizes.js'

const WORLDS = sized(5, 28)

function run(seed: number, worlds: number, rules: 'all' | 'none' = 'all'): Promise<SimulationReport> {
  return simulate({
    seed,
    transactions: worlds * 100,
    worldTransactions: 100,
    nodes: 4,
    faults: new Set(FAULTS),
    rules,
    workloads: Object.keys(WORKLOADS),
    processes: 'workers',
  })
}

for (const rules of ['all', 'none'] as const) {
  test(`sim, workers: workers that call nodes over channels are sound under all faults, with ${rules} of the rules`, async () => {
    const { broken, tally } = await run(1600, WORLDS, rules)
    const [world] = broken
    const [anomaly] = world?.anomalies ?? []
    assert.equal(anomaly, undefined, `seed ${world?.seed}: ${anomaly?.kind}: ${anomaly?.explanation}`)
    assert.equal(tally.of('world/workers'), WORLDS)
    for (const point of ['worker:first-ended', 'node:worker-ended'])
      assert.ok(tally.of(`crash/${point}`) > 0, `no process ended by ${point}`)
    assert.ok(tally.of('pipe/cut') > 0, 'every message came in one piece')
  })
}

test('sim, workers: one seed is one world, to the last event', async () => {
  const [first, second] = [await run(1711, 3), await run(1711, 3)]
  assert.equal(first.traceHash, second.traceHash)
})

const write = (id: string, timestamp: number, invokedAt: number, completedAt: number): HistoryEntry => ({
  kind: 'write',
  id,
  timestamp,
  invokedAt,
  completedAt,
  status: 'committed',
  actions: [{ key: 'a', keyAttributes: {}, mutation: { kind: 'delete' } }],
})
const read = (timestamp: number, invokedAt: number): HistoryEntry => ({
  kind: 'read',
  id: 'read',
  timestamp,
  invokedAt,
  completedAt: invokedAt + 1,
  images: new Map([['a', undefined]]),
})
const kinds = (...history: readonly HistoryEntry[]): readonly string[] =>
  judgeRealTime(history).map(({ kind }) => kind)

test('sim, workers: the judge of real time knows what was sent after an answer', () => {
  const first = write('first', 10, 0, 5)
  assert.deepEqual(kinds(first, write('beside', 9, 4, 8)), [], 'two at once have either order')
  assert.deepEqual(kinds(first, write('later', 11, 6, 8)), [])
  assert.deepEqual(kinds(first, write('later', 9, 6, 8)), ['write-before-answer'])
  assert.deepEqual(kinds(first, read(11, 6)), [])
  assert.deepEqual(kinds(first, read(9, 6)), ['read-before-answer'])
  assert.deepEqual(kinds(write('lost', 10, 0, Infinity), read(9, 6)), [], 'an unknown answer orders nothing')
})
