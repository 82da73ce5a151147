// sim: runs simulated worlds and judges them.
import { register } from 'node:module'
import type { Aim } from '../planned-crashes.js'
import { FAULTS, type SimFault } from '../faults.js'
import { MUTANTS } from '../mutants.js'
import type { KnobsFrom } from '../knobs.js'
import type { SimulationReport } from '../simulate.js'
import type { JournalOf, LogOf, Processes } from '../world.js'
import { readArguments, readInteger, UsageError } from '../../src/cli/command/arguments.js'
import { printBroken, printCrashPoints, printSummary, printTables } from './report.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'

export const help = `npm run sim -- [--seed S] [--transactions N] [--nodes N] [--faults all|none|LIST] [--rules all|none] [--workload all|LIST]

  --seed S           where chance begins: the same seed is the same run (1)
  --transactions N   how many transactions in all worlds together (10000)
  --world N          how many transactions in one world (1000)
  --nodes N          storage nodes of a world, at most (4)
  --faults LIST      ${FAULTS.join(', ')}; all of them unless told otherwise
  --rules all|none   section 4 of the paper, or the protocol of section 3 alone (all)
  --workload LIST    mixed, append, bank, retry, looks (all; in one process checks, too), or units: units of work; each
                     world has one of them
  --journal KIND     own, shared: one for each node, or one for all nodes of a world; some worlds of each unless told otherwise
  --processes KIND   many: coordinators and recovery call the nodes over the network; one: all in one process, as a server
                     runs them, with one journal, called by clients alone; workers: the same, and beside it workers with coordinators
                     of their own, which call its nodes over channels (many)
  --log KIND         none, kept, blocks (kept, and made into blocks of a ledger), backups (kept for backups and restores, which
                     are made all the time), streams (read as a stream by shards that roll): whether the store keeps a
                     log of commits, which is followed through all crashes, in worlds whose nodes share a journal (none)
  --knobs KIND       seed, plain: numbers at which structures change their shape are drawn small in most worlds, or in none (seed)
  --crash-points N   short worlds, in each of which processes crash at chosen points, until each point had N worlds
  --crash-at LIST    POINT@ARRIVAL, such as node:after-sync@3: a crash on purpose, in each world
  --mutant NAME      a store that is wrong on purpose, to see it found; 'list' names them
  --quiet            only the last lines

Runs the real storage nodes, ledger, coordinators and recovery on simulated disks, clocks and networks, in virtual time,
and judges every answer. Ends with 1 if one was wrong, and says how to see it again.`

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  transactions: { type: 'string', default: '10000' },
  world: { type: 'string', default: '1000' },
  nodes: { type: 'string', default: '4' },
  faults: { type: 'string', default: 'all' },
  rules: { type: 'string', default: 'all' },
  workload: { type: 'string', default: 'all' },
  journal: { type: 'string' },
  processes: { type: 'string', default: 'many' },
  log: { type: 'string', default: 'none' },
  knobs: { type: 'string', default: 'seed' },
  'crash-points': { type: 'string' },
  'crash-at': { type: 'string', default: '' },
  mutant: { type: 'string' },
  quiet: { type: 'boolean', default: false },
} as const

const WORKLOADS = ['mixed', 'append', 'bank', 'retry', 'looks'] as const
/** One for each world, in turn. `looks` is costly, and has its turn less often. */
const IN_TURN = [...WORKLOADS.slice(0, 4), ...WORKLOADS]
/** Transactions that leave no trace are told apart in one process alone: elsewhere each leaves a record. */
const IN_TURN_WITHIN = [...IN_TURN, 'checks']
const ALL_OF: Readonly<Record<Processes, readonly string[]>> = {
  many: IN_TURN,
  one: IN_TURN_WITHIN,
  workers: IN_TURN_WITHIN,
}
const PROGRESS_WORLDS = 20
const STACKS_TRANSACTIONS_MAX = 1000

interface Settings {
  readonly seed: number
  readonly transactions: number
  readonly worldTransactions: number
  readonly nodes: number
  readonly faults: ReadonlySet<SimFault>
  readonly rules: 'all' | 'none'
  readonly workloads: readonly string[]
  readonly journal?: JournalOf
  readonly processes: Processes
  readonly log: LogOf
  readonly knobs: KnobsFrom
  readonly aims: readonly Aim[]
  /** Worlds for each crash point, if that is what is run. */
  readonly crashPoints?: number
  readonly mutant?: string
  readonly quiet: boolean
}

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const settings = settingsOf(args)
  const { mutant, quiet } = settings
  if (mutant === 'list') {
    for (const name of Object.keys(MUTANTS)) world.print(name)
    return 0
  }
  if (mutant !== undefined) loadMutant(mutant)
  // Nobody looks at the stacks of the many errors that are expected; whoever replays one world may want them.
  if (settings.transactions > STACKS_TRANSACTIONS_MAX) Error.stackTraceLimit = 0
  if (settings.crashPoints !== undefined) return cover(settings, settings.crashPoints, world)
  // Loaded from here on, so that a mutant is what is loaded.
  const { simulate } = await import('../simulate.js')
  const startMs = performance.now()
  let worlds = 0
  const report = await simulate({
    ...settings,
    stopAtAnomaly: mutant !== undefined,
    onWorld: (done) => {
      worlds++
      if (!quiet && worlds % PROGRESS_WORLDS === 0)
        world.print(
          `${worlds * settings.worldTransactions} transactions, seed ${done.seed}, trace ${done.traceHash}`,
        )
    },
  })
  if (!quiet) printTables(world, report.tally)
  printSummary(world, report, (performance.now() - startMs) / 1000)
  for (const broken of report.broken) printBroken(world, broken, settings)
  if (report.broken.length > 0) return 1
  return mutant === undefined ? printMissing(world, report, settings) : 0
}

