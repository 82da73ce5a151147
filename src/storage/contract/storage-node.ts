// A storage node: the items of some partitions, and the index entries that belong to them (§3.1).
//
//   write --> load (overlay, then index) --> rules (pure) --> batch --> journal, one fdatasync --> answer
//                                                    \--> overlay ... applied behind ...--> index (LMDB)
//   get, range --> the durable part of the overlay, then the index
//
// The interface is asynchronous and carries plain data only, so that a node can live in this thread, in a worker, on a
// compare-and-set engine or in the simulator. The router owns validation and the catalogue; a node owns the state of
// items, and decides one step at a time.
import type { SpaceCount } from '../../line/spaces.js'
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { IndexShape, ItemKey, TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { ItemRecord, WriteRequest } from '../../rules/item/item.js'
import type { RangeText, RangeTextRequest } from './range-text.js'
import type { Shelf } from './shelf.js'
import type { TransactionNode } from './transactions.js'
import type { UnitNode } from './units.js'

export type { ItemRecord, LastWrite, Mutation, WriteRequest } from '../../rules/item/item.js'

export type WriteOutcome =
  | {
      readonly verdict: 'done'
      /** Its place in the serial order. */
      readonly timestamp: Timestamp
      /** The image before, where there was one. */
      readonly old?: ItemRecord
      /** The image after, where there is one. */
      readonly new?: ItemRecord
    }
  | { readonly verdict: 'condition-failed'; readonly current?: ItemRecord }
  /** Transactions are pending on the item, or a unit has locked it, and still were after the longest wait. */
  | { readonly verdict: 'conflict'; readonly others: readonly TxId[]; readonly holder?: string }
  /** The write itself is impossible on this item (wrong operand type, too large, wrong index key type). */
  | { readonly verdict: 'invalid'; readonly message: string }

/**
 * What the caller of a write looks at: images as well, or only what became of it. A node in another process then need not send
 * them; one in this process may answer them all the same.
 */
export type WriteAnswer = 'images' | 'verdict'

/** One item that is brought into a table which no request reaches. */
export interface LoadedPut {
  readonly key: ItemKey
  /** Absent, without a text: there is no such item any more. */
  readonly item?: Item
  /** Instead of the item: its text, as the store keeps it. Only for a table without indexes. */
  readonly json?: Uint8Array
  readonly itemBytes: number
  /** No item of this key was ever brought there: nobody has to look. */
  readonly isFresh: boolean
}

export interface RangeRequest {
  /** The items of a table, or the entries of one of its indexes (each answered with the item it points to). */
  readonly space: SpaceId
  /** Set when `space` is an index: the key space its entries point into. */
  readonly itemSpace?: SpaceId
  /** Inclusive, without the space prefix. */
  readonly from: KeyBytes
  /** Exclusive, without the space prefix; absent for the end of the space. */
  readonly to?: KeyBytes
  readonly reverse: boolean
  readonly entriesMax: number
  /** Stop after the entry with which the items returned reach this many bytes. */
  readonly bytesMax: number
  /** Told of damaged items, which are then left out: for work that goes on with the rest. Absent: the page fails. */
  readonly onDamage?: (error: unknown) => void
}

export interface RangeEntry {
  /** Where this entry stands in the space that was asked for; a page goes on after the last one. */
  readonly key: KeyBytes
  readonly record: ItemRecord
}

export interface RangePage {
  readonly entries: readonly RangeEntry[]
  /** False if the range is exhausted. */
  readonly more: boolean
}

/** Changes of one item are told of. */
export interface ItemWatch {
  /** Resolves when no change is missed any more; absent: it is so already. */
  readonly begun?: Promise<void>
  end(): void
}

export interface MetaEntry {
  readonly name: string
  /** Absent: removed. */
  readonly value?: Uint8Array
}

/** Writes, meta writes and backfills are decided in the order in which they were called. */
export interface StorageNode extends TransactionNode, UnitNode {
  /**
   * The durable state of one item. A read that need not be consistent may be answered by a node's copy that is behind; a node
   * without copies answers both alike.
   */
  get(space: SpaceId, key: ItemKey, isConsistent: boolean): Promise<ItemRecord | undefined>
  /**
   * Resolves once the write is durable, or once what it was refused upon is.
   * @throws WriteFailed if nothing was written, OutcomeUnknown if nobody knows
   */
  write(request: WriteRequest, answer?: WriteAnswer): Promise<WriteOutcome>
  /**
   * Many at once into a table that no request reaches, in their order; resolves once all are durable. What each means was decided
   * by the caller: nothing is pending or locked there, and nobody reads it. Not every node can.
   */
  load?(table: TableShape, items: readonly LoadedPut[]): Promise<void>
  range(request: RangeRequest): Promise<RangePage>
  /** The same for items that nobody looks into: they come as one text. Not every node can. */
  rangeText?(request: RangeTextRequest): Promise<RangeText>
  /** Calls back whenever readers begin to see a change of this item, until it is ended. Not every node can. */
  watch?(space: SpaceId, key: ItemKey, callback: () => void): ItemWatch

  /** This node's part of the transaction ledger. */
  readonly ledger: Ledger

  /** Where the blocks of ledger tables are kept, at the first node. Not every node has one. */
  readonly shelf?: Shelf

  /**
   * Calls back with transactions that requests meet here and that look stalled (§3.5). A hint that carries plain data, which a
   * node elsewhere would send as a message: nothing waits for it, and recovery finds what a lost one named.
   */
  onStalled(callback: (tx: TxId) => void): void

  /**
   * The table has got this shape: steps that were validated with an older one follow it once the call resolves, and in this
   * process from the call on. Of two shapes the one with the higher version is in force, whichever came first.
   */
  setShape(table: TableShape): Promise<void>
  /** Likewise: nothing is written to this table any more, not even by a transaction that was prepared before. */
  dropTable(space: SpaceId): Promise<void>
  /**
   * Of a node that several servers have: it takes steps only with a catalogue that was read of late, and asks for it to be read
   * again by this.
   */
  followCatalogue?(refresh: () => Promise<void>): void
  /** Makes what the table needs where it is kept; resolves once all hosts that answer know of it. Not every node has to. */
  createSpaces?(table: TableShape): Promise<void>

  /** Small named records beside the items: the catalogue of tables. All entries in one atomic step. */
  writeMeta(entries: readonly MetaEntry[]): Promise<void>
  /** The same if that entry has the value that was seen, or is absent as it was; false, and nothing is written, if not. */
  writeMetaIf(seen: MetaEntry, entries: readonly MetaEntry[]): Promise<boolean>
  readMeta(prefix: string): Promise<readonly Required<MetaEntry>[]>

  /**
   * Adds the entries of one index for up to `itemsMax` items from that key on, in one atomic step each, and returns
   * where to go on, or undefined at the end. Writes that carry the new index in their table shape may go on meanwhile.
   * An item whose attributes do not fit the index is left out of it.
   */
  backfill(request: {
    readonly table: TableShape
    readonly index: IndexShape | 'expiry'
    readonly from: KeyBytes
    readonly itemsMax: number
  }): Promise<KeyBytes | undefined>

  /** Removes up to `entriesMax` entries of a key space that nothing refers to any more; true when none is left. */
  sweep(space: SpaceId, entriesMax: number): Promise<boolean>

  /**
   * Looks at up to `rowsMax` rows of a table or of one of its global indexes from that key on, and puts right what a server that died
   * has left in the middle; returns where to go on, or undefined at the end. Only nodes that several servers have need it.
   */
  tend?(table: TableShape, space: SpaceId, from: KeyBytes, rowsMax: number): Promise<KeyBytes | undefined>

  /** Items that expired at or before that second, oldest first. */
  expired(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    nowSeconds: number,
    entriesMax: number,
  ): Promise<readonly RangeEntry[]>

  count(space: SpaceId): Promise<SpaceCount>
  close(): Promise<void>
}
