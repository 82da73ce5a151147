import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateLoad, type SimulatedLoad } from '../../bench/simulated/cluster.js'
import { contended, plain, transactions } from '../../bench/simulated/requests.js'

const SMALL = {
  seed: 1,
  rules: 'all',
  nodes: 4,
  coordinators: 2,
  requestsPerSecond: 5000,
  warmupMicros: 2000,
  durationMicros: 30_000,
} as const satisfies Partial<SimulatedLoad>

test('§5.1 in virtual time the same seed gives the same latencies, and everything is answered', async () => {
  const load = { ...SMALL, request: transactions(3, 0.5) }
  const first = await simulateLoad(load)
  assert.deepEqual(await simulateLoad(load), first)
  for (const { answers, lost, conflicts, latency } of first.parts) {
    assert.ok(answers > 20)
    assert.equal(lost + conflicts, 0)
    assert.ok(latency.p50Micros > 200, 'no answer is there before its network')
  }
  assert.ok(first.nodesBusy > 0 && first.nodesBusy < 0.5)
})

test('§5.3 in virtual time a write transaction of section 3 takes longer than of section 4, and both than a put', async () => {
  const p50 = async (operation: 'PutItem' | 'TransactWriteItems', rules: 'all' | 'none'): Promise<number> => {
    const { parts } = await simulateLoad({ ...SMALL, rules, request: plain(operation) })
    return parts[0]!.latency.p50Micros
  }
  const [put, oneRound, twoPhases] = [
    await p50('PutItem', 'all'),
    await p50('TransactWriteItems', 'all'),
    await p50('TransactWriteItems', 'none'),
  ]
  assert.ok(put < oneRound && oneRound < twoPhases, `${put}, ${oneRound}, ${twoPhases} us`)
})

test('§5.4 in virtual time section 4 refuses less under contention than section 3 alone', async () => {
  const refused = async (rules: 'all' | 'none'): Promise<number> => {
    const load = {
      ...SMALL,
      rules,
      nodes: 16,
      coordinators: 8,
      requestsPerSecond: 30_000,
      durationMicros: 10_000,
    }
    const { parts } = await simulateLoad({ ...load, request: contended('A') })
    return parts.reduce((sum, { conflicts }) => sum + conflicts, 0)
  }
  const [withRules, without] = [await refused('all'), await refused('none')]
  assert.ok(
    without > 5 && withRules * 3 <= without,
    `${withRules} with section 4, ${without} without, seed 1`,
  )
})

test('a processor that is asked too much makes everyone wait', async () => {
  const p50 = async (requestsPerSecond: number): Promise<number> => {
    const load = { ...SMALL, nodes: 1, requestsPerSecond, request: plain('GetItem') }
    return (await simulateLoad(load)).parts[0]!.latency.p50Micros
  }
  const [calm, crowded] = [await p50(5000), await p50(150_000)]
  assert.ok(crowded > 3 * calm, `${calm} us calm, ${crowded} us crowded`)
})
