// npm run sim -- locks: runs simulated contenders for locks and judges them.
import { register } from 'node:module'
import { LOCK_MUTANTS, SHOWS_FROM_SEED } from '../locks/mutants.js'
import { readArguments, readInteger, UsageError } from '../../src/cli/command/arguments.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'

export const help = `npm run sim -- locks [--seed S] [--runs N] [--mutant NAME]

  --seed S       of the first run; each further run has the next one (1; with a mutant, where it shows soon)
  --runs N       how many runs of up to 50 contenders (1000)
  --mutant NAME  a lock client that is wrong on purpose, to see it found; 'list' names them

Runs the lock client in virtual time against a table that loses, repeats and delays requests, in processes that are
stopped and killed and whose clocks are wrong, and judges who was let in. Ends with 1 if one run was wrong, and says how
to see it again.`

const OPTIONS = {
  seed: { type: 'string' },
  runs: { type: 'string', default: '1000' },
  mutant: { type: 'string' },
} as const

const ANOMALIES_SHOWN = 5

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const runs = readInteger('runs', values.runs, 1, 10_000_000)
  const { mutant } = values
  const from = values.seed ?? String((mutant && SHOWS_FROM_SEED[mutant]) ?? 1)
  const seed = readInteger('seed', from, 0, 999_999_999)
  if (mutant === 'list') {
    for (const name of Object.keys(LOCK_MUTANTS)) world.print(name)
    return 0
  }
  if (mutant !== undefined) loadMutant(mutant)
  // Loaded from here on, so that a mutant is what is loaded.
  const { simulateLocks, neverHappened, COVERED_FROM_RUNS } = await import('../locks/simulate.js')
  const start = process.cpuUsage()
  const simulation = await simulateLocks({ seed, runs })
  const { user, system } = process.cpuUsage(start)
  for (const { seed: broken, contenders, anomalies } of simulation.broken) {
    world.printError(`npm run sim -- locks: the run of seed ${broken} (${contenders} contenders) is wrong:`)
    for (const { kind, explanation } of anomalies.slice(0, ANOMALIES_SHOWN))
      world.printError(`  ${kind}: ${explanation}`)
    const with_ = mutant === undefined ? '' : ` --mutant ${mutant}`
    world.printError(`  again: npm run sim -- locks --seed ${broken} --runs 1${with_}`)
  }
  for (const [name, count] of [...simulation.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    world.print(`${String(count).padStart(9)}  ${name}`)
  const cpuSeconds = (user + system) / 1e6
  world.print(
    `${simulation.runs} runs, ${simulation.events} events, ${cpuSeconds.toFixed(1)} s of CPU; ${simulation.broken.length} wrong`,
  )
  if (simulation.broken.length > 0) return 1
  const missing = runs >= COVERED_FROM_RUNS && mutant === undefined ? neverHappened(simulation) : []
  for (const name of missing) world.printError(`npm run sim -- locks: never happened: ${name}`)
  return missing.length > 0 ? 1 : 0
}

function loadMutant(name: string): void {
  const edits = LOCK_MUTANTS[name]
  if (edits === undefined) throw new UsageError(`there is no mutant '${name}'; --mutant list names them`)
  for (const [at, mutant] of edits.entries()) {
    const url = new URL(`../../src/${mutant.module}`, import.meta.url).href
    // Each edit has an instance of the loader of its own.
    register(new URL(`../mutant-loader.js?${at}`, import.meta.url), { data: { url, mutant } })
  }
}
