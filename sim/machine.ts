// A simulated machine with one storage node, or with several that share its journal as the nodes of a real process do.
//
//   node-0: index, write log --\
//   node-1: index, write log ----> one process --> one journal --> one disk
//   node-2: index, write log --/   all start, crash and lose power together; a sync that fails fails for all of them
//
// To the others each node and its part of the ledger is a service of its own. In some worlds there are no others: the
// machine coordinates by itself (one-process.ts).
import type { KeyBytes, TxId } from '../src/model/brand.js'
import type { Knobs } from '../src/model/knobs.js'
import type { WriteStepAction } from '../src/rules/write-step.js'
import { JournalLine, type JournalLineOptions } from '../src/line/journal-line.js'
import type { Line } from '../src/line/line.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { openJournalled } from '../src/storage/folder/open-local-node.js'
import { Blocks } from '../src/blocks/blocks.js'
import { openSigner, signerText } from '../src/blocks/signer.js'
import { openLogFiles } from '../src/commit-log/files/log-files.js'
import type { LocalLog } from '../src/commit-log/local-log.js'
import type { LogStorage } from '../src/commit-log/log-storage.js'
import type { LogParts } from '../src/storage/folder/folder-log.js'
import type { FileLayer } from '../src/runtime/files.js'
import type { WholeFileLayer } from '../src/runtime/whole-files.js'
import { type Archive, type ArchiveParts, openArchive, openTables } from './archive.js'
import { inSpace } from '../src/line/spaces.js'
import { countedRules } from './counted-rules.js'
import { never, SimDisk } from './disk.js'
import { frameSeams } from './frame-seams.js'
import { serveWithin } from './one-process.js'
import { CALL_TIMEOUT_MS, type Cluster } from './processes.js'
import { type Life, type Services, SimProcess } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'
import { Shortage } from './shortage.js'
import { SimIndex } from './sim-index.js'
import type { Streamed } from './stream-follower.js'
import type { RunningNode } from './within.js'
import { type DecidedStep, WriteLog } from './write-log.js'

const LOOKED = 'after-look-at-unsynced'
const REPORT_AGAIN_MICROS = 100_000
const SYNC_FAILED_RESTART_MICROS = 200_000
/** The data folder. */
const OWNER = '5'.repeat(32)
const SIGNER = openSigner(signerText('sim', new Uint8Array(32).fill(7)))

/** In one process nobody has to wait but for room: some have little. */
const scarcity = (random: Random): Pick<Knobs, 'overlayBytesMax'> => ({
  overlayBytesMax: random.skewed(2 * 1024, 64 * 1024),
})
/** Of the disks of such machines. */
const OFTEN_FULL = 0.2

export class Machine {
  readonly process: SimProcess
  readonly nodes: readonly SimNode[]
  readonly #cluster: Cluster
  readonly #disk: SimDisk
  readonly #shortage: Shortage
  readonly #knobs: Knobs
  /** The log of commits was begun, and its folder says so. */
  #hasLog = false
  #archive: Archive | undefined
  #streamed: Streamed | undefined
  #log: LocalLog | undefined
  #blocks: Blocks | undefined

