// The long simulation: every mutant must be found, and the store must be sound with all rules of section 4 and without.
//   node scripts/sim.mjs [TRANSACTIONS]        two processes at a time
import { spawn } from 'node:child_process'
import { MUTANTS } from '../dist/src/sim/mutants.js'

const transactions = Number(process.argv[2] ?? 200_000)
const PROCESSES = 2
const MUTANT_TRANSACTIONS = 40_000

const sim = (name, args, expected) => ({ name, args: ['sim', '--quiet', ...args], expected })
const jobs = [
  ...['all', 'none'].map((rules) =>
    sim(
      `all workloads, ${rules} of the rules`,
      ['--rules', rules, '--transactions', String(transactions)],
      0,
    ),
  ),
  ...Object.entries(MUTANTS).map(([name, { workload, rules }]) => {
    const how = ['--mutant', name, '--workload', workload, '--rules', rules]
    return sim(`mutant ${name}`, [...how, '--transactions', String(MUTANT_TRANSACTIONS)], 1)
  }),
]

let failed = 0
function run({ name, args, expected }) {
  return new Promise((resolve) => {
    const startMs = Date.now()
    const child = spawn(process.execPath, ['--enable-source-maps', 'dist/src/cli/main.js', ...args])
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('close', (code) => {
      // A mutant is found by a judge, not by falling over.
      const right = code === expected && (expected === 0 || output.includes(' is wrong:'))
      if (!right) failed++
      const seconds = ((Date.now() - startMs) / 1000).toFixed(0)
      console.log(`${right ? 'as it should be' : 'WRONG'}: ${name} (${seconds} s)`)
      if (!right || expected === 0) console.log(output.replace(/^/gm, '    ').slice(0, 5000))
      resolve()
    })
  })
}

async function worker() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await run(job)
}
await Promise.all(Array.from({ length: PROCESSES }, worker))
console.log(
  failed === 0 ? 'the simulation is as it should be' : `${failed} of the runs are not as they should be`,
)
process.exit(failed === 0 ? 0 : 1)
