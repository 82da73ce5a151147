// What the catalogue remembers of a stream: it outlives its table, and its own end, by 24 hours.
//
//   ENABLING --> transactions that were under way are over --> ENABLED
//   ENABLED  --> the table has no stream any more, or is gone --> DISABLING --> all writes before that are in the log --> DISABLED
//
// Of a transaction over several nodes the log may have only some changes if the table got its stream, or lost it, between two of
// them. So a stream begins behind such ones, and ends before them: it has the whole of a transaction or nothing.
//
// A stream is a part of the log of commits: the records of one table from the first number of its first generation on, up to
// the number at which it ended. Pure: lineage.ts has the decisions.
import { spaceId, type SpaceId } from '../../model/brand.js'
import type { LoggedImages } from '../../model/table.js'

export type StreamViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'

/** Shards that opened together. They are closed together, at the number before the first of the next generation. */
export interface Generation {
  /** Number of the first record that may be in it. */
  readonly from: number
  /** Grows from one generation to the next. */
  readonly bornMs: number
  /** A power of two. */
  readonly shards: number
}

export interface StreamRecord {
  readonly tableName: string
  readonly tableId: string
  /** Of the table. */
  readonly space: SpaceId
  readonly keySchema: readonly { readonly AttributeName: string; readonly KeyType: 'HASH' | 'RANGE' }[]
  /** Among all streams of tables of that name it is the only one with this label, and later ones have greater labels. */
  readonly label: string
  readonly viewType: StreamViewType
  readonly createdAtMicros: number
  readonly status: 'ENABLING' | 'ENABLED' | 'DISABLING' | 'DISABLED'
  /** The last record before the table lost it. */
  readonly endsAt?: number
  /** Seals iterators; no answer has it. */
  readonly secret: string
  /** Oldest first; at least one. Those whose records are all too old are left out. */
  readonly generations: readonly Generation[]
  /** Number of its last record, and when that was known. Present if it is DISABLED. */
  readonly ended?: { readonly last: number; readonly atMicros: number }
}

export const streamKey = ({ tableName, label }: Pick<StreamRecord, 'tableName' | 'label'>): string =>
  `${tableName}/${label}`

/** What the log keeps for such a stream. */
export const imagesOf = (viewType: StreamViewType): LoggedImages => ({
  old: viewType === 'OLD_IMAGE' || viewType === 'NEW_AND_OLD_IMAGES',
  new: viewType === 'NEW_IMAGE' || viewType === 'NEW_AND_OLD_IMAGES',
})

/** `2030-01-01T12:00:00.250`, and greater than the label before it. */
export function labelAt(nowMicros: number, before: string | undefined): string {
  const label = textOf(Math.floor(nowMicros / 1000))
  return before === undefined || label > before ? label : textOf(Date.parse(`${before}Z`) + 1)
}

const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, -1)

export const encodeStreamRecord = (record: StreamRecord): Uint8Array => Buffer.from(JSON.stringify(record))

/** @throws if it is not one */
export function decodeStreamRecord(value: Uint8Array): StreamRecord {
  const record = JSON.parse(Buffer.from(value).toString()) as StreamRecord
  spaceId(record.space)
  if (record.generations.length === 0) throw new Error('a stream without generations')
  return record
}
