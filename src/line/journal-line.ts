// The line of a node with a journal: group commit.
//
//   step, step --> open batch --(journal is free)--> journal, one sync --> durable, answered --> applier
//   step, step, step --> next open batch, decided upon the one in flight
//
// A batch is written as soon as somebody waits for it. What nobody waits for (a commit that readers see already, say) goes
// along with the next batch, or a moment later by itself: the fewer syncs, the better for everybody.
//
// A batch that could not be written takes with it the open ones of all nodes that share the journal, which may have been
// decided upon it. What readers have seen of them stays, and goes along with the next batch.
import { encodeLogEntry, type LogEntry } from '../commit-log/entries.js'
import { changeBytes } from '../commit-log/commit-record.js'
import type { LogFeed } from '../commit-log/local-log.js'
import type { OrderedMap } from '../ordered-map/ordered-map.js'
import { AppendUnsure } from '../journal/errors.js'
import type { FrameContent, FrameEntry } from '../journal/frame.js'
import type { Journal, JournalShare } from '../journal/journal.js'
import type { KeyBytes, SpaceId } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import { awaitedTimer, type Runtime } from '../runtime/runtime.js'
import { Applier, type DurableBatch } from './applier.js'
import { type Batch, isEmpty, newBatch } from './batch.js'
import { Counts, boundsOf, countKey, encodeCount, inSpace, type SpaceCount } from './spaces.js'
import { DurabilityUnknown, WriteFailed } from './errors.js'
import type { HybridClock } from './hybrid-clock.js'
import { Watches, countAfter, keysOf, removals, type Line, type Put } from './line.js'
import { Overlay } from './overlay.js'
import type { Unapplied } from './replay.js'
import { HEADER_BYTES } from './record.js'
import { type MergedView, viewOf } from './merged-view.js'

export interface JournalLineOptions extends Partial<
  Pick<
    Knobs,
    'overlayBytesMax' | 'overlaySpareKeysMax' | 'applyDelayMs' | 'applyDelaysMax' | 'applyChangesMax'
  >
> {
  readonly index: OrderedMap
  readonly journal: Journal
  /** Which of the journal's writers this is. */
  readonly writer: number
  readonly runtime: Runtime
  readonly clock: HybridClock
  /** The log of commits, of all nodes that share the journal. */
  readonly log?: LogFeed
  /** What a start found in the journal and could not bring into the index. */
  readonly unapplied?: Unapplied
  /** Told once of each reason why the index cannot be written. */
  readonly onTrouble?: (error: Error) => void
}

/** What a change costs beside its bytes: tree nodes, map entries, string headers. */
const CHANGE_OVERHEAD_BYTES = 200
/** What nobody waits for is written after that, if nothing else is before. */
const UNHURRIED_MS = 10
/** What readers have seen and could not be written is tried again after that, if no step comes before. */
const RETRY_MS = 1000

export class JournalLine implements Line {
  readonly watches = new Watches()
  readonly decided: MergedView
  readonly durable: MergedView
  readonly #options: JournalLineOptions
  readonly #overlay: Overlay
  readonly #overlayBytesMax: number
  readonly #counts = new Counts()
  readonly #applier: Applier
  #open: Batch = newBatch(1)
  /** Taken by the journal, and not durable yet. */
  #flying: Batch | undefined
  readonly #share: JournalShare
  /** Decided and not applied, in bytes. */
  #bytes = 0
  #waiters: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  /** Spaces that are being swept, and of which the index holds all that was ever put. */
  readonly #sweeping = new Set<SpaceId>()
  #closing = false
  /** Why the index could not be written the last time; told already. */
  #trouble: string | undefined
  #cancelTimer: (() => void) | undefined
  readonly #rollbackCallbacks: (() => void)[] = []

