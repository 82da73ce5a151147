// Machines whose indexes cannot be written for a while: from a start on, now and then, or for a whole life.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JournalOf, LogOf, Processes } from '../../sim/world.js'
import { FAULTS } from '../../sim/faults.js'
import { simulate } from '../../sim/simulate.js'
import { sized } from '../support/sizes.js'

interface Kind {
  readonly journal?: JournalOf
  readonly processes?: Processes
  readonly log?: LogOf
}

const KINDS: Readonly<Record<string, Kind>> = {
  'with journals of their own': { journal: 'own' },
  'in one process': { processes: 'one' },
  'with a log of commits': { processes: 'one', log: 'kept' },
}

for (const [what, kind] of Object.entries(KINDS))
  test(`sim, short machines: ${what} they start without a complete index, and nothing that was acknowledged is lost`, async () => {
    const { broken, tally } = await simulate({
      seed: 4100,
      transactions: sized(8, 60) * 150,
      worldTransactions: 150,
      nodes: 3,
      faults: new Set(FAULTS),
      rules: 'all',
      workloads: ['bank', 'mixed', 'append'],
      ...kind,
    })
    const [anomaly] = broken[0]?.anomalies ?? []
    assert.equal(anomaly, undefined, `seed ${broken[0]?.seed}: ${anomaly?.kind}: ${anomaly?.explanation}`)
    for (const name of ['index-full', 'index-failed', 'index-behind-at-start'])
      assert.ok(tally.of(`fault/${name}`) > 0, name)
  })

test('sim, short machines: none of it happens in worlds without that fault', async () => {
  const { tally } = await simulate({
    seed: 4100,
    transactions: 600,
    worldTransactions: 150,
    nodes: 3,
    faults: new Set(FAULTS.filter((fault) => fault !== 'index')),
    rules: 'all',
    workloads: ['bank'],
  })
  assert.equal(tally.of('fault/index-full') + tally.of('fault/index-failed'), 0)
})
