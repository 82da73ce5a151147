// Blocks: what was committed to ledger tables, for good, so that a stranger can check it. A reader of the log of commits.
//
//   log of commits --records--> maker: one block each --> tree over headers --> shelf of the first node, one atomic step
//      |  lets nothing go that                                                    |  journal and index, as items have
//      |  is not in a block                                                       v
//      +<------ `next`, durable with the blocks --------------------- size --> checkpoint, signed: only of what is durable
//
//   digest, block, revision, history, proof <-- shelf
//
// Behind the answers: a write of a ledger table waits for no hash. What the log has is in blocks a moment later, at the latest
// when somebody asks for a digest. Block and position in the log become durable together: each record is in one block, once,
// whenever the process ends. Blocks that were made and did not become durable are made again with other salts; no checkpoint
// has named them.
//
// May import: model, runtime, commit-log, the contract of storage (its shelf), verify (which has the hashes and texts).
import type { CommitLog, RecordFollower } from '../commit-log/commit-log.js'
import type { Timestamp } from '../model/brand.js'
import { type Knobs, knobs as defaultKnobs } from '../model/knobs.js'
import type { Runtime } from '../runtime/runtime.js'
import type { Shelf, ShelfEntry } from '../storage/contract/shelf.js'
import { base64 } from '../verify/bytes.js'
import { BlockBatch } from './batch.js'
import { BlockReader } from './block-reader.js'
import { type LedgerTable, singleId, tableText, timeText } from './maker.js'
import { type HeadsOf, type MadePage, type PageJob, type PageMaker, Pages, saltBytes } from './page.js'
import {
  decodeMarks,
  decodeState,
  encodeMarks,
  encodeState,
  type LedgerState,
  STATE_KEY,
  tableKey,
  type TableMarks,
} from './places.js'
import { NoThread } from './no-thread.js'
import type { Signer } from './signer.js'
import { BlockTree } from './tree.js'

/** Which tables are ledgers, as the catalogue has it. */
export interface LedgerTables {
  /** Also those that are gone. */
  ledgers(): readonly LedgerTable[]
  /** Calls back after every change of tables that is in force, until the result is called. */
  onChanged(callback: () => void): () => void
}

export interface BlocksOptions {
  readonly runtime: Runtime
  readonly log: CommitLog
  readonly shelf: Shelf
  readonly tables: LedgerTables
  /** The key; made when it is first asked for. */
  readonly signer: () => Promise<Signer>
  /** Resolves once all steps that were called before it have passed every node. */
  readonly passNodes: () => Promise<void>
  readonly knobs?: Pick<
    Knobs,
    | 'blocksDelayMs'
    | 'blocksRecordsMax'
    | 'blocksBytesMax'
    | 'blocksPieceBytes'
    | 'blocksBehindMax'
    | 'blocksPositionRecords'
    | 'blocksBusyRecords'
    | 'blocksThreadRecords'
    | 'blocksThreadRecordsMax'
    | 'blocksThreadBytesMax'
  >
  /** Makes large pages beside the requests; absent: all are made among them. It rejects with NoThread where it cannot. */
  readonly thread?: PageMaker & { close(): Promise<void> }
  /** Told once of each reason why blocks cannot be kept; it is tried again. */
  readonly onTrouble?: (error: Error) => void
}

const RETRY_MS = 1000

export class Blocks implements RecordFollower {
  readonly reader: BlockReader
  readonly #options: BlocksOptions
  readonly #knobs: NonNullable<BlocksOptions['knobs']>
  #signer: Signer | undefined
  /** What is durable. Undefined: there never was a ledger table. */
  #state: LedgerState | undefined
  /** Of the log, as the shelf has it: what follows may be read again after a crash. */
  #keptNext = Infinity
  #tree: BlockTree | undefined
  readonly #pages = new Pages()
  #hasThread: boolean
  readonly #marks = new Map<string, TableMarks>()
  /** Tables that are gone, and the record behind which the log has nothing of them. */
  readonly #passed = new Map<string, number>()
  /** One thing at a time. */
  #lane: Promise<unknown> = Promise.resolve()
  #isSoon = false
  /** Those who wait for blocks to be durable. */
  #waiting = 0
  /** The last record of the log when it was last looked at. */
  #seen = 0
  #cancelTimer: (() => void) | undefined
  #failure: Error | undefined
  #isClosed = false
  readonly #moved: (() => void)[] = []
  readonly #ends: (() => void)[] = []

