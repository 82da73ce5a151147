// One frame of the journal: the changes of one batch, with what is needed to prove where it belongs.
//
//   0 magic  4 length  8 crc  12 writer  14 format  16 position  24 synced up to  32 timestamp  40 LSN  48 changes
//   52 entries...
//   entry: 1 kind, 2 key length, 4 value length, key bytes, value bytes; of the log of commits: without a key
//
// The format says whether more frames of the same group follow: a group counts only as a whole.
//
// The checksum is seeded with the id of the segment: neither a frame of another segment nor bytes that a user stored in
// an item can pass for a frame of this one.
import { crc32 } from 'node:zlib'
import type { IndexChange } from '../ordered-map/ordered-map.js'
import type { KeyBytes, Lsn, Timestamp } from '../model/brand.js'

export interface Frame {
  /** Offset of its first byte in the whole journal. */
  readonly position: number
  /** Offset after its last byte. */
  readonly end: number
  /** Whose batch it is: the number of the node. */
  readonly writer: number
  /** The group of frames that were written together goes on behind this one. */
  readonly goesOn: boolean
  /** Everything before this offset was durable when the frame was written. */
  readonly syncedUpTo: number
  /** The highest timestamp and LSN given out so far. */
  readonly timestamp: Timestamp
  readonly lsn: Lsn
  readonly changes: readonly IndexChange[]
  /** For the log of commits, in the order of the steps. */
  readonly logged: readonly Buffer[]
}

/** Bytes for the log of commits, written straight into the frame. */
export interface FrameEntry {
  readonly byteLength: number
  writeTo(target: Buffer, at: number): void
}

export interface FrameContent extends Pick<Frame, 'timestamp' | 'lsn'> {
  readonly changes: ReadonlyMap<KeyBytes, Uint8Array | undefined>
  readonly logged?: readonly FrameEntry[]
}

export interface FramePlace extends Pick<Frame, 'writer' | 'goesOn' | 'position' | 'syncedUpTo'> {
  readonly seed: number
}

export const FRAME_MAGIC = Buffer.from('SRTM', 'latin1')
export const FRAME_HEADER_BYTES = 52
const LAST_OF_GROUP = 1
const GOES_ON = 2
const ENTRY_HEADER_BYTES = 7
const PUT = 1
const DELETE = 2
const LOGGED = 3

export function frameBytes(content: FrameContent): number {
  let bytes = FRAME_HEADER_BYTES
  content.changes.forEach((value, key) => {
    bytes += ENTRY_HEADER_BYTES + key.length + (value?.byteLength ?? 0)
  })
  for (const entry of content.logged ?? []) bytes += ENTRY_HEADER_BYTES + entry.byteLength
  return bytes
}

/** Writes the frame to the beginning of `target`, which has at least `frameBytes(content)` bytes. */
export function encodeFrame(target: Buffer, content: FrameContent, place: FramePlace): Buffer {
  let at = FRAME_HEADER_BYTES
  content.changes.forEach((value, key) => {
    target[at] = value === undefined ? DELETE : PUT
    target.writeUInt16BE(key.length, at + 1)
    target.writeUInt32BE(value?.byteLength ?? 0, at + 3)
    at += ENTRY_HEADER_BYTES
    target.write(key, at, 'latin1')
    at += key.length
    if (value !== undefined) {
      target.set(value, at)
      at += value.byteLength
    }
  })
  for (const entry of content.logged ?? []) {
    target[at] = LOGGED
    target.writeUInt16BE(0, at + 1)
    target.writeUInt32BE(entry.byteLength, at + 3)
    entry.writeTo(target, at + ENTRY_HEADER_BYTES)
    at += ENTRY_HEADER_BYTES + entry.byteLength
  }
  const frame = target.subarray(0, at)
  FRAME_MAGIC.copy(frame)
  frame.writeUInt32BE(at, 4)
  frame.writeUInt16BE(place.writer, 12)
  frame.writeUInt16BE(place.goesOn ? GOES_ON : LAST_OF_GROUP, 14)
  frame.writeDoubleBE(place.position, 16)
  frame.writeDoubleBE(place.syncedUpTo, 24)
  frame.writeDoubleBE(content.timestamp, 32)
  frame.writeDoubleBE(content.lsn, 40)
  frame.writeUInt32BE(content.changes.size + (content.logged?.length ?? 0), 48)
  frame.writeUInt32BE(checksum(frame, place.seed), 8)
  return frame
}

/** The frame that stands at this place, or undefined if none does. Values are parts of `bytes`, not copies. */
export function decodeFrame(bytes: Buffer, at: number, seed: number, position: number): Frame | undefined {
  if (at + FRAME_HEADER_BYTES > bytes.length) return undefined
  if (bytes.compare(FRAME_MAGIC, 0, 4, at, at + 4) !== 0) return undefined
  const length = bytes.readUInt32BE(at + 4)
  if (length < FRAME_HEADER_BYTES || at + length > bytes.length) return undefined
  const frame = bytes.subarray(at, at + length)
  if (frame.readUInt32BE(8) !== checksum(frame, seed)) return undefined
  const format = frame.readUInt16BE(14)
  if (format !== LAST_OF_GROUP && format !== GOES_ON) return undefined
  if (frame.readDoubleBE(16) !== position) return undefined
  return {
    position,
    end: position + length,
    writer: frame.readUInt16BE(12),
    goesOn: format === GOES_ON,
    syncedUpTo: frame.readDoubleBE(24),
    timestamp: frame.readDoubleBE(32) as Timestamp,
    lsn: frame.readDoubleBE(40) as Lsn,
    ...decodeEntries(frame),
  }
}

/** The frames of the group that begins at this place; undefined if not all of it is there. */
export function decodeGroup(
  bytes: Buffer,
  at: number,
  seed: number,
  position: number,
): readonly [Frame, ...Frame[]] | undefined {
  const first = decodeFrame(bytes, at, seed, position)
  if (first === undefined) return undefined
  const frames: [Frame, ...Frame[]] = [first]
  for (let last = first; last.goesOn;) {
    const next = decodeFrame(bytes, at + last.end - position, seed, last.end)
    if (next === undefined) return undefined
    frames.push(next)
    last = next
  }
  return frames
}

function decodeEntries(frame: Buffer): Pick<Frame, 'changes' | 'logged'> {
  const changes: IndexChange[] = []
  const logged: Buffer[] = []
  const count = frame.readUInt32BE(48)
  let at = FRAME_HEADER_BYTES
  for (let i = 0; i < count; i++) {
    const kind = frame[at]
    const valueAt = at + ENTRY_HEADER_BYTES + frame.readUInt16BE(at + 1)
    const end = valueAt + frame.readUInt32BE(at + 3)
    if (kind === LOGGED) logged.push(frame.subarray(valueAt, end))
    else {
      const key = frame.toString('latin1', at + ENTRY_HEADER_BYTES, valueAt) as KeyBytes
      changes.push([key, kind === PUT ? frame.subarray(valueAt, end) : undefined])
    }
    at = end
  }
  return { changes, logged }
}

/** Over everything but the checksum itself. */
function checksum(frame: Buffer, seed: number): number {
  return crc32(frame.subarray(12), crc32(frame.subarray(0, 8), seed))
}
