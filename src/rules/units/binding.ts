// What the commit of a unit of work requires (docs/adr/0011-units-of-work.md): from what the unit has read, locked and
// intends to write, at its isolation level, to the actions of one transaction, what each of them expects of its item, and
// the predicates that are checked with it.
//
//   level              an item that is written              an item that was only read     predicates
//   read-uncommitted   nothing                              nothing                        not checked
//   read-committed     nothing                              nothing                        not checked
//   snapshot           unwritten since the snapshot (1)     nothing                        not checked
//   serializable       the version that was read, if any    the version that was read      checked
//
//   locked, any level  the version that was read, if any, and the lock is still held
//
//   (1) An item whose version is named must still have that version instead: one that was read behind the snapshot has
//       been written since. A check, and an update that only adds, requires nothing: two units that only add to the same
//       item do not concern each other.
//
// The wire, the port in this process and the simulator all come here, and decide nothing of this themselves. The rules of
// units are ours; those of the paper stand in the folder above, and judge what is required here by the second half of
// this file and by visibility.ts. May import: model, and the state of an item among transactions (contended-item.ts).
import type { Timestamp, TxId } from '../../model/brand.js'
import { type Isolation, validatesReads } from '../../model/isolation.js'
import {
  type Action,
  type Expectation,
  writes,
  type Change,
  type ContendedItem,
} from '../item/contended-item.js'

/** What was read of an item: when it was last written, or that there is none. */
export type VersionRead = Extract<Expectation, { readonly kind: 'version' }>

/** What is to be done with an item; as its expectation, what was read of it. Absent: it was not read. */
export interface UnitWrite extends Action {
  readonly expected?: VersionRead
}

/** A read: a check that expects what was read. */
export interface UnitRead extends Action {
  readonly expected: VersionRead
}

/** The unit that commits. */
export interface UnitLevel {
  readonly isolation: Isolation
  /** Its snapshot, if it has one. */
  readonly readTimestamp: Timestamp | undefined
}

/** All that a unit has done, once the tables and keys are known. */
export interface UnitWork<Predicate> {
  /** What it writes and checks, in its order; no item twice. */
  readonly writes: readonly UnitWrite[]
  /** What it has read and does not write; no item twice. */
  readonly reads: readonly UnitRead[]
  /** Checks of all items that it has locked. */
  readonly locks: readonly Action[]
  /** What it has queried and scanned. */
  readonly predicates: readonly Predicate[]
}

/** The transaction that commits it. */
export interface BoundUnit<Predicate> {
  /** First what the unit writes and checks, in its order; then what it has only read or locked. No item twice. */
  readonly actions: readonly Action[]
  readonly predicates: readonly Predicate[]
}

/**
 * The transaction that commits a unit of work.
 *
 * @example
 * const { actions } = bindUnit({ isolation: 'serializable', readTimestamp }, { writes, reads, locks, predicates })
 */
export function bindUnit<Predicate>(unit: UnitLevel, work: UnitWork<Predicate>): BoundUnit<Predicate> {
  const { writes, reads, locks, predicates } = work
  const validates = validatesReads(unit.isolation)
  const held = locks.length === 0 ? undefined : new Set(locks.map(nameOf))
  const actions: Action[] = []
  for (const write of writes) {
    const isLocked = held !== undefined && held.delete(nameOf(write))
    actions.push(requiring(write, expectedOf(unit, write, isLocked), isLocked))
  }
  for (const read of reads) {
    const isLocked = held !== undefined && held.delete(nameOf(read))
    if (validates || isLocked) actions.push(requiring(read, read.expected, isLocked))
  }
  // A lock of an item that was neither read nor written must still be held, too.
  if (held !== undefined)
    for (const lock of locks) if (held.delete(nameOf(lock))) actions.push(requiring(lock, undefined, true))
  return { actions, predicates: validates ? predicates : NONE }
}

const NONE: readonly never[] = []

/** What is required of an item that the unit writes, beside the condition of the write. */
function expectedOf(
  { isolation, readTimestamp }: UnitLevel,
  write: UnitWrite,
  isLocked: boolean,
): Expectation | undefined {
  const { expected: seen } = write
  // A lock that was lost may have been taken again by a copy of its request, behind a write that the unit has not seen.
  if (seen !== undefined && (isLocked || validatesReads(isolation))) return seen
  if (isolation !== 'snapshot' || readTimestamp === undefined || !meetsOthers(write)) return undefined
  // Without a version the item was absent, and may have come and gone since.
  if (seen?.written !== undefined) return seen
  return { kind: 'unwritten-since', timestamp: readTimestamp }
}

/** Whether it matters to the unit that another one writes the same item. */
const meetsOthers = ({ mutation, condition }: Action): boolean =>
  mutation.kind === 'update'
    ? condition !== undefined || mutation.update.tree.actions.some(({ type }) => type !== 'add')
    : mutation.kind !== 'check'

/** The same action with these requirements and no others. Members in one order: what the rules look at has few shapes. */
function requiring(action: Action, expected: Expectation | undefined, isLocked: boolean): Action {
  if (action.expected === expected && !isLocked) return action
  const { table, key, keyAttributes, mutation, condition } = action
  if (condition === undefined && expected !== undefined && !isLocked)
    return { table, key, keyAttributes, mutation, expected }
  return {
    table,
    key,
    keyAttributes,
    mutation,
    ...(condition !== undefined && { condition }),
    ...(expected !== undefined && { expected }),
    ...(isLocked && { locked: true as const }),
  }
}

/**
 * Gives each write what was read of its item, and leaves the other reads: for callers that know reads and writes by their
 * items only. Of an item that was read twice the last read counts.
 */
export function pairReads(
  writes: readonly Action[],
  reads: readonly UnitRead[],
): Pick<UnitWork<never>, 'writes' | 'reads'> {
  if (reads.length === 0) return { writes: writes as readonly UnitWrite[], reads }
  const left = new Map(reads.map((read) => [nameOf(read), read]))
  const paired = writes.map((write): UnitWrite => {
    const name = nameOf(write)
    const read = left.get(name)
    left.delete(name)
    return read === undefined ? (write as UnitWrite) : { ...write, expected: read.expected }
  })
  return { writes: paired, reads: [...left.values()] }
}

const nameOf = ({ table, key }: Action): string => `${table.space} ${key.bytes}`

// Whether it is met: what a unit of work requires of an item that it read or writes, and explicit locks. Not in the paper, whose transactions carry preconditions only (§2.3) and take no locks (§1). An expectation is an observation: it
// leaves a read mark as a condition does (point 8). Locks: point 17.
//
//   version V:          the committed image is the one that was read, written at V, or there still is none
//   unwritten-since T:  nobody has committed a write above T: first committer wins
//   locked:             the unit's explicit lock has not been taken away
//
// Whatever has been committed since is final, so a change is told at once, whatever the timestamp. What is pending below
// the timestamp may still become one.

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
