// What a unit of work requires of an item that it read or writes (docs/adr/0011-units-of-work.md), and explicit locks. Not in
// the paper, whose transactions carry preconditions only (§2.3) and take no locks (§1). An expectation is an observation: it
// leaves a read mark as a condition does (point 8). Locks: point 17.
//
//   version V:          the committed image is the one that was read, written at V, or there still is none
//   unwritten-since T:  nobody has committed a write above T: first committer wins
//   locked:             the unit's explicit lock has not been taken away
//
// Whatever has been committed since is final, so a change is told at once, whatever the timestamp. What is pending below
// the timestamp may still become one.
import type { Timestamp, TxId } from '../../model/brand.js'
import { writes, type Action, type Change, type ContendedItem } from '../item/contended-item.js'

export interface ChangedVerdict {
  readonly verdict: 'changed'
  /** Absent: not the item, but the unit's lock. */
  readonly change?: Change
}

/** Undefined if what is committed is as the unit expects, and it holds the lock that it must hold. */
export function changedAlready(
  item: ContendedItem,
  { expected, locked }: Action,
  unit: string | undefined,
): ChangedVerdict | undefined {
  if (locked === true && (unit === undefined || item.lockedBy !== unit)) return LOCK_LOST
  if (expected === undefined) return undefined
  switch (expected.kind) {
    case 'version':
      return item.version === expected.written ? undefined : changedAfter(item, expected.written)
    case 'unwritten-since':
      return isUnwritten(item, expected.timestamp) ? undefined : changedAfter(item, expected.timestamp)
  }
}

const LOCK_LOST: ChangedVerdict = { verdict: 'changed' }

function isUnwritten(item: ContendedItem, since: Timestamp): boolean {
  if (item.version !== undefined) return item.version <= since
  const change = item.changedSince?.(since) ?? 'unknown'
  // Of an absent item that nobody remembers only the last delete in its partition is known.
  return change === 'unchanged' || (change === 'unknown' && item.written <= since)
}

function changedAfter(item: ContendedItem, since: Timestamp | undefined): ChangedVerdict {
  const change = since === undefined ? undefined : item.changedSince?.(since)
  return {
    verdict: 'changed',
    change: typeof change === 'object' ? change : { at: item.version ?? item.written },
  }
}

/** What is pending below that timestamp and against the expectation: `changed` for sure, or if these are committed. */
export function changesPending(
  item: ContendedItem,
  { expected }: Action,
  timestamp: Timestamp,
): { readonly changed?: ChangedVerdict; readonly undecided: readonly TxId[] } {
  if (expected === undefined || item.pending.length === 0) return NONE_PENDING
  const since = Math.max(item.written, expectedSince(expected))
  const between = item.pending.filter(
    (each) => writes(each.action) && each.timestamp > since && each.timestamp < timestamp,
  )
  const decided = between.find((each) => each.decided)
  return {
    ...(decided && { changed: { verdict: 'changed', change: { at: decided.timestamp, by: decided.tx } } }),
    undecided: between.map((each) => each.tx),
  }
}

const NONE_PENDING = { undecided: [] } as const

/** The unit whose explicit lock keeps this action out. Who does not write passes. */
export function lockedOut(
  { lockedBy }: ContendedItem,
  action: Action,
  unit: string | undefined,
): string | undefined {
  return lockedBy === undefined || lockedBy === unit || !writes(action) ? undefined : lockedBy
}

/** A unit that wants nobody to have written since its snapshot stands after that itself. */
export const expectedAbove = ({ expected }: Action): Timestamp =>
  expected === undefined ? NEVER : expectedSince(expected)

const expectedSince = (expected: NonNullable<Action['expected']>): Timestamp =>
  expected.kind === 'unwritten-since' ? expected.timestamp : NEVER

const NEVER = 0 as Timestamp
