// Simulated fleets by the thousand: several servers on one engine that loses answers, applies steps late and freezes, with clocks hours
// apart (sim/engine/world.ts). No world may have an anomaly, and every mutant has to be found.
//
//   npm run sim:fleet                        100,000 transactions in worlds of 800 requests, and the mutants
//   npm run sim:fleet -- 1000000 --seed 1    as many as that: TransactWriteItems, TransactGetItems and single writes
//   npm run sim:fleet -- --worlds 100000     the worlds alone
//   npm run sim:fleet -- --mutants           the mutants alone
//
// In every second world clients repeat requests under their tokens; in every third some hosts do not know the table yet. Two processes at a time; --processes for another number. A world that fails is named by its seed: runFleet(worldOf(seed)) plays it again.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fleetMutants } from '../dist/sim/engine/mutants.js'
import { runFleet } from '../dist/sim/engine/world.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    worlds: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
})
const WORLD_REQUESTS = 800
const WORLDS_OF_A_JOB = 10
const MUTANT_WORLDS_MAX = 40
const PROGRESS_EVERY = 100_000
const KINDS = ['transaction', 'read', 'write']

if (values.worker) process.on('message', (job) => void work(job))
else {
  let failed = 0
  if (!values.mutants) failed += await worlds(Number(positionals[0] ?? 100_000), Number(values.seed))
  if (!values.worlds) failed += await mutants()
  process.exitCode = failed === 0 ? 0 : 1
}

function worldOf(seed) {
  const faults = seed % 3 === 0 ? { ignorant: 0.01 } : {}
  return { seed, transactions: WORLD_REQUESTS, isRepeating: seed % 2 === 1, faults }
}

/** The worlds of some seeds, until one fails. */
async function work({ from, count }) {
  let transactions = 0
  for (let seed = from; seed < from + count; seed++) {
    const { anomalies, tally } = await runFleet(worldOf(seed))
    for (const [what, times] of tally) if (KINDS.includes(what.split(' ')[0])) transactions += times
    if (anomalies.length > 0) process.send({ seed, anomaly: anomalies[0] })
  }
  process.send({ transactions })
}

async function worlds(wanted, first) {
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
      child.on('exit', (code, signal) => {
        // One that ended by itself has not said what its worlds came to.
        if (code !== null || signal !== 'SIGTERM') {
          failed++
          console.log(`a process of worlds before seed ${next} ended by itself: ${code ?? signal}`)
        }
        resolve()
      })
      ask()
    })
  await Promise.all(Array.from({ length: Number(values.processes) }, one))
  console.log(`${transactions} transactions in worlds ${first} to ${next - 1}: ${failed} with an anomaly`)
  return failed
}

async function mutants() {
  let failed = 0
  for (const { name, options } of fleetMutants) {
    const seed = await foundAt(options)
    console.log(seed === undefined ? `NOT FOUND: ${name}` : `found by world ${seed}: ${name}`)
    if (seed === undefined) failed++
  }
  return failed
}

async function foundAt(options) {
  for (let seed = 1; seed <= MUTANT_WORLDS_MAX; seed++) {
    const { anomalies } = await runFleet({ seed, transactions: 400, ...options })
    if (anomalies.length > 0) return seed
  }
  return undefined
}