  constructor(options: BlocksOptions) {
    this.#options = options
    this.#knobs = options.knobs ?? defaultKnobs
    this.reader = new BlockReader(options.shelf)
    this.#hasThread = options.thread !== undefined
  }

  /** Takes up what is on the shelf, if there ever was a ledger table. */
  async open(): Promise<this> {
    const [stored] = await this.#options.shelf.kept([STATE_KEY])
    if (stored !== undefined) await this.#follow()
    return this
  }

  get isBegun(): boolean {
    return this.#state !== undefined
  }

  /** Before the first table that is a ledger is there: from here on the log is followed. */
  begin(): Promise<void> {
    return this.#inLane(async () => {
      if (this.#state !== undefined) return
      const { shelf, log, signer } = this.#options
      await signer()
      await shelf.keep([
        { key: STATE_KEY, value: encodeState({ ...decodeState(undefined), next: log.last + 1 }) },
      ])
      await this.#follow()
    })
  }

  async #follow(): Promise<void> {
    const { log, tables, signer } = this.#options
    this.#signer = await signer()
    await this.#load()
    log.follow(this)
    this.#ends.push(
      log.onAppended(() => this.#soon(this.#knobs.blocksDelayMs)),
      tables.onChanged(() => this.#soon(this.#knobs.blocksDelayMs)),
    )
    this.#soon(0)
  }

  /** What is durable counts; what was made beyond it is forgotten. */
  async #load(): Promise<void> {
    const { shelf } = this.#options
    const [stored] = await shelf.kept([STATE_KEY])
    const state = decodeState(stored)
    this.#tree = await BlockTree.open(shelf, state.size)
    this.#state = state
    this.#keptNext = state.next
    this.#marks.clear()
  }

  get next(): number {
    return this.#keptNext
  }

  get behindMax(): number {
    return this.#knobs.blocksBehindMax
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  onMoved(callback: () => void): void {
    this.#moved.push(callback)
  }

  /** How many blocks are durable. */
  get size(): number {
    return this.#state?.size ?? 0
  }

  get tree(): BlockTree {
    if (this.#tree === undefined) throw new NoLedger()
    return this.#tree
  }

  get signer(): Signer {
    if (this.#signer === undefined) throw new NoLedger()
    return this.#signer
  }

  /** Resolves when everything that was committed before the call is in a durable block. */
  async caughtUp(): Promise<void> {
    const last = await this.#settled()
    this.#waiting++
    try {
      await this.#inLane(() => this.#advance(last))
    } finally {
      this.#waiting--
    }
  }

  /**
   * The last record of all that was committed before the call. Not in the lane: what it waits for may wait for room in the
   * log, and so for the lane.
   */
  async #settled(): Promise<number> {
    if (!this.isBegun) throw new NoLedger()
    const { log, tables, passNodes } = this.#options
    const ending = tables
      .ledgers()
      .filter(({ id, droppedAtMicros }) => droppedAtMicros !== undefined && !this.#passed.has(id))
    if (ending.length > 0) await passNodes()
    await log.settled()
    const { last } = log
    for (const { id } of ending) this.#passed.set(id, last)
    return last
  }

  /** A block of its own, made when all before it are there; `make` sees them, and says what else changes with it. */
  append(
    make: (head: { readonly tx: string; readonly time: string }) => Promise<{
      /** Of its only entry. */
      readonly text: string
      readonly changes: readonly ShelfEntry[]
    }>,
  ): Promise<number> {
    const settled = this.#settled()
    // It may fail while the lane is busy with something else, or never be awaited there: the caller is told by what is in the lane.
    settled.catch(() => undefined)
    return this.#inLane(async () => {
      const { runtime } = this.#options
      await this.#advance(await settled)
      const block = this.size
      const timestamp = runtime.clock.nowMicros() as Timestamp
      const { text, changes } = await make({ tx: singleId(block), time: timeText(timestamp) })
      await this.#keepAlone(timestamp, text, changes)
      return block
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer?.()
    for (const end of this.#ends) end()
    await this.#lane
    await this.#options.thread?.close()
  }

  #inLane<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#lane.then(async () => {
      if (this.#isClosed) throw new Error('The store is closed.')
      return act()
    })
    this.#lane = done.catch(() => undefined)
    return done
  }

  #soon(delayMs: number): void {
    if (this.#isSoon || this.#isClosed) return
    this.#isSoon = true
    this.#cancelTimer = this.#options.runtime.clock.timer(delayMs, () => {
      this.#isSoon = false
      this.#look()
    })
  }

  /** While many writers are at work, blocks wait until they pause, or until many records have come together. */
  #look(): void {
    const { blocksDelayMs, blocksBusyRecords, blocksBehindMax } = this.#knobs
    const { last } = this.#options.log
    const isBusy = last - this.#seen >= blocksBusyRecords && last - this.next < blocksBehindMax / 2
    this.#seen = last
    if (isBusy) {
      this.#soon(blocksDelayMs)
      return
    }
    // A failure is told by `#advance`, and tried again.
    this.#inLane(() => this.#advance(last)).catch(() => undefined)
    if (this.#hasEnding) this.caughtUp().catch(() => this.#soon(RETRY_MS))
  }

  /** Makes blocks of all records up to that one, and of the tables that have come and gone. */
  async #advance(last: number): Promise<void> {
    try {
      await this.#tablesMade()
      while (this.#durable.next <= last && !this.#isClosed) {
        await this.#page(last)
        await new Promise<void>((resolve) => this.#options.runtime.defer(resolve))
      }
      await this.#tablesEnded()
      this.#failure = undefined
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      const isNew = this.#failure?.message !== failure.message
      this.#failure = failure
      if (isNew && !this.#isClosed)
        this.#options.onTrouble?.(
          new Error(`Blocks of ledger tables cannot be kept, and it is tried again: ${failure.message}`, {
            cause: failure,
          }),
        )
      await this.#load().catch(() => undefined)
      for (const callback of this.#moved) callback()
      this.#soon(RETRY_MS)
      throw failure
    }
  }

  get #durable(): LedgerState {
    if (this.#state === undefined) throw new NoLedger()
    return this.#state
  }

  async #page(last: number): Promise<void> {
    const { log, tables, runtime } = this.#options
    const knobs = this.#knobs
    const { size, next: from, prev } = this.#durable
    const ledgers = tables.ledgers()
    const isLarge = this.#hasThread && last - from >= knobs.blocksThreadRecords
    const { records, next } = await log.read({
      from,
      spaces: new Set(ledgers.map(({ space }) => space)),
      recordsMax: isLarge ? knobs.blocksThreadRecordsMax : knobs.blocksRecordsMax,
      bytesMax: isLarge ? knobs.blocksThreadBytesMax : knobs.blocksBytesMax,
    })
    if (records.length === 0 && next - this.#keptNext < knobs.blocksPositionRecords) {
      // Nothing for the ledger: after a crash it is looked at again.
      this.#state = { size, next, prev }
      return
    }
    const { entries, leaves } = await this.#made(isLarge ? 'thread' : 'here', {
      strand: this.signer.origin,
      size,
      prev,
      records,
      tables: ledgers,
      salts: runtime.randomBytes(saltBytes(records)),
      pieceBytes: knobs.blocksPieceBytes,
    })
    for (const leaf of leaves) this.tree.append(leaf)
    await this.#keep(entries, { size: size + leaves.length, next, prev: leaves.at(-1) ?? prev })
  }

  async #made(where: 'here' | 'thread', job: PageJob): Promise<MadePage> {
    const { thread } = this.#options
    const headsOf: HeadsOf = (documents) => this.reader.heads(documents)
    if (where === 'here' || thread === undefined) return this.#pages.make(job, headsOf)
    try {
      return await thread.make(job, headsOf)
    } catch (error) {
      if (!(error instanceof NoThread)) throw error
      this.#hasThread = false
      return this.#pages.make(job, headsOf)
    }
  }

  /** Everything in one step. Only what is durable then is signed. */
  async #keep(entries: readonly ShelfEntry[], state: LedgerState): Promise<void> {
    await this.#options.shelf.keep(
      [...entries, ...this.tree.changes(), { key: STATE_KEY, value: encodeState(state) }],
      this.#waiting > 0 ? 'hurried' : 'unhurried',
    )
    this.tree.kept()
    this.#state = state
    this.#keptNext = state.next
    for (const callback of this.#moved) callback()
  }

  /** A block of one entry, of no transaction. */
  async #keepAlone(timestamp: Timestamp, text: string, changes: readonly ShelfEntry[]): Promise<void> {
    const { size, next, prev } = this.#durable
    const batch = new BlockBatch(this.#knobs.blocksPieceBytes)
    batch.begin({ block: size, strand: this.signer.origin, prev: base64(prev) })
    batch.entry(text)
    const leaf = Buffer.from(batch.end({ timestamp, time: timeText(timestamp) }), 'base64')
    this.tree.append(leaf)
    await this.#keep([...batch.finish(), ...changes], { size: size + 1, next, prev: leaf })
  }

  async #marksOf({ id }: LedgerTable): Promise<TableMarks | undefined> {
    const known = this.#marks.get(id)
    if (known !== undefined) return known
    const [stored] = await this.#options.shelf.kept([tableKey(id)])
    const marks = stored && decodeMarks(stored)
    if (marks !== undefined) this.#marks.set(id, marks)
    return marks
  }

  /** Before any record of them is looked at: a table's creation comes before its first revision. */
  async #tablesMade(): Promise<void> {
    for (const table of this.#options.tables.ledgers()) {
      if ((await this.#marksOf(table)) !== undefined) continue
      const timestamp = table.createdAtMicros as Timestamp
      await this.#tableBlock(table, timestamp, 'CREATE', { created: this.size })
    }
  }

  /** Those that are gone, once nothing of them can follow in the log. */
  async #tablesEnded(): Promise<void> {
    for (const table of this.#options.tables.ledgers()) {
      const last = this.#passed.get(table.id)
      if (table.droppedAtMicros === undefined || last === undefined || last >= this.#durable.next) continue
      const marks = await this.#marksOf(table)
      if (marks === undefined || marks.dropped !== undefined) continue
      const timestamp = table.droppedAtMicros as Timestamp
      await this.#tableBlock(table, timestamp, 'DELETE', { ...marks, dropped: this.size })
    }
  }

  get #hasEnding(): boolean {
    return this.#options.tables
      .ledgers()
      .some(
        ({ id, droppedAtMicros }) =>
          droppedAtMicros !== undefined && this.#marks.get(id)?.dropped === undefined,
      )
  }

  async #tableBlock(
    table: LedgerTable,
    timestamp: Timestamp,
    event: 'CREATE' | 'DELETE',
    marks: TableMarks,
  ): Promise<void> {
    const text = tableText(event, table, timeText(timestamp))
    await this.#keepAlone(timestamp, text, [{ key: tableKey(table.id), value: encodeMarks(marks) }])
    this.#marks.set(table.id, marks)
  }
}

/** No table of this store ever was a ledger. */
export class NoLedger extends Error {
  override readonly name = 'NoLedger'
  constructor() {
    super('No table of this store is a ledger.')
  }
}
