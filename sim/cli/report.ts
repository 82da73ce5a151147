// What npm run sim says: what happened in the worlds, what was wrong, and how to see it again.
import type { CrashPointReport } from '../crash-points.js'
import type { SimFault, Tally } from '../faults.js'
import type { SimulationReport, WorldResult } from '../simulate.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'

const TABLES = [
  ['worlds', 'world/'],
  ['outcomes', 'outcome/'],
  ['verdicts', 'verdict/'],
  ['rules', 'rule/'],
  ['faults', 'fault/'],
  ['errors within one process', 'error/'],
  ['waits', 'wait/'],
  ['ranges that were looked at, by the way to look', 'scan/'],
  ['log of commits', 'log/'],
  ['stream', 'stream/'],
  ['blocks', 'blocks/'],
  ['backups and restores', 'backups/'],
  ['worlds with a small knob', 'knob/'],
] as const

/** Everything that was counted. */
export function printTables(world: CommandEnvironment, tally: Tally): void {
  for (const [title, prefix] of TABLES) {
    world.print(`${title}:`)
    for (const [name, count] of tally.under(prefix)) world.print(`  ${String(count).padStart(9)}  ${name}`)
  }
  world.print('crash points, crashes of passes:')
  for (const [point, passes] of tally.under('point/')) {
    const crashes = String(tally.of(`crash/${point}`)).padStart(9)
    world.print(`  ${crashes} of ${String(passes).padStart(9)}  ${point}`)
  }
}

export function printSummary(world: CommandEnvironment, report: SimulationReport, seconds: number): void {
  const { tally } = report
  const transactions = tally.of('transactions')
  const share = (100 * tally.of('contended')) / Math.max(1, transactions)
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

const sum = (tally: Tally, ...names: readonly string[]): number =>
  names.reduce((total, name) => total + tally.of(name), 0)

/** Returns how many points were not covered, or not known. */
export function printCrashPoints(
  world: CommandEnvironment,
  report: CrashPointReport,
  seedsEach: number,
): number {
  world.print('crash points, by the number of worlds in which a process crashed there:')
  for (const [point, seeds] of report.seedsOf) world.print(`  ${String(seeds).padStart(5)}  ${point}`)
  const transactions = report.tally.of('transactions')
  const few = [...report.seedsOf].filter(([, seeds]) => seeds < seedsEach)
  world.print(
    `${report.seedsOf.size - few.length} of ${report.seedsOf.size} crash points with ${seedsEach} worlds or more each; ` +
      `${transactions} transactions in ${report.worlds} worlds; ${report.broken.length} worlds with anomalies`,
  )
  for (const [point, seeds] of few) world.printError(`sim: only ${seeds} worlds with a crash at ${point}`)
  for (const point of report.unlisted) world.printError(`sim: the crash point ${point} is not in the list`)
  return few.length + report.unlisted.length
}

const ANOMALIES_SHOWN = 5

export interface Circumstances {
  readonly nodes: number
  readonly faults: ReadonlySet<SimFault>
  readonly journal?: string
  readonly processes?: string
  readonly log?: string
  readonly knobs?: string
  readonly mutant?: string
}

export function printBroken(world: CommandEnvironment, broken: WorldResult, settings: Circumstances): void {
  world.printError(`sim: the world of seed ${broken.seed} (${broken.workload}) is wrong:`)
  for (const { kind, explanation } of broken.anomalies.slice(0, ANOMALIES_SHOWN))
    world.printError(`  ${kind}: ${explanation}`)
  const faults = [...settings.faults].join(',') || 'none'
  const mutant = settings.mutant === undefined ? '' : ` --mutant ${settings.mutant}`
  const journal = settings.journal === undefined ? '' : ` --journal ${settings.journal}`
  const processes =
    settings.processes === undefined || settings.processes === 'many'
      ? ''
      : ` --processes ${settings.processes}`
  const log = settings.log === undefined || settings.log === 'none' ? '' : ` --log ${settings.log}`
  const knobs = settings.knobs === 'plain' ? ' --knobs plain' : ''
  const aims = broken.aims.map(({ point, arrival }) => `${point}@${arrival}`).join(',')
  world.printError(
    `  again: npm run sim -- --seed ${broken.seed} --transactions ${broken.transactions} --nodes ${settings.nodes} ` +
      `--faults ${faults} --rules ${broken.rules} --workload ${broken.workload}${journal}${processes}${log}${knobs}${mutant}` +
      (aims === '' ? '' : ` --crash-at ${aims}`),
  )
}
