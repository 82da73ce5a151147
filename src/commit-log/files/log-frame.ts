// One frame of the log of commits: the records of one append, with what is needed to prove where they belong.
//
//   0 magic  4 crc of the header  8 length of the body  12 crc of the body  16 first number  24 records  28 tables
//   32 position: offset of the journal  40 number  48 oldest timestamp  56 newest timestamp  64 offset in the file  72
//   body    ids of the tables, 4 bytes each; records
//   record  0 length  4 timestamp  12 changes  16 length of the transaction id  17 transaction id; changes
//   change  0 kind  1 table  5 key length  7 keys length  11 old length  15 new length  19 key, keys, old, new
//           of an old image only what differs from the new one, if its length has the highest bit
//
// The checksum of the header is seeded with the id of the segment, and covers that of the body: neither a frame of another
// segment nor bytes that a user stored in an item can pass for a frame of this one, and to find out takes 72 bytes. The
// images are bytes here; nothing looks into them.
import { crc32 } from 'node:zlib'
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import { apart, type CommitRecord, keysAndAbout, type LoggedChange } from '../commit-record.js'
import type { LogPosition } from '../log-storage.js'
import {
  differenceBytes,
  isWorthSharing,
  sharedEnds,
  withDifference,
  writeDifference,
} from '../shared-ends.js'
import type { LogSegment } from './log-segment.js'

export interface LogFrame {
  /** In its file. */
  readonly offset: number
  readonly bytes: number
  /** Numbers of its records: from `first` up to, and without, `end`. */
  readonly first: number
  readonly end: number
  readonly position: LogPosition
  /** Of its commit timestamps; 0 and -1 without records. */
  readonly oldest: number
  readonly newest: number
  readonly spaces: readonly SpaceId[]
}

/** Told of each change as its frame is written or read: where in the file it stands. */
export type ChangeVisitor = (number: number, space: SpaceId, key: KeyBytes, offset: number) => void

export const LOG_FRAME_MAGIC = Buffer.from('SRLF', 'latin1')
export const LOG_FRAME_HEADER_BYTES = 72
const RECORD_HEADER_BYTES = 17
const CHANGE_HEADER_BYTES = 19
export const SPACE_BYTES = 4
/** In characters. */
const SHORT_TEXT = 48
const EVENTS = ['insert', 'modify', 'remove'] as const
const OPERATIONS = ['put', 'update', 'delete'] as const
const CAUSES = ['request', 'expiry'] as const
const [HAS_KEYS, HAS_OLD, HAS_NEW] = [32, 64, 128]

const OLD_DIFFERS = 2 ** 31
const OLD_LENGTH = OLD_DIFFERS - 1

/** At most. */
export function recordBytesMax({ tx, changes }: CommitRecord): number {
  let bytes = RECORD_HEADER_BYTES + (tx?.length ?? 0)
  for (const { key, keys, about, old, new: next } of changes)
    bytes +=
      CHANGE_HEADER_BYTES +
      key.length +
      (keys?.byteLength ?? 0) +
      (about === undefined ? 0 : 1 + about.byteLength) +
      (old?.byteLength ?? 0) +
      (next?.byteLength ?? 0)
  return bytes
}

/** In front of the ids of the tables and the records, which are there. */
export function writeFrameHeader(bytes: Buffer, frame: LogFrame, { seed }: Pick<LogSegment, 'seed'>): void {
  const { first, end, position, oldest, newest, offset, spaces } = frame
  LOG_FRAME_MAGIC.copy(bytes)
  bytes.writeUInt32BE(frame.bytes - LOG_FRAME_HEADER_BYTES, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(LOG_FRAME_HEADER_BYTES)), 12)
  bytes.writeDoubleBE(first, 16)
  bytes.writeUInt32BE(end - first, 24)
  bytes.writeUInt32BE(spaces.length, 28)
  bytes.writeDoubleBE(position.upTo, 32)
  bytes.writeDoubleBE(position.number, 40)
  bytes.writeDoubleBE(oldest, 48)
  bytes.writeDoubleBE(newest, 56)
  bytes.writeDoubleBE(offset, 64)
  bytes.writeUInt32BE(headerChecksum(bytes, seed), 4)
}

