// Simulated fleets by the thousand: several servers on one engine that loses answers, applies steps late and freezes, with clocks hours
// apart (sim/engine/world.ts). No world may have an anomaly, and every mutant has to be found.
//
//   npm run sim:fleet                        100,000 transactions in worlds of 800 requests, and the mutants
//   npm run sim:fleet -- 1000000 --seed 1    as many as that: TransactWriteItems, TransactGetItems and single writes
//
// Two processes at a time. A world that fails is named by its seed: runFleet({ seed, transactions: 800 }) plays it again.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fleetMutants } from '../dist/sim/engine/mutants.js'
import { runFleet } from '../dist/sim/engine/world.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, worker: { type: 'boolean', default: false } },
})
const WORLD_REQUESTS = 800
const WORLDS_OF_A_JOB = 10
const MUTANT_WORLDS_MAX = 40
const PROCESSES = 2
const PROGRESS_EVERY = 100_000
const KINDS = ['transaction', 'read', 'write']

if (values.worker) process.on('message', (job) => void work(job))
else await main(Number(positionals[0] ?? 100_000), Number(values.seed))

/** The worlds of some seeds, until one fails. */
async function work({ from, count }) {
  let transactions = 0
  for (let seed = from; seed < from + count; seed++) {
    const { anomalies, tally } = await runFleet({ seed, transactions: WORLD_REQUESTS })
    for (const [what, times] of tally) if (KINDS.includes(what.split(' ')[0])) transactions += times
    if (anomalies.length > 0) process.send({ seed, anomaly: anomalies[0] })
  }
  process.send({ transactions })
}

async function main(wanted, first) {
  let transactions = 0
  let next = first
  let failed = 0
  const one = () =>
    new Promise((resolve) => {
      const child = fork(fileURLToPath(import.meta.url), ['--worker'])
      const ask = () => {
        if (transactions >= wanted) {
          child.kill()
          return
        }
        child.send({ from: next, count: WORLDS_OF_A_JOB })
        next += WORLDS_OF_A_JOB
      }
      child.on('message', ({ seed, anomaly, transactions: done }) => {
        if (seed !== undefined) {
          failed++
          console.log(`seed ${seed}: ${anomaly.kind}: ${anomaly.explanation}`)
          return
        }
        if (Math.floor((transactions + done) / PROGRESS_EVERY) > Math.floor(transactions / PROGRESS_EVERY))
          console.log(
            `${transactions + done} transactions, worlds to seed ${next - 1}, ${failed} with an anomaly`,
          )
        transactions += done
        ask()
      })
      child.on('exit', resolve)
      ask()
    })
  await Promise.all(Array.from({ length: PROCESSES }, one))
  console.log(`${transactions} transactions in worlds ${first} to ${next - 1}: ${failed} with an anomaly`)
  for (const { name, options } of fleetMutants) {
    const seed = await foundAt(options)
    console.log(seed === undefined ? `NOT FOUND: ${name}` : `found by world ${seed}: ${name}`)
    if (seed === undefined) failed++
  }
  process.exitCode = failed === 0 ? 0 : 1
}

async function foundAt(options) {
  for (let seed = 1; seed <= MUTANT_WORLDS_MAX; seed++) {
    const { anomalies } = await runFleet({ seed, transactions: 400, ...options })
    if (anomalies.length > 0) return seed
  }
  return undefined
}
