// The processes of a simulated world beside its storage nodes (machine.ts), each running the real code: coordinators and
// recovery managers. And what all of them know of each other.
import { type Coordinator, type CoordinatedNode, openCoordinator } from '../src/coordinator/coordinator.js'
import { type Placement, wholeNodes } from '../src/coordinator/placement.js'
import type { Ledger } from '../src/ledger/ledger.js'
import type { Knobs } from '../src/model/knobs.js'
import type { TableShape } from '../src/model/table.js'
import { startRecovery } from '../src/recovery/recovery.js'
import type { TransactionRules } from '../src/rules/item/section-4.js'
import type { Runtime } from '../src/runtime/runtime.js'
import { DurabilityUnknown } from '../src/line/errors.js'
import type { TransactionNode } from '../src/storage/contract/transactions.js'
import type { UnitNode } from '../src/storage/contract/units.js'
import type { SimNode } from './machine.js'
import { Network, type NetworkOptions } from './network.js'
import { LEDGER_METHODS, TRANSACTION_METHODS, UNIT_METHODS } from './node-methods.js'
import { type Life, type Services, SimProcess, type Surroundings } from './process.js'
import { unitContext, type UnitService, unitService } from './unit-service.js'
import type { WorkerGroup } from './workers/group.js'
import type { Witness } from './witness.js'

/** What the processes of one world know of each other. */
export interface Cluster {
  /** Of the world. */
  readonly seed: number
  readonly around: Surroundings
  readonly network: Network
  readonly rules: TransactionRules
  /** As the nodes know it. */
  readonly table: TableShape
  readonly knobs: Knobs
  readonly witness: Witness
  readonly nodes: readonly SimNode[]
  /** All nodes are on one machine and write to one journal. */
  readonly sharedJournal: boolean
  /** And their machine coordinates by itself: there are no other processes but clients. */
  readonly oneProcess: boolean
  /** Other workers beside that machine, which call its nodes over channels. */
  readonly group?: WorkerGroup
  readonly recoveries: readonly SimProcess[]
  /** There is a log of commits, and the table asks for it. Records are kept for so long, if not for good. */
  readonly log?: {
    readonly retentionMs?: number
    readonly blocks?: true
    readonly backups?: true
    /** The table has a stream. */
    readonly streams?: { readonly shardMinutes: number }
  }
  /** Told of what no process could expect. */
  readonly onBroken: (what: string) => void
}

/** What the interfaces of storage nodes, ledgers and coordinators say may happen. */
const EXPECTED = new Set(['WriteFailed', 'OutcomeUnknown', 'RunOver', 'NoAnswer', 'ItemPending'])
const EXPECTED_MESSAGES = new Set([
  'a transaction before this one is not decided',
  'a transaction of before the last start has not been decided yet',
])

export const isExpected = ({ name, message }: Error): boolean =>
  EXPECTED.has(name) || EXPECTED_MESSAGES.has(message)

export function clusterNetwork(
  around: Surroundings,
  onBroken: (what: string) => void,
  sends: NetworkOptions['sends'],
): Network {
  return new Network(around, {
    onBroken,
    sends,
    isExpected,
    unanswered: (what) => new DurabilityUnknown(what),
  })
}

const HASHES = 2 ** 32
export const nodeOf = (hash: number, nodes: number): number => Math.floor((hash / HASHES) * nodes)
export const placementOf = (nodes: number): Placement =>
  wholeNodes(
    (hash) => nodeOf(hash, nodes),
    (slot) => Number.parseInt(slot.slice(0, 8), 16) % nodes,
  )

/** Calls are repeated by their callers after this. */
export const CALL_TIMEOUT_MS = 250
const CALL_TRIES_MAX = 3
export const WRITE_DEADLINE_MS = 3000
/** Sooner than some living coordinators are done, on purpose. */
export const RECOVERY_TIMES = { intervalMs: 500, stalledAfterMs: 400 }

export function coordinatorProcess(cluster: Cluster, position: number): SimProcess {
  return new SimProcess(cluster.around, {
    name: `coordinator-${position}`,
    role: 'coordinator',
    start: (life) => {
      const nodes = nodesSeenBy(cluster, life)
      const coordinator: Coordinator = openCoordinator({
        runtime: life.runtime,
        nodes,
        placement: placementOf(cluster.nodes.length),
        rules: cluster.rules,
        sharedJournal: cluster.sharedJournal,
        tuning: {
          callTimeoutMs: CALL_TIMEOUT_MS,
          callTriesMax: CALL_TRIES_MAX,
          deadlineMs: WRITE_DEADLINE_MS,
          completionsMax: cluster.knobs.completionsMax,
        },
      })
      return Promise.resolve(coordinatorServices(life.runtime, coordinator, nodes))
    },
  })
}

export function coordinatorServices(
  runtime: Runtime,
  coordinator: Coordinator,
  nodes: readonly CoordinatedNode[],
): Services & { readonly units: UnitService } {
  const write: Coordinator['write'] = (transaction) => coordinator.write(transaction)
  const read: Coordinator['read'] = (transaction) => coordinator.read(transaction)
  const context = unitContext(runtime, coordinator, nodes, (hash) => nodeOf(hash, nodes.length))
  return { coordinator: { read, write }, units: unitService(context) }
}

export function recoveryProcess(cluster: Cluster, position: number): SimProcess {
  return new SimProcess(cluster.around, {
    name: `recovery-${position}`,
    role: 'recovery',
    start: (life) => {
      const recovery = startRecovery({
        runtime: life.runtime,
        nodes: nodesSeenBy(cluster, life),
        placement: placementOf(cluster.nodes.length),
        tuning: {
          callTimeoutMs: CALL_TIMEOUT_MS,
          callTriesMax: CALL_TRIES_MAX,
          ...RECOVERY_TIMES,
        },
        onError: () => cluster.around.tally.add('recovery error'),
      })
      return Promise.resolve({ recovery })
    },
  })
}

function nodesSeenBy({ network, nodes }: Cluster, life: Life): readonly CoordinatedNode[] {
  // Coordinators and recovery keep the time themselves.
  const options = {}
  return nodes.map(({ process, services }) => ({
    ...network.proxy<TransactionNode & UnitNode>(
      life,
      process,
      services.node,
      [...TRANSACTION_METHODS, ...UNIT_METHODS],
      options,
    ),
    ledger: network.proxy<Ledger>(life, process, services.ledger, LEDGER_METHODS, options),
  }))
}
