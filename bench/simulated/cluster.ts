// A simulated cluster under load: the real storage nodes, ledgers and coordinators, in virtual time, at rates that one
// machine could never hold. Requests arrive as from many independent clients; only what arrives after a warm-up counts.
import { type Coordinator, type CoordinatedNode, openCoordinator } from '../../src/coordinator/coordinator.js'
import { ItemPending } from '../../src/line/errors.js'
import { wholeNodes } from '../../src/coordinator/placement.js'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { Ledger } from '../../src/ledger/ledger.js'
import type { LedgerSlot } from '../../src/model/brand.js'
import { allRules, noRules } from '../../src/rules/item/section-4.js'
import {
  type CalledUnitNode,
  LEDGER_METHODS,
  TRANSACTION_METHODS,
  UNIT_METHODS,
} from '../../sim/node-methods.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../../sim/scheduler.js'
import type { LocalNode } from '../../src/storage/node/local-node.js'
import { openNodeOver } from '../../src/storage/folder/open-local-node.js'
import type { TransactionNode } from '../../src/storage/contract/transactions.js'
import { Arrivals } from '../../src/bench/load/arrivals.js'
import { Latencies, type LatencySummary } from '../../src/bench/load/latencies.js'
import { call, type Caller, type Cluster, Machine, remote } from './machines.js'
import type { SimulatedRequest } from './requests.js'
import { REGION, type Timing } from './timing.js'

export interface SimulatedLoad {
  readonly seed: number
  readonly rules: 'all' | 'none'
  readonly nodes: number
  readonly coordinators: number
  readonly requestsPerSecond: number
  readonly warmupMicros: number
  readonly durationMicros: number
  /** The request with that number. */
  readonly request: (random: Random, number: number) => SimulatedRequest
  readonly timing?: Timing
}

export interface SimulatedPart {
  readonly name: string
  readonly answers: number
  /** Refused because another transaction was in the way. */
  readonly conflicts: number
  /** Nobody could say what became of it, or it took too long. */
  readonly lost: number
  readonly latency: LatencySummary
}

export interface SimulatedResult {
  readonly parts: readonly SimulatedPart[]
  /** Of the processors of the nodes, and of the coordinators, while requests arrived. */
  readonly nodesBusy: number
  readonly coordinatorsBusy: number
}

/** No experiment uses those of units of work, but a coordinator has them at hand. */
const nodeFrom = remote<TransactionNode & CalledUnitNode>([...TRANSACTION_METHODS, ...UNIT_METHODS])
const ledgerFrom = remote<Ledger>(LEDGER_METHODS)
const HASHES = 2 ** 32
/** Virtual time, after the last arrival. */
const PATIENCE_MICROS = 5_000_000
const TUNING = { segmentBytesMax: 2 ** 28, reserveBytes: 0 }

export async function simulateLoad(load: SimulatedLoad): Promise<SimulatedResult> {
  const { seed, timing = REGION, requestsPerSecond, warmupMicros, durationMicros } = load
  const cluster: Cluster = { scheduler: new Scheduler(), random: new Random(seed), timing }
  const { scheduler } = cluster
  const opened = openCluster(cluster, load)
  let parts: Fleet | undefined
  void opened.then((fleet) => {
    parts = fleet
  })
  await scheduler.run(() => parts !== undefined)
  const fleet = await opened
  const counts = new Map<string, Counts>()
  const from = scheduler.nowMicros + warmupMicros
  const end = from + durationMicros
  const arrivals = new Arrivals(scheduler.nowMicros, requestsPerSecond, cluster.random.fork())
  const requests = cluster.random.fork()
  const busyBefore = fleet.busy()
  let busyAfter = busyBefore
  let inFlight = 0
  let arrived = 0
  let ended = false
  const arrive = (): void => {
    const startMicros = scheduler.nowMicros
    if (startMicros >= end) {
      busyAfter = fleet.busy()
      ended = true
      return
    }
    const request = load.request(requests, arrived++)
    inFlight++
    void ask(cluster, fleet, request).then((outcome) => {
      inFlight--
      if (startMicros >= from) count(counts, request.name, outcome, scheduler.nowMicros - startMicros)
    })
    arrivals.take()
    scheduler.after(arrivals.nextMicros - startMicros, 'arrival', arrive)
  }
  arrivals.take()
  arrive()
  await scheduler.run(() => (ended && inFlight === 0) || scheduler.nowMicros > end + PATIENCE_MICROS)
  const elapsed = warmupMicros + durationMicros
  return {
    parts: [...counts].map(([name, { latencies, conflicts, lost }]) => {
      const latency = latencies.summary()
      return { name, answers: latency.count, conflicts, lost, latency }
    }),
    nodesBusy: (busyAfter.nodes - busyBefore.nodes) / elapsed / load.nodes,
    coordinatorsBusy: (busyAfter.coordinators - busyBefore.coordinators) / elapsed / load.coordinators,
  }
}

