// Brings durable batches into the index, behind the answers.
//
//   durable batches --several at once, one LMDB commit--> index --> dropped from the overlay, segments trimmed
//
// What came and went between two commits never reaches LMDB.
//
// Small loads wait a moment so that commits are few, and longer while they grow: the more changes a commit has, the more of
// them share a page, which is copied and written for all of them. A commit takes a bounded number of changes, for the sake of
// memory. A load is put together as its batches come: done at once it would keep requests waiting.
import type { IndexChange, OrderedMap } from '../ordered-map/ordered-map.js'
import type { KeyBytes, Lsn, Timestamp } from '../model/brand.js'
import type { Runtime } from '../runtime/runtime.js'
import { CLOCK_KEY, SHORT_LIVED_BOUNDS, encodeClock, isShortLivedKey } from './spaces.js'

export interface DurableBatch {
  readonly number: number
  readonly changes: ReadonlyMap<KeyBytes, Uint8Array | undefined>
  readonly bytes: number
  readonly timestamp: Timestamp
  readonly lsn: Lsn
  /** Offset of the journal after it. */
  readonly end: number
}

export interface ApplierOptions {
  readonly index: OrderedMap
  readonly runtime: Runtime
  /** Called when the index holds everything up to the last of these batches. */
  readonly applied: (batches: readonly DurableBatch[], keys: readonly Iterable<KeyBytes>[]) => void
  /** Called when a commit fails; it is tried again. */
  readonly failed: (error: Error) => void
  readonly delayMs: number
  /** A load that grows waits for so many of these delays at most. */
  readonly delaysMax: number
  readonly hurryBytes: number
  readonly changesMax: number
}

const RETRY_MS = 1000

