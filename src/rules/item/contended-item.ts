// The state of one item among transactions (§3.3, §4), as the rules see it.
//
//   timestamps:  read ........ written ........ pending[0] ........ pending[1] ...    --> serial order
//                                 |                 \-- intended writes and checks, in timestamp order
//                                 \-- the committed image, and whether it was written blindly
//
// No two of these share a timestamp on one item, so on an item the timestamp alone is the order; between transactions
// that share no item ties do not matter.
import type { BoundCondition } from '../../expression/parse/types.js'
import type { Timestamp, TxId } from '../../model/brand.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { Mutation } from './item.js'

/** What a transaction intends for one item: what the prepare message carries (§3.3). */
export interface Action {
  readonly table: TableShape
  readonly key: ItemKey
  readonly keyAttributes: Item
  readonly mutation: Mutation | { readonly kind: 'check' }
  readonly condition?: BoundCondition
  /** What a unit of work requires of the item at the commit timestamp. */
  readonly expected?: Expectation
  /** The unit's explicit lock on the item must still be held. */
  readonly locked?: true
  /** Of a single write: see `WriteRequest`. */
  readonly answersImage?: boolean
  readonly cause?: 'expiry'
  /** Who writes, and by which statement; JSON text that the rules do not look at. Only the log of a ledger table tells. */
  readonly about?: string
}

/**
 * What a unit of work requires of an item beside the condition of an action; units/binding.ts says when it is met. Not in the
 * paper.
 */
export type Expectation =
  /** It is as it was read: last written then, or absent. */
  | { readonly kind: 'version'; readonly written: Timestamp | undefined }
  /** Nobody has written it since the snapshot was taken: first committer wins. */
  | { readonly kind: 'unwritten-since'; readonly timestamp: Timestamp }

/** A write that was committed, and by which transaction where that is known. */
export interface Change {
  readonly at: Timestamp
  readonly by?: TxId
}

/** An accepted action of a transaction that has not been finished here: the metadata that §3.3 attaches to the item. */
export interface Pending {
  readonly tx: TxId
  readonly timestamp: Timestamp
  readonly action: Action
  /** Committed, but it waits for the writes before it (§4 rule 5: updates in timestamp order). */
  readonly decided: boolean
  /** The unit of work that this is the commit of. */
  readonly unit?: string
}

/** An image of the item; undefined if there is none. */
export type Image = Item | undefined

export interface ContendedItem {
  /** The committed image, parsed on the first call. */
  item(): Image
  /**
   * When it was last written. For an absent item: when it was deleted, as its own tombstone (while something is pending on
   * it, point 9) or else the partition's max delete timestamp says (§3.3).
   */
  readonly written: Timestamp
  /** The last write was a put or delete that observed nothing (§4 rule 4); false where only the partition remembers. */
  readonly writtenBlindly: boolean
  /** The highest timestamp at which it was observed: a read timestamp as of §4 rule 6, left by every observer (point 8). */
  readonly read: Timestamp
  /** In timestamp order; with §3 alone at most one, with §4 rule 5 any number. */
  readonly pending: readonly Pending[]
  /** When the committed image was written; undefined if there is no item. */
  readonly version: Timestamp | undefined
  /**
   * Snapshots are open, or there is a log of commits, to which every image shows that it ever had: writes are done in
   * timestamp order only. Not in the paper, whose store has one version of an item (§1).
   */
  readonly ordered?: true
  /** What is remembered of changes after that timestamp; `unknown` if nobody remembers so far back. */
  changedSince?(timestamp: Timestamp): Change | 'unchanged' | 'unknown'
  /** The unit of work that holds an explicit lock on it. */
  readonly lockedBy?: string
}

export const writes = (action: Action): boolean => action.mutation.kind !== 'check'

/**
 * Whether what becomes of the action, or what its caller is told, depends on what it meets: then it leaves a read mark, and is
 * not blind (points 8 and 10). A unit that expects something of the image has seen it.
 */
export const observes = ({ mutation, condition, expected, answersImage }: Action): boolean =>
  condition !== undefined ||
  expected !== undefined ||
  answersImage === true ||
  mutation.kind === 'check' ||
  mutation.kind === 'update'

/** What becomes of it depends on the attributes that it meets: those have to be parsed. An expectation is about versions. */
export const looksAtImage = ({ mutation, condition }: Action): boolean =>
  condition !== undefined || mutation.kind === 'update'

/** Below the last write there is nothing left to do: it has overwritten that (§4 rules 3 and 4). */
export const pendingAbove = ({ pending }: ContendedItem, timestamp: Timestamp): readonly Pending[] =>
  pending.length === 0 ? pending : pending.filter((each) => each.timestamp > timestamp)