/** Writes a record to where `target` has room for it; the offset behind it. Changes are told with their offsets in `target`. */
export function encodeRecord(
  target: Buffer,
  from: number,
  record: CommitRecord,
  visit: ChangeVisitor,
): number {
  const { number, timestamp, tx = '', changes } = record
  target.writeDoubleBE(timestamp, from + 4)
  target.writeUInt32BE(changes.length, from + 12)
  target.writeUInt8(tx.length, from + 16)
  writeLatin1(target, tx, from + RECORD_HEADER_BYTES)
  let at = from + RECORD_HEADER_BYTES + tx.length
  for (const change of changes) {
    const { space, key, old, new: next } = change
    const keys = keysAndAbout(change)
    visit(number, space, key, at)
    target[at] = kindOf(change)
    target.writeUInt32BE(space, at + 1)
    target.writeUInt16BE(key.length, at + 5)
    target.writeUInt32BE(keys?.byteLength ?? 0, at + 7)
    target.writeUInt32BE(next?.byteLength ?? 0, at + 15)
    const oldLengthAt = at + 11
    at += CHANGE_HEADER_BYTES
    writeLatin1(target, key, at)
    at = written(target, at + key.length, keys)
    const shared = old && next && (change.shared ?? sharedEnds(old, next))
    if (old !== undefined && shared !== undefined && isWorthSharing(shared)) {
      target.writeUInt32BE(OLD_DIFFERS + differenceBytes(old, shared), oldLengthAt)
      at = writeDifference(target, at, old, shared)
    } else {
      target.writeUInt32BE(old?.byteLength ?? 0, oldLengthAt)
      at = written(target, at, old)
    }
    at = written(target, at, next)
  }
  target.writeUInt32BE(at - from, from)
  return at
}

/** A few characters are written faster one by one than by a call of Buffer's. */
function writeLatin1(target: Buffer, text: string, from: number): void {
  if (text.length > SHORT_TEXT) target.write(text, from, 'latin1')
  else for (let at = 0; at < text.length; at++) target[from + at] = text.charCodeAt(at)
}

function written(target: Buffer, at: number, image: Uint8Array | undefined): number {
  if (image === undefined) return at
  target.set(image, at)
  return at + image.byteLength
}

const kindOf = ({ event, operation, cause, keys, old, new: next }: LoggedChange): number =>
  EVENTS.indexOf(event) |
  (OPERATIONS.indexOf(operation) << 2) |
  (CAUSES.indexOf(cause) << 4) |
  (keys === undefined ? 0 : HAS_KEYS) |
  (old === undefined ? 0 : HAS_OLD) |
  (next === undefined ? 0 : HAS_NEW)

/**
 * The frame that stands at this offset of the file, with all its bytes, or undefined if none does; `bytes` begin with the
 * byte at `from` of the file.
 */
export function decodeLogFrame(
  bytes: Buffer,
  offset: number,
  { seed }: Pick<LogSegment, 'seed'>,
  from = 0,
): LogFrame | undefined {
  const at = offset - from
  if (at < 0 || at + LOG_FRAME_HEADER_BYTES > bytes.length) return undefined
  if (bytes.compare(LOG_FRAME_MAGIC, 0, 4, at, at + 4) !== 0) return undefined
  const header = bytes.subarray(at, at + LOG_FRAME_HEADER_BYTES)
  if (header.readUInt32BE(4) !== headerChecksum(header, seed) || header.readDoubleBE(64) !== offset)
    return undefined
  const length = LOG_FRAME_HEADER_BYTES + header.readUInt32BE(8)
  const frame = bytes.subarray(at, at + length)
  if (frame.length < length || crc32(frame.subarray(LOG_FRAME_HEADER_BYTES)) !== header.readUInt32BE(12))
    return undefined
  const first = header.readDoubleBE(16)
  const spaces = Array.from(
    { length: header.readUInt32BE(28) },
    (_, nth) => frame.readUInt32BE(LOG_FRAME_HEADER_BYTES + nth * SPACE_BYTES) as SpaceId,
  )
  return {
    offset,
    bytes: length,
    first,
    end: first + header.readUInt32BE(24),
    position: { upTo: header.readDoubleBE(32), number: header.readDoubleBE(40) },
    oldest: header.readDoubleBE(48),
    newest: header.readDoubleBE(56),
    spaces,
  }
}

/** The records of a whole frame. Their images are parts of `bytes`, not copies, but for old ones that are put together. */
export function recordsOfFrame(bytes: Buffer, { first, end, spaces }: LogFrame): CommitRecord[] {
  const records: CommitRecord[] = []
  let at = LOG_FRAME_HEADER_BYTES + spaces.length * SPACE_BYTES
  for (let number = first; number < end; number++) {
    records.push(decodeRecord(bytes, at, number))
    at += bytes.readUInt32BE(at)
  }
  return records
}

