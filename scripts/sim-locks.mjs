// The long simulation of locks: every mutant must be found, and the right client must be sound.
//   node scripts/sim-locks.mjs [RUNS]        two processes at a time
import { spawn } from 'node:child_process'
import { LOCK_MUTANTS } from '../dist/sim/locks/mutants.js'

const runs = Number(process.argv[2] ?? 10_000)
const PROCESSES = 2
const PARTS = 4
const MUTANT_RUNS = 4_000

const jobs = [
  ...Array.from({ length: PARTS }, (_, part) => ({
    name: `runs, part ${part + 1} of ${PARTS}`,
    args: ['--seed', String(1 + Math.ceil(runs / PARTS) * part), '--runs', String(Math.ceil(runs / PARTS))],
    expected: 0,
  })),
  ...Object.keys(LOCK_MUTANTS).map((name) => ({
    name: `mutant ${name}`,
    args: ['--mutant', name, '--runs', String(MUTANT_RUNS)],
    expected: 1,
  })),
]

let failed = 0
function run({ name, args, expected }) {
  return new Promise((resolve) => {
    const startMs = Date.now()
    const command = ['--enable-source-maps', 'dist/sim/cli/main.js', 'locks', ...args]
    const child = spawn(process.execPath, command)
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('close', (code) => {
      // A mutant is found by the judge, not by falling over.
      const right = code === expected && (expected === 0 || output.includes(' is wrong:'))
      if (!right) failed++
      const seconds = ((Date.now() - startMs) / 1000).toFixed(0)
      const kind = /^ {2}([a-z-]+): /m.exec(output)?.[1] ?? ''
      const total = /^\d+ runs, .*$/m.exec(output)?.[0] ?? ''
      console.log(
        `${right ? 'as it should be' : 'WRONG'}: ${name} (${seconds} s; ${total}${kind && `; ${kind}`})`,
      )
      if (!right) console.log(output.replace(/^/gm, '    ').slice(0, 5000))
      resolve()
    })
  })
}

async function worker() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await run(job)
}
await Promise.all(Array.from({ length: PROCESSES }, worker))
console.log(
  failed === 0 ? 'the simulation of locks is as it should be' : `${failed} are not as they should be`,
)
process.exit(failed === 0 ? 0 : 1)
