// Records of the log as readers get them: plain JavaScript values.
import type { CommitRecord, LoggedChange } from '../commit-log/commit-record.js'
import { sequenceNumberOf } from '../commit-log/sequence-number.js'
import type { SpaceId } from '../model/brand.js'
import { keyAttributesOf } from '../model/table.js'
import type { Item } from '../model/value.js'
import { unmarshallItem } from '../toolkit/values/values.js'
import type { TableChange } from './change.js'
import type { FollowedStream } from './stream.js'
import { dateAt, msOf } from './times.js'

const EVENTS = { insert: 'INSERT', modify: 'MODIFY', remove: 'REMOVE' } as const

/** The changes of those tables, in order. */
export function changesIn(record: CommitRecord, streams: readonly FollowedStream[]): readonly TableChange[] {
  return positionsIn(record, streams).map(({ change, stream, position }) => {
    const old = change.old === undefined ? undefined : itemOf(change.old)
    const next = change.new === undefined ? undefined : itemOf(change.new)
    const keys =
      change.keys === undefined ? keyAttributesOf(stream.key, next ?? old ?? {}) : itemOf(change.keys)
    return {
      table: stream.table,
      event: EVENTS[change.event],
      keys: unmarshallItem(keys),
      ...(old !== undefined && stream.images.old && { old: unmarshallItem(old) }),
      ...(next !== undefined && stream.images.new && { new: unmarshallItem(next) }),
      sequenceNumber: sequenceNumberOf({ number: record.number, position }),
      ...(record.tx !== undefined && { transactionId: record.tx }),
      timestamp: dateAt(msOf(record.timestamp)),
      cause: change.cause,
    }
  })
}

/** The highest position of a change of those tables; -1 if there is none. */
export const lastPosition = (record: CommitRecord, streams: readonly FollowedStream[]): number =>
  positionsIn(record, streams).reduce((last, { position }) => Math.max(last, position), -1)

export interface PlacedChange {
  readonly change: LoggedChange
  readonly stream: FollowedStream
  /** Among the changes of its table. */
  readonly position: number
}

export function positionsIn(
  { changes }: CommitRecord,
  streams: readonly FollowedStream[],
): readonly PlacedChange[] {
  const counts = new Map<SpaceId, number>()
  const placed: PlacedChange[] = []
  for (const change of changes) {
    const stream = streams.find(({ space }) => space === change.space)
    if (stream === undefined) continue
    const position = counts.get(change.space) ?? 0
    counts.set(change.space, position + 1)
    placed.push({ change, stream, position })
  }
  return placed
}

const itemOf = (json: Uint8Array): Item =>
  JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as Item
