// The log of commits of the nodes that share a journal, or of nodes in memory.
//
//   note --> batch of a node --journal--> add, and settle when the group is durable
//                                            |  in the order of the steps, put together (assembler.ts), numbered
//                                            v
//                             records on their way --half a second, or some MB--> storage, synced --> the journal may forget
//   read <-- records on their way, then storage
//
// Writers wait while too much is on its way: a disk that is full stops writes, and never the log (point 29).
import type { SpaceId, Timestamp } from '../model/brand.js'
import { type Knobs, knobs as defaultKnobs } from '../model/knobs.js'
import type { Runtime } from '../runtime/runtime.js'
import { type Assembled, Assembler } from './assembler.js'
import type { CommitLog, RecordFollower, LogItemRead, LogPage, LogRead } from './commit-log.js'
import { emptyPage, LogPageBuilder, trimmed } from './log-page.js'
import { changeBytes, type CommitRecord } from './commit-record.js'
import type { LogEntry } from './entries.js'
import type { LogPosition, LogStorage } from './log-storage.js'
import { ListedRecords, type PendingRecords } from './pending-records.js'

/** What the lines of the nodes see of it. */
export interface LogFeed {
  /** A table has asked for it, now or before: from then on nodes say how far transactions are. */
  readonly isBegun: boolean
  /** The place of the next entry among those of all nodes. */
  nextOrder(): number
  /** Entries of one node that are durable once the group is; `settle` follows. */
  add(entries: readonly LogEntry[]): void
  /** Everything that was added is durable; the journal ends here. */
  settle(end: number): void
  /** One that is durable at once, where there is no journal. */
  addDurable(entry: LogEntry): void
  /** Why nothing may be written now; undefined: it may, or only has to wait. */
  readonly refusal: Error | undefined
  /** Too much is on its way to the storage: writers wait. */
  readonly isFull: boolean
  /** Calls back when it is not full any more. */
  onRoom(callback: () => void): void
}

export interface LocalLogOptions {
  readonly runtime: Runtime
  /** Opens what is there, or begins it: then at that offset of the journal. Absent storage: no table ever asked. */
  readonly storage: LogStorage | undefined
  readonly begin: () => Promise<LogStorage>
  /** What another log had beside this storage when both were copied. */
  readonly state?: LogState
  /** Called when the journal may forget what stands before that offset. */
  readonly onKept?: (upTo: number) => void
  /** Told once of each reason why records cannot be kept; it is tried again. */
  readonly onTrouble?: (error: Error) => void
  readonly knobs?: Pick<
    Knobs,
    'logDelayMs' | 'logFlushBytes' | 'logBacklogBytesMax' | 'logPositionBytes' | 'logOutMax'
  >
}

/** Records are kept for so long, whoever has read them: what a stream promises. */
export const STREAM_RETENTION_MS = 24 * 60 * 60 * 1000
const TRIM_EVERY_MS = 60_000
const RETRY_MS = 1000

/** What a log has in memory beside its storage. */
export interface LogState {
  readonly assembler: Assembler
  /** Records that the storage does not have yet. */
  readonly onItsWay: readonly CommitRecord[]
  readonly last: number
  readonly horizon: number
}

/** Records that are appended together. */
interface Load {
  /** The number of its first record. */
  readonly first: number
  readonly records: PendingRecords
  /** Where the log was when the next load was begun; undefined: none was. */
  position: LogPosition | undefined
}

export class LocalLog implements CommitLog, LogFeed {
  readonly #options: LocalLogOptions
  readonly #knobs: NonNullable<LocalLogOptions['knobs']>
  readonly #assembler: Assembler
  #storage: LogStorage | undefined
  #beginning: Promise<void> | undefined
  #order = 0
  /** Of the group that is being written or read back, by node. */
  #added: LogEntry[] = []
  /** The journal has handed over a part of a group. */
  #isInGroup = false
  #last: number
  /** On their way to the storage, in order. */
  #loads: Load[] = []
  /** That the storage is writing: nothing is added to it. */
  #written: Load | undefined
  /** Up to this record they are to be kept now; what comes meanwhile waits for the next time. */
  #wanted = 0
  #bytes = 0
  #position: LogPosition
  #flushing: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #cancelTrim: (() => void) | undefined
  #failure: Error | undefined
  #isDeferred = false
  #isClosed = false
  /** Nothing before this number is shown any more. */
  #horizon = 1
  #retentionMs = STREAM_RETENTION_MS
  /** Nothing goes before it was said what is still needed: after a start that may take a while. */
  #heldFrom: Timestamp | 'unsaid' | undefined = 'unsaid'
  readonly #bytesOf = new Map<SpaceId, number>()
  #follower: RecordFollower | undefined
  readonly #readers = new Set<() => void>()
  /** Those who wait for all changes before a place. */
  #settling: { readonly place: number; readonly resolve: () => void }[] = []
  readonly #roomCallbacks: (() => void)[] = []

