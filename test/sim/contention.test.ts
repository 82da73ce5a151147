import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureContention } from '../../sim/contention.js'
import { sized } from '../support/sizes.js'

for (const actions of sized(['both'] as const, ['both', 'puts', 'updates'] as const)) {
  test(`§5.4 contention: with section 4 at most a third of the transactions are cancelled that are without it (${actions})`, async () => {
    const load = { seed: 1, actions, transactionsPerSecond: 10_000, transactions: 600 }
    const without = await measureContention({ ...load, rules: 'none' })
    const withRules = await measureContention({ ...load, rules: 'all' })
    assert.equal(without.other + withRules.other, 0)
    assert.ok(
      without.cancelled > 50,
      `only ${without.cancelled} of ${without.transactions} were cancelled without`,
    )
    assert.ok(
      withRules.cancelled * 3 <= without.cancelled,
      `${withRules.cancelled} cancelled with section 4, ${without.cancelled} without`,
    )
  })
}
