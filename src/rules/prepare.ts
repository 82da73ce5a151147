// Whether a storage node accepts an action of a transaction (§3.3, Listing 3, and §4 rules 4 and 5).
//
// An action at timestamp T is accepted if it can take its place in the serial order for good:
//   - the item was not observed above T (§4 rule 6), and (unless both are blind, §4 rule 4) not written above T (§3.3)
//   - nobody pending above T has observed the item without it (§4 rule 5; the paper leaves this out: point 8)
//   - what it observes itself is the same whatever becomes of the transactions pending below T (likewise: point 11)
//   - its conditions hold and what it leaves may be stored (§3.3: preconditions and system restrictions; point 6)
//
// Departures from Listing 3: preparing the same transaction once more succeeds, because two coordinators may be
// finishing it (§3.5, point 1); and a timestamp that cannot be used is told apart from a conflict, so that it can be renewed
// (point 7).
import type { Timestamp, TxId } from '../model/brand.js'
import {
  changedAlready,
  changesPending,
  expectedAbove,
  lockedOut,
  type ChangedVerdict,
} from './units/binding.js'
import {
  looksAtImage,
  observes,
  pendingAbove,
  writes,
  type Action,
  type ContendedItem,
  type Pending,
} from './item/contended-item.js'
import type { TransactionRules } from './item/section-4.js'
import { imagesBefore, actionResult, actionResultOnAll } from './item/single-write.js'

export type PrepareVerdict =
  | { readonly verdict: 'accepted'; readonly pending: readonly Pending[] }
  | { readonly verdict: 'condition-failed' }
  | { readonly verdict: 'invalid'; readonly message: string }
  /** A timestamp above this one might do. */
  | { readonly verdict: 'too-old'; readonly above: Timestamp }
  /** Which transactions stand in the way for good. */
  | { readonly verdict: 'conflict'; readonly others: readonly TxId[] }
  /** Once these are decided, or the unit with that id has given up its lock, it can be said. */
  | { readonly verdict: 'wait'; readonly others: readonly TxId[]; readonly holder?: string }
  | ChangedVerdict

/** `processPrepare` of Listing 3. */
export function decidePrepare(
  item: ContendedItem,
  action: Action,
  { tx, timestamp, unit }: { readonly tx: TxId; readonly timestamp: Timestamp; readonly unit?: string },
  rules: TransactionRules,
): PrepareVerdict {
  if (item.pending.some((pending) => pending.tx === tx)) return { verdict: 'accepted', pending: item.pending }
  if (!rules.severalPrepared && item.pending.length > 0)
    return { verdict: 'conflict', others: idsOf(item.pending) }
  const changed = changedAlready(item, action, unit)
  if (changed !== undefined) return changed
  const above = refusedBelow(item, action, timestamp, rules)
  if (above !== undefined) return { verdict: 'too-old', above }
  const holder = lockedOut(item, action, unit)
  if (holder !== undefined) return { verdict: 'wait', others: [], holder }
  const changes = changesPending(item, action, timestamp)
  if (changes.changed !== undefined) return changes.changed
  if (changes.undecided.length > 0) return { verdict: 'wait', others: changes.undecided }
  const result = outcomeOf(item, action, timestamp)
  if (result.verdict === 'unsure') {
    return { verdict: 'wait', others: idsOf(undecidedBefore(item, timestamp)) }
  }
  if (result.verdict !== 'fine') return result
  const mine: Pending = { tx, timestamp, action, decided: false, ...(unit !== undefined && { unit }) }
  if (item.pending.length === 0) return { verdict: 'accepted', pending: [mine] }
  const pending = [...item.pending, mine].toSorted((a, b) => a.timestamp - b.timestamp)
  return { verdict: 'accepted', pending }
}

/** The timestamp that stands against this one, if one does (§3.3's third criterion, as §4 relaxes it; point 8). */
function refusedBelow(
  item: ContendedItem,
  action: Action,
  timestamp: Timestamp,
  rules: TransactionRules,
): Timestamp | undefined {
  if (writes(action) && timestamp <= item.read) return item.read
  if (timestamp <= expectedAbove(action)) return expectedAbove(action)
  if (timestamp <= item.written) {
    // Two blind writes may come in either order: the lower one has no effect (§4 rule 4). The paper asks only that the later
    // one is no modify; a put that has observed is as much in the way.
    const obsolete =
      rules.oldTimestamps && item.writtenBlindly && !observes(action) && timestamp !== item.written
    // A snapshot would see the image between the two (not in the paper).
    if (!obsolete || item.ordered === true) return item.written
  }
  for (const pending of item.pending) {
    if (pending.timestamp === timestamp) return pending.timestamp
    // Someone above has looked at the item without this write (point 8). Behind a blind write it would not have seen it
    // anyway.
    const hidden = timestamp < item.written && pending.timestamp > item.written
    if (pending.timestamp > timestamp && writes(action) && observes(pending.action) && !hidden)
      return highest(item)
  }
  return undefined
}

const highest = (item: ContendedItem): Timestamp => (item.pending.at(-1) as Pending).timestamp

/** On every image that it may meet, since what is pending before it may be committed or cancelled (§4 rule 5, point 11). */
function outcomeOf(item: ContendedItem, action: Action, timestamp: Timestamp) {
  // The same on every image: only the size and the keys of what it writes matter.
  if (!looksAtImage(action)) return actionResult(action, undefined)
  const images = imagesBefore(item, timestamp)
  return images === undefined ? ({ verdict: 'unsure' } as const) : actionResultOnAll(action, images)
}

const undecidedBefore = (item: ContendedItem, timestamp: Timestamp): readonly Pending[] =>
  pendingAbove(item, item.written).filter(
    (pending) => pending.timestamp < timestamp && !pending.decided && writes(pending.action),
  )

export const idsOf = (pending: readonly Pending[]): readonly TxId[] => pending.map((each) => each.tx)
