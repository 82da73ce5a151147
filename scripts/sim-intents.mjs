// Units of work on any endpoint, simulated: the real protocol on a store, a network and clocks that are made up.
//   node scripts/sim-intents.mjs [TRANSACTIONS] [--seed S] [--workload lists|bank|slots] [--mutant NAME]
//   node scripts/sim-intents.mjs --mutants          every mutant must be found by a judge
import { spawn } from 'node:child_process'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { INTENTS_MUTANTS } from '../dist/src/sim/intents/mutants.js'

const MUTANT_TRANSACTIONS = 40_000
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    workload: { type: 'string' },
    mutant: { type: 'string' },
    mutants: { type: 'boolean', default: false },
  },
})
process.exit(values.mutants ? await allMutants() : await one())

async function one() {
  const { mutant, workload } = values
  if (mutant !== undefined) {
    const change = INTENTS_MUTANTS[mutant]
    if (change === undefined) throw new Error(`there is no mutant ${mutant}`)
    const url = new URL(`../dist/src/${change.module}`, import.meta.url).href
    register(new URL('../dist/src/sim/mutant-loader.js', import.meta.url), { data: { url, mutant: change } })
  }
  // Loaded from here on, so that a mutant is what is loaded.
  const { simulateIntents } = await import('../dist/src/sim/intents/simulate.js')
  const { missing } = await import('../dist/src/sim/intents/coverage.js')
  const transactions = Number(positionals[0] ?? 100_000)
  const before = process.cpuUsage()
  const report = await simulateIntents({
    seed: Number(values.seed),
    transactions,
    stopAtAnomaly: mutant !== undefined,
    ...(workload !== undefined && { workloads: [workload] }),
  })
  const { user, system } = process.cpuUsage(before)
  const { tally } = report
  if (mutant === undefined)
    for (const [name, count] of tally.under('')) console.log(`${String(count).padStart(9)}  ${name}`)
  const share = (100 * tally.of('contended')) / Math.max(1, tally.of('transactions'))
  console.log(
    `${tally.of('transactions')} transactions in ${report.worlds} worlds, ${share.toFixed(1)}% contended, ` +
      `${report.events} events, trace ${report.traceHash}, ${((user + system) / 1e6).toFixed(0)} s of CPU`,
  )
  for (const world of report.broken) {
    console.log(`the world of seed ${world.seed} (${world.workload}) is wrong:`)
    for (const { kind, explanation } of world.anomalies.slice(0, 5)) console.log(`  ${kind}: ${explanation}`)
    const again = mutant === undefined ? '' : ` --mutant ${mutant}`
    console.log(
      `  again: node scripts/sim-intents.mjs 400 --seed ${world.seed} --workload ${world.workload}${again}`,
    )
  }
  if (report.broken.length > 0) return 1
  const absent =
    mutant === undefined && workload === undefined && transactions >= 50_000 ? missing(tally) : []
  for (const name of absent) console.log(`never happened, or too seldom: ${name}`)
  return absent.length === 0 ? 0 : 1
}

async function allMutants() {
  let failed = 0
  for (const [name, { workload }] of Object.entries(INTENTS_MUTANTS)) {
    const args = [String(MUTANT_TRANSACTIONS), '--mutant', name, '--workload', workload]
    const { code, output } = await run(args)
    const found = code === 1 && output.includes(' is wrong:')
    if (!found) failed++
    console.log(`${found ? 'found' : 'NOT FOUND'}: ${name}`)
    console.log(
      output
        .split('\n')
        .slice(0, found ? 3 : 20)
        .join('\n')
        .slice(0, 600)
        .replace(/^/gm, '    '),
    )
  }
  return failed === 0 ? 0 : 1
}

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args])
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    child.on('close', (code) => resolve({ code, output }))
  })
}
