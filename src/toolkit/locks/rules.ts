// What a waiter does next, decided from the rows it has read: pure, the same against a store, Amazon's and a simulated
// endpoint.
//
//   query --> gone, late ------------> draw again, keeping the old row until the new one is written
//         --> behind a living row ---> wait
//         --> behind dead rows only -> remove them in order, look again
//         --> first -----------------> enter, if the lock row is known from an earlier request; else look again
//         --> inside already --------> an entry whose answer was lost had its effect
//
// docs/adr/0012-locks.md says why nobody is let in beside another by this, and why everybody is let in at last.
import type { LockState, QueueRow, QueueView } from './rows.js'

/** For the holder a lease ends this part of it early; for others, as much later. Clocks may run wrong by that. */
export const LEASE_MARGIN = 0.05

export const holderLeaseMs = (leaseMs: number): number => leaseMs * (1 - LEASE_MARGIN)
export const observerLeaseMs = (leaseMs: number): number => leaseMs * (1 + LEASE_MARGIN)

export interface LockWaiter {
  readonly ticket: bigint
  readonly owner: string
  readonly shared: boolean
  /** With how many others at most, counting itself, it may be inside; 1 is alone. */
  readonly limit: number
}

export type NextStep =
  | { readonly step: 'inside' }
  | { readonly step: 'draw-again'; readonly why: 'gone' | 'late' }
  | { readonly step: 'remove'; readonly rows: readonly QueueRow[] }
  | { readonly step: 'look-again' }
  | {
      readonly step: 'enter'
      readonly known: LockState
      /** Where several may be inside: who is, from then on. */
      readonly inside?: readonly bigint[]
    }
  | {
      readonly step: 'wait'
      /** How many of the living are before me; 1 is next. */
      readonly position: number
      /** The living row directly before me: when it is gone, it may be my turn. */
      readonly behind: QueueRow
    }

export interface Situation {
  readonly me: LockWaiter
  /** The queue up to my own row. */
  readonly view: QueueView
  /** The lock row as a request showed it that was answered before the query for `view` was sent. */
  readonly known: LockState | undefined
  readonly isDead: (row: QueueRow) => boolean
}

export function nextStep({ me, view, known, isDead }: Situation): NextStep {
  if (!view.rows.some((row) => row.ticket === me.ticket && row.owner === me.owner))
    return { step: 'draw-again', why: 'gone' }
  if (isInside(me, view.lock)) return { step: 'inside' }
  if (isLate(me, view.lock)) return { step: 'draw-again', why: 'late' }
  const before = view.rows.filter((row) => row.ticket < me.ticket && excludes(row, me))
  const living = before.filter((row) => !isDead(row))
  const behind = living.at(-1)
  const room = roomBeside(me, living)
  if (behind !== undefined && (living.length >= room || !haveEntered(living, view.lock)))
    return { step: 'wait', position: Math.max(1, living.length - room + 1), behind }
  if (before.length > living.length) return { step: 'remove', rows: before.filter(isDead) }
  // What the same query says of the lock row may have been read after the queue was: it would prove nothing.
  if (known === undefined || !sameForEntry(me, known, view.lock)) return { step: 'look-again' }
  return {
    step: 'enter',
    known: { ...known, granted: view.lock.granted },
    ...(me.limit > 1 && { inside: insideWith(me, known, view.rows) }),
  }
}

/** Two shared ones may be inside at once. */
export const excludes = (one: { readonly shared: boolean }, other: { readonly shared: boolean }): boolean =>
  !one.shared || !other.shared

/**
 * How many may be inside together with these, itself included. The smallest limit counts: a holder that was promised to be
 * alone stays alone, whatever limit others ask with. A shared one never stands beside one that is not.
 */
export function roomBeside(
  me: { readonly shared: boolean; readonly limit: number },
  others: readonly { readonly shared: boolean; readonly limit: number }[],
): number {
  return Math.min(me.limit, ...others.map(({ shared, limit }) => (shared ? 1 : limit)))
}

/**
 * Whether all of these have entered. Where several may be inside, those who have room enter in the order of their tickets:
 * a later entry would make the earlier one late. One that is late already still has its turn, under its next ticket.
 */
function haveEntered(rows: readonly QueueRow[], lock: LockState): boolean {
  return rows.every(({ ticket }) => lock.inside.includes(ticket))
}

/** What the lock row says of those inside beside each other once one more has entered: those that are still there, and me. */
function insideWith(me: LockWaiter, known: LockState, rows: readonly QueueRow[]): readonly bigint[] {
  return [...known.inside.filter((ticket) => rows.some((row) => row.ticket === ticket)), me.ticket]
}

/** A later one has entered that may not stand beside me. */
export function isLate(me: LockWaiter, lock: LockState): boolean {
  return me.shared ? lock.exclusive > me.ticket : lock.granted > me.ticket
}

/** Tickets are unique: what the lock row says of mine, I did. */
function isInside(me: LockWaiter, lock: LockState): boolean {
  return !me.shared && (lock.exclusive === me.ticket || lock.inside.includes(me.ticket))
}

/** Whether an entry that compares with `known` can succeed, as far as the newer state tells. */
function sameForEntry(me: LockWaiter, known: LockState, newer: LockState): boolean {
  return me.shared ? known.exclusive === newer.exclusive : known.entries === newer.entries
}

/** Who is inside, as far as rows tell: a shared row that may have entered counts as inside. */
export function holders({ lock, rows }: QueueView): readonly QueueRow[] {
  return rows.filter((row) =>
    row.shared
      ? row.ticket <= lock.granted && row.ticket > lock.exclusive
      : row.ticket === lock.exclusive || lock.inside.includes(row.ticket),
  )
}
