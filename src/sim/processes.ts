// The processes of a simulated world, each running the real code: storage nodes with their part of the ledger,
// coordinators, recovery managers.
import { type Coordinator, type CoordinatedNode, openCoordinator } from '../coordinator/coordinator.js'
import type { Ledger } from '../ledger/ledger.js'
import type { KeyBytes, LedgerSlot } from '../model/brand.js'
import type { TableShape } from '../model/table.js'
import { startRecovery } from '../recovery/recovery.js'
import type { TransactionRules } from '../rules/switches.js'
import { OutcomeUnknown } from '../storage/errors.js'
import { JournalLine } from '../storage/journal-line.js'
import type { LocalNode } from '../storage/local-node.js'
import { openNodeOver } from '../storage/open-local-node.js'
import type { TransactionNode } from '../storage/transactions.js'
import type { RangeAtRequest, UnitNode } from '../storage/units.js'
import { countedRules } from './counted-rules.js'
import { SimDisk } from './disk.js'
import { Network, type NetworkOptions } from './network.js'
import { LEDGER_METHODS, TRANSACTION_METHODS, UNIT_METHODS } from './node-methods.js'
import { type Life, type Services, SimProcess, type Surroundings } from './process.js'
import { SimIndex } from './sim-index.js'
import type { Witness } from './witness.js'
import { WriteLog } from './write-log.js'

/** What the processes of one world know of each other. */
export interface Cluster {
  readonly around: Surroundings
  readonly network: Network
  readonly rules: TransactionRules
  /** As the nodes know it. */
  readonly table: TableShape
  readonly witness: Witness
  readonly nodes: readonly NodeProcess[]
  readonly recoveries: readonly SimProcess[]
  /** Told of what no process could expect. */
  readonly onBroken: (what: string) => void
}

/** What the interfaces of storage nodes, ledgers and coordinators say may happen. */
const EXPECTED = new Set(['WriteFailed', 'OutcomeUnknown', 'NoAnswer', 'TransactionConflictException'])
const EXPECTED_MESSAGES = new Set([
  'a transaction before this one is not decided',
  'a transaction of before the last start has not been decided yet',
])

export function clusterNetwork(
  around: Surroundings,
  onBroken: (what: string) => void,
  sends: NetworkOptions['sends'],
): Network {
  return new Network(around, {
    onBroken,
    sends,
    isExpected: ({ name, message }) => EXPECTED.has(name) || EXPECTED_MESSAGES.has(message),
    unanswered: (what) => new OutcomeUnknown(what),
  })
}

const HASHES = 2 ** 32
export const nodeOf = (hash: number, nodes: number): number => Math.floor((hash / HASHES) * nodes)
export const ledgerNodeOf = (slot: LedgerSlot, nodes: number): number =>
  Number.parseInt(slot.slice(0, 8), 16) % nodes

/** Calls are repeated by their callers after this. */
export const CALL_TIMEOUT_MS = 250
const CALL_TRIES_MAX = 3
const LOOKED = 'after-look-at-unsynced'
const REPORT_AGAIN_MICROS = 100_000
const SYNC_FAILED_RESTART_MICROS = 200_000

/** Small, so that segments change and the index is brought up often. */
const TUNING = {
  segmentBytesMax: 16 * 1024,
  reserveBytes: 0,
  overlayBytesMax: 64 * 1024,
  applyDelayMs: 30,
  applyChangesMax: 100,
}

/** A storage node and its machine. */
export class NodeProcess {
  readonly process: SimProcess
  readonly log = new WriteLog()
  readonly #cluster: Cluster
  readonly #disk: SimDisk
  readonly #index: SimIndex
  readonly #position: number
  /** When a transaction was last reported; whoever waits for it need not say so each time. */
  readonly #reported = new Map<string, number>()
  #node: LocalNode | undefined

  constructor(cluster: Cluster, position: number) {
    this.#cluster = cluster
    this.#position = position
    this.#disk = new SimDisk(cluster.around)
    this.#index = new SimIndex(cluster.around)
    this.process = new SimProcess(cluster.around, {
      name: `node-${position}`,
      role: 'node',
      start: (life) => this.#start(life),
      onGivenUp: (error) => cluster.onBroken(`node-${position} cannot be started: ${String(error)}`),
      onCrash: (power) => {
        this.#node = undefined
        this.#disk.crash(power)
        this.#index.crash()
      },
    })
  }

  /** For those who look at the world from outside. */
  get node(): LocalNode | undefined {
    return this.#node
  }

