// One simulated world, from one seed: the real storage nodes, ledger, coordinators and recovery, on simulated machines and
// a simulated network, under simulated clients.
//
//   client-0 ... client-N ----------------------------------------------> history --> judges (check/)
//        | single items           | transactions                             ^
//        |                        v                                          | outcomes that nobody was told
//        |                  coordinator-0 ...      recovery-0 ...            |
//        |                        |                     |                 witness, write log
//        v                        v                     v
//   ==== network: delay, drop, repeat, overtake, cut ================ crash points at every send and receive ====
//        |                        |                     |
//   node-0 (LocalNode, LocalLedger)      node-1 ...
//   journal -> disk: lost and torn pages, full, failed syncs             crash points at every write and sync
//   index: survives; what was being applied may not
//   (in some worlds all nodes are on one machine, with one journal and one disk, and crash together; in some of those
//   it coordinates and recovers by itself, as a real server does: one-process.ts)
//
//   set up --> trouble: faults, crashes, clocks that jump --> no more trouble --> at rest --> judge
//
// Everything that happens is an event of the scheduler; nothing reads a clock, a file or a random source but the world's.
// May import: everything below the router. Nothing imports it but the command line and tests.
import { ledgerSlot, type KeyBytes, timestamp } from '../src/model/brand.js'
import type { TransactionRules } from '../src/rules/item/section-4.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { inSpace, withoutSpace } from '../src/line/spaces.js'
import type { RangeEntry } from '../src/storage/contract/storage-node.js'
import { keyNamed } from './actions.js'
import { type Aim, Aims } from './planned-crashes.js'
import type { Anomaly } from './check/anomaly.js'
import { judgeCounts, judgeView } from './check/views.js'
import { judgeByReplay } from './check/oracle.js'
import { judgeRealTime } from './check/real-time.js'
import { judgeCommitLog, judgeLogComplete, judgeLogOrder } from './check/commit-log.js'
import type { CommitRecord } from '../src/commit-log/commit-record.js'
import type { ModelVersion } from './check/model.js'
import { SimClient } from './client.js'
import { type SimFault, Tally } from './faults.js'
import { type HistoryEntry, type Image, requestThatWrote } from './history.js'
import { type KnobsFrom, knobsOf, worldKnobs } from './knobs.js'
import { BlockWitness } from './block-witness.js'
import { judgeBlocks } from './check/blocks.js'
import { LogFollower } from './log-follower.js'
import { Machine, type SimNode } from './machine.js'
import { Archivist } from './archivist.js'
import { judgeRestored } from './check/moments.js'
import { clusterNetwork, coordinatorProcess, type Cluster, recoveryProcess } from './processes.js'
import { CATALOGUED_TABLE, INDEXED_TABLE, TABLE } from './table.js'
import { type Surroundings, SimProcess } from './process.js'
import { Random } from '../src/runtime/seeded-random.js'
import { imageOf, Recorder } from './recorder.js'
import { Scanner } from './scanner.js'
import { Scheduler } from './scheduler.js'
import { StreamFollower } from './stream-follower.js'
import { Troublemaker } from './fault-schedule.js'
import { Witness } from './witness.js'
import { type ServeWorker, WorkerGroup } from './workers/group.js'
import { serveAsSimWorker } from './workers/worker.js'
import type { Workload } from './workloads/workload.js'

export type JournalOf = 'own' | 'shared'
/**
 * Whether coordinators and recovery are processes of their own, or in that of the nodes. With workers that machine is the first of
 * several, each with a coordinator.
 */
export type Processes = 'many' | 'one' | 'workers'

export type LogOf = 'none' | 'kept' | 'blocks' | 'backups' | 'streams'

export interface WorldOptions {
  readonly seed: number
  readonly transactions: number
  readonly nodes: number
  readonly coordinators: number
  readonly recoveries: number
  readonly clients: number
  readonly faults: ReadonlySet<SimFault>
  readonly rules: TransactionRules
  readonly workload: Workload
  /** Whether each node is on a machine of its own, or all are on one and share its journal ('own'). */
  readonly journal?: JournalOf
  /** If 'one', the nodes share a journal, and there are no coordinators and recoveries but that of their machine ('many'). */
  readonly processes?: Processes
  /** Whether a log of commits is kept and followed; only where all nodes share a journal ('none'). */
  readonly log?: LogOf
  /** ('seed') */
  readonly knobs?: KnobsFrom
  /** Crashes on purpose. */
  readonly aims?: readonly Aim[]
}

