// The line in which the steps of a node are decided, one after another, and what makes them durable.
//
// A step reads `decided`, puts its changes, and asks `whenDurable` when it may be answered. All of it happens in one turn,
// so a step is atomic; several steps share a batch.
import type { LogEntry } from '../commit-log/entries.js'
import type { LogFeed } from '../commit-log/local-log.js'
import type { MergedView } from './merged-view.js'
import { Counts, boundsOf, countKey, encodeCount, type SpaceCount } from './spaces.js'
import type { KeyBytes, SpaceId } from '../model/brand.js'
import type { OrderedMap } from '../ordered-map/ordered-map.js'

/** Whether readers see a change once it is durable, or at once. */
export type Put = 'put' | 'putVisible'

export interface Line {
  /** What the next step builds upon. */
  readonly decided: MergedView
  /** What readers see. */
  readonly durable: MergedView
  count(space: SpaceId): SpaceCount

  /** Undefined if a step may be decided now. Rejects if none may before the next start. */
  admission(): Promise<void> | undefined
  put(key: KeyBytes, value: Uint8Array | undefined): void
  /**
   * The same, for a key that `decided` has no value of. The value is made when it is written or looked at: what is removed
   * again before that leaves no more than the time at which it was put. `bytesAbout`: its length, for who counts memory.
   */
  putNew(key: KeyBytes, encode: () => Uint8Array, bytesAbout: number): void
  /**
   * A change that readers see at once, though it is not durable yet: after a crash other durable records bring it back.
   * Only for a key whose decided value readers see already.
   */
  putVisible(key: KeyBytes, value: Uint8Array | undefined): void
  /** A part of the step that changes the items, and with them: as they are put. */
  addCount(space: SpaceId, items: number, bytes: number, put?: Put): void
  /** There is a log of commits, whether or not a table asks for it now. */
  readonly isLogging: boolean
  /**
   * Something for the log of commits, in the same step and put as the change that it tells of: it goes into the journal with
   * it, and is taken back with it.
   */
  note(entry: LogEntry, put: Put): void
  /** Undefined if all changes of the step that was just decided are durable already. Somebody waits for it. */
  whenDurable(): Promise<void> | undefined
  /** The same, but nobody waits for it: the changes go along with those of the next step that somebody waits for. */
  whenDurableUnhurried(): Promise<void> | undefined
  /** Now somebody waits for it. */
  hurry(whenDurableUnhurried: Promise<void>): void
  /** Undefined if what `decided` says of this key is durable already. Otherwise somebody waits for it. */
  whenDurableAt(key: KeyBytes): Promise<void> | undefined
  /** Undefined if readers see all that `decided` says. Nobody waits for it yet. */
  whenAllDurable(): Promise<void> | undefined

  /**
   * Changes whenever something that was decided is lost. Within one run whatever is put and waited for becomes durable
   * before, or together with, all that is put later, also at other nodes that share the journal.
   */
  readonly run: string

  /** Told of every change when readers begin to see it. */
  readonly watches: Watches

  /** Calls back after steps that were decided have been taken back, because their batch could not be written. */
  onRollback(callback: () => void): void

  /** Removes up to that many entries of a space nothing refers to; true when none is left. */
  sweep(space: SpaceId, entriesMax: number): Promise<boolean>
  close(): Promise<void>
}

/** Without a journal what is decided is durable, and goes straight to the index. */
export class MemoryLine implements Line {
  readonly run = ''
  readonly watches = new Watches()
  readonly #index: OrderedMap
  readonly #log: LogFeed | undefined
  readonly #counts = new Counts()

  constructor(index: OrderedMap, log?: LogFeed) {
    this.#index = index
    this.#log = log
    this.#counts.load(index)
  }

  get decided(): MergedView {
    return this.#index
  }
  get durable(): MergedView {
    return this.#index
  }

  count(space: SpaceId): SpaceCount {
    return this.#counts.of(space)
  }