  /** With the nodes of these positions in the cluster. */
  constructor(cluster: Cluster, name: string, positions: readonly number[]) {
    this.#cluster = cluster
    const { around, seed, sharedJournal, oneProcess, knobs } = cluster
    this.#knobs = oneProcess ? { ...knobs, ...scarcity(around.random) } : knobs
    const shortage = (this.#shortage = new Shortage(around, seed, positions[0] ?? 0))
    this.#disk = new SimDisk(around, {
      fullRate: (otherwise) => shortage.fullRate(otherwise),
      ...(sharedJournal && { seams: frameSeams }),
      ...(oneProcess && { oftenFull: around.random.chance(OFTEN_FULL) }),
    })
    this.nodes = positions.map(
      (position) => new SimNode(cluster, position, { process: () => this.process, shortage }),
    )
    this.process = new SimProcess(cluster.around, {
      name,
      role: 'node',
      start: (life) => this.#start(life),
      onGivenUp: (error) => cluster.onBroken(`${name} cannot be started: ${String(error)}`),
      onCrash: (power) => {
        this.#log = undefined
        this.#blocks = undefined
        this.#archive = undefined
        this.#streamed = undefined
        this.#disk.crash(power)
        for (const node of this.nodes) node.crash()
        cluster.group?.ended()
      },
    })
  }

  async #start(life: Life): Promise<Services> {
    const { rules, around, oneProcess } = this.#cluster
    this.#shortage.begin()
    const files = this.#disk.layer(life, () => this.#restartSoon(life))
    const { nodes: opened, log } = await openJournalled(
      {
        runtime: life.runtime,
        indexes: this.nodes.map(({ index }) => index.layer(life)),
        files,
        ...(this.#cluster.log && { log: await this.#logParts(life, files) }),
        folder: 'journal',
        tuning: this.#knobs,
        rules,
        functions: countedRules(
          around.tally,
          oneProcess ? (steps, done) => this.#noteStep(steps, done) : undefined,
        ),
        transactions: { waitMs: 100, stalledMs: 300 },
        lineOf: (options) => this.nodes[options.writer]!.lineOf(options),
      },
      () => Promise.resolve(),
    )
    if (!life.alive) return never()
    if (this.#cluster.log !== undefined) await this.#beginLog(life, log)
    if (this.#cluster.log?.blocks === true) await this.#followLog(life, opened[0]!, log)
    const hasTables = this.#cluster.log?.backups === true || this.#cluster.log?.streams !== undefined
    const archiveParts = hasTables ? this.#archiveParts(life, opened, log, files) : undefined
    const catalog = archiveParts && (await openTables(archiveParts))
    if (!life.alive) return never()
    const running = this.nodes.map((node, at) => node.started(life, opened[at]!))
    const services = oneProcess ? await serveWithin(this.#cluster, life, running) : this.#serve(life, running)
    if (catalog !== undefined && this.#cluster.log?.streams !== undefined) {
      if (!life.alive) return never()
      this.#streamed = { life, catalog }
    } else if (catalog !== undefined) {
      const archive = await openArchive(catalog, archiveParts as ArchiveParts)
      if (!life.alive) return never()
      this.#archive = archive
    }
    around.scheduler.note(`started ${this.process.name}`)
    return services
  }

  /** As a data folder does it. */
  async #logParts(life: Life, files: FileLayer): Promise<LogParts> {
    const open = (): Promise<LogStorage> =>
      openLogFiles({ files, runtime: life.runtime, folder: 'commit-log', owner: OWNER, knobs: this.#knobs })
    return {
      storage: this.#hasLog ? await open() : undefined,
      begin: async (upTo) => {
        const storage = await open()
        await storage.append([], { upTo, number: storage.last })
        return storage
      },
    }
  }

  async #beginLog(life: Life, log: LocalLog): Promise<void> {
    await log.begin()
    if (!life.alive) await never()
    this.#hasLog = true
    const { retentionMs } = this.#cluster.log!
    if (retentionMs !== undefined) log.keepFor(retentionMs)
    if (this.#cluster.log?.backups === undefined) log.holdFrom(undefined)
    this.#log = log
  }

  #archiveParts(life: Life, nodes: readonly LocalNode[], log: LocalLog, files: WholeFileLayer): ArchiveParts {
    const { rules, table, onBroken, log: kept } = this.#cluster
    const isIndexed = table.indexes.length > 0
    return { life, nodes, log, files, rules, knobs: this.#knobs, isIndexed, ...kept?.streams, onBroken }
  }

  /** The catalogue and the backups of the present life, likewise. */
  get archive(): Archive | undefined {
    return this.#archive
  }

  /** The catalogue of the present life, in worlds in which the table has a stream, likewise. */
  get streamed(): Streamed | undefined {
    return this.#streamed
  }

  /** As a store does it: the table is a ledger from the first life on. */
  async #followLog(life: Life, { shelf }: LocalNode, log: LocalLog): Promise<void> {
    const { name, space, key } = this.#cluster.table
    const table = { name, space, key, id: 'the table', createdAtMicros: 0 }
    const blocks = new Blocks({
      runtime: life.runtime,
      log,
      shelf,
      tables: { ledgers: () => [table], onChanged: () => () => undefined },
      signer: () => Promise.resolve(SIGNER),
      passNodes: () => Promise.resolve(),
      knobs: this.#knobs,
    })
    await blocks.open()
    if (!blocks.isBegun) await blocks.begin()
    if (!life.alive) await never()
    this.#blocks = blocks
  }

  /** The blocks of the present life, likewise. */
  get blocks(): Blocks | undefined {
    return this.#blocks
  }

  /** The log of commits of the present life; undefined while the machine is down, and in worlds without one. */
  get log(): LocalLog | undefined {
    return this.#log
  }

  #serve(life: Life, running: readonly RunningNode[]): Services {
    const services: Record<string, object> = {}
    for (const [at, node] of this.nodes.entries()) {
      services[node.services.node] = running[at]!.watched
      services[node.services.ledger] = running[at]!.ledger
      node.reportStalled(life)
    }
    return services
  }

  /** Transactions in one round need not leave a record: what they write says whose it is. */
  #noteStep(steps: readonly WriteStepAction[], done: Pick<DecidedStep, 'timestamp' | 'clock'>): void {
    const request = this.#cluster.witness.requestOf(steps.map(({ action }) => action))
    if (request === undefined) return
    const addresses = new Set(steps.map(({ action }) => inSpace(action.table.space, action.key.bytes)))
    for (const { log } of this.nodes) log.deciding({ request, ...done, addresses })
  }

  /** A machine whose disk failed takes no writes before it is started again: somebody does that. */
  #restartSoon(life: Life): void {
    this.#cluster.around.scheduler.after(SYNC_FAILED_RESTART_MICROS, 'operator', () => {
      if (life.alive) this.process.crash('sync-failed')
    })
  }
}

