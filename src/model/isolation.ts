// The isolation levels of units of work (docs/explanation/isolation.md), from the weakest on, and what follows from a level alone.
// What a commit requires of single items is rules/units/binding.ts.

export const isolationLevels = ['read-uncommitted', 'read-committed', 'snapshot', 'serializable'] as const

export type Isolation = (typeof isolationLevels)[number]

/** All reads of an attempt come from one snapshot: repeated reads of an item give the same image. */
export const readsAtOneSnapshot = (isolation: Isolation): boolean =>
  isolation === 'snapshot' || isolation === 'serializable'

/** All that was read, items and ranges, must still be so at the commit. */
export const validatesReads = (isolation: Isolation): boolean => isolation === 'serializable'

/**
 * Whether the commit of a unit says what the unit has read: without locks and below serializable the commit would not look
 * at it. What was read under a lock is validated at every level, because the lock may have been lost, and taken again
 * unnoticed.
 */
export const namesReads = (isolation: Isolation, locks: readonly unknown[]): boolean =>
  validatesReads(isolation) || locks.length > 0
