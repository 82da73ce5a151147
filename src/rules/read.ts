// Reads of transactions on one item (§3.4 and §4 rule 6). A single read outside of transactions asks no rule: it is answered
// with what is committed (§4 rule 1), and leaves no mark.
import type { Timestamp, TxId } from '../model/brand.js'
import { pendingAbove, writes, type ContendedItem, type Pending } from './item/contended-item.js'

export type ReadAtVerdict =
  /** The committed image is what a reader at that timestamp sees, now and for good once the mark is left. */
  | { readonly verdict: 'value' }
  | { readonly verdict: 'too-old'; readonly above: Timestamp }
  /** Whether this transaction's write is to be seen is not decided. */
  | { readonly verdict: 'pending'; readonly tx: TxId; readonly at: Timestamp }

/**
 * GetItemWithTimestamp of §4 rule 6. The caller leaves `timestamp` as a read mark, so that no write comes below it afterwards.
 * Where the paper rejects a read below a prepared write, this says which transaction it is: the caller may wait for it.
 */
export function decideReadAt(item: ContendedItem, timestamp: Timestamp): ReadAtVerdict {
  if (timestamp <= item.written) return { verdict: 'too-old', above: item.written }
  const pending = pendingWrites(item).find((each) => each.timestamp <= timestamp)
  return pending === undefined ? VALUE : { verdict: 'pending', tx: pending.tx, at: pending.timestamp }
}

const VALUE = { verdict: 'value' } as const

/**
 * The first phase of §3.4, and the second: rejected while a write is prepared. In the paper neither leaves a trace; here the
 * second leaves a read mark, without which §4 rule 4 admits a cycle (point 8).
 */
export function decideReadLatest(
  item: ContendedItem,
): { readonly verdict: 'value' } | { readonly verdict: 'pending'; readonly tx: TxId } {
  const [pending] = pendingWrites(item)
  return pending === undefined ? VALUE : { verdict: 'pending', tx: pending.tx }
}

/**
 * A timestamp at which all these items can be read as they are, above all their writes and below all that is pending;
 * `now` if nothing is. Undefined if there is none. §4 rule 6 on one node, which can see all its items at once.
 */
export function commonReadTimestamp(items: readonly ContendedItem[], now: Timestamp): Timestamp | undefined {
  let lowest = 0
  let below = Infinity
  for (const item of items) {
    lowest = Math.max(lowest, item.written + 1)
    for (const { timestamp } of pendingWrites(item)) below = Math.min(below, timestamp)
  }
  const timestamp = Math.max(lowest, Math.min(now, below - 1))
  return timestamp < below ? (timestamp as Timestamp) : undefined
}

/** Writes that may still show. */
const pendingWrites = (item: ContendedItem): readonly Pending[] =>
  item.pending.length === 0
    ? item.pending
    : pendingAbove(item, item.written).filter((each) => writes(each.action))
