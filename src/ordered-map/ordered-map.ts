// The index under a storage node: an ordered map from key bytes to value bytes. LMDB on disk, a hash map with ordered keys in
// memory.
//
//   storage node --apply(batch, position)--> index        one atomic, synced step
//   storage node <--get, range-------------- index        synchronous: LMDB is memory-mapped
//
// May import: model. An index knows nothing of tables, items or time.
import type { KeyBytes } from '../model/brand.js'

export type IndexChange = readonly [key: KeyBytes, value: Uint8Array | undefined]

export interface ScanRange {
  /** Inclusive. */
  readonly from: KeyBytes
  /** Exclusive. */
  readonly to: KeyBytes
  readonly reverse: boolean
}

/**
 * Looks at one value: the first `length` of these bytes, which are lent until it returns. It must not ask the index for
 * anything meanwhile. False: that was enough.
 */
export type EntryVisitor = (lent: Uint8Array, length: number) => boolean

export interface OrderedMap {
  /** A private copy or an immutable value; never changes afterwards. */
  get(key: KeyBytes): Uint8Array | undefined
  /** Consumed before the caller next yields to the event loop: an iterator does not outlive a change. */
  range(range: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]>
  /** Shows the values of a range in order. Nothing is made for each of them: no key, no copy, no step of an iterator. */
  scan(range: ScanRange, look: EntryVisitor): void
  /**
   * What to wait for before this key is read, so that nobody else waits for the disk: undefined if it is believed to be in memory.
   * Whoever reads without asking gets the same answer.
   */
  ready?(key: KeyBytes): Promise<void> | undefined
  /** The same for a range, of which so many entries or bytes are read. */
  readyRange?(range: ScanRange, entriesMax: number, bytesMax: number): Promise<void> | undefined
  /** All changes and the journal position they bring the index up to, in one atomic and durable step. */
  apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void>
  /** The journal position up to which this index holds everything; 0 for a new one. */
  readonly appliedUpTo: number
  close(): Promise<void>
}