/** A storage node, its part of the ledger, and what outlives them: the index, and what is known of them from outside. */
export class SimNode {
  readonly name: string
  /** What it and its part of the ledger are called by others. */
  readonly services: { readonly node: string; readonly ledger: string }
  readonly log = new WriteLog()
  readonly index: SimIndex
  readonly #cluster: Cluster
  readonly #position: number
  readonly #process: () => SimProcess
  /** When a transaction was last reported; whoever waits for it need not say so each time. */
  readonly #reported = new Map<string, number>()
  #node: LocalNode | undefined

  constructor(
    cluster: Cluster,
    position: number,
    { process, shortage }: { readonly process: () => SimProcess; readonly shortage: Shortage },
  ) {
    this.name = `node-${position}`
    this.services = { node: this.name, ledger: `ledger-${position}` }
    this.index = new SimIndex(cluster.around, cluster.knobs, shortage)
    this.#cluster = cluster
    this.#position = position
    this.#process = process
  }

  /** That of its machine. */
  get process(): SimProcess {
    return this.#process()
  }

  /** For those who look at the world from outside. Undefined while its machine is down. */
  get node(): LocalNode | undefined {
    return this.#node
  }

  lineOf(options: JournalLineOptions): Line {
    if (options.unapplied !== undefined) this.#cluster.around.tally.add('fault/index-behind-at-start')
    return this.log.tap(new JournalLine(options), options, {
      isUnsure: () => options.journal.refusal !== undefined,
      onWait: () => this.#cluster.around.tally.add('wait/admission'),
    })
  }

  /** Everything that its disk has kept is in its index now, or in memory if that cannot be written. */
  started(life: Life, node: LocalNode): RunningNode {
    const { table, witness, oneProcess } = this.#cluster
    const onLook = (address: KeyBytes): void => this.#looked(life, address)
    this.log.restarted()
    void node.setShape(table)
    this.#node = node
    const watched = witness.node(node, {
      isPending: (address) => this.log.isPending(address),
      onLook,
      ...(oneProcess && { onTransact: (addresses) => addresses.forEach(onLook) }),
    })
    return { service: this.services.node, node, watched, ledger: witness.ledger(node.ledger) }
  }

  /** To whoever recovers, in another process. */
  reportStalled(life: Life): void {
    this.#node?.onStalled((tx) => this.#report(life, tx))
  }

  crash(): void {
    this.#node = undefined
    this.index.crash()
  }

  /** A crash point of its own, once the answer has left: whoever looked must not have seen what the crash undoes. */
  #looked(life: Life, address: KeyBytes): void {
    if (!this.log.isUnsynced(address)) return
    this.#cluster.around.scheduler.after(1, LOOKED, () => life.reach(LOOKED))
  }

  #report(life: Life, tx: TxId): void {
    const { recoveries, around, network } = this.#cluster
    const { nowMicros } = around.scheduler
    if (nowMicros - (this.#reported.get(tx) ?? -Infinity) < REPORT_AGAIN_MICROS) return
    this.#reported.set(tx, nowMicros)
    const recovery = around.random.pick(recoveries)
    const request = { service: 'recovery', method: 'report', args: [this.#position, tx] }
    network.call(life, recovery, request, { timeoutMs: CALL_TIMEOUT_MS }).catch(() => undefined)
  }
}
