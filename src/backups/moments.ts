// What belongs to a moment. A moment is a timestamp T: every commit at or below it, and none above (point 33). Pure.
//
//   base at T0 <= T:   items found after T0 --undo of commits above T0--> as of T0 --redo of commits in (T0, T]--> as of T
//
// A record of the log is one commit, and is taken as a whole: no moment lies inside of a transaction.
import type { CommitRecord } from '../commit-log/commit-record.js'
import type { Timestamp } from '../model/brand.js'
import type { BackupEntry } from './backup-frame.js'

export interface MomentRules {
  /** Takes back what the pages of a backup as of that moment may have seen of a commit, and must not have: none if they may. */
  undone(record: CommitRecord, at: Timestamp): readonly BackupEntry[]
  /** What a commit does on the way from a backup as of one moment to a later moment. */
  redone(record: CommitRecord, base: Timestamp, to: Timestamp): readonly BackupEntry[]
  /** Of the bases of a table the one to begin with: the newest that is not newer than the moment. */
  baseFor<Base extends { readonly at: Timestamp }>(bases: readonly Base[], to: Timestamp): Base | undefined
}

export const momentRules: MomentRules = {
  undone: ({ timestamp, changes }, at) =>
    timestamp <= at
      ? []
      : changes.map(({ event, old, keys, new: next }) =>
          event === 'insert'
            ? { kind: 'remove', text: textIn(keys ?? next) }
            : { kind: 'put', text: textIn(old) },
        ),
  redone: ({ timestamp, changes }, base, to) =>
    timestamp <= base || timestamp > to
      ? []
      : changes.map(({ event, old, keys, new: next }) =>
          event === 'remove'
            ? { kind: 'remove', text: textIn(keys ?? old) }
            : { kind: 'put', text: textIn(next) },
        ),
  baseFor: (bases, to) => {
    let newest: (typeof bases)[number] | undefined
    for (const base of bases)
      if (base.at <= to && (newest === undefined || base.at > newest.at)) newest = base
    return newest
  },
}

function textIn(text: Uint8Array | undefined): Uint8Array {
  if (text === undefined)
    throw new Error('a change in the log of commits lacks the image that a backup needs')
  return text
}

/** Of the bases of a table those that are needed for moments from `earliest` on: one that is not later, and all that follow. */
export function neededBases<Base extends { readonly at: Timestamp }>(
  bases: readonly Base[],
  earliest: number,
): readonly Base[] {
  const first = momentRules.baseFor(bases, earliest as Timestamp)
  return first === undefined ? bases : bases.filter(({ at }) => at >= first.at)
}