  constructor(options: LocalLogOptions) {
    this.#options = options
    this.#knobs = options.knobs ?? defaultKnobs
    this.#assembler = options.state?.assembler.copy() ?? new Assembler(this.#knobs)
    this.#storage = options.storage
    this.#position = options.storage?.position ?? NOWHERE
    // What follows the position comes again from the journal, and gets the numbers that it had.
    this.#last = this.#position.number
    if (options.state !== undefined) this.#takeUp(options.state)
    if (options.storage !== undefined) this.#trimLater()
  }

  #takeUp({ onItsWay, last, horizon }: LogState): void {
    this.#last = last
    this.#horizon = horizon
    for (const record of onItsWay) this.#sendOff(record)
    this.#flushWhenDue()
  }

  /** Where there is no journal: with a copy of the storage that is made in the same turn, all that there is. */
  state(): LogState {
    this.#catchUp()
    const kept = this.#storage?.last ?? 0
    return {
      assembler: this.#assembler.copy(),
      onItsWay: this.#loads.flatMap(({ records }) => [...records]).filter(({ number }) => number > kept),
      last: this.#last,
      horizon: this.#horizon,
    }
  }

  /** Up to where the journal need not be read back. */
  get keptUpTo(): number {
    return this.#storage?.position.upTo ?? Infinity
  }

  get isBegun(): boolean {
    return this.#storage !== undefined
  }

  async begin(): Promise<void> {
    if (this.#storage !== undefined) return
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = undefined))
    await this.#beginning
  }

  async #begin(): Promise<void> {
    const storage = await this.#options.begin()
    this.#storage = storage
    if (this.#follower !== undefined) storage.hold(this.#follower.next)
    this.#position = storage.position
    this.#last = this.#position.number
    this.#trimLater()
  }

  nextOrder(): number {
    return this.#order++
  }

  add(entries: readonly LogEntry[]): void {
    this.#isInGroup = true
    for (const entry of entries) this.#added.push(entry)
  }

  addDurable(entry: LogEntry): void {
    entry.order = this.#order++
    this.#added.push(entry)
    if (this.#isDeferred) return
    this.#isDeferred = true
    this.#options.runtime.defer(() => {
      this.#isDeferred = false
      this.#catchUp()
    })
  }

  settle(end: number): void {
    this.#isInGroup = false
    const entries = this.#added
    if (entries.length > 0) {
      this.#added = []
      if (entries.length > 1) entries.sort((a, b) => a.order - b.order)
      this.#number(this.#assembler.add(entries))
      this.#tellSettled(this.#assembler.oldestPlace)
    }
    if (this.#storage === undefined) return
    if (this.#assembler.isSettled) this.#position = { upTo: end, number: this.#last }
    this.#flushWhenDue()
  }

  settled(): Promise<void> {
    this.#catchUp()
    const { place } = this.#assembler
    if (this.#assembler.oldestPlace >= place) return Promise.resolve()
    return new Promise((resolve) => this.#settling.push({ place, resolve }))
  }

  #tellSettled(upTo: number): void {
    if (this.#settling.length === 0) return
    const before = this.#settling
    this.#settling = before.filter(({ place }) => place > upTo)
    for (const { place, resolve } of before) if (place <= upTo) resolve()
  }

  /**
   * Where there is no journal whatever was added is durable: steps do not pause in the middle. A journal that is read back does: of
   * the frames of a group some have come and some have not, and the entries of all of them are put into order together.
   */
  #catchUp(): void {
    if (this.#added.length > 0 && !this.#isInGroup) this.settle(this.#position.upTo)
  }

  #number(assembled: readonly Assembled[]): void {
    const kept = this.#storage?.last ?? 0
    let isNew = false
    for (const record of assembled) {
      record.number = ++this.#last
      // Read back from the journal, and in the storage already.
      if (record.number <= kept) continue
      this.#sendOff(record)
      isNew = true
    }
    if (isNew) this.#readers.forEach((callback) => callback())
  }

  follow(follower: RecordFollower): void {
    this.#follower = follower
    this.#storage?.hold(follower.next)
    follower.onMoved(() => {
      this.#storage?.hold(follower.next)
      // Whether it was full at the step before or not: it may have become so since, and nobody else wakes those who wait.
      if (!this.isFull || follower.failure !== undefined)
        for (const callback of this.#roomCallbacks) callback()
    })
  }

  #sendOff(record: CommitRecord): void {
    const { records } = this.#load(record.number)
    const before = records.bytes
    records.add(record)
    this.#bytes += records.bytes - before
    for (const change of record.changes)
      this.#bytesOf.set(change.space, (this.#bytesOf.get(change.space) ?? 0) + changeBytes(change))
  }

  /** The one to which records are added. */
  #load(first: number): Load {
    const last = this.#loads.at(-1)
    if (last !== undefined && last !== this.#written && last.records.bytes < this.#knobs.logFlushBytes)
      return last
    if (last !== undefined) last.position ??= this.#position
    const load = { first, records: this.#storage?.collect() ?? new ListedRecords(), position: undefined }
    this.#loads.push(load)
    return load
  }

  get refusal(): Error | undefined {
    if (!this.isFull) return undefined
    const failure = this.#failure ?? this.#follower?.failure
    return failure && new Error(`The log of commits cannot take more: ${failure.message}`, { cause: failure })
  }

  get isFull(): boolean {
    const follower = this.#follower
    return (
      this.#bytes >= this.#knobs.logBacklogBytesMax ||
      (follower !== undefined && this.#last - follower.next >= follower.behindMax)
    )
  }

  /** What is on its way to the storage. */
  get backlogBytes(): number {
    return this.#bytes
  }

  onRoom(callback: () => void): void {
    this.#roomCallbacks.push(callback)
  }

  #flushWhenDue(): void {
    if (this.#flushing !== undefined || this.#failure !== undefined || this.#isClosed) return
    if (this.#bytes >= this.#knobs.logFlushBytes) void this.flush()
    else if (this.#loads.length > 0) this.#flushIn(this.#knobs.logDelayMs)
    // Nothing to keep: but the journal must be told now and then that it may forget.
    else if (this.#position.upTo - this.keptUpTo >= this.#knobs.logPositionBytes) void this.flush()
  }

  #flushIn(delayMs: number): void {
    this.#cancelTimer ??= this.#options.runtime.clock.timer(delayMs, () => {
      this.#cancelTimer = undefined
      void this.flush()
    })
  }

  /** Keeps what is on its way now; failures are told and tried again later. */
  flush(): Promise<void> {
    this.#catchUp()
    this.#wanted = this.#last
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
      if (this.#failure === undefined) this.#flushWhenDue()
      else if (!this.#isClosed) this.#flushIn(RETRY_MS)
    })
    return this.#flushing
  }

  async #flush(): Promise<void> {
    const storage = this.#storage
    if (storage === undefined) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#loads.length === 0 && this.#position.upTo <= storage.position.upTo) return
    do {
      const [load] = this.#loads
      const position = load?.position ?? this.#position
      this.#written = load
      try {
        await storage.append(load?.records ?? [], position)
      } catch (error) {
        this.#failed(error instanceof Error ? error : new Error(String(error)))
        return
      } finally {
        this.#written = undefined
      }
      this.#failure = undefined
      const wasFull = this.isFull
      if (load !== undefined) {
        this.#loads.shift()
        this.#bytes -= load.records.bytes
        storage.release(load.records)
      }
      this.#options.onKept?.(position.upTo)
      if (wasFull && !this.isFull) for (const callback of this.#roomCallbacks) callback()
    } while ((this.#loads[0]?.first ?? Infinity) <= this.#wanted)
  }

  #failed(failure: Error): void {
    if (this.#failure?.message !== failure.message)
      this.#options.onTrouble?.(
        new Error(`The log of commits cannot be written, and is tried again: ${failure.message}`, {
          cause: failure,
        }),
      )
    this.#failure = failure
    // Who waits for room is refused.
    for (const callback of this.#roomCallbacks) callback()
  }

  get last(): number {
    this.#catchUp()
    return this.#last
  }

  get first(): number {
    return Math.max(this.#storage?.first ?? 1, this.#horizon)
  }

  async read(request: LogRead): Promise<LogPage> {
    const last = this.last
    if (request.from < this.first) throw trimmed(request.from, this.first)
    const storage = this.#storage
    if (storage === undefined || request.from > last) return emptyPage(request.from)
    return request.from <= storage.last ? storage.read(request) : pageOf(this.#loads, request)
  }

  async numberAt(timestamp: Timestamp): Promise<number> {
    this.#catchUp()
    const storage = this.#storage
    if (storage === undefined) return 1
    // Before it waits: what is on its way now may be in the storage then, and what it was packed in used again.
    const onItsWay = this.#firstAt(timestamp)
    const keptBefore = storage.last
    const kept = await storage.numberAt(timestamp)
    const found = kept <= keptBefore ? kept : onItsWay
    return Math.max(found, this.first)
  }

  /** On its way, and of that commit timestamp or a later one. */
  #firstAt(timestamp: Timestamp): number {
    for (const { first, records } of this.#loads) {
      const nth = records.firstAt(timestamp)
      if (nth !== undefined) return first + nth
    }
    return this.#last + 1
  }

  async ofItem(request: LogItemRead): Promise<readonly number[]> {
    this.#catchUp()
    const { space, key, from, to, reverse, entriesMax } = request
    const storage = this.#storage
    if (storage === undefined) return []
    // Before it waits, as above.
    const onItsWay = this.#loads
      .flatMap(({ records }) => records.numbersOf(space, key))
      .filter((number) => number >= from && number <= to)
    const kept = await storage.ofItem(request)
    const newest = onItsWay.filter((number) => number > (kept.at(reverse ? 0 : -1) ?? 0))
    const found = reverse ? [...newest.toReversed(), ...kept] : [...kept, ...newest]
    return found.slice(0, entriesMax)
  }

  onAppended(callback: () => void): () => void {
    this.#readers.add(callback)
    return () => this.#readers.delete(callback)
  }

  /** Records are kept for so long: the longest of what was promised. */
  keepFor(retentionMs: number): void {
    this.#retentionMs = retentionMs
    this.#cancelTrim?.()
    if (this.#storage !== undefined) this.#trimLater()
  }

  holdFrom(timestamp: Timestamp | undefined): void {
    this.#heldFrom = timestamp
  }

  get lostUpTo(): Timestamp {
    return this.#storage?.lostUpTo ?? (0 as Timestamp)
  }

  bytesOf(space: SpaceId): number {
    this.#catchUp()
    return this.#bytesOf.get(space) ?? 0
  }

  /** Lets go of what no promise asks for any more. */
  async trim(): Promise<void> {
    const storage = this.#storage
    if (storage === undefined || this.#heldFrom === 'unsaid') return
    const promised = this.#options.runtime.clock.nowMicros() - this.#retentionMs * 1000
    const before = Math.min(promised, this.#heldFrom ?? Infinity) as Timestamp
    if (!(before > 0)) return
    const oldest = Math.min(await this.numberAt(before), this.#follower?.next ?? Infinity)
    this.#horizon = Math.max(this.#horizon, oldest)
    await storage.trim(before)
  }

  #trimLater(): void {
    if (this.#isClosed) return
    const everyMs = Math.min(TRIM_EVERY_MS, this.#retentionMs)
    this.#cancelTrim = this.#options.runtime.clock.timer(everyMs, () => {
      void this.trim()
        .catch((error: unknown) =>
          this.#options.onTrouble?.(error instanceof Error ? error : new Error(String(error))),
        )
        .finally(() => this.#trimLater())
    })
  }

  async close(): Promise<void> {
    this.#catchUp()
    this.#isClosed = true
    this.#tellSettled(Infinity)
    this.#cancelTrim?.()
    this.#cancelTimer?.()
    await this.#flushing
    // A failure leaves the rest to the journal.
    await this.flush()
    this.#cancelTimer?.()
    await this.#storage?.close()
  }
}

const NOWHERE: LogPosition = { upTo: 0, number: 0 }

function pageOf(loads: readonly Load[], request: LogRead): LogPage {
  const page = new LogPageBuilder(request)
  for (const { first, records } of loads)
    while (page.next < first + records.length && !page.isFull) page.add(records.at(page.next - first))
  return page.page()
}
