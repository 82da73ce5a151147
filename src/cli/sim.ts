// seriatim sim: runs simulated worlds and judges them.
import { register } from 'node:module'
import { FAULTS, type Fault, type Tally } from '../sim/faults.js'
import { MUTANTS } from '../sim/mutants.js'
import type { SimulationReport, WorldResult } from '../sim/simulate.js'
import { readArguments, readInteger, UsageError } from './arguments.js'
import type { World } from './world.js'

export const help = `seriatim sim [--seed S] [--transactions N] [--nodes N] [--faults all|none|LIST] [--rules all|none] [--workload all|LIST]

  --seed S           where chance begins: the same seed is the same run (1)
  --transactions N   how many transactions, in worlds of up to 1000 each (10000)
  --nodes N          storage nodes of a world, at most (4)
  --faults LIST      ${FAULTS.join(', ')}; all of them unless told otherwise
  --rules all|none   section 4 of the paper, or the protocol of section 3 alone (all)
  --workload LIST    mixed, append, bank, retry (all), or units: units of work; each world has one of them
  --mutant NAME      a store that is wrong on purpose, to see it found; 'list' names them
  --quiet            only the last lines

Runs the real storage nodes, ledger, coordinators and recovery on simulated disks, clocks and networks, in virtual time,
and judges every answer. Ends with 1 if one was wrong, and says how to see it again.`

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  transactions: { type: 'string', default: '10000' },
  nodes: { type: 'string', default: '4' },
  faults: { type: 'string', default: 'all' },
  rules: { type: 'string', default: 'all' },
  workload: { type: 'string', default: 'all' },
  mutant: { type: 'string' },
  quiet: { type: 'boolean', default: false },
} as const

const WORKLOADS = ['mixed', 'append', 'bank', 'retry']
const PROGRESS_WORLDS = 20

interface Settings {
  readonly seed: number
  readonly transactions: number
  readonly nodes: number
  readonly faults: ReadonlySet<Fault>
  readonly rules: 'all' | 'none'
  readonly workloads: readonly string[]
  readonly mutant?: string
  readonly quiet: boolean
}

export async function run(args: readonly string[], world: World): Promise<number> {
  const settings = settingsOf(args)
  const { mutant, quiet } = settings
  if (mutant === 'list') {
    for (const name of Object.keys(MUTANTS)) world.print(name)
    return 0
  }
  if (mutant !== undefined) loadMutant(mutant)
  // Loaded from here on, so that a mutant is what is loaded.
  const { simulate, WORLD_TRANSACTIONS } = await import('../sim/simulate.js')
  const startMs = performance.now()
  let worlds = 0
  const report = await simulate({
    ...settings,
    stopAtAnomaly: mutant !== undefined,
    onWorld: (done) => {
      worlds++
      if (!quiet && worlds % PROGRESS_WORLDS === 0)
        world.print(`${worlds * WORLD_TRANSACTIONS} transactions, seed ${done.seed}, trace ${done.traceHash}`)
    },
  })
  const seconds = (performance.now() - startMs) / 1000
  printSummary(world, report, seconds, quiet)
  for (const broken of report.broken) printBroken(world, broken, settings)
  if (report.broken.length > 0) return 1
  return mutant === undefined ? printMissing(world, report, settings) : 0
}

function settingsOf(args: readonly string[]): Settings {
  const { values } = readArguments(args, OPTIONS)
  const { mutant, rules } = values
  if (rules !== 'all' && rules !== 'none') throw new UsageError(`--rules must be all or none, not '${rules}'`)
  if (mutant !== undefined && mutant !== 'list' && !Object.hasOwn(MUTANTS, mutant))
    throw new UsageError(`there is no mutant '${mutant}'; --mutant list names them`)
  return {
    seed: readInteger('seed', values.seed, 0, 999_999_999),
    transactions: readInteger('transactions', values.transactions, 1, 100_000_000),
    nodes: readInteger('nodes', values.nodes, 1, 8),
    faults: new Set(listed('faults', values.faults, FAULTS)),
    rules,
    workloads:
      values.workload === 'all' ? WORKLOADS : listed('workload', values.workload, [...WORKLOADS, 'units']),
    quiet: values.quiet,
    ...(mutant !== undefined && { mutant }),
  }
}

