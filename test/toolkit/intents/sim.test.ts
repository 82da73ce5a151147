// A short simulation of units of work on any endpoint; scripts/sim-intents.mjs runs the long one and all mutants.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { INTENTS_MUTANTS } from '../../../sim/intents/mutants.js'
import { simulateIntents } from '../../../sim/intents/simulate.js'
import { sized } from '../../support/sizes.js'

const source = new URL('../../../src/', import.meta.url)
const script = fileURLToPath(new URL('../../../../scripts/sim-intents.mjs', import.meta.url))

test('intents sim: no anomaly, nothing left behind, and enough contention', async () => {
  const { broken, tally } = await simulateIntents({ seed: 700, transactions: sized(600, 3_600) })
  const [world] = broken
  const [anomaly] = world?.anomalies ?? []
  assert.equal(
    anomaly,
    undefined,
    `seed ${world?.seed}, ${world?.workload}: ${anomaly?.kind}: ${anomaly?.explanation}`,
  )
  assert.ok(tally.of('contended') * 6 >= tally.of('transactions'), 'too few are contended')
})

test('intents sim: one seed is one world, to the last event', async () => {
  const run = () => simulateIntents({ seed: 31, transactions: 400 })
  const [first, second] = [await run(), await run()]
  assert.equal(first.traceHash, second.traceHash)
  assert.deepEqual(first.tally.under(''), second.tally.under(''))
})

for (const [name, { module, find }] of Object.entries(INTENTS_MUTANTS)) {
  test(`intents mutant ${name}: changes one place of ${module}`, () => {
    const text = readFileSync(new URL(module, source), 'utf8')
    assert.equal(text.split(find).length - 1, 1, find)
  })
}

for (const name of sized(
  ['reads-not-validated'],
  ['finished-before-decision', 'reads-not-validated', 'no-tombstone', 'guard-not-written'],
)) {
  test(`intents mutant ${name}: is found`, () => {
    const { workload, seed } = INTENTS_MUTANTS[name]!
    const args = [script, '8000', '--mutant', name, '--workload', workload, '--seed', String(seed)]
    const run = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(run.status, 1, run.stdout + run.stderr)
    assert.match(run.stdout, / is wrong:/)
  })
}