/** What goes to the index in one commit: batches in their order, and what they leave of each key. */
interface Load {
  readonly batches: DurableBatch[]
  readonly changes: Map<KeyBytes, Uint8Array | undefined>
  /** Removals that the index does not need. */
  readonly needless: KeyBytes[]
  /** Changes of its batches, those of one key counted each. */
  size: number
  /** Nothing is added from the first attempt on. */
  attempted: boolean
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class Applier {
  readonly #options: ApplierOptions
  readonly #delayMs: number
  readonly #delaysMax: number
  readonly #hurryBytes: number
  readonly #changesMax: number
  /** Oldest first; the first may be under way. */
  readonly #loads: Load[] = []
  #pendingBytes = 0
  #pendingChanges = 0
  /** In the order of their batches, which is that in which they came. */
  readonly #drains: (Waiter & { readonly upTo: number })[] = []
  readonly #directs: (Waiter & { readonly changes: readonly IndexChange[] })[] = []
  #running: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  /** Of the load that waits: delays that have passed, and whether it has grown in this one. */
  #delays = 0
  #hasGrown = false
  #failure: Error | undefined
  /** The passing keys that the index may hold. */
  readonly #passing = new Set<KeyBytes>()

  constructor(options: ApplierOptions) {
    this.#options = options
    for (const bounds of SHORT_LIVED_BOUNDS)
      for (const [key] of options.index.range({ ...bounds, reverse: false })) this.#passing.add(key)
    this.#delayMs = options.delayMs
    this.#delaysMax = options.delaysMax
    this.#hurryBytes = options.hurryBytes
    this.#changesMax = options.changesMax
  }

  /** Why the index could not be brought up, while it cannot. It is tried again. */
  get failure(): Error | undefined {
    return this.#failure
  }

  add(batch: DurableBatch): void {
    this.#gather(batch)
    this.#pendingBytes += batch.bytes
    this.#pendingChanges += batch.changes.size
    if (this.#running !== undefined) return
    // The first one begins to wait.
    this.#hasGrown = this.#cancelTimer !== undefined
    if (this.#isDue() && this.#failure === undefined) this.#start()
    else this.#startIn(this.#delayMs)
  }

  /**
   * Resolves once everything added so far is in the index; rejects if an attempt at that fails. It takes as many commits as
   * there are loads now, however many are added meanwhile.
   */
  async drain(): Promise<void> {
    const last = this.#loads.at(-1)?.batches.at(-1)
    if (last !== undefined)
      await this.#wanted((waiter) => this.#drains.push({ ...waiter, upTo: last.number }))
  }

  /** Changes that are not in the journal: after the commit that is under way, and no later load before them. */
  async direct(changes: readonly IndexChange[]): Promise<void> {
    await this.#wanted((waiter) => this.#directs.push({ ...waiter, changes }))
  }

  #wanted(add: (waiter: Waiter) => void): Promise<void> {
    const done = new Promise<void>((resolve, reject) => add({ resolve, reject }))
    if (this.#running === undefined) this.#start()
    return done
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #startIn(delayMs: number): void {
    this.#cancelTimer ??= this.#options.runtime.clock.timer(delayMs, () => {
      this.#cancelTimer = undefined
      if (this.#running !== undefined || this.#loads.length === 0) return
      if (!this.#hasGrown || ++this.#delays >= this.#delaysMax || this.#failure !== undefined) {
        this.#start()
        return
      }
      this.#hasGrown = false
      this.#startIn(this.#delayMs)
    })
  }

  #start(): void {
    this.stop()
    this.#delays = 0
    this.#hasGrown = false
    this.#running = this.#run().then(() => {
      this.#running = undefined
      // They came after its last look.
      if (this.#isAsked()) this.#start()
      else if (this.#loads.length > 0) this.#startIn(this.#failure === undefined ? this.#delayMs : RETRY_MS)
    })
  }

  /** One commit at a time: of direct changes and of loads in turn, as long as one is asked for or due. */
  async #run(): Promise<void> {
    this.#failure = undefined
    do {
      await this.#applyDirect()
      await this.#applyLoad()
      if (this.#failure !== undefined) return
    } while (this.#isAsked() || this.#isDue())
  }

  async #applyDirect(): Promise<void> {
    const direct = this.#directs.shift()
    if (direct === undefined) return
    const { index } = this.#options
    await index.apply(direct.changes, index.appliedUpTo).then(direct.resolve, direct.reject)
  }

  async #applyLoad(): Promise<void> {
    const [load] = this.#loads
    const last = load?.batches.at(-1)
    if (load === undefined || last === undefined) return
    const { batches, changes, needless } = load
    if (!load.attempted) this.#prepare(load, last)
    try {
      await this.#options.index.apply(changes, last.end)
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error(String(error)))
      return
    }
    for (const key of this.#passing)
      if (changes.has(key) && changes.get(key) === undefined) this.#passing.delete(key)
    this.#loads.shift()
    for (const batch of batches) this.#pendingBytes -= batch.bytes
    this.#pendingChanges -= load.size
    this.#options.applied(batches, [changes.keys(), needless])
    while ((this.#drains[0]?.upTo ?? Infinity) <= last.number) this.#drains.shift()?.resolve()
  }

  #failed(failure: Error): void {
    this.#failure = failure
    this.#options.failed(failure)
    for (const waiter of [...this.#drains.splice(0), ...this.#directs.splice(0)]) waiter.reject(failure)
  }

  /** Puts a batch to the load that is being put together, as long as there is room in it. */
  #gather(batch: DurableBatch): void {
    let load = this.#loads.at(-1)
    if (load === undefined || load.attempted || load.size + batch.changes.size > this.#changesMax) {
      load = { batches: [], changes: new Map(), needless: [], size: 0, attempted: false }
      this.#loads.push(load)
    }
    const { changes } = load
    load.batches.push(batch)
    load.size += batch.changes.size
    batch.changes.forEach((value, key) => changes.set(key, value))
  }

  #prepare(load: Load, last: DurableBatch): void {
    load.attempted = true
    load.changes.set(CLOCK_KEY, encodeClock(last.timestamp, last.lsn))
    this.#takeNeedless(load)
  }

  /** Takes the removal of passing keys that the index does not hold out of the changes. */
  #takeNeedless({ changes, needless }: Load): void {
    changes.forEach((value, key) => {
      if (!isShortLivedKey(key)) return
      // From the attempt on: a commit that failed may have been done.
      if (value !== undefined) this.#passing.add(key)
      else if (!this.#passing.has(key)) needless.push(key)
    })
    for (const key of needless) changes.delete(key)
  }

  #isAsked(): boolean {
    return this.#directs.length > 0 || this.#drains.length > 0
  }

  #isDue(): boolean {
    return this.#pendingChanges >= this.#changesMax || this.#pendingBytes >= this.#hurryBytes
  }
}
