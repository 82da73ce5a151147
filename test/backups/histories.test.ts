// Every moment again: random histories against a model, and mutants of the rules that the model must find.
// SERIATIM_HISTORIES=100000 node scripts/test.mjs backups/histories runs as many.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MomentRules, momentRules } from '../../src/backups/moments.js'
import { sized } from '../support/sizes.js'
import { Histories } from './histories.js'

const HISTORIES = Number(process.env['SERIATIM_HISTORIES'] ?? sized(60, 2000))
const FIRST_SEED = Number(process.env['SERIATIM_SEED'] ?? 1)
/** Histories on one store, so that tables of earlier ones are in the way. */
const STORE_HISTORIES = 20
const MUTANT_HISTORIES = 60

test('backups: each moment of a random history is restored as the model has it, whatever is written meanwhile', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES;) {
    const histories = await Histories.open({ nodes: 1 + (seed % 3) })
    for (const end = Math.min(seed + STORE_HISTORIES, FIRST_SEED + HISTORIES); seed < end; seed++)
      await histories.run(seed)
    await histories.close()
  }
})

const MUTANTS: Readonly<Record<string, Partial<MomentRules>>> = {
  'items that are read at different moments': { undone: () => [] },
  'half of a transaction': {
    redone: (record, base, to) => {
      const { changes, timestamp } = record
      const half = { ...record, changes: changes.slice(0, Math.ceil(changes.length / 2)) }
      return momentRules.redone(timestamp === to ? half : record, base, to)
    },
  },
  'a base that is newer than the moment': { baseFor: (bases) => bases.at(-1) },
  'a moment without the commit at it': {
    redone: (record, base, to) => (record.timestamp === to ? [] : momentRules.redone(record, base, to)),
  },
  'a commit after the moment': {
    redone: (record, base, to) => momentRules.redone(record, base, (to + 1) as typeof to),
  },
  'a deleted item that stays': {
    redone: (record, base, to) => momentRules.redone(record, base, to).filter(({ kind }) => kind === 'put'),
  },
}

for (const [what, mutant] of Object.entries(MUTANTS)) {
  test(`backups: the model finds ${what}`, async () => {
    const rules = { ...momentRules, ...mutant }
    for (let seed = 1; seed <= MUTANT_HISTORIES; seed++) {
      const histories = await Histories.open({ nodes: 1 + (seed % 3), rules })
      const found: unknown = await histories.run(seed).catch((error: unknown) => error)
      await histories.close()
      if (found instanceof assert.AssertionError) return
      assert.equal(found, undefined)
    }
    assert.fail(`none of ${MUTANT_HISTORIES} histories has found it`)
  })
}
