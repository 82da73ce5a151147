// Many worlds, one after another, each from a seed of its own: a run of any length in bounded memory, of which a single
// world can be replayed.
import { allRules, noRules, type TransactionRules, workerRules } from '../src/rules/item/section-4.js'
import type { Aim } from './planned-crashes.js'
import { type SimFault, Tally } from './faults.js'
import type { KnobsFrom } from './knobs.js'
import { Random } from '../src/runtime/seeded-random.js'
import { AppendWorkload } from './workloads/append.js'
import { BankWorkload } from './workloads/bank.js'
import { ChecksWorkload } from './workloads/checks.js'
import { LooksWorkload } from './workloads/looks.js'
import { MixedWorkload } from './workloads/mixed.js'
import { RetryWorkload } from './workloads/retry.js'
import { UnitsWorkload } from './workloads/units.js'
import type { Workload } from './workloads/workload.js'
import { type JournalOf, type LogOf, type Processes, runWorld, type WorldReport } from './world.js'

export const WORKLOADS: Readonly<Record<string, () => Workload>> = {
  mixed: () => new MixedWorkload(),
  append: () => new AppendWorkload(),
  bank: () => new BankWorkload(),
  retry: () => new RetryWorkload(),
  looks: () => new LooksWorkload(),
  units: () => new UnitsWorkload(),
  checks: () => new ChecksWorkload(),
}

export interface SimulationOptions {
  readonly seed: number
  readonly transactions: number
  /** At most; worlds differ. */
  readonly nodes: number
  readonly faults: ReadonlySet<SimFault>
  readonly rules: 'all' | 'none'
  /** One of them for each world, in turn. */
  readonly workloads: readonly string[]
  /** Of all worlds with more than one node; absent: in some of them they share one. */
  readonly journal?: JournalOf
  /** Of all worlds; absent: many. */
  readonly processes?: Processes
  /** Of all worlds whose nodes share a journal; absent: none. */
  readonly log?: LogOf
  /** Of all worlds; absent: each draws its own. */
  readonly knobs?: KnobsFrom
  /** In one world. */
  readonly worldTransactions?: number
  /** Crashes on purpose, in each world. */
  readonly aims?: readonly Aim[]
  /** Stop after the first world with an anomaly. */
  readonly stopAtAnomaly?: boolean
  readonly onWorld?: (world: WorldResult) => void
}

export interface WorldResult extends WorldReport {
  readonly seed: number
  readonly workload: string
  readonly rules: 'all' | 'none'
  readonly aims: readonly Aim[]
  /** Of which the world had this many to run. */
  readonly transactions: number
}

export interface SimulationReport {
  readonly worlds: number
  readonly tally: Tally
  readonly realtime: number
  /** Those with anomalies. */
  readonly broken: readonly WorldResult[]
  /** Over all trace hashes. */
  readonly traceHash: string
  readonly events: number
}

export const WORLD_TRANSACTIONS = 1000
const BROKEN_MAX = 5

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, transactions, worldTransactions = WORLD_TRANSACTIONS } = options
  const tally = new Tally()
  const broken: WorldResult[] = []
  let [realtime, events, hash, worlds] = [0, 0, 0, 0]
  for (let left = transactions; left > 0 && broken.length < BROKEN_MAX; left -= worldTransactions) {
    const world = await simulateWorld(options, seed + worlds, Math.min(left, worldTransactions), options.aims)
    worlds++
    tally.addAll(world.tally)
    realtime += world.realtime.length
    events += world.events
    hash = (Math.imul(hash, 31) + Number.parseInt(world.traceHash.slice(0, 8), 16)) >>> 0
    if (world.anomalies.length > 0) broken.push(world)
    options.onWorld?.(world)
    if (options.stopAtAnomaly === true && broken.length > 0) break
  }
  return { worlds, tally, realtime, broken, traceHash: hash.toString(16).padStart(8, '0'), events }
}

/** The shape of a world follows from its seed, so that worlds differ in more than chance. */
export async function simulateWorld(
  options: Pick<
    SimulationOptions,
    'nodes' | 'faults' | 'rules' | 'workloads' | 'journal' | 'processes' | 'log' | 'knobs'
  >,
  seed: number,
  transactions: number,
  aims: readonly Aim[] = [],
): Promise<WorldResult> {
  const { faults, rules, workloads, processes = 'many', knobs = 'seed' } = options
  const random = new Random(seed)
  const nodes = random.between(1, options.nodes)
  const journal = nodes === 1 ? 'own' : (options.journal ?? journalOf(seed))
  const workload = workloads[seed % workloads.length] as string
  const make = WORKLOADS[workload]
  if (make === undefined) throw new RangeError(`there is no workload ${workload}`)
  const report = await runWorld({
    seed,
    transactions,
    nodes,
    coordinators: random.between(1, 3),
    recoveries: random.between(1, 2),
    clients: random.between(6, 30),
    faults,
    rules: processes === 'workers' && rules === 'all' ? workerRules : RULES[rules],
    workload: make(),
    journal,
    processes,
    ...(options.log && { log: options.log }),
    knobs,
    ...(aims.length > 0 && { aims }),
  })
  return { ...report, seed, workload, rules, transactions, aims }
}

/** One in three, in step neither with the workloads nor with what else follows from the number of a seed. */
const journalOf = (seed: number): JournalOf =>
  (seed + Math.floor(seed / 9) + Math.floor(seed / 27)) % SHARED_EVERY === 0 ? 'shared' : 'own'
const SHARED_EVERY = 3

const RULES: Readonly<Record<'all' | 'none', TransactionRules>> = { all: allRules, none: noRules }
