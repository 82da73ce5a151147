// Bytes that another box of the store keeps beside the items of a node, in a key space of its own: the blocks of ledger tables.
// They share the journal and the index with the items, and so their durability, their checksums and their repair.
import type { KeyBytes } from '../../model/brand.js'

export interface ShelfEntry {
  readonly key: KeyBytes
  /** Absent: removed. */
  readonly value?: Uint8Array
}

export interface ShelfRange {
  /** Inclusive. */
  readonly from: KeyBytes
  /** Exclusive. */
  readonly to: KeyBytes
  readonly reverse: boolean
  readonly entriesMax: number
  /** The last of them is the one with which they come to so many bytes; absent: whatever they come to. */
  readonly bytesMax?: number
}

export interface Shelf {
  /**
   * All entries in one atomic step; resolves once it is durable, and nothing of it is read before. It does not wait where
   * writers of items wait, because they may wait for it: one at a time, bounded by who calls. `unhurried`: it goes along with
   * the next step that somebody waits for, or becomes durable a moment later.
   */
  keep(entries: readonly ShelfEntry[], pace?: 'hurried' | 'unhurried'): Promise<void>
  kept(keys: readonly KeyBytes[]): Promise<readonly (Uint8Array | undefined)[]>
  keptRange(range: ShelfRange): Promise<readonly Required<ShelfEntry>[]>
}
