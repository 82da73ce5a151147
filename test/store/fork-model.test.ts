import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../support/sizes.js'
import { type ForkMutant, runForkHistory } from './fork-model.js'

for (const nodes of [1, 2, 4])
  test(`forks: random histories with copies in the middle of writes hold what plain maps do, with ${nodes} nodes`, async () => {
    for (let seed = 0; seed < sized(3, 80); seed++) await runForkHistory({ seed, nodes, steps: 60 })
  })

for (const mutant of ['one-node-copied-before', 'log-copied-before'] satisfies ForkMutant[])
  test(`forks: a store with the mutant ${mutant} is found out`, async () => {
    const failures: unknown[] = []
    for (let seed = 0; seed < 40 && failures.length === 0; seed++)
      await runForkHistory({ seed, nodes: 4, steps: 40, mutant }).catch((error: unknown) =>
        failures.push(error),
      )
    assert.equal((failures[0] as { code?: string } | undefined)?.code, 'ERR_ASSERTION')
  })
