// What readers of changes get and say.
import type { AnyTables } from '../toolkit/unit/transactor.js'

/** An item whose type is not given. */
export type AnyItem = AnyTables[string]['item']

/**
 * One change of one item. Values are plain JavaScript values, converted as in units of work: a number that JavaScript cannot
 * hold exactly is a bigint or a `NumberValue`, never rounded.
 */
export interface TableChange<Item extends object = AnyItem> {
  /** The name of the table. */
  readonly table: string
  /** What became of the item. */
  readonly event: 'INSERT' | 'MODIFY' | 'REMOVE'
  /** Its key. */
  readonly keys: Partial<Item>
  /** The item before; absent if there was none, or if the stream does not keep old images. */
  readonly old?: Item
  /** The item after; absent if there is none, or if the stream does not keep new images. */
  readonly new?: Item
  /** Where the change stands in the order of all commits: decimal digits, always as many, so that texts compare as numbers. */
  readonly sequenceNumber: string
  /** Of the transaction or unit of work; absent for a single write. */
  readonly transactionId?: string
  /** When it was committed. */
  readonly timestamp: Date
  /** `expiry`: time to live has deleted the item. */
  readonly cause: 'request' | 'expiry'
}

/** All changes that one commit made to the tables that are read: a transaction is never seen in halves. */
export interface TransactionChanges<Item extends object = AnyItem> {
  /** Of the whole: going on after it goes on with the next commit. */
  readonly sequenceNumber: string
  /** Absent for a single write. */
  readonly transactionId?: string
  /** When it was committed. */
  readonly timestamp: Date
  /** At least one. */
  readonly changes: readonly TableChange<Item>[]
}

/** Where to begin, and how to end. */
export interface ChangesOptions {
  /**
   * `start`: with the oldest change that the table's stream keeps. `now`, the default: with the first one that is committed
   * after this call. A sequence number: with the change after that one.
   */
  readonly from?: 'start' | 'now' | (string & {})
  /** Ends the iteration: what is waiting rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Changes as they are asked for. It waits when there are no more, and ends when the stream ends: it was disabled, the table
 * deleted, or the store closed. Leaving a `for await` loop ends it, and so do `return()` and the end of an `await using`.
 */
export interface ChangeIterable<T> extends AsyncIterableIterator<T, undefined>, AsyncDisposable {
  /** The next one. Waits for it if there is none yet. */
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends the iteration, also one that waits. */
  return(): Promise<IteratorReturnResult<undefined>>
  /** Itself. */
  [Symbol.asyncIterator](): ChangeIterable<T>
}