interface Fleet {
  readonly nodes: readonly { readonly machine: Machine; readonly node: LocalNode }[]
  readonly coordinators: readonly { readonly machine: Machine; readonly coordinator: Coordinator }[]
  nodeOf(hash: number): number
  busy(): { readonly nodes: number; readonly coordinators: number }
}

async function openCluster(cluster: Cluster, load: SimulatedLoad): Promise<Fleet> {
  const rules = load.rules === 'all' ? allRules : noRules
  const nodeOf = (hash: number): number => Math.floor((hash / HASHES) * load.nodes)
  const ledgerNodeOf = (slot: LedgerSlot): number => Number.parseInt(slot.slice(0, 8), 16) % load.nodes
  const placement = wholeNodes(nodeOf, ledgerNodeOf)
  const nodes = await Promise.all(
    Array.from({ length: load.nodes }, async (_, at) => {
      const machine = new Machine(cluster, `node-${at}`)
      const node = await openNodeOver(
        {
          runtime: machine.runtime,
          index: memoryMap(),
          files: machine.files(),
          folder: 'journal',
          tuning: TUNING,
          rules,
        },
        () => Promise.resolve(),
      )
      return { machine, node }
    }),
  )
  const coordinators = Array.from({ length: load.coordinators }, (_, at) => {
    const machine = new Machine(cluster, `coordinator-${at}`)
    const seen: readonly CoordinatedNode[] = nodes.map(({ machine: to, node }) =>
      Object.assign(nodeFrom({ cluster, from: machine, to, target: node }), {
        unitsHeld: node.unitsHeld,
        ledger: ledgerFrom({ cluster, from: machine, to, target: node.ledger }),
      }),
    )
    const coordinator = openCoordinator({
      runtime: machine.runtime,
      nodes: seen,
      placement,
      rules,
    })
    return { machine, coordinator }
  })
  const total = (machines: readonly { readonly machine: Machine }[]): number =>
    machines.reduce((sum, { machine }) => sum + machine.busyMicros, 0)
  return {
    nodes,
    coordinators,
    nodeOf,
    busy: () => ({ nodes: total(nodes), coordinators: total(coordinators) }),
  }
}

const CLIENTS: Caller = { receive: (then) => then() }

type Outcome = 'done' | 'conflict' | 'lost'

/** Single items go straight to their node, transactions to any coordinator. */
async function ask(cluster: Cluster, fleet: Fleet, request: SimulatedRequest): Promise<Outcome> {
  const { nodes, coordinators } = fleet
  try {
    if (request.kind === 'read' || request.kind === 'write') {
      const { machine, coordinator } = cluster.random.pick(coordinators)
      const run = (): Promise<{ readonly outcome: string }> =>
        request.kind === 'read'
          ? coordinator.read({ items: request.items })
          : coordinator.write({ actions: request.actions })
      const arguments_ = [request.kind === 'read' ? { items: request.items } : { actions: request.actions }]
      const { outcome } = await call(cluster, CLIENTS, machine, `coordinate-${request.kind}`, run, arguments_)
      if (outcome === 'read' || outcome === 'committed') return 'done'
      return outcome === 'conflict' || outcome === 'cancelled' ? 'conflict' : 'lost'
    }
    const { key } = request.item
    const { machine, node } = nodes[fleet.nodeOf(key.hash)]!
    const { item } = request
    if (request.kind === 'get') {
      await call(cluster, CLIENTS, machine, 'get', () => node.get(item.table.space, key), [])
      return 'done'
    }
    const { verdict } = await call(cluster, CLIENTS, machine, 'write', () => node.write(item), [])
    return verdict === 'done' ? 'done' : verdict === 'conflict' ? 'conflict' : 'lost'
  } catch (error) {
    return error instanceof ItemPending ? 'conflict' : 'lost'
  }
}

class Counts {
  readonly latencies = new Latencies()
  conflicts = 0
  lost = 0
}

function count(counts: Map<string, Counts>, name: string, outcome: Outcome, micros: number): void {
  let part = counts.get(name)
  if (part === undefined) counts.set(name, (part = new Counts()))
  part.latencies.record(micros)
  if (outcome === 'conflict') part.conflicts++
  if (outcome === 'lost') part.lost++
}
