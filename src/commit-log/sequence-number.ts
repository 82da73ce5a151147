// The place of a change in the log of commits as decimal text, as clients of streams see it:
//
//   1 | number of the record, 15 digits | position of the change, 5 digits
//
// The position counts the changes of the same table within the record, so that it means the same whether or not the changes
// of other tables were read with it. Texts have the same length: their order is that of the changes.
import type { CommitRecord, LoggedChange } from './commit-record.js'

export interface ChangePosition {
  /** Of the record. */
  readonly number: number
  /** Among the changes of one table in it, from 0 on. */
  readonly position: number
}

/** More changes of one table than a commit can have: the position behind all of them. */
export const POSITION_MAX = 99_999

const NUMBER_DIGITS = 15
const POSITION_DIGITS = 5
const TEXT = /^0*1(\d{15})(\d{5})$/

export const sequenceNumberOf = ({ number, position }: ChangePosition): string =>
  `1${String(number).padStart(NUMBER_DIGITS, '0')}${String(position).padStart(POSITION_DIGITS, '0')}`

/** Undefined: no sequence number of this log. Zeros before it change nothing: clients compare them as integers. */
export function positionIn(sequenceNumber: string): ChangePosition | undefined {
  const match = TEXT.exec(sequenceNumber)
  return match === null ? undefined : { number: Number(match[1]), position: Number(match[2]) }
}

/** The changes of one table in a record, each with its position. */
export function changesOf(
  record: CommitRecord,
  space: LoggedChange['space'],
): readonly (ChangePosition & { readonly change: LoggedChange })[] {
  const own = record.changes.filter((change) => change.space === space)
  return own.map((change, position) => ({ number: record.number, position, change }))
}
