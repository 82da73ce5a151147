// Units of work on any endpoint, simulated: the real protocol on a store, a network and clocks that are made up.
//   node scripts/sim-intents.mjs [TRANSACTIONS] [--seed S] [--workload lists|bank|slots|lamps] [--mutant NAME]
//   node scripts/sim-intents.mjs --mutants          every mutant must be found by a judge
import { spawn } from 'node:child_process'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { INTENTS_MUTANTS } from '../dist/sim/intents/mutants.js'

// A mutant is looked for at the seed where it was found last, and then, if the code has changed since, from the first on.
const KNOWN_TRANSACTIONS = 1_200
const SEARCHED_TRANSACTIONS = 40_000
const WORLD_TRANSACTIONS = 400
const PROCESSES = 2
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
    register(new URL('../dist/sim/mutant-loader.js', import.meta.url), { data: { url, mutant: change } })
  }
  // Loaded from here on, so that a mutant is what is loaded.
  const { simulateIntents } = await import('../dist/sim/intents/simulate.js')
  const { missing } = await import('../dist/sim/intents/coverage.js')
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
  const waiting = Object.keys(INTENTS_MUTANTS)
  const lost = []
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      if (!(await isFound(name))) lost.push(name)
  }
  await Promise.all(Array.from({ length: PROCESSES }, worker))
  const all = Object.keys(INTENTS_MUTANTS).length
  console.log(`${all - lost.length} of ${all} mutants were found`)
  for (const name of lost) console.log(`NOT FOUND: ${name}`)
  return lost.length === 0 ? 0 : 1
}

async function isFound(name) {
  const { workload, seed } = INTENTS_MUTANTS[name]
  for (const [transactions, from] of [
    [KNOWN_TRANSACTIONS, seed],
    [SEARCHED_TRANSACTIONS, 1],
  ]) {
    const args = [String(transactions), '--mutant', name, '--workload', workload, '--seed', String(from)]
    const { code, output } = await run(args)
    const found = /the world of seed (\d+)/.exec(output)
    if (code === 1 && found !== null) {
      // The world is right without the mutant: it is the mutant that was found.
      const same = await run([String(WORLD_TRANSACTIONS), '--workload', workload, '--seed', found[1]])
      if (same.code !== 0) {
        console.log(`wrong without ${name}, too:\n${same.output.slice(-2_000)}`)
        return false
      }
      const [, explanation = ''] = /is wrong:\n {2}(.*)/.exec(output) ?? []
      console.log(`found: ${name}, seed ${found[1]}: ${explanation.slice(0, 160)}`)
      return true
    }
    console.log(
      `not found in ${transactions} transactions from seed ${from}: ${name}\n${output.slice(0, 2_000)}`,
    )
  }
  return false
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
