import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MUTANTS } from '../../sim/mutants.js'
import { sized } from '../support/sizes.js'

const source = new URL('../../src/', import.meta.url)

for (const [name, { module, find, replace }] of Object.entries(MUTANTS)) {
  test(`sim mutant ${name}: changes one place of ${module}`, () => {
    const text = readFileSync(new URL(module, source), 'utf8')
    assert.equal(text.split(find).length - 1, 1, `found ${text.split(find).length - 1} times: ${find}`)
    assert.notEqual(find, replace)
  })
}

// All of them take minutes, see scripts/sim.mjs; these few show that the way to them works.
for (const name of sized(
  ['read-marks-not-raised'],
  ['updates-out-of-order', 'read-marks-not-raised', 'recovery-cancels-committing'],
)) {
  test(`sim mutant ${name}: is found`, () => {
    const { workload, rules } = MUTANTS[name]!
    const args = [
      '--mutant',
      name,
      '--workload',
      workload,
      '--rules',
      rules,
      '--transactions',
      '3000',
      '--quiet',
    ]
    const main = new URL('../sim/cli/main.js', source).pathname
    const run = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
    assert.equal(run.status, 1, run.stdout + run.stderr)
    assert.match(run.stderr, / is wrong:/)
    assert.match(run.stderr, /again: npm run sim -- --seed \d+ .*--mutant /)
  })
}
