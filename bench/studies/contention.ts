// The cancellation rate of workload A (§5.4) in the simulator, with and without section 4, by kind of write and load.
//
//   npm run bench:contention -- [--transactions 4000] [--seed 1]
import { parseArgs } from 'node:util'
import { measureContention } from '../../sim/contention.js'

const { values } = parseArgs({
  options: { transactions: { type: 'string', default: '4000' }, seed: { type: 'string', default: '1' } },
})

console.log('transactions/s  writes    without section 4   with section 4')
for (const transactionsPerSecond of [10_000, 30_000, 100_000]) {
  for (const actions of ['both', 'puts', 'updates'] as const) {
    const rate = async (rules: 'all' | 'none'): Promise<string> => {
      const report = await measureContention({
        seed: Number(values.seed),
        transactions: Number(values.transactions),
        transactionsPerSecond,
        actions,
        rules,
      })
      return `${(100 * report.cancellationRate).toFixed(2)} %${report.other > 0 ? ` (${report.other} unanswered)` : ''}`
    }
    const [without, withRules] = [await rate('none'), await rate('all')]
    console.log(
      `${String(transactionsPerSecond).padStart(14)}  ${actions.padEnd(8)}  ${without.padStart(17)}   ${withRules.padStart(14)}`,
    )
  }
}
