import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../../sim/faults.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../../sim/scheduler.js'
import { simulate, type SimulationOptions, type SimulationReport, WORKLOADS } from '../../sim/simulate.js'
import { sized } from '../support/sizes.js'

const faults = new Set(FAULTS)
const workloads = Object.keys(WORKLOADS)

function run(options: Partial<SimulationOptions>): Promise<SimulationReport> {
  return simulate({
    seed: 1,
    transactions: 400,
    nodes: 4,
    faults,
    rules: 'all',
    workloads,
    worldTransactions: 200,
    ...options,
  })
}

function assertSound(report: SimulationReport): void {
  const [broken] = report.broken
  const [anomaly] = broken?.anomalies ?? []
  assert.equal(
    anomaly,
    undefined,
    `seed ${broken?.seed}, ${broken?.workload}: ${anomaly?.kind}: ${anomaly?.explanation}`,
  )
}

test('sim: the same seed draws the same, another seed something else', () => {
  const draw = (seed: number): number[] =>
    Array.from(
      { length: 5 },
      (
        (random) => () =>
          random.word()
      )(new Random(seed)),
    )
  assert.deepEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
})

test('sim: events happen in order of time, and what follows from one happens before the next', async () => {
  const scheduler = new Scheduler()
  const seen: string[] = []
  scheduler.after(20, 'b', () => {
    seen.push(`b ${scheduler.nowMicros}`)
    void Promise.resolve().then(async () => {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
      seen.push('after b')
    })
  })
  scheduler.after(20, 'c', () => seen.push('c'))
  scheduler.after(10, 'a', () => seen.push('a'))
  scheduler.after(15, 'never', () => seen.push('never'))()
  await scheduler.run(() => false)
  assert.deepEqual(seen, ['a', 'b 20', 'after b', 'c'])
})

test('sim: one seed is one world, to the last event', async () => {
  const transactions = sized(200, 400)
  const [first, second] = [await run({ seed: 11, transactions }), await run({ seed: 11, transactions })]
  assert.equal(first.traceHash, second.traceHash)
  assert.equal(first.events, second.events)
  assert.deepEqual(first.tally.under(''), second.tally.under(''))
  const other = await run({ seed: 12, transactions })
  assert.notEqual(first.traceHash, other.traceHash)
})

test('sim: without faults nothing is unknown and nothing is lost', async () => {
  const report = await run({ faults: new Set(), transactions: sized(400, 800) })
  assertSound(report)
  assert.equal(
    report.tally.of('outcome/transaction lost') + report.tally.of('outcome/transaction unknown'),
    0,
  )
  assert.deepEqual(report.tally.under('fault/'), [])
  assert.deepEqual(report.tally.under('crash/'), [])
})

for (const rules of ['all', 'none'] as const) {
  for (const workload of rules === 'all' ? workloads : sized(workloads.slice(0, 2), workloads)) {
    test(`sim: ${workload}, with ${rules} of section 4’s rules, under all faults`, async () => {
      const report = await run({
        seed: 100,
        rules,
        workloads: [workload],
        transactions: sized(400, 1200),
        worldTransactions: 400,
      })
      assertSound(report)
      const { tally } = report
      assert.ok(tally.of('contended') * 5 >= tally.of('transactions'), 'too few transactions are contended')
      assert.ok(tally.under('crash/').length > 0)
      assert.equal(tally.of('skipped answers'), 0)
    })
  }
}

test('sim: of a batch whose sync failed the ledger proves that it was kept, though an item looks as before', async () => {
  // A put in one round and a delete of the same item, in one batch: nothing of them is left but the ledger's record.
  assertSound(await run({ seed: 46, transactions: 1000, worldTransactions: 1000, workloads: ['units'] }))
})

test('sim: what readers saw of a batch that failed is not on the disk before the next one is', async () => {
  // A commit was seen, the disk had no room for its batch, and the node crashed before the next batch.
  const options = { seed: 1_000_146, transactions: 1000, worldTransactions: 1000, workloads: ['retry'] }
  assertSound(await run(options))
})
