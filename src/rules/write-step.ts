// One step of writes outside the two phases, on items that may have transactions pending: a single write (§4 rules 2 and
// 3), or all the writes of a transaction whose items are on one node (§4 rule 7).
//
//   nothing pending:   after everything so far; what is pending below the last write was overwritten by it, and is nothing
//   before:            ahead of all pending transactions, if they would all be accepted on the result too (§4 rule 2)
//   behind, at once:   later than all pending transactions, if nothing of what it does depends on them: blind (§4 rule 3)
//   behind, queued:    once they are decided (§4 rule 3)
//
// The paper lets a write go before unless it violates a checked condition. An update, a size or an index key of what is
// pending may be violated as well, and the timestamp between may be taken or read (point 11). It lets a put or delete without
// precondition go behind at once; one whose caller is told the old image has observed (point 10).
//
// All writes of the step share one timestamp.
import type { Timestamp, TxId } from '../model/brand.js'
import { changedAlready, expectedAbove, lockedOut, type ChangedVerdict } from './units/binding.js'
import type { WriteRequest } from './item/item.js'
import {
  looksAtImage,
  observes,
  pendingAbove,
  writes,
  type Action,
  type ContendedItem,
} from './item/contended-item.js'
import { idsOf } from './prepare.js'
import {
  decideWrite,
  type NextImage,
  pendingStillHolds,
  actionResult,
  type ActionResult,
  resultOfWrite,
  type WriteVerdict,
} from './item/single-write.js'
import type { TransactionRules } from './item/section-4.js'

export interface WriteStepAction {
  readonly item: ContendedItem
  readonly action: Action
  /** What `decideWrite` says of it on the image of the item, where it was asked of this very image before. */
  readonly known?: WriteVerdict
}

export type WriteStepVerdict =
  | {
      readonly verdict: 'done'
      readonly timestamp: Timestamp
      readonly next: readonly (NextImage | undefined)[]
    }
  | { readonly verdict: 'refused'; readonly results: readonly StepResult[] }
  | {
      readonly verdict: 'wait' | 'conflict'
      readonly others: readonly (readonly TxId[])[]
      /** Units whose explicit locks are in the way. */
      readonly holders: readonly (string | undefined)[]
    }

export type StepResult =
  | { readonly verdict: 'fine' }
  | { readonly verdict: 'condition-failed' }
  | { readonly verdict: 'invalid'; readonly message: string }
  | ChangedVerdict

/** Who takes the step, and where it may stand. */
export interface WriteStepPlace {
  /** The unit of work that this is the commit of. */
  readonly unit?: string | undefined
  /** It has to stand behind everything the node has seen: it has read ranges, which pending writes may change. */
  readonly last?: boolean
}

export type SingleWriteVerdict =
  /** `next` absent: there is no item afterwards. */
  | { readonly verdict: 'done'; readonly timestamp: Timestamp; readonly next?: NextImage | undefined }
  | { readonly verdict: 'condition-failed' }
  | { readonly verdict: 'invalid'; readonly message: string }
  | {
      readonly verdict: 'wait' | 'conflict'
      readonly others: readonly TxId[]
      /** The unit whose explicit lock is in the way. */
      readonly holder: string | undefined
    }

/**
 * A single write (§2.2, §4 rules 2 and 3). `now` is above every timestamp that the node has seen: where nothing is pending and
 * no lock held, the write stands there, behind everything so far, and nothing but the image matters to it.
 */
export function decideSingleWrite(
  item: ContendedItem,
  request: WriteRequest,
  now: Timestamp,
  rules: TransactionRules,
): SingleWriteVerdict {
  if (item.pending.length === 0 && item.lockedBy === undefined) {
    const verdict = decideWrite(item, request)
    return verdict.verdict === 'done' ? { verdict: 'done', timestamp: now, next: verdict.next } : verdict
  }
  const verdict = decideWriteStep([{ item, action: request }], now, rules)
  switch (verdict.verdict) {
    case 'done':
      return { verdict: 'done', timestamp: verdict.timestamp, next: verdict.next[0] }
    case 'refused': {
      const [result] = verdict.results
      if (result?.verdict === 'condition-failed' || result?.verdict === 'invalid') return result
      throw new Error(`a single write expects nothing, and was refused: ${result?.verdict}`)
    }
    case 'wait':
    case 'conflict':
      return { verdict: verdict.verdict, others: verdict.others[0] ?? [], holder: verdict.holders[0] }
  }
}

/** Timestamps left free below the first pending one for others that may want to go before it too (§4 rule 2). */
const SPARE_MICROS = 64

