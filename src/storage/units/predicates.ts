// Validates what queries and scans of a unit of work have read: for each item of the table that changed since, or may
// still change, the image at the snapshot is compared with the image at the commit timestamp.
import { comparisonsOf } from '../../expression/expression.js'
import type { KeyBytes, Timestamp, TxId } from '../../model/brand.js'
import {
  decidePredicate,
  type PastState,
  type Predicate,
  type PredicatePlace,
} from '../../rules/units/visibility.js'
import { loadItem, type LoadedItem, type TransactionState } from '../items/load-item.js'
import { entryKey } from '../items/index-entries.js'
import { boundsOf, itemKeyAt } from '../../line/spaces.js'
import type { PredicateVerdict } from '../contract/transactions.js'
import type { PredicateCheck } from '../contract/units.js'

export interface PredicateOutcome {
  readonly verdicts: readonly PredicateVerdict[]
  /** Items with pending writes that would matter. */
  readonly waitFor: readonly KeyBytes[]
}

/**
 * Work for the predicates of one commit, all of it in one turn; a unit is about 50 ns. Beyond it a predicate counts as changed,
 * which is always safe: the unit of work looks again, at a snapshot since which less has changed.
 */
const WORK_MAX = 4_000_000
/** To look at one changed item with one predicate. */
const LOOK_WORK = 40
/** To pass over one that has not changed since, and is kept for an older snapshot. */
const PASS_WORK = 4
const PARSED_BYTES = 4
/** A comparison counts once more for so many bytes of the item, as for the pages of a query. */
const COMPARED_BYTES = 32

export function decidePredicates(
  state: TransactionState,
  checks: readonly PredicateCheck[],
  place: Omit<PredicatePlace, 'since'>,
  workMax: number = WORK_MAX,
): PredicateOutcome {
  const waitFor: KeyBytes[] = []
  const looks = new Looks(state, workMax)
  const verdicts = checks.map((check) => decideCheck(looks, check, place, waitFor))
  return { verdicts, waitFor }
}

type Look = LoadedItem & { readonly past: readonly PastState[] }

/** Loads each item once for all predicates, and parses each of its images once. */
class Looks {
  readonly state: TransactionState
  readonly #workMax: number
  readonly #items = new Map<KeyBytes, Look>()
  #work = 0

  constructor(state: TransactionState, workMax: number) {
    this.state = state
    this.#workMax = workMax
  }

  at(address: KeyBytes): Look {
    const known = this.#items.get(address)
    if (known !== undefined) return known
    const past = this.state.snapshots.history.of(address).map(parsedOnce)
    const item = { ...loadItem(this.state, address, itemKeyAt(address)), past }
    this.#work += bytesOf(item) / PARSED_BYTES
    this.#items.set(address, item)
    return item
  }

  /** Whether there is too much work in passing over so many. */
  isTooManyPassed(): boolean {
    this.#work += PASS_WORK
    return this.#work > this.#workMax
  }

  /** Whether there is too much work in it to look at this item as well. */
  isTooMuch(item: Look, comparisons: number): boolean {
    this.#work += LOOK_WORK + comparisons * (1 + bytesOf(item) / COMPARED_BYTES)
    return this.#work > this.#workMax
  }
}

const parsedOnce = (past: PastState): PastState => {
  let parsed: { readonly item: ReturnType<PastState['item']> } | undefined
  const { since, until, by, record } = past
  const item = (): ReturnType<PastState['item']> => (parsed ??= { item: past.item() }).item
  return { since, until, record, item, ...(by !== undefined && { by }) }
}

const bytesOf = ({ state, past }: Look): number =>
  past.reduce((sum, { record }) => sum + (record?.itemBytes ?? 0), state.record?.itemBytes ?? 0)

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
  looks: Looks,
  check: PredicateCheck,
  place: Omit<PredicatePlace, 'since'>,
  waitFor: KeyBytes[],
): PredicateVerdict {
  if (!looks.state.snapshots.isOpen(check.since)) return { verdict: 'snapshot-too-old' }
  // A coordinator whose clock is behind that of the one that opened the snapshot.
  if (place.timestamp <= check.since) return { verdict: 'too-old', above: check.since }
  let worst: PredicateVerdict = { verdict: 'holds' }
  const comparisons = check.filter === undefined ? 0 : comparisonsOf(check.filter)
  for (const item of candidates(looks, check)) {
    if (looks.isTooMuch(item, comparisons)) return changedVerdict(check, item, undefined)
    const at = { ...place, since: check.since }
    const verdict = decidePredicate(item, predicateOn(check, item), at)
    if (verdict.verdict === 'changed') return changedVerdict(check, item, verdict.change.by)
    if (verdict.verdict === 'pending') waitFor.push(item.address)
    if (verdict.verdict === 'too-old' || (verdict.verdict === 'pending' && worst.verdict === 'holds'))
      worst = verdict
  }
  return worst
}

/** Items that have changed since, or on which something is pending; each once. Beyond the work, one that it ends at. */
function* candidates(looks: Looks, check: PredicateCheck): Iterable<Look> {
  const { table, index, range, since } = check
  const { snapshots, pendings } = looks.state
  const { from, to } =
    index === undefined ? boundsOf(table.space, range.from, range.to) : boundsOf(table.space)
  for (const [address, past] of snapshots.history.range(from, to, { reverse: false })) {
    if (looks.isTooManyPassed() || past.some((each) => each.until > since)) yield looks.at(address)
  }
  if (pendings.size === 0) return
  for (const address of pendings.items()) {
    const isWithin = address >= from && address < to
    if (isWithin && !snapshots.history.of(address).some((each) => each.until > since)) yield looks.at(address)
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
  by: TxId | undefined,
): PredicateVerdict {
  return { verdict: 'changed', item: { space: table.space, key }, ...(by !== undefined && { by }) }
}
