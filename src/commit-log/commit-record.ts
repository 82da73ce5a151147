// What the log of commits holds: one record for each commit that touched a table which asks for it.
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../model/brand.js'
import type { SharedEnds } from './shared-ends.js'

/** Why an item changed: a request, or its time to live. */
export type Cause = 'request' | 'expiry'

/** One change of one item. `old` and `new` are there as far as the readers of the table ask for them. */
export interface LoggedChange {
  /** Of the table: its id, which no other table ever gets. */
  readonly space: SpaceId
  /** Of the item within it. */
  readonly key: KeyBytes
  /** What became of the item, whether or not its images are kept. */
  readonly event: 'insert' | 'modify' | 'remove'
  readonly operation: 'put' | 'update' | 'delete'
  readonly cause: Cause
  /** The key attributes as JSON text in UTF-8; absent if an image is there, which has them. */
  readonly keys?: Uint8Array
  /** Of a ledger table: who changed it, and by which statements; JSON text of an About in UTF-8. */
  readonly about?: Uint8Array
  /** The item before and after, as JSON text in UTF-8. */
  readonly old?: Uint8Array
  readonly new?: Uint8Array
  /** What both images have in common, where that is known already. */
  readonly shared?: SharedEnds
}

/** Who changed an item, and how, for the blocks of ledger tables. */
export interface About {
  /** The principal; absent: there are no keys, or it was no request. */
  readonly by?: string
  /** The id of the unit of work, as its client has it. */
  readonly unit?: string
  readonly statements?: readonly AboutStatement[]
}

export interface AboutStatement {
  /** Its text with `?` for all that may be data: what is kept for good. */
  readonly shape: string
  /** As it was, and the values for its parameters, as DynamoDB writes them. */
  readonly text: string
  readonly parameters?: readonly unknown[]
}

export const aboutIn = (about: Uint8Array | undefined): About =>
  about === undefined
    ? {}
    : (JSON.parse(Buffer.from(about.buffer, about.byteOffset, about.byteLength).toString()) as About)

/**
 * In a journal and in files `about` stands behind the keys and a line feed, which JSON does not have: their forms are older than
 * it.
 */
export function keysAndAbout({ keys, about }: LoggedChange): Uint8Array | undefined {
  return about === undefined ? keys : Buffer.concat([keys ?? NO_BYTES, LINE_FEED, about])
}

/** The same, taken apart: parts of it, not copies. */
export function apart(stored: Uint8Array): { readonly keys: Uint8Array; readonly about?: Uint8Array } {
  const end = stored.indexOf(LINE_FEED_BYTE)
  return end < 0 ? { keys: stored } : { keys: stored.subarray(0, end), about: stored.subarray(end + 1) }
}

const LINE_FEED_BYTE = 0x0a
const LINE_FEED = Uint8Array.of(LINE_FEED_BYTE)
const NO_BYTES = new Uint8Array(0)

/** One commit: a single write, or all that a transaction wrote to tables that ask for it. */
export interface CommitRecord {
  /** Its place among all records of the store: 1, 2, 3... It never means another commit, not even after a restart. */
  readonly number: number
  /** Its place in the serial order (§3.2). Of records that concern the same item it grows; of others it may not. */
  readonly timestamp: Timestamp
  /** Absent: a single write. */
  readonly tx?: TxId
  readonly changes: readonly LoggedChange[]
}

/** What one change takes in memory and in a file, about. */
export const changeBytes = ({ key, keys, about, old, new: next }: LoggedChange): number =>
  CHANGE_OVERHEAD_BYTES +
  key.length +
  (keys?.byteLength ?? 0) +
  (about?.byteLength ?? 0) +
  (old?.byteLength ?? 0) +
  (next?.byteLength ?? 0)

export const recordBytes = ({ changes }: Pick<CommitRecord, 'changes'>): number => {
  let bytes = RECORD_OVERHEAD_BYTES
  for (const change of changes) bytes += changeBytes(change)
  return bytes
}

const CHANGE_OVERHEAD_BYTES = 40
const RECORD_OVERHEAD_BYTES = 60
