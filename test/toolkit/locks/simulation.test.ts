// A short part of the simulation (npm run sim:locks is the long one), and what makes it worth something.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LOCK_MUTANTS } from '../../../sim/locks/mutants.js'
import { runLocks } from '../../../sim/locks/run.js'
import { simulateLocks } from '../../../sim/locks/simulate.js'
import { sized } from '../../support/sizes.js'

const SOURCE = new URL('../../../src/', import.meta.url)
const MAIN = fileURLToPath(new URL('../sim/cli/main.js', SOURCE))
const RUNS = sized(20, 120)

test('locks, simulated: nobody is let in beside another, nobody is overtaken or forgotten, nothing is left', async () => {
  const { broken, runs } = await simulateLocks({ seed: 1, runs: RUNS })
  assert.deepEqual(
    broken.map(({ seed, anomalies }) => [`npm run sim -- locks --seed ${seed} --runs 1`, anomalies]),
    [],
  )
  assert.equal(runs, RUNS)
})

test('locks, simulated: one seed is one run, to the last event', async () => {
  for (const seed of [7, 16]) {
    const [one, other] = [await runLocks(seed), await runLocks(seed)]
    assert.equal(one.traceHash, other.traceHash)
    assert.equal(one.events, other.events)
  }
})

test('locks, simulated: every mutant changes a text that is there exactly once', () => {
  assert.ok(Object.keys(LOCK_MUTANTS).length >= 6)
  for (const [name, edits] of Object.entries(LOCK_MUTANTS)) {
    for (const { module, find } of edits) {
      const text = readFileSync(new URL(module, SOURCE), 'utf8')
      assert.equal(text.split(find).length, 2, `${name}: ${find}`)
    }
  }
})

for (const mutant of ['late-enqueue', 'suspicion-survives-a-heartbeat', 'waiters-do-not-count']) {
  test(`locks, simulated: the judge finds the mutant ${mutant}`, () => {
    const found = spawnSync(process.execPath, [MAIN, 'locks', '--mutant', mutant, '--runs', '1000'], {
      encoding: 'utf8',
    })
    assert.equal(found.status, 1, found.stderr)
    assert.match(
      found.stderr,
      /the run of seed \d+ \(\d+ contenders\) is wrong:\n {2}(two-inside|too-many-inside|granted-went-back|overtaken): /,
    )
  })
}