export const timestampOfRecord = (bytes: Buffer, at: number): number => bytes.readDoubleBE(at + 4)

/** The record that stands there. */
export function decodeRecord(bytes: Buffer, at: number, number: number): CommitRecord {
  const changesAt = at + RECORD_HEADER_BYTES + (bytes[at + 16] as number)
  const tx = bytes.toString('latin1', at + RECORD_HEADER_BYTES, changesAt) as TxId
  const changes: LoggedChange[] = []
  let changeAt = changesAt
  for (let left = bytes.readUInt32BE(at + 12); left > 0; left--) {
    changes.push(decodeChange(bytes, changeAt))
    changeAt += changeBytesAt(bytes, changeAt)
  }
  const timestamp = bytes.readDoubleBE(at + 4) as Timestamp
  return { number, timestamp, ...(tx.length > 0 && { tx }), changes }
}

/** Tells of each change of a whole frame, which begins at `at` in `bytes`. */
export function eachChangeOf(bytes: Buffer, at: number, frame: LogFrame, visit: ChangeVisitor): void {
  let recordAt = at + LOG_FRAME_HEADER_BYTES + frame.spaces.length * SPACE_BYTES
  for (let number = frame.first; number < frame.end; number++) {
    let changeAt = recordAt + RECORD_HEADER_BYTES + (bytes[recordAt + 16] as number)
    for (let left = bytes.readUInt32BE(recordAt + 12); left > 0; left--) {
      const space = bytes.readUInt32BE(changeAt + 1) as SpaceId
      visit(number, space, keyAt(bytes, changeAt), frame.offset + changeAt - at)
      changeAt += changeBytesAt(bytes, changeAt)
    }
    recordAt += bytes.readUInt32BE(recordAt)
  }
}

/** How many bytes from the offset of a change say of which item it is. */
export const itemBytesOfChange = (key: KeyBytes): number => CHANGE_HEADER_BYTES + key.length

/** Whether a change of this item begins with these bytes. */
export const isOfItem = (bytes: Buffer, space: SpaceId, key: KeyBytes): boolean =>
  bytes.length === itemBytesOfChange(key) &&
  bytes.readUInt32BE(1) === space &&
  bytes.readUInt16BE(5) === key.length &&
  keyAt(bytes, 0) === key

const keyAt = (bytes: Buffer, at: number): KeyBytes =>
  bytes.toString(
    'latin1',
    at + CHANGE_HEADER_BYTES,
    at + CHANGE_HEADER_BYTES + bytes.readUInt16BE(at + 5),
  ) as KeyBytes

const changeBytesAt = (bytes: Buffer, at: number): number =>
  CHANGE_HEADER_BYTES +
  bytes.readUInt16BE(at + 5) +
  bytes.readUInt32BE(at + 7) +
  (bytes.readUInt32BE(at + 11) & OLD_LENGTH) +
  bytes.readUInt32BE(at + 15)

function decodeChange(bytes: Buffer, at: number): LoggedChange {
  const kind = bytes[at] as number
  const keysAt = at + CHANGE_HEADER_BYTES + bytes.readUInt16BE(at + 5)
  const oldAt = keysAt + bytes.readUInt32BE(at + 7)
  const oldLength = bytes.readUInt32BE(at + 11)
  const newAt = oldAt + (oldLength & OLD_LENGTH)
  const end = newAt + bytes.readUInt32BE(at + 15)
  const oldPart = bytes.subarray(oldAt, newAt)
  const old = oldLength >= OLD_DIFFERS ? withDifference(oldPart, bytes.subarray(newAt, end)) : oldPart
  return {
    space: bytes.readUInt32BE(at + 1) as SpaceId,
    key: keyAt(bytes, at),
    event: EVENTS[kind & 3] as LoggedChange['event'],
    operation: OPERATIONS[(kind >> 2) & 3] as LoggedChange['operation'],
    cause: CAUSES[(kind >> 4) & 1] as LoggedChange['cause'],
    ...((kind & HAS_KEYS) !== 0 && apart(bytes.subarray(keysAt, oldAt))),
    ...((kind & HAS_OLD) !== 0 && { old }),
    ...((kind & HAS_NEW) !== 0 && { new: bytes.subarray(newAt, end) }),
  }
}

/** Over everything but the checksum itself. */
const headerChecksum = (frame: Buffer, seed: number): number =>
  crc32(frame.subarray(8, LOG_FRAME_HEADER_BYTES), crc32(frame.subarray(0, 4), seed))
