// The part of a storage node that serves units of work: reads at a snapshot, and what a unit requires of what it read.
//
//   router --openSnapshot--> all nodes     from now on they keep what a reader at that timestamp may need
//          --readSnapshot, rangeAt--> node images as of the timestamp, or as prepared (read-uncommitted)
//          --lockItems--> node             explicit locks, in memory, bounded by the unit's deadline
//   coordinator --prepare, transact--> node   with expectations on items and predicates on ranges (transactions.ts)
//          --closeSnapshot--> all nodes    nobody needs it any more; after the age limit nobody may
//
// Every snapshot is announced to every node before anything is read at it. A node that has announced T stamps all later
// single writes above T, refuses prepares at or below T on what was read at T, and keeps the images that T may see.
import type { BoundCondition } from '../../expression/parse/types.js'
import type { Timestamp, TxId } from '../../model/brand.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { KeyRange } from '../../model/key-range.js'
import type { IndexShape, TableShape } from '../../model/table.js'
import type { ItemRecord } from '../../rules/item/item.js'
import type { RangePage, RangeRequest } from './storage-node.js'

/** Who asks for a lock: an older unit is served before a younger one. */
export interface UnitIdentity {
  readonly id: string
  /** When its first attempt began; with the id the order of age. */
  readonly began: Timestamp
  /** Whose unit it is, for the number of locks that one key may hold; absent: of the program itself. */
  readonly key?: string
}

export interface OpenSnapshotRequest {
  /** Absent: the node picks one above everything it has acknowledged (enough where it is the only node). */
  readonly timestamp?: Timestamp
  /** The one that it picks is above everything it has decided, too: its reader may have to wait for the disk. */
  readonly above?: 'decided'
}

export interface OpenSnapshotReply {
  readonly timestamp: Timestamp
  /** The highest timestamp this node has used. If it is above `timestamp` the snapshot must be opened at a later one. */
  readonly clock: Timestamp
}

/** Where to read: a snapshot that is open here, or what is prepared, too. */
export type ReadPoint = Timestamp | 'uncommitted'

export interface ReadSnapshotRequest {
  /** `new`: opens one, as `openSnapshot({})` does, and reads there in the same step. Not for a call that may be repeated. */
  readonly at: ReadPoint | 'new'
  /** As in OpenSnapshotRequest. */
  readonly above?: 'decided'
  readonly items: readonly ItemRef[]
}

export type SnapshotRead =
  /** `version` is what an expectation on this item names later: the timestamp of its last write. */
  | { readonly verdict: 'value'; readonly record?: ItemRecord }
  /** A transaction prepared at or below the timestamp has not been decided, and was not after the longest wait. */
  | { readonly verdict: 'pending'; readonly tx: TxId }

export type ReadSnapshotReply =
  /** `at`: the snapshot that was opened for it. */
  | { readonly verdict: 'read'; readonly results: readonly SnapshotRead[]; readonly at?: Timestamp }
  /** Not open here: closed, older than the age limit, dropped for lack of memory, or from before a restart. */
  | { readonly verdict: 'snapshot-too-old' }

export type RangeAtReply =
  | { readonly verdict: 'read'; readonly page: RangePage }
  | { readonly verdict: 'pending'; readonly tx: TxId }
  | { readonly verdict: 'snapshot-too-old' }

export interface RangeAtRequest extends RangeRequest {
  readonly at: ReadPoint
  readonly table: TableShape
}

export interface LockRequest {
  readonly unit: UnitIdentity
  readonly items: readonly ItemRef[]
  /** The node forgets the locks at this time, whatever happens. */
  readonly until: Timestamp
}

export type LockReply =
  | { readonly verdict: 'locked' }
  /** An older unit, or a transaction, holds one of the items, and did after the longest wait. */
  | { readonly verdict: 'conflict'; readonly item: ItemRef; readonly holder: string }
  /** This node holds as many locks as it may. */
  | { readonly verdict: 'too-many' }

/** What a query or scan saw must be what it would see at the commit timestamp. Plain data, as everything a node is sent. */
export interface PredicateCheck {
  readonly table: TableShape
  /** Absent: the table itself was read. */
  readonly index?: IndexShape
  /** The snapshot at which it was read. */
  readonly since: Timestamp
  /** The part of the key space of the index, or of the table, that was read; ends where reading ended. */
  readonly range: KeyRange
  /** On whole images; what an index does not project was refused before. */
  readonly filter?: BoundCondition
}

/** What a node holds in memory for units of work. */
export interface UnitsHeld {
  readonly snapshots: number
  /** Of images that open snapshots may need. */
  readonly historyBytes: number
  readonly locks: number
}

/** One request that waits, or has waited, for an item. */
export interface ItemWait {
  readonly item: ItemRef
  /** The transaction or the unit that waited; undefined: a single write, or a read. */
  readonly waiter: string | undefined
  /** Transactions that were pending on the item, and the unit that held its lock. */
  readonly holders: readonly string[]
  readonly sinceMicros: number
  /** Undefined while it waits. */
  readonly waitedMicros: number | undefined
  readonly end: 'went-on' | 'gave-up' | undefined
}

/** An explicit lock of a unit. */
export interface ItemLock {
  readonly item: ItemRef
  readonly unit: string
  readonly sinceMicros: number
  /** How much longer it is held at most. */
  readonly leftMicros: number
}

/** Who stands in whose way on a node, for people who look. */
export interface NodeContention {
  readonly waits: readonly ItemWait[]
  readonly locks: readonly ItemLock[]
}

export interface UnitNode {
  readonly unitsHeld: UnitsHeld

  openSnapshot(request: OpenSnapshotRequest): Promise<OpenSnapshotReply>
  closeSnapshot(timestamp: Timestamp): Promise<void>
  readSnapshot(request: ReadSnapshotRequest): Promise<ReadSnapshotReply>
  rangeAt(request: RangeAtRequest): Promise<RangeAtReply>
  lockItems(request: LockRequest): Promise<LockReply>
  unlockItems(request: { readonly unit: string; readonly items: readonly ItemRef[] }): Promise<void>
  /** At most so many of each; absent: nothing is known of it. */
  contention?(entriesMax: number): Promise<NodeContention>
}
