// What a reader at a timestamp sees of one item: snapshots and predicates of units of work (docs/adr/0011-units-of-work.md).
// Not in the paper, whose store keeps one version of an item (§1) and whose transactions read no ranges. Points 15 and 16.
//
//   past:  [V0 ...... W1) [V1 ...... W2)    current: [V2 ......
//             \-- an image, or none, from the write that left it until the one that overwrote it
//
// An image is left out of the past if no snapshot was open while it was current; of what an open snapshot sees, nothing
// is ever missing.
import { evaluateCondition } from '../../expression/expression.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import type { Timestamp, TxId } from '../../model/brand.js'
import type { Item } from '../../model/value.js'
import type { ItemState } from '../item/item.js'
import { writes, type Change, type ContendedItem, type Image, type Pending } from '../item/contended-item.js'
import { imagesBefore, actionResult, type NextImage } from '../item/single-write.js'

/** The state of an item from `since`, exclusive of `until`. Of an absent item `since` may be lower than it was so. */
export interface PastState extends ItemState {
  readonly since: Timestamp
  readonly until: Timestamp
  /** The transaction that ended it, if it was one. */
  readonly by?: TxId
}

export type SnapshotVerdict =
  { readonly verdict: 'value' } | { readonly verdict: 'pending'; readonly tx: TxId }

/** Whether what is committed, now or in the past, is what a reader at that timestamp sees for good. */
export function decideReadSnapshot(item: ContendedItem, timestamp: Timestamp): SnapshotVerdict {
  const pending = item.pending.find(
    (each) => writes(each.action) && each.timestamp <= timestamp && each.timestamp > item.written,
  )
  return pending === undefined ? VALUE : { verdict: 'pending', tx: pending.tx }
}

const VALUE = { verdict: 'value' } as const

/** The state at the timestamp of an open snapshot. `past` in the order of time. */
export function stateAt(past: readonly PastState[], current: ItemState, timestamp: Timestamp): ItemState {
  for (const each of past) if (each.until > timestamp) return each
  return current
}

/** Whether this was the state then. */
export const wasAt = ({ since, until }: PastState, timestamp: Timestamp): boolean =>
  since <= timestamp && timestamp < until

/** What the item would be if all that is pending were committed. Undefined if nothing is pending. */
export function ifCommitted(
  item: ContendedItem,
): { readonly timestamp: Timestamp; readonly next: NextImage | undefined } | undefined {
  let image: Image = item.item()
  let last: { readonly timestamp: Timestamp; readonly next: NextImage | undefined } | undefined
  for (const { timestamp, action } of item.pending) {
    if (timestamp <= item.written || !writes(action)) continue
    const result = actionResult(action, image)
    if (result.verdict !== 'fine') continue
    image = result.image()
    last = { timestamp, next: result.next }
  }
  return last
}

/** What somebody read: where images stand that match, and a filter on them. */
export interface Predicate {
  readonly inRange: (image: Item) => boolean
  readonly filter?: BoundCondition
}

/** Between the snapshot that was read and the commit of a transaction. */
export interface PredicatePlace {
  readonly since: Timestamp
  readonly timestamp: Timestamp
  /** Its own writes do not count. Absent for a step, whose timestamp nobody else has. */
  readonly tx?: TxId
}

export type ItemPredicateVerdict =
  | { readonly verdict: 'holds' }
  | { readonly verdict: 'changed'; readonly change: Change }
  | { readonly verdict: 'pending'; readonly tx: TxId }
  | { readonly verdict: 'too-old'; readonly above: Timestamp }

/**
 * Whether a reader of that predicate at `timestamp` would see of this item what it saw at the snapshot `since`: it would
 * not if the images differ and one of them matches. Pending writes count with both outcomes.
 */
export function decidePredicate(
  item: ContendedItem & { readonly state: ItemState; readonly past: readonly PastState[] },
  predicate: Predicate,
  { since, timestamp, tx }: PredicatePlace,
): ItemPredicateVerdict {
  // Which of two at one timestamp comes first is not for this item alone to say.
  if (isTied(item, timestamp, tx)) return { verdict: 'too-old', above: timestamp }
  const first = item.past.find((each) => each.until > since)
  // Whoever has read the range has waited for what was pending then; of others more than one image may be possible.
  const before = first === undefined ? imagesBefore(item, (since + 1) as Timestamp) : [first.item()]
  const after = imagesAt(item, timestamp)
  // Between two writes that no snapshot saw apart it is not known what it was.
  if (after === 'unknown') return { verdict: 'too-old', above: item.written }
  const pending = item.pending.filter(
    (each) => writes(each.action) && each.timestamp > item.written && each.timestamp < timestamp,
  )
  const undecided = pending.find((each) => !each.decided)
  if (before === undefined || after === 'too-many')
    return { verdict: 'pending', tx: (undecided as Pending).tx }
  const seen = before.flatMap((old) => {
    const matched = matches(predicate, old)
    return after.map((image) => (matched || matches(predicate, image)) && !isSame(old, image))
  })
  if (!seen.includes(true)) return HOLDS
  if (seen.includes(false) && undecided !== undefined) return { verdict: 'pending', tx: undecided.tx }
  if (first !== undefined) return { verdict: 'changed', change: changeOf(first) }
  const [{ timestamp: at, tx: by }] = pending as [Pending]
  return { verdict: 'changed', change: { at, by } }
}

const HOLDS = { verdict: 'holds' } as const

const isTied = (
  { written, past, pending }: ContendedItem & { readonly past: readonly PastState[] },
  timestamp: Timestamp,
  tx: TxId | undefined,
): boolean =>
  written === timestamp ||
  past.some(({ until }) => until === timestamp) ||
  pending.some((each) => each.timestamp === timestamp && each.tx !== tx && writes(each.action))

const changeOf = ({ until, by }: PastState): Change => ({ at: until, ...(by !== undefined && { by }) })

/** All images that it may have just before that timestamp. */
function imagesAt(
  item: ContendedItem & { readonly past: readonly PastState[] },
  timestamp: Timestamp,
): readonly Image[] | 'unknown' | 'too-many' {
  const next = item.past.find((each) => each.until >= timestamp)
  if (next !== undefined) return next.since < timestamp ? [next.item()] : 'unknown'
  if (item.written >= timestamp && item.past.length > 0) return 'unknown'
  return imagesBefore(item, timestamp) ?? 'too-many'
}

const matches = ({ inRange, filter }: Predicate, image: Image): boolean =>
  image !== undefined && inRange(image) && (filter === undefined || evaluateCondition(filter, image))

/** By content: who writes again what is there changes nothing for others. */
const isSame = (one: Image, other: Image): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)
