// Where a reader begins.
import type { CommitLogReader } from '../commit-log/commit-log.js'
import { type ChangePosition, positionIn } from '../commit-log/sequence-number.js'
import { ChangesTrimmed } from './errors.js'
import type { FollowedStream } from './stream.js'

export interface ReadStart {
  /** Number of the first record to read. */
  readonly from: number
  /** What was read already of that record. */
  readonly after?: ChangePosition
  /** Whether it is the oldest one that is kept, whichever that is. */
  readonly isFromStart?: boolean
}

/**
 * @throws ChangesTrimmed if something after that sequence number may be missing; RangeError if it is not one of this store
 */
export function startOf(
  log: Pick<CommitLogReader, 'first' | 'last'>,
  streams: readonly FollowedStream[],
  from: string = 'now',
): ReadStart {
  const begun = Math.min(...streams.map(({ first }) => first))
  if (from === 'start') return { from: Math.max(begun, log.first), isFromStart: true }
  if (from === 'now') return { from: log.last + 1 }
  const after = positionIn(from)
  if (after === undefined)
    throw new RangeError(`from is 'start', 'now' or a sequence number of 21 digits, not '${from}'`)
  const tables = streams.map(({ table }) => table).join(', ')
  // A stream that began later than the others is read from its beginning; but not one that goes on after an interruption.
  const late = streams.find(
    ({ first, isFirst }) => after.number < first && (after.number < begun || !isFirst),
  )
  if (late !== undefined)
    throw new ChangesTrimmed(
      `The stream of ${late.table} begins after ${from}: it was enabled anew, or the sequence number is of another table. Changes in between are not kept.`,
    )
  if (after.number < log.first)
    throw new ChangesTrimmed(`Changes of ${tables} after ${from} are not all kept any more.`)
  if (after.number > log.last)
    throw new RangeError(`${from} is not of this store: its last commit has a lower number`)
  return { from: after.number, after }
}
