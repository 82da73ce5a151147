// What restores to a point in time begin with: copies of each table that are made now and then, one file each.
//
//   base at T0 ---- log ---- base at T1 ---- log ---- base at T2 ---- log ----> now
//                                   ^ to this moment: base at T1, and what the log has from there on
//
// The next base is made when the log has grown by as much as the table holds: a restore then reads at most about twice the
// table, however long its history is, and all bases together take no more room than the log that is kept anyway. The name of
// a file says everything that has to be known of it, so that a start reads no file.
import type { Timestamp } from '../../model/brand.js'
import type { TableRecord } from '../tables/record/table-record.js'
import type { Fence } from '../../backups/copy-table.js'

/** With the numbers of its fence: where to begin in the log, and where everything up to its moment has come. */
export interface Base extends Fence {
  readonly tableId: string
  /**
   * When recovery was enabled for which it was made: whatever was written while it was disabled the log does not have. 0: it was
   * made before that was noted.
   */
  readonly enabledAtMicros: number
  /** Nothing of the table has changed from its moment up to this one: of the log only what follows is needed. */
  readonly since: Timestamp
}

const FILE =
  /^base-([0-9a-f-]{36})-([0-9a-f]{14})-([0-9a-f]{14})-([0-9a-f]{14})-([0-9a-f]{14})(?:-([0-9a-f]{14}))?$/

export function baseFile({ tableId, at, since, first, upTo, enabledAtMicros }: Base): string {
  const numbers = [at, since, first, upTo, ...(enabledAtMicros === 0 ? [] : [enabledAtMicros])]
  return `base-${tableId}-${numbers.map((value) => value.toString(16).padStart(14, '0')).join('-')}`
}

export function baseIn(file: string): Base | undefined {
  const [, tableId, ...numbers] = FILE.exec(file) ?? []
  if (tableId === undefined) return undefined
  const [at = 0, since = 0, first = 0, upTo = 0, enabledAtMicros = 0] = numbers.map((digits) =>
    digits === undefined ? 0 : Number.parseInt(digits, 16),
  )
  return { tableId, enabledAtMicros, at: at as Timestamp, since: since as Timestamp, first, upTo }
}

/** Whether the log is whole from the base on: recovery was not disabled since. */
export function isOfEnabling(
  { enabledAtMicros, at }: Base,
  { pointInTime }: Pick<TableRecord, 'pointInTime'>,
): boolean {
  if (pointInTime === undefined) return false
  return enabledAtMicros === 0
    ? at >= pointInTime.enabledAtMicros
    : enabledAtMicros === pointInTime.enabledAtMicros
}

/** A base is made, too, when so much of the recovery period has passed since the last one: the log need not be kept for longer. */
const PERIOD_PARTS = 4

export interface BaseState {
  readonly newest: Base
  readonly periodMicros: number
  /** What came into the log of the table since the newest base, and what the table holds. */
  readonly loggedBytes: number
  readonly tableBytes: number
  /** However little the table holds. */
  readonly loggedBytesMin: number
}

/** Why the next base is due. By age it is due only if the table has changed since the last one. */
export function baseDue(
  { newest, periodMicros, loggedBytes, tableBytes, loggedBytesMin }: BaseState,
  nowMicros: number,
): 'bytes' | 'age' | undefined {
  if (loggedBytes >= Math.max(tableBytes, loggedBytesMin)) return 'bytes'
  return nowMicros - newest.since >= periodMicros / PERIOD_PARTS ? 'age' : undefined
}
