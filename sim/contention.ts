// How often transactions are cancelled when they meet on hot items (§5.4), with and without the rules of section 4.
//
// Workload A of the paper: write transactions of ten items, one of them from a pool of a thousand hot items and nine from
// a much larger set. They arrive at a fixed rate, whether or not those before them are done. Nothing fails. Time is
// virtual, so the same seed gives the same figures on any machine.
import type { Coordinator } from '../src/coordinator/coordinator.js'
import { allRules, noRules } from '../src/rules/item/section-4.js'
import { put, type Request, update } from './actions.js'
import { Tally } from './faults.js'
import { worldKnobs } from './knobs.js'
import { Machine, type SimNode } from './machine.js'
import { clusterNetwork, coordinatorProcess, type Cluster, recoveryProcess } from './processes.js'
import { SimProcess, type Surroundings } from './process.js'
import { Random } from '../src/runtime/seeded-random.js'
import { Scheduler } from './scheduler.js'
import { TABLE } from './table.js'
import { Witness } from './witness.js'

export interface ContentionOptions {
  readonly seed: number
  readonly rules: 'all' | 'none'
  /** What each transaction consists of; `both`: half of the transactions are of either kind. */
  readonly actions: 'puts' | 'updates' | 'both'
  readonly transactionsPerSecond: number
  readonly transactions: number
  readonly hotItems?: number
}

export interface ContentionReport {
  readonly transactions: number
  readonly committed: number
  readonly cancelled: number
  /** Neither: no answer, or an error. */
  readonly other: number
  readonly cancellationRate: number
}

const NODES = 4
const COORDINATORS = 8
const ITEMS = 10
const HOT_ITEMS = 1000
const COLD_ITEMS = 1_000_000
const START_MICROS = 100_000
const PATIENCE_MS = 10_000

type WriteOutcome = Awaited<ReturnType<Coordinator['write']>>

export async function measureContention(options: ContentionOptions): Promise<ContentionReport> {
  const world = openWorld(options)
  const { around, network, coordinators, client } = world
  const random = around.random.fork()
  const outcomes = new Map<string, number>()
  let answered = 0
  const send = async (number: number): Promise<void> => {
    const request = {
      service: 'coordinator',
      method: 'write',
      args: [{ actions: actionsOf(options, number, random) }],
    }
    let outcome = 'lost'
    try {
      const answer = await network.call(client.life!, random.pick(coordinators), request, {
        timeoutMs: PATIENCE_MS,
      })
      ;({ outcome } = answer as WriteOutcome)
    } catch {
      // Counted as lost.
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    answered++
  }
  const spacingMicros = 1_000_000 / options.transactionsPerSecond
  for (let number = 0; number < options.transactions; number++) {
    around.scheduler.after(START_MICROS + number * spacingMicros, 'arrival', () => void send(number))
  }
  await around.scheduler.run(() => answered === options.transactions)
  const committed = outcomes.get('committed') ?? 0
  const cancelled = outcomes.get('cancelled') ?? 0
  return {
    transactions: options.transactions,
    committed,
    cancelled,
    other: options.transactions - committed - cancelled,
    cancellationRate: cancelled / options.transactions,
  }
}

function openWorld({ seed, rules }: ContentionOptions) {
  const tally = new Tally()
  const around: Surroundings = {
    scheduler: new Scheduler(),
    random: new Random(seed),
    faults: new Set(),
    tally,
    trouble: { on: false },
  }
  const onBroken = (what: string): void => {
    throw new Error(what)
  }
  const network = clusterNetwork(around, onBroken, 'as it is')
  const nodes: SimNode[] = []
  const recoveries: SimProcess[] = []
  const cluster: Cluster = {
    seed,
    around,
    network,
    rules: rules === 'all' ? allRules : noRules,
    table: TABLE,
    knobs: worldKnobs,
    witness: new Witness(tally),
    nodes,
    sharedJournal: false,
    oneProcess: false,
    recoveries,
    onBroken,
  }
  for (let at = 0; at < NODES; at++) nodes.push(...new Machine(cluster, `node-${at}`, [at]).nodes)
  recoveries.push(recoveryProcess(cluster, 0))
  const coordinators = Array.from({ length: COORDINATORS }, (_, at) => coordinatorProcess(cluster, at))
  const client = new SimProcess(around, { name: 'clients', role: 'client', start: () => Promise.resolve({}) })
  for (const process of [...nodes.map((node) => node.process), ...recoveries, ...coordinators, client])
    process.start()
  return { around, network, coordinators, client }
}

function actionsOf(
  { actions, hotItems = HOT_ITEMS }: ContentionOptions,
  number: number,
  random: Random,
): Request[] {
  const id = `t${number}`
  const names = new Set([`hot-${random.below(hotItems)}`])
  while (names.size < ITEMS) names.add(`cold-${random.below(COLD_ITEMS)}`)
  const puts = actions === 'puts' || (actions === 'both' && number % 2 === 0)
  return Array.from(names, (name) =>
    puts
      ? put(name, id, {})
      : update(
          name,
          id,
          { text: 'n = :n', values: { ':n': { N: String(number) } } },
          { text: 'attribute_not_exists(closed)' },
        ),
  )
}