function listed<T extends string>(name: string, text: string, known: readonly T[]): readonly T[] {
  if (text === 'all') return known
  if (text === 'none') return []
  return text.split(',').map((each) => {
    const found = known.find((one) => one === each)
    if (found === undefined) throw new UsageError(`--${name} knows ${known.join(', ')}, not '${each}'`)
    return found
  })
}

function loadMutant(name: string): void {
  const mutant = MUTANTS[name]!
  const url = new URL(`../${mutant.module}`, import.meta.url).href
  register(new URL('../sim/mutant-loader.js', import.meta.url), { data: { url, mutant } })
}

function printSummary(world: World, report: SimulationReport, seconds: number, quiet: boolean): void {
  const { tally } = report
  const transactions = tally.of('transactions')
  const share = (100 * tally.of('contended')) / Math.max(1, transactions)
  if (!quiet) {
    for (const [title, prefix] of TABLES) printTable(world, tally, title, prefix)
    printCrashes(world, tally)
  }
  world.print(
    `${transactions} transactions in ${report.worlds} worlds, ${Math.round(transactions / seconds)} a second; ` +
      `${report.events} events; trace ${report.traceHash}`,
  )
  world.print(
    `${sum(tally, 'outcome/transaction committed', 'outcome/transaction repeated')} committed, ` +
      `${tally.of('outcome/transaction cancelled')} cancelled, ${tally.of('outcome/read read')} read, ` +
      `${sum(tally, 'outcome/transaction unknown', 'outcome/transaction lost')} unknown; ` +
      `${share.toFixed(1)}% contended; ${tally.of('checked answers')} answers compared`,
  )
  world.print(
    `${report.broken.length} worlds with anomalies; ${report.realtime} times not in the order of real time`,
  )
}

const TABLES = [
  ['outcomes', 'outcome/'],
  ['verdicts', 'verdict/'],
  ['rules', 'rule/'],
  ['faults', 'fault/'],
] as const

const sum = (tally: Tally, ...names: readonly string[]): number =>
  names.reduce((total, name) => total + tally.of(name), 0)

function printTable(world: World, tally: Tally, title: string, prefix: string): void {
  world.print(`${title}:`)
  for (const [name, count] of tally.under(prefix)) world.print(`  ${String(count).padStart(9)}  ${name}`)
}

function printCrashes(world: World, tally: Tally): void {
  world.print('crash points, crashes of passes:')
  for (const [point, passes] of tally.under('point/'))
    world.print(
      `  ${String(tally.of(`crash/${point}`)).padStart(9)} of ${String(passes).padStart(9)}  ${point}`,
    )
}

const ANOMALIES_SHOWN = 5

function printBroken(world: World, broken: WorldResult, settings: Settings): void {
  world.printError(`seriatim sim: the world of seed ${broken.seed} (${broken.workload}) is wrong:`)
  for (const { kind, explanation } of broken.anomalies.slice(0, ANOMALIES_SHOWN))
    world.printError(`  ${kind}: ${explanation}`)
  const faults = [...settings.faults].join(',') || 'none'
  const mutant = settings.mutant === undefined ? '' : ` --mutant ${settings.mutant}`
  world.printError(
    `  again: seriatim sim --seed ${broken.seed} --transactions ${broken.transactions} --nodes ${settings.nodes} ` +
      `--faults ${faults} --rules ${settings.rules} --workload ${broken.workload}${mutant}`,
  )
}

async function printMissing(world: World, report: SimulationReport, settings: Settings): Promise<number> {
  const { missing, COVERED_FROM_TRANSACTIONS } = await import('../sim/coverage.js')
  const wide = settings.workloads.length === WORKLOADS.length && settings.nodes > 1
  if (!wide || settings.transactions < COVERED_FROM_TRANSACTIONS) return 0
  const names = missing(report.tally, settings.faults, settings.rules)
  for (const name of names) world.printError(`seriatim sim: never happened: ${name}`)
  return names.length === 0 ? 0 : 1
}
