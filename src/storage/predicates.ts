// Validates what queries and scans of a unit of work have read: for each item of the table that changed since, or may
// still change, the image at the snapshot is compared with the image at the commit timestamp.
import type { KeyBytes, Timestamp } from '../model/brand.js'
import {
  decidePredicate,
  type ItemPredicateVerdict,
  type Predicate,
  type PredicatePlace,
} from '../rules/visibility.js'
import { loadItem, type LoadedItem, type TransactionState } from './contended.js'
import { entryKey } from './entries.js'
import { boundsOf, itemKeyAt } from './spaces.js'
import type { PredicateVerdict } from './transactions.js'
import { pendingIn } from './unit-ranges.js'
import type { PredicateCheck } from './units.js'

export interface PredicateOutcome {
  readonly verdicts: readonly PredicateVerdict[]
  /** Items with pending writes that would matter. */
  readonly waitFor: readonly KeyBytes[]
}

export function decidePredicates(
  state: TransactionState,
  checks: readonly PredicateCheck[],
  place: Omit<PredicatePlace, 'since'>,
): PredicateOutcome {
  const waitFor: KeyBytes[] = []
  const verdicts = checks.map((check) => decideCheck(state, check, place, waitFor))
  return { verdicts, waitFor }
}

/** Nobody writes to these tables at or below that timestamp any more. */
export function raiseFloors(
  { floors }: TransactionState,
  checks: readonly PredicateCheck[],
  timestamp: Timestamp,
): void {
  for (const { table } of checks) floors.raise(table.space, timestamp)
}

/** Neither of these changes with another timestamp, or when somebody else has decided. */
export const isFinal = ({ verdict }: PredicateVerdict): boolean =>
  verdict === 'changed' || verdict === 'snapshot-too-old'

function decideCheck(
  state: TransactionState,
  check: PredicateCheck,
  place: Omit<PredicatePlace, 'since'>,
  waitFor: KeyBytes[],
): PredicateVerdict {
  if (!state.snapshots.isOpen(check.since)) return { verdict: 'snapshot-too-old' }
  // A coordinator whose clock is behind that of the one that opened the snapshot.
  if (place.timestamp <= check.since) return { verdict: 'too-old', above: check.since }
  let worst: PredicateVerdict = { verdict: 'holds' }
  for (const item of candidates(state, check)) {
    const past = state.snapshots.history.of(item.address)
    const at = { ...place, since: check.since }
    const verdict = decidePredicate({ ...item, past }, predicateOn(check, item), at)
    if (verdict.verdict === 'changed') return changedVerdict(check, item, verdict)
    if (verdict.verdict === 'pending') waitFor.push(item.address)
    if (verdict.verdict === 'too-old' || (verdict.verdict === 'pending' && worst.verdict === 'holds'))
      worst = verdict
  }
  return worst
}

/** Items that have changed since, or on which something is pending; each once. */
function* candidates(state: TransactionState, check: PredicateCheck): Iterable<LoadedItem> {
  const { table, index, range, since } = check
  const { from, to } =
    index === undefined ? boundsOf(table.space, range.from, range.to) : boundsOf(table.space)
  for (const [address, past] of state.snapshots.history.range(from, to, { reverse: false })) {
    if (past.some((each) => each.until > since)) yield loadItem(state, address, itemKeyAt(address))
  }
  for (const item of pendingIn(state, table.space)) {
    const isWithin = item.address >= from && item.address < to
    if (isWithin && !state.snapshots.history.of(item.address).some((each) => each.until > since)) yield item
  }
}

function predicateOn({ index, range, filter }: PredicateCheck, { key }: LoadedItem): Predicate {
  return {
    // Of the table itself only items in the range are looked at.
    inRange: (image) => {
      const entry = index === undefined ? key.bytes : entryKey(index, image, key)
      return entry !== undefined && entry >= range.from && (range.to === undefined || entry < range.to)
    },
    ...(filter && { filter }),
  }
}

function changedVerdict(
  { table }: PredicateCheck,
  { key }: LoadedItem,
  { change: { by } }: ItemPredicateVerdict & { verdict: 'changed' },
): PredicateVerdict {
  return { verdict: 'changed', item: { space: table.space, key }, ...(by !== undefined && { by }) }
}