export interface WorldReport {
  readonly anomalies: readonly Anomaly[]
  readonly realtime: readonly Anomaly[]
  readonly tally: Tally
  readonly traceHash: string
  readonly events: number
  readonly virtualMicros: number
}

const REST_MICROS_MAX = 120_000_000
const REST_LOOK_MICROS = 200_000
const THINK_MICROS = { min: 100, max: 20_000 }
const EVENTS_PER_TRANSACTION_MAX = 20_000

/** In some worlds nothing that was sent can be changed: several in a row, so that every workload has such worlds. */
const isFrozen = (seed: number): boolean => Math.floor(seed / WORKLOADS_EACH) % FROZEN_EVERY === 0
const WORKLOADS_EACH = 9
const FROZEN_EVERY = 8

/** In some worlds entries follow the items. */
const isIndexed = (seed: number): boolean => Math.floor(seed / WORKLOADS_EACH) % INDEXED_EVERY === 1
const INDEXED_EVERY = 3

/** Runs a world to its end and judges it. The same options give the same report, with the same trace hash. */
export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  return new World(options).run()
}

class World {
  readonly #options: WorldOptions
  readonly #around: Surroundings
  readonly #cluster: Cluster
  readonly #machines: readonly Machine[]
  readonly #coordinators: readonly SimProcess[]
  readonly #clients: SimProcess[] = []
  readonly #recorder: Recorder
  #witness: BlockWitness | undefined
  readonly #follower: LogFollower | undefined
  readonly #archivist: Archivist | undefined
  readonly #streamFollower: StreamFollower | undefined
  #stuck: string | undefined
  /** Something happened that must not; there is no sense in going on. */
  #broken = false