  constructor(options: JournalLineOptions) {
    this.#options = options
    const tuned = { ...knobs, ...options }
    this.#overlay = new Overlay(tuned)
    this.#overlayBytesMax = tuned.overlayBytesMax
    this.decided = viewOf(options.index, this.#overlay, 'decided')
    this.durable = viewOf(options.index, this.#overlay, 'durable')
    this.#share = options.journal.join(options.writer, {
      take: () => this.#take(),
      written: (end) => this.#written(end),
      failed: (error) => this.#failed(error),
      goesAlong: () => this.#open.noted.length > 0,
    })
    options.log?.onRoom(() => this.#logMoved())
    this.#applier = new Applier({
      index: options.index,
      runtime: options.runtime,
      applied: (batches, keys) => this.#applied(batches, keys),
      failed: (error) => this.#notApplied(error),
      hurryBytes: this.#overlayBytesMax / 3,
      delayMs: tuned.applyDelayMs,
      delaysMax: tuned.applyDelaysMax,
      changesMax: tuned.applyChangesMax,
    })
    if (options.unapplied !== undefined) this.#addUnapplied(options.unapplied)
    this.#counts.load(this.durable)
  }

  /** As one batch before the first: durable, and not in the index. */
  #addUnapplied({ changes, timestamp, lsn, end }: Unapplied): void {
    const number = this.#overlay.durableBatch
    let bytes = 0
    for (const [key, value] of changes) {
      this.#overlay.put(key, value, number)
      bytes += bytesOf(key, value)
    }
    this.#bytes += bytes
    this.#applier.add({ number, changes, bytes, timestamp, lsn, end })
  }

  get run(): string {
    return this.#options.journal.run
  }

  count(space: SpaceId): SpaceCount {
    return this.#counts.of(space)
  }

  admission(): Promise<void> | undefined {
    const refusal = this.#refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    if (this.#waiters.length === 0 && this.#hasRoom()) return undefined
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  put(key: KeyBytes, value: Uint8Array | undefined): void {
    const batch = this.#open
    if (batch.fresh.size > 0 && batch.fresh.delete(key)) {
      this.#overlay.takeBack(key)
      if (value === undefined) return
    }
    this.#overlay.put(key, value, batch.number)
    batch.hidden = true
    this.#change(key, value)
    this.#flushUnhurried()
  }

  putNew(key: KeyBytes, encode: () => Uint8Array, bytesAbout: number): void {
    // What is here of it may hide a value in the index, and must go on to do so.
    if (this.#overlay.has(key)) {
      this.put(key, encode())
      return
    }
    const batch = this.#open
    this.#overlay.putNew(key, encode, batch.number)
    batch.hidden = true
    batch.fresh.set(key, bytesAbout)
    this.#addBytes(batch, CHANGE_OVERHEAD_BYTES + key.length + bytesAbout)
    this.#flushUnhurried()
  }

  putVisible(key: KeyBytes, value: Uint8Array | undefined): void {
    this.#overlay.putVisible(key, value, this.#open.number)
    if (this.watches.size > 0) this.watches.changed(key)
    this.#change(key, value)
    this.#flushUnhurried()
  }

  get isLogging(): boolean {
    return this.#options.log?.isBegun === true
  }

  note(entry: LogEntry, put: Put): void {
    const { log } = this.#options
    if (log === undefined) return
    entry.order = log.nextOrder()
    if (put === 'putVisible') this.#open.notedVisible.push(entry)
    this.#addNoted(entry)
    this.#flushUnhurried()
  }

  #addNoted(entry: LogEntry): void {
    const bytes = entry.kind === 'change' ? changeBytes(entry.change) : CHANGE_OVERHEAD_BYTES
    this.#open.noted.push(entry)
    this.#open.notedBytes += bytes
    this.#bytes += bytes
  }

  onRollback(callback: () => void): void {
    this.#rollbackCallbacks.push(callback)
  }

  #change(key: KeyBytes, value: Uint8Array | undefined): void {
    const batch = this.#open
    batch.changes.set(key, value)
    this.#addBytes(batch, bytesOf(key, value))
  }

  addCount(space: SpaceId, items: number, bytes: number, put: Put = 'put'): void {
    const before = this.#counts.of(space)
    const { countsBefore, countsVisible } = this.#open
    if (!countsBefore.has(space)) countsBefore.set(space, before)
    if (put === 'putVisible')
      countsVisible.set(space, countAfter(countsVisible.get(space) ?? NOTHING, items, bytes))
    this.#counts.set(space, countAfter(before, items, bytes))
  }

  whenDurable(): Promise<void> | undefined {
    const whenDurableUnhurried = this.whenDurableUnhurried()
    if (whenDurableUnhurried !== undefined) this.#hurry()
    return whenDurableUnhurried
  }

  whenDurableUnhurried(): Promise<void> | undefined {
    // The room that this step left, if any, is for whoever waits first.
    this.#admitNext()
    return isEmpty(this.#open) ? undefined : this.#open.durable
  }

  hurry(whenDurableUnhurried: Promise<void>): void {
    if (whenDurableUnhurried === this.#open.durable) this.#hurry()
  }

  whenDurableAt(key: KeyBytes): Promise<void> | undefined {
    this.#admitNext()
    const batch = this.#overlay.unseenIn(key)
    if (batch === undefined) return undefined
    if (batch === this.#open.number) this.#hurry()
    return batch === this.#open.number ? this.#open.durable : this.#flying?.durable
  }

  whenAllDurable(): Promise<void> | undefined {
    if (this.#open.hidden) return this.#open.durable
    return this.#flying?.hidden === true ? this.#flying.durable : undefined
  }

  async sweep(space: SpaceId, entriesMax: number): Promise<boolean> {
    // Nothing writes to the space any more; what was written before must not come after. A batch that has failed leaves
    // behind what readers have seen of it: then the sweep fails, and is tried again.
    const { from, to } = boundsOf(space)
    if (!this.#sweeping.has(space) || this.#overlay.hasAny(from, to)) {
      await this.#settle()
      await this.#applier.drain()
      this.#sweeping.add(space)
    }
    const keys = keysOf(this.#options.index, space, entriesMax)
    const done = keys.length < entriesMax
    if (done) this.#counts.forget(space)
    await this.#applier.direct(removals(keys, space, done))
    if (done) this.#sweeping.delete(space)
    return done
  }

  async close(): Promise<void> {
    this.#closing = true
    const { index, runtime } = this.#options
    this.#rejectWaiters(closed())
    this.#cancelTimer?.()
    // A writer that was let in just before may still be on its way.
    await new Promise<void>((resolve) => runtime.defer(resolve))
    do await this.#settle().catch(() => undefined)
    while (this.#flying !== undefined || this.#open.hurried)
    try {
      await this.#applier.drain()
    } catch {
      // The journal has what the index lacks.
    }
    this.#applier.stop()
    await this.#share.leave()
    await index.close()
  }

  #refusal(): Error | undefined {
    const { journal } = this.#options
    if (this.#closing) return closed()
    if (journal.refusal !== undefined)
      return new WriteFailed(journal.refusal.message, { cause: journal.refusal })
    const { log } = this.#options
    if (log?.refusal !== undefined) return new WriteFailed(log.refusal.message, { cause: log.refusal })
    const failure = this.#bytes < this.#overlayBytesMax ? undefined : this.#applier.failure
    return failure === undefined ? undefined : indexRefusal(failure)
  }

  #hurry(): void {
    if (this.#open.hurried) return
    this.#open.hurried = true
    // What is in flight comes back first, and asks then.
    if (this.#flying === undefined) this.#share.hurry()
  }

  #flushUnhurried(): void {
    if (this.#flying === undefined && !this.#open.hurried) this.#flushSoon()
  }

  /** The process stays until then: somebody may wait for the log of commits, and so for this. */
  #flushSoon(): void {
    if (this.#closing) return
    this.#cancelTimer ??= awaitedTimer(this.#options.runtime.clock, UNHURRIED_MS, () => this.#timeIsUp())
  }

  #flushIn(delayMs: number): void {
    if (this.#closing) return
    this.#cancelTimer ??= this.#options.runtime.clock.timer(delayMs, () => this.#timeIsUp())
  }

  #timeIsUp(): void {
    this.#cancelTimer = undefined
    if (!isEmpty(this.#open)) this.#hurry()
  }

  #hasRoom(): boolean {
    return this.#bytes < this.#overlayBytesMax && this.#options.log?.isFull !== true
  }

  /** The log of commits has room again, or cannot be written. */
  #logMoved(): void {
    const refusal = this.#refusal()
    if (refusal === undefined) this.#admitNext()
    else this.#rejectWaiters(refusal)
  }

  #take(): FrameContent {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const batch = this.#open
    this.#open = newBatch(batch.number + 1)
    this.#flying = batch
    this.#addFresh(batch)
    this.#addCountRecords(batch)
    batch.timestamp = this.#options.clock.timestamp
    batch.lsn = this.#options.clock.lsn
    if (batch.noted.length === 0) return batch
    return { ...batch, logged: this.#encodeNoted(batch) }
  }

  /** The image of an item that the frame has anyway is not written twice. */
  #encodeNoted({ noted, changes }: Batch): readonly FrameEntry[] {
    return noted.map((entry) =>
      encodeLogEntry(entry, ({ space, key, new: next }) => {
        const value = next && changes.get(inSpace(space, key))
        return value !== undefined && next !== undefined && isTextOf(value, next)
      }),
    )
  }

  #written(end: number): void {
    const batch = this.#flying as Batch
    batch.end = end
    this.#flying = undefined
    this.#overlay.promote(batch.number)
    if (this.watches.size > 0) for (const key of batch.changes.keys()) this.watches.changed(key)
    if (batch.noted.length > 0) this.#handOver(batch)
    batch.resolve()
    this.#applier.add(batch)
    if (this.#open.hurried) this.#share.hurry()
    else if (!isEmpty(this.#open)) this.#flushSoon()
  }

  /** To the log of commits. The batch lives on until it is in the index, and lets go of what it noted. */
  #handOver(batch: Batch): void {
    this.#options.log?.add(batch.noted)
    this.#bytes -= batch.notedBytes
    batch.noted.length = 0
    batch.notedVisible.length = 0
    batch.notedBytes = 0
    this.#admitNext()
  }

  #addFresh(batch: Batch): void {
    for (const [key, bytesAbout] of batch.fresh) {
      const value = this.#overlay.decided(key)?.value as Uint8Array
      batch.changes.set(key, value)
      this.#addBytes(batch, Math.max(0, value.byteLength - bytesAbout))
    }
  }

  #addCountRecords(batch: Batch): void {
    for (const space of batch.countsBefore.keys()) {
      const record = encodeCount(this.#counts.of(space))
      batch.changes.set(countKey(space), record)
      this.#addBytes(batch, CHANGE_OVERHEAD_BYTES + record.byteLength)
    }
  }

  #failed(error: Error): void {
    const flying = this.#flying
    this.#flying = undefined
    const open = this.#open
    if (flying === undefined && isEmpty(open)) return
    this.#open = newBatch(open.number + 1)
    const lost = flying === undefined ? [open] : [flying, open]
    const keys = new Set(lost.flatMap(({ changes, fresh }) => [...changes.keys(), ...fresh.keys()]))
    this.#overlay.rollBack(keys)
    for (const { countsBefore } of lost.toReversed())
      for (const [space, count] of countsBefore) this.#counts.set(space, count)
    for (const { countsVisible, bytes: lostBytes, notedBytes } of lost) {
      for (const [space, { items, bytes }] of countsVisible) this.addCount(space, items, bytes, 'putVisible')
      this.#bytes -= lostBytes + notedBytes
    }
    const unsure = error instanceof AppendUnsure
    // What readers have seen stays; the next batch takes it along, if there can be one.
    for (const key of unsure ? [] : keys) {
      const version = this.#overlay.decided(key)
      if (version?.visible === true) this.#change(key, version.value)
    }
    // So does what the log is to be told of it.
    if (!unsure)
      for (const { notedVisible } of lost)
        for (const entry of notedVisible) {
          this.#open.notedVisible.push(entry)
          this.#addNoted(entry)
        }
    // Not at once: what failed a moment ago would fail again.
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (!isEmpty(this.#open)) this.#flushIn(RETRY_MS)
    for (const callback of this.#rollbackCallbacks) callback()
    const failed = new WriteFailed(error.message, { cause: error })
    flying?.reject(unsure ? new DurabilityUnknown(error.message, { cause: error }) : failed)
    open.reject(failed)
    if (unsure) this.#rejectWaiters(failed)
    else this.#admitNext()
  }

  #notApplied(error: Error): void {
    if (this.#trouble !== error.message) {
      this.#trouble = error.message
      this.#options.onTrouble?.(
        new Error(`Applying to the index fails, and is tried again: ${error.message}`, { cause: error }),
      )
    }
    this.#rejectWaiters(indexRefusal(error))
  }

  #applied(batches: readonly DurableBatch[], keys: readonly Iterable<KeyBytes>[]): void {
    this.#trouble = undefined
    const last = batches.at(-1) as DurableBatch
    for (const some of keys) this.#overlay.drop(some, last.number)
    for (const batch of batches) this.#bytes -= batch.bytes
    void this.#share.applied(last.end)
    this.#admitNext()
  }

  #admitNext(): void {
    if (this.#waiters.length === 0 || !this.#hasRoom()) return
    this.#waiters.shift()?.resolve()
    // Not every step asks when it is settled; whoever waits behind one that does not must not wait for ever.
    if (this.#waiters.length > 0) this.#options.runtime.defer(() => this.#admitNext())
  }

  #rejectWaiters(error: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error)
  }

  #addBytes(batch: Batch, bytes: number): void {
    batch.bytes += bytes
    this.#bytes += bytes
  }

  /** Everything decided so far is durable; rejects if it has failed. What is decided meanwhile is not waited for. */
  async #settle(): Promise<void> {
    const last = isEmpty(this.#open) ? this.#flying : this.#open
    if (last === this.#open) this.#hurry()
    await last?.durable
  }
}

/** Whether this very text is that of the record. */
const isTextOf = (record: Uint8Array, text: Uint8Array): boolean =>
  record.buffer === text.buffer && record.byteOffset + HEADER_BYTES === text.byteOffset

const bytesOf = (key: KeyBytes, value: Uint8Array | undefined): number =>
  CHANGE_OVERHEAD_BYTES + key.length + (value?.byteLength ?? 0)

const NOTHING: SpaceCount = { items: 0, bytes: 0 }

const closed = (): WriteFailed => new WriteFailed('The store is closed.')
const indexRefusal = (error: Error): WriteFailed =>
  new WriteFailed(`The index cannot take more: ${error.message}`, { cause: error })