  async #start(life: Life): Promise<Services> {
    const { rules, table, witness, around } = this.#cluster
    const index = this.#index.layer(life)
    const node = await openNodeOver(
      {
        runtime: life.runtime,
        index,
        files: this.#disk.layer(life, () => this.#restartSoon(life)),
        folder: 'journal',
        tuning: TUNING,
        rules,
        functions: countedRules(around.tally),
        transactions: { waitMs: 100, stalledMs: 300 },
        lineOf: (options) =>
          this.log.tap(new JournalLine(options), options, () => options.journal.refusal !== undefined),
      },
      () => Promise.resolve(),
    )
    if (!life.alive) return new Promise(() => undefined)
    this.log.restarted((address) => index.get(address))
    node.setShape(table)
    node.onStalled((tx) => this.#report(life, tx))
    this.#node = node
    around.scheduler.note(`started ${this.process.name}`)
    const { ledger } = node
    return {
      node: witness.node(node, {
        isPending: (address) => this.log.isPending(address),
        onLook: (address) => this.#looked(life, address),
      }),
      ledger: witness.ledger(ledger),
    }
  }

  /** A crash point of its own, once the answer has left: whoever looked must not have seen what the crash undoes. */
  #looked(life: Life, address: KeyBytes): void {
    if (!this.log.isUnsynced(address)) return
    this.#cluster.around.scheduler.after(1, LOOKED, () => life.reach(LOOKED))
  }

  /** A node whose disk failed takes no writes before it is started again: somebody does that. */
  #restartSoon(life: Life): void {
    this.#cluster.around.scheduler.after(SYNC_FAILED_RESTART_MICROS, 'operator', () => {
      if (life.alive) this.process.crash('sync-failed')
    })
  }

  #report(life: Life, tx: Parameters<Parameters<LocalNode['onStalled']>[0]>[0]): void {
    const { recoveries, around, network } = this.#cluster
    const { nowMicros } = around.scheduler
    if (nowMicros - (this.#reported.get(tx) ?? -Infinity) < REPORT_AGAIN_MICROS) return
    this.#reported.set(tx, nowMicros)
    const recovery = around.random.pick(recoveries)
    const request = { service: 'recovery', method: 'report', args: [this.#position, tx] }
    network.call(life, recovery, request, { timeoutMs: CALL_TIMEOUT_MS }).catch(() => undefined)
  }
}

export function coordinatorProcess(cluster: Cluster, position: number): SimProcess {
  return new SimProcess(cluster.around, {
    name: `coordinator-${position}`,
    role: 'coordinator',
    start: (life) => {
      const nodes = nodesSeenBy(cluster, life)
      const coordinator: Coordinator = openCoordinator({
        runtime: life.runtime,
        nodes,
        nodeOf: (hash) => nodeOf(hash, cluster.nodes.length),
        ledgerNodeOf: (slot) => ledgerNodeOf(slot, cluster.nodes.length),
        rules: cluster.rules,
        tuning: { callTimeoutMs: CALL_TIMEOUT_MS, callTriesMax: CALL_TRIES_MAX, deadlineMs: 3000 },
      })
      const { snapshots } = coordinator
      // A client names a node by its position: it has none to hand over.
      const range = (position: number, request: RangeAtRequest) =>
        snapshots.range(nodes[position] as UnitNode, request)
      return Promise.resolve({ coordinator, snapshots: { ...snapshots, range } })
    },
  })
}

export function recoveryProcess(cluster: Cluster, position: number): SimProcess {
  return new SimProcess(cluster.around, {
    name: `recovery-${position}`,
    role: 'recovery',
    start: (life) => {
      const recovery = startRecovery({
        runtime: life.runtime,
        nodes: nodesSeenBy(cluster, life),
        ledgerNodeOf: (slot) => ledgerNodeOf(slot, cluster.nodes.length),
        tuning: {
          callTimeoutMs: CALL_TIMEOUT_MS,
          callTriesMax: CALL_TRIES_MAX,
          intervalMs: 500,
          // Sooner than some living coordinators are done, on purpose.
          stalledAfterMs: 400,
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
  return nodes.map(({ process }) => ({
    ...network.proxy<TransactionNode & UnitNode>(
      life,
      process,
      'node',
      [...TRANSACTION_METHODS, ...UNIT_METHODS],
      options,
    ),
    ledger: network.proxy<Ledger>(life, process, 'ledger', LEDGER_METHODS, options),
  }))
}