/** §4 rules 2, 3 and 7. */
export function decideWriteStep(
  steps: readonly WriteStepAction[],
  now: Timestamp,
  rules: TransactionRules,
  { unit, last }: WriteStepPlace = {},
): WriteStepVerdict {
  const contended = steps.some(({ item }) => isContended(item))
  if (steps.some(({ item, action }) => lockedOut(item, action, unit) !== undefined))
    return keptOut(steps, rules, unit)
  if (contended && rules.writesBehindPrepared && steps.every(isFree)) {
    return done(steps, highestOf(steps, now), unit)
  }
  if (contended && !rules.writesBeforePrepared) return blocked(steps, rules)
  const results = steps.map((step) => resultOfStep(step, unit))
  if (results.some((result) => result.verdict !== 'fine'))
    return { verdict: 'refused', results: results.map(plain) }
  const timestamp = contended ? timestampBefore(steps, last === true ? now : 0) : highestOf(steps, now)
  const holds = steps.every(({ item, action }, at) => {
    const result = results[at]
    // A check leaves the item as it is, and what is pending was accepted on that.
    if (!writes(action)) return true
    if (isExpected(item)) return false
    return !isContended(item) || (result?.verdict === 'fine' && pendingStillHolds(item, result.image()))
  })
  if (timestamp === undefined || !holds) return blocked(steps, rules)
  return {
    verdict: 'done',
    timestamp,
    next: results.map((result) => ('next' in result ? result.next : undefined)),
  }
}

/** By explicit locks of others; whose own lock was taken away need not wait for them. */
function keptOut(
  steps: readonly WriteStepAction[],
  rules: TransactionRules,
  unit: string | undefined,
): WriteStepVerdict {
  const changed = steps.map(({ item, action }) => changedAlready(item, action, unit))
  if (changed.some((each) => each !== undefined))
    return { verdict: 'refused', results: changed.map((each) => each ?? { verdict: 'fine' }) }
  const holders = steps.map(({ item, action }) => lockedOut(item, action, unit))
  return blocked(steps, rules, holders)
}

/** The item is parsed only if the action looks at it: those are the bytes that a step is known to cost (work-ahead.ts). */
const resultOfStep = (
  { item, action, known }: WriteStepAction,
  unit: string | undefined,
): ActionResult | ChangedVerdict =>
  changedAlready(item, action, unit) ??
  (known === undefined
    ? actionResult(action, looksAtImage(action) ? item.item() : undefined)
    : resultOfWrite(known))

const isContended = (item: ContendedItem): boolean => pendingAbove(item, item.written).length > 0

/** Someone pending expects the item as it is, and would find it written (units of work; not in the paper). */
const isExpected = (item: ContendedItem): boolean =>
  pendingAbove(item, item.written).some(({ action }) => action.expected !== undefined)

/**
 * Nothing of it depends on what is pending: it may be stamped later than all of that, and done now (§4 rule 3, point 10).
 * Not where the images between would show to snapshots.
 */
function isFree({ item, action }: WriteStepAction): boolean {
  const mayOvertake = item.ordered !== true
  return !isContended(item) || (mayOvertake && writes(action) && !observes(action))
}

function done(
  steps: readonly WriteStepAction[],
  timestamp: Timestamp,
  unit: string | undefined,
): WriteStepVerdict {
  const results = steps.map((step) => resultOfStep(step, unit))
  if (results.some((result) => result.verdict !== 'fine'))
    return { verdict: 'refused', results: results.map(plain) }
  return {
    verdict: 'done',
    timestamp,
    next: results.map((result) => ('next' in result ? result.next : undefined)),
  }
}

const plain = (result: ActionResult | ChangedVerdict): StepResult =>
  result.verdict === 'fine' ? { verdict: 'fine' } : result

function highestOf(steps: readonly WriteStepAction[], now: Timestamp): Timestamp {
  let highest: number = now
  for (const { item, action } of steps) {
    const pending = item.pending.at(-1)?.timestamp ?? 0
    highest = Math.max(highest, lowestOf(item, action), pending + 1)
  }
  return highest as Timestamp
}

/** The lowest timestamp that this action may have on what is committed: above the write and the read timestamp (§4 rule 6). */
const lowestOf = (item: ContendedItem, action: Action): number =>
  1 + Math.max(item.written, writes(action) ? item.read : 0, expectedAbove(action))

/** A free timestamp below everything pending on these items and above what is committed (§4 rule 2, point 11). */
function timestampBefore(steps: readonly WriteStepAction[], notBelow: number): Timestamp | undefined {
  let lowest = notBelow
  let first = Infinity
  for (const { item, action } of steps) {
    lowest = Math.max(lowest, lowestOf(item, action))
    for (const { timestamp } of pendingAbove(item, item.written)) first = Math.min(first, timestamp)
  }
  const timestamp = Math.max(lowest, first - SPARE_MICROS)
  return timestamp < first ? (timestamp as Timestamp) : undefined
}

const blocked = (
  steps: readonly WriteStepAction[],
  rules: TransactionRules,
  holders: readonly (string | undefined)[] = [],
): WriteStepVerdict => ({
  verdict: rules.writesBehindPrepared ? 'wait' : 'conflict',
  others: steps.map(({ item }) => idsOf(pendingAbove(item, item.written))),
  holders,
})