  constructor(options: WorldOptions) {
    this.#options = options
    const tally = new Tally()
    const around: Surroundings = {
      scheduler: new Scheduler(),
      random: new Random(options.seed),
      faults: options.faults,
      tally,
      trouble: { on: false },
      ...(options.aims && { aims: new Aims(options.aims) }),
    }
    this.#around = around
    this.#recorder = new Recorder(tally)
    const onBroken = (what: string): void => {
      this.#broken = true
      this.#recorder.found.add('broken-invariant', what)
    }
    const network = clusterNetwork(around, onBroken, isFrozen(options.seed) ? 'frozen' : 'as it is')
    const nodes: SimNode[] = []
    const recoveries: SimProcess[] = []
    const { rules, journal = 'own', processes = 'many' } = options
    const hasWorkers = processes === 'workers'
    const oneProcess = processes === 'one' || hasWorkers
    const sharedJournal = journal === 'shared' || oneProcess
    if (sharedJournal) tally.add('world/shared journal')
    if (oneProcess) tally.add(hasWorkers ? 'world/workers' : 'world/one process')
    const hasBlocks = options.log === 'blocks'
    const hasBackups = options.log === 'backups' && (sharedJournal || options.nodes === 1)
    const hasStreams = options.log === 'streams' && (sharedJournal || options.nodes === 1)
    const isLogged =
      hasStreams || ((hasBlocks || options.log === 'kept') && (sharedJournal || options.nodes === 1))
    if (isLogged) tally.add('world/log of commits')
    if (hasBackups) tally.add('world/backups')
    if (hasStreams) tally.add('world/streams')
    const isCatalogued = hasBackups || hasStreams
    const shape = isCatalogued
      ? CATALOGUED_TABLE[isIndexed(options.seed) ? 'indexed' : 'plain']
      : isIndexed(options.seed)
        ? INDEXED_TABLE
        : TABLE
    const logged = { old: true, new: true, ...(hasBlocks && { keys: true as const }) }
    const table = isLogged ? { ...shape, logged } : shape
    this.#cluster = {
      seed: options.seed,
      around,
      network,
      rules,
      table,
      knobs: options.knobs === 'plain' ? worldKnobs : knobsOf(options.seed, tally),
      witness: new Witness(tally),
      nodes,
      sharedJournal,
      oneProcess,
      recoveries,
      ...(isLogged && {
        log: {
          ...retentionOf(options.seed),
          ...(hasBlocks && { blocks: true as const }),
          ...(hasStreams && { streams: { shardMinutes: shardMinutesOf(options.seed) } }),
        },
      }),
      ...(hasBackups && { log: { retentionMs: HELD_RETENTION_MS, backups: true as const } }),
      onBroken,
      ...(hasWorkers && { group: this.#groupOf(around, options) }),
    }
    this.#machines = machinesOf(this.#cluster, options.nodes)
    nodes.push(...this.#machines.flatMap((machine) => machine.nodes))
    const [machine] = this.#machines
    if (isLogged && machine !== undefined)
      this.#follower = new LogFollower(machine, around, this.#recorder, options.seed)
    if (isLogged && hasBlocks && machine !== undefined)
      this.#witness = new BlockWitness(machine, around, this.#recorder, options.seed)
    if (hasStreams && machine !== undefined)
      this.#streamFollower = new StreamFollower(machine, around, this.#recorder, options.seed)
    if (hasBackups && machine !== undefined)
      this.#archivist = new Archivist(machine, around, this.#recorder, {
        seed: options.seed,
        dayMicros: this.#cluster.knobs.recoveryDayMicros,
      })
    if (oneProcess) {
      this.#coordinators = this.#cluster.group?.workers ?? []
      return
    }
    for (let at = 0; at < options.recoveries; at++) recoveries.push(recoveryProcess(this.#cluster, at))
    this.#coordinators = Array.from({ length: options.coordinators }, (_, at) =>
      coordinatorProcess(this.#cluster, at),
    )
  }

  /** They share what coordinators of one process need not. */
  #groupOf(around: Surroundings, { coordinators }: WorldOptions): WorkerGroup {
    const serve: ServeWorker = (life, channel) => serveAsSimWorker(this.#cluster, life, channel)
    const onBroken = (what: string): void => this.#cluster.onBroken(what)
    return new WorkerGroup(around, {
      workers: coordinators,
      serve,
      onBroken,
      clock: () => this.#machines[0]!.process,
    })
  }

  async run(): Promise<WorldReport> {
    const { scheduler, tally } = this.#around
    let report: WorldReport | undefined
    let failure: unknown
    this.#live().then(
      (done) => (report = done),
      (error: unknown) => (failure = error),
    )
    const eventsMax = 1_000_000 + this.#options.transactions * EVENTS_PER_TRANSACTION_MAX
    await scheduler.run(
      () => report !== undefined || failure !== undefined || this.#broken || scheduler.events > eventsMax,
    )
    if (failure !== undefined) throw failure
    if (report !== undefined) return report
    if (this.#broken) return this.#report(this.#recorder.found.all, [], tally)
    const explanation = `the world stopped after ${tally.of('transactions')} transactions and ${scheduler.events} events`
    return this.#report([{ kind: 'stuck', explanation }], [], tally)
  }

  async #live(): Promise<WorldReport> {
    const { trouble, tally } = this.#around
    const { workload, clients } = this.#options
    for (const process of this.#processes()) process.start()
    const crew = Array.from({ length: clients }, (_, at) => this.#client(`client-${at}`))
    await crew[0]!.sleep(100_000)
    await workload.setUp?.(crew[0]!)
    trouble.on = true
    const { network, oneProcess } = this.#cluster
    // One process alone has no links but those to its clients.
    const links = oneProcess ? this.#clients : undefined
    const troublemaker = new Troublemaker(network, this.#processes(), this.#around, links)
    troublemaker.start()
    const scanner = new Scanner(this.#cluster, this.#recorder, this.#options.seed)
    scanner.start()
    this.#follower?.start()
    this.#witness?.start()
    this.#archivist?.start()
    this.#streamFollower?.start()
    await Promise.all(crew.map((client) => this.#drive(client)))
    trouble.on = false
    network.heal()
    await this.#rest(crew[0]!)
    if (this.#stuck !== undefined)
      return this.#report(
        [...this.#recorder.found.all, { kind: 'not-at-rest', explanation: this.#stuck }],
        [],
        tally,
      )
    await this.#archivist?.finish()
    return this.#judge()
  }

  #processes(): readonly SimProcess[] {
    const { recoveries } = this.#cluster
    return [...this.#machines.map(({ process }) => process), ...recoveries, ...this.#coordinators]
  }

  #client(name: string): SimClient {
    const process = new SimProcess(this.#around, { name, role: 'client', start: () => Promise.resolve({}) })
    process.start()
    this.#clients.push(process)
    const coordinators = this.#cluster.oneProcess
      ? [...this.#machines.map((machine) => machine.process), ...this.#coordinators]
      : this.#coordinators
    return new SimClient(this.#cluster, coordinators, process.life!, this.#recorder)
  }

  async #drive(client: SimClient): Promise<void> {
    const { tally } = this.#around
    while (tally.of('transactions') < this.#options.transactions) {
      await client.sleep(client.random.skewed(THINK_MICROS.min, THINK_MICROS.max))
      await this.#options.workload.act(client)
    }
  }

  /** Until every process is up, nothing is pending on any node and nothing unfinished in any ledger. */
  async #rest(client: SimClient): Promise<void> {
    const untilMicros = client.nowMicros + REST_MICROS_MAX
    for (;;) {
      await client.sleep(REST_LOOK_MICROS)
      this.#stuck = await this.#unrest()
      if (this.#stuck === undefined || client.nowMicros > untilMicros) return
    }
  }

  async #unrest(): Promise<string | undefined> {
    for (const { name, node } of this.#cluster.nodes) {
      if (node === undefined) return `${name} does not start`
      const pending = await node.stalled(timestamp(Number.MAX_SAFE_INTEGER), 10)
      if (pending.length > 0) return `${name} still holds ${pending.join(', ')}`
      const unfinished = await node.ledger.unfinished(ledgerSlot('0'.repeat(32)), 10)
      if (unfinished.length > 0)
        return `the ledger of ${name} has unfinished ${unfinished.map(({ tx, state }) => `${tx} (${state})`).join(', ')}`
    }
    return undefined
  }

  async #judge(): Promise<WorldReport> {
    const { nodes, witness } = this.#cluster
    const { scheduler, tally } = this.#around
    const recorder = this.#recorder
    const keys = new Set([
      ...recorder.writes.flatMap(({ actions }) => actions.map(({ key }) => key)),
      ...recorder.reads.flatMap(({ images }) => [...images.keys()]),
      ...recorder.looks.map(({ key }) => key),
      ...recorder.ranges.flatMap(({ keys: seen }) => seen),
    ])
    const nameOf = new Map([...keys].map((name) => [inSpace(TABLE.space, keyNamed(name).key.bytes), name]))
    const history = await recorder.settle(nodes, witness, (address) => nameOf.get(address) ?? address)
    const final = await this.#finalState(nameOf)
    for (const entry of history) if (entry.kind !== 'look') scheduler.note(entry.id, entry.timestamp)
    for (const image of final.values()) scheduler.note(requestThatWrote(image) ?? 'absent')
    const replayed = judgeByReplay(history, final)
    tally.add('checked answers', '', replayed.checked)
    tally.add('skipped answers', '', replayed.skipped)
    const judged = this.#options.workload.judge(
      final,
      new Map(recorder.writes.map((draft) => [draft.id, draft])),
    )
    const found = [
      ...replayed.anomalies,
      ...judged.anomalies,
      ...(this.#cluster.oneProcess ? judgeRealTime(history) : []),
      ...(await this.#viewAnomalies([...nameOf.keys()])),
      ...judgeRestored(this.#archivist?.restored ?? [], replayed.versions),
      ...(await this.#logAnomalies(nameOf, final, replayed.versions, history)),
    ]
    // Last: those who read all of the log at rest find something, too.
    const anomalies = [...recorder.found.all, ...found]
    return this.#report(anomalies, judged.realtime ?? [], tally)
  }

  async #finalState(nameOf: ReadonlyMap<KeyBytes, string>): Promise<Map<string, Image>> {
    const final = new Map<string, Image>([...nameOf.values()].map((name) => [name, undefined]))
    for (const { node } of this.#cluster.nodes) {
      for (const { key, record } of await itemsOf(node!)) {
        const address = inSpace(TABLE.space, key)
        final.set(nameOf.get(address) ?? address, imageOf(record))
      }
    }
    return final
  }

  async #viewAnomalies(addresses: readonly KeyBytes[]): Promise<readonly Anomaly[]> {
    const { nodes, table } = this.#cluster
    const found: Anomaly[] = []
    for (const { name, node, log } of nodes) {
      for (const which of ['durable', 'decided'] as const) {
        const view = log.view(which)!
        found.push(...judgeView(`${name} (${which})`, table, view, addresses))
      }
      found.push(...(await judgeCounts(name, table, log.view('decided')!, (space) => node!.count(space))))
    }
    return found
  }

  async #logAnomalies(
    nameOf: ReadonlyMap<KeyBytes, string>,
    final: ReadonlyMap<string, Image>,
    versions: ReadonlyMap<string, readonly ModelVersion[]>,
    history: readonly HistoryEntry[],
  ): Promise<readonly Anomaly[]> {
    const log = this.#machines[0]?.log
    if (this.#follower === undefined || log === undefined) return []
    const { first, records } = await this.#follower.all(log)
    const byKey = <T>(values: ReadonlyMap<string, T>): Map<KeyBytes, T> => {
      const found = new Map<KeyBytes, T>()
      for (const [address, name] of nameOf)
        if (values.has(name)) found.set(withoutSpace(address), values.get(name) as T)
      return found
    }
    await log.flush()
    const isKept = log.backlogBytes === 0
    const { tally } = this.#around
    const isShort = tally.of('fault/index-full') + tally.of('fault/index-failed') > 0
    return [
      ...(isKept
        ? []
        : [{ kind: 'log-not-kept', explanation: `${log.backlogBytes} bytes are on their way` }]),
      ...judgeCommitLog(records, first, byKey(final)),
      ...judgeLogComplete(records, first, byKey(versions)),
      ...(this.#cluster.oneProcess ? judgeLogOrder(records, history, isShort ? 'late' : 'at once') : []),
      ...(await this.#blockAnomalies()),
      ...(await this.#streamAnomalies(records, first)),
    ]
  }

  async #blockAnomalies(): Promise<readonly Anomaly[]> {
    const [machine] = this.#machines
    if (this.#witness === undefined || machine?.blocks === undefined || machine.log === undefined) return []
    try {
      await this.#witness.judge(machine.blocks)
      const { first, records } = await this.#follower!.all(machine.log)
      return await judgeBlocks(machine.blocks, records, first)
    } catch (error) {
      return [{ kind: 'blocks-unreadable', explanation: String(error) }]
    }
  }

  async #streamAnomalies(records: readonly CommitRecord[], first: number): Promise<readonly Anomaly[]> {
    try {
      await this.#streamFollower?.finish(records, first)
      return []
    } catch (error) {
      return [{ kind: 'stream-unreadable', explanation: String(error) }]
    }
  }

  #report(anomalies: readonly Anomaly[], realtime: readonly Anomaly[], tally: Tally): WorldReport {
    const { traceHash, events, nowMicros } = this.#around.scheduler
    for (const { passes } of this.#processes())
      for (const [point, count] of passes) tally.add('point/', point, count)
    return { anomalies, realtime, tally, traceHash, events, virtualMicros: nowMicros }
  }
}

function machinesOf(cluster: Cluster, nodes: number): readonly Machine[] {
  const positions = Array.from({ length: nodes }, (_, at) => at)
  return cluster.sharedJournal
    ? [new Machine(cluster, 'machine', positions)]
    : positions.map((position) => new Machine(cluster, `node-${position}`, [position]))
}

/** In some worlds little is kept of it. */
const retentionOf = (seed: number): { readonly retentionMs?: number } =>
  seed % TRIMMED_EVERY === 0 ? { retentionMs: RETENTION_MS } : {}
const TRIMMED_EVERY = 4
/** Shards live shorter than worlds. */
const shardMinutesOf = (seed: number): number => SHARD_MS[seed % SHARD_MS.length]! / 60_000
const SHARD_MS = [100, 300, 1000, 3000] as const
/** In worlds with backups, which say themselves what they need. */
const HELD_RETENTION_MS = 500
const RETENTION_MS = 2000

async function itemsOf(node: LocalNode): Promise<readonly RangeEntry[]> {
  const request = {
    space: TABLE.space,
    from: '' as KeyBytes,
    reverse: false,
    entriesMax: 1e6,
    bytesMax: Infinity,
  }
  return (await node.range(request)).entries
}