  admission(): undefined {
    return undefined
  }

  put(key: KeyBytes, value: Uint8Array | undefined): void {
    // A memory index has changed when `apply` returns; there is nothing to wait for.
    void this.#index.apply([[key, value]], 0)
    if (this.watches.size > 0) this.watches.changed(key)
  }

  putNew(key: KeyBytes, encode: () => Uint8Array): void {
    this.put(key, encode())
  }

  putVisible(key: KeyBytes, value: Uint8Array | undefined): void {
    this.put(key, value)
  }

  onRollback(): void {}

  addCount(space: SpaceId, items: number, bytes: number): void {
    const count = countAfter(this.#counts.of(space), items, bytes)
    this.#counts.set(space, count)
    this.put(countKey(space), encodeCount(count))
  }

  get isLogging(): boolean {
    return this.#log?.isBegun === true
  }

  note(entry: LogEntry): void {
    this.#log?.addDurable(entry)
  }

  whenDurable(): undefined {
    return undefined
  }

  whenDurableUnhurried(): undefined {
    return undefined
  }

  hurry(): void {}

  whenDurableAt(): undefined {
    return undefined
  }

  whenAllDurable(): undefined {
    return undefined
  }

  async sweep(space: SpaceId, entriesMax: number): Promise<boolean> {
    const keys = keysOf(this.#index, space, entriesMax)
    const done = keys.length < entriesMax
    if (done) this.#counts.forget(space)
    await this.#index.apply(removals(keys, space, done), 0)
    return done
  }

  async close(): Promise<void> {
    await this.#index.close()
  }
}

export function countAfter(count: SpaceCount, items: number, bytes: number): SpaceCount {
  return { items: count.items + items, bytes: count.bytes + bytes }
}

export function keysOf(view: MergedView, space: SpaceId, entriesMax: number): KeyBytes[] {
  const keys: KeyBytes[] = []
  if (entriesMax <= 0) return keys
  for (const [key] of view.range({ ...boundsOf(space), reverse: false })) {
    keys.push(key)
    if (keys.length === entriesMax) break
  }
  return keys
}

/** The changes that remove these keys, and with the last of them the count of their space. */
export function removals(
  keys: readonly KeyBytes[],
  space: SpaceId,
  done: boolean,
): (readonly [KeyBytes, undefined])[] {
  return [...keys, ...(done ? [countKey(space)] : [])].map((key) => [key, undefined] as const)
}

/** When readers see all that `decided` says: somebody waits for it. */
export function whenAllDurable(line: Line): Promise<void> | undefined {
  const whenDurable = line.whenAllDurable()
  if (whenDurable !== undefined) line.hurry(whenDurable)
  return whenDurable
}

/** When both are settled. */
export function both(
  one: Promise<void> | undefined,
  other: Promise<void> | undefined,
): Promise<void> | undefined {
  if (one === undefined || one === other) return other
  return other === undefined ? one : Promise.all([one, other]).then(() => undefined)
}

// Who wants to know when an item changes. Writers pay for it only while somebody does.

export class Watches {
  readonly #callbacks = new Map<KeyBytes, Set<() => void>>()

  /** Keys that somebody watches. */
  get size(): number {
    return this.#callbacks.size
  }

  /** Calls back whenever readers begin to see a change of that key; the result ends it. */
  add(key: KeyBytes, callback: () => void): () => void {
    const callbacks = this.#callbacks.get(key) ?? new Set()
    this.#callbacks.set(key, callbacks.add(callback))
    return () => {
      callbacks.delete(callback)
      if (callbacks.size === 0 && this.#callbacks.get(key) === callbacks) this.#callbacks.delete(key)
    }
  }

  /** Readers see this change now. */
  changed(key: KeyBytes): void {
    const callbacks = this.#callbacks.get(key)
    if (callbacks !== undefined) for (const callback of callbacks) callback()
  }
}
