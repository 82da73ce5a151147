// The simulation for hours: as many transactions as you like, on all cores, in runs of their own seeds that can be
// repeated one by one. Most with all rules of section 4, some without, some of units of work, some all in one process.
//   node scripts/sim-long.mjs [TRANSACTIONS] [FIRST SEED] [PROCESSES]
import { availableParallelism } from 'node:os'
import { simulate } from './simulator.mjs'

const transactions = Number(process.argv[2] ?? 10_000_000)
const firstSeed = Number(process.argv[3] ?? 1_000_000)
const processes = Number(process.argv[4] ?? availableParallelism())
const RUN_TRANSACTIONS = 250_000
/** A world has a thousand transactions and a seed of its own: no two runs share one. */
const RUN_SEEDS = 1000
const ONE_PROCESS = ['--processes', 'one']
const WORKERS = ['--processes', 'workers']
const KINDS = [
  [],
  ONE_PROCESS,
  ['--rules', 'none'],
  [],
  ['--workload', 'units'],
  ONE_PROCESS,
  [...ONE_PROCESS, '--rules', 'none'],
  [...ONE_PROCESS, '--workload', 'units'],
  WORKERS,
  [...WORKERS, '--workload', 'units'],
]

const startMs = Date.now()
const runs = Math.ceil(transactions / RUN_TRANSACTIONS)
let next = 0
let done = 0
let wrong = 0

async function run(number) {
  const seed = firstSeed + number * RUN_SEEDS
  const count = Math.min(RUN_TRANSACTIONS, transactions - number * RUN_TRANSACTIONS)
  const args = ['--seed', String(seed), ...KINDS[number % KINDS.length], '--transactions', String(count)]
  const { code, output } = await simulate(['--quiet', ...args])
  const seconds = (Date.now() - startMs) / 1000
  done += Number(/^(\d+) transactions in/m.exec(output)?.[1] ?? 0)
  if (code !== 0) wrong++
  console.log(
    `${code === 0 ? 'as it should be' : 'WRONG'}: npm run sim -- ${args.join(' ')}; ` +
      `${done} transactions in ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(0)} a second`,
  )
  if (code !== 0) console.log(output.replace(/^/gm, '    ').trimEnd())
}

async function worker() {
  while (next < runs) await run(next++)
}
await Promise.all(Array.from({ length: processes }, worker))
console.log(
  `${done} transactions in ${runs} runs: ` +
    (wrong === 0 ? 'no anomaly' : `${wrong} runs are wrong, see above`),
)
process.exit(wrong === 0 ? 0 : 1)