/** Every crash point, in many worlds. */
async function cover(settings: Settings, seedsEach: number, world: CommandEnvironment): Promise<number> {
  const { coverCrashPoints } = await import('../crash-points.js')
  let worlds = 0
  // Units of work have crash points of their own.
  const isAll = settings.workloads === ALL_OF[settings.processes]
  const workloads = isAll ? [...new Set(settings.workloads), 'units', 'units'] : settings.workloads
  const report = await coverCrashPoints({
    ...settings,
    workloads,
    seedsEach,
    onWorld: (done, covered) => {
      if (!settings.quiet && ++worlds % PROGRESS_WORLDS === 0)
        world.print(`${worlds} worlds, ${covered} crash points covered, seed ${done.seed}`)
    },
  })
  const wanting = printCrashPoints(world, report, seedsEach)
  for (const broken of report.broken) printBroken(world, broken, settings)
  return report.broken.length + wanting === 0 ? 0 : 1
}

function settingsOf(args: readonly string[]): Settings {
  const { values } = readArguments(args, OPTIONS)
  const { mutant, rules, journal, processes, log, knobs, 'crash-points': crashPoints } = values
  if (rules !== 'all' && rules !== 'none') throw new UsageError(`--rules must be all or none, not '${rules}'`)
  if (journal !== undefined && journal !== 'own' && journal !== 'shared')
    throw new UsageError(`--journal must be own or shared, not '${journal}'`)
  if (log !== 'none' && log !== 'kept' && log !== 'blocks' && log !== 'backups' && log !== 'streams')
    throw new UsageError(`--log must be none, kept, blocks, backups or streams, not '${log}'`)
  if (processes !== 'many' && processes !== 'one' && processes !== 'workers')
    throw new UsageError(`--processes must be many, one or workers, not '${processes}'`)
  if (knobs !== 'seed' && knobs !== 'plain')
    throw new UsageError(`--knobs must be seed or plain, not '${knobs}'`)
  if (processes !== 'many' && journal !== undefined)
    throw new UsageError('--journal is for --processes many: in one process the nodes share one')
  if (mutant !== undefined && mutant !== 'list' && !Object.hasOwn(MUTANTS, mutant))
    throw new UsageError(`there is no mutant '${mutant}'; --mutant list names them`)
  return {
    seed: readInteger('seed', values.seed, 0, 999_999_999),
    transactions: readInteger('transactions', values.transactions, 1, 100_000_000),
    worldTransactions: readInteger('world', values.world, 1, 100_000),
    nodes: readInteger('nodes', values.nodes, 1, 8),
    faults: new Set(listed('faults', values.faults, FAULTS)),
    rules,
    workloads:
      values.workload === 'all'
        ? ALL_OF[processes]
        : listed('workload', values.workload, [...WORKLOADS, 'checks', 'units']),
    processes,
    log,
    knobs,
    aims: aimsOf(values['crash-at']),
    quiet: values.quiet,
    ...(crashPoints !== undefined && { crashPoints: readInteger('crash-points', crashPoints, 1, 1000) }),
    ...(mutant !== undefined && { mutant }),
    ...(journal !== undefined && { journal }),
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

function aimsOf(text: string): readonly Aim[] {
  return text === ''
    ? []
    : text.split(',').map((each) => {
        const [, point, arrival] = /^(.+)@([1-9]\d*)$/.exec(each) ?? []
        if (point === undefined)
          throw new UsageError(`--crash-at takes POINT@ARRIVAL, such as node:after-sync@3, not '${each}'`)
        return { point, arrival: Number(arrival) }
      })
}

function loadMutant(name: string): void {
  const mutant = MUTANTS[name]!
  const url = new URL(`../../src/${mutant.module}`, import.meta.url).href
  register(new URL('../mutant-loader.js', import.meta.url), { data: { url, mutant } })
}

async function printMissing(
  world: CommandEnvironment,
  report: SimulationReport,
  settings: Settings,
): Promise<number> {
  const { missing, missingOfUnits, COVERED_FROM_TRANSACTIONS, COVERED_FROM_UNITS } =
    await import('../coverage.js')
  const wide = settings.workloads === ALL_OF[settings.processes] && settings.nodes > 1
  const units = settings.workloads.join() === 'units' && settings.nodes > 1
  const from = wide ? COVERED_FROM_TRANSACTIONS[settings.processes] : COVERED_FROM_UNITS
  if (!(wide || units) || settings.transactions < from) return 0
  const names = wide ? missing(report.tally, settings) : missingOfUnits(report.tally, settings)
  for (const name of names) world.printError(`sim: never happened: ${name}`)
  return names.length === 0 ? 0 : 1
}
