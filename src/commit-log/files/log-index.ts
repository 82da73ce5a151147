// The index of one segment: its frames by number and time, and its changes by item.
//
// That of the segment that grows is in memory. A start makes it of the frames alone; their changes are noted before the next
// append, or when an item is asked for. When the segment is sealed it becomes a file, which never changes:
//
//   0 magic  4 version  8 crc of the head  12 seed  16 first number  24 end number  32 frames  36 changes  40 buckets
//   44 length of the head  48
//   frames   0 offset  4 length  8 first number  16 records  20 tables  24 oldest  32 newest  40 ids of the tables
//   buckets  0 number of changes up to the end of this one  4 crc of its changes
//   changes  0 hash of table and key  4 number, from the first one of the segment on  8 offset     in the order of buckets
//
// The head is read and kept; of the changes only the bucket of an item is read. The magic is written last, when everything
// else is durable: a file that lacks it was not finished. One that is missing, unfinished or damaged is made anew from its
// segment, so nothing depends on it but time.
import { crc32 } from 'node:zlib'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import { hashBytes } from '../../model/key-bytes.js'
import { type ChangeVisitor, decodeLogFrame, eachChangeOf, type LogFrame } from './log-frame.js'
import type { LogGap, LogScan } from './log-scan.js'
import type { LogSegment } from './log-segment.js'
import type { PackedRecords } from './packed-records.js'

export type IndexedFrame = Omit<LogFrame, 'position'>

/** Where a change stands that may be of the item that was asked for: its hash is the same. */
export interface ChangePlace {
  readonly number: number
  readonly offset: number
}

export interface LogIndex {
  /** Those with records, in order. */
  readonly frames: readonly IndexedFrame[]
  /** Numbers that no frame has. */
  readonly gaps: readonly LogGap[]
  /** What it takes to look at it. */
  readonly headBytes: number
  /** In order. Undefined: it cannot be read. */
  find(hash: number): Promise<readonly ChangePlace[] | undefined>
}

export const LOG_INDEX_MAGIC = Buffer.from('SRLI', 'latin1')
export const LOG_INDEX_HEADER_BYTES = 48
const VERSION = 1
const FRAME_ROW_BYTES = 40
const SPACE_BYTES = 4
const BUCKET_BYTES = 8
const CHANGE_BYTES = 12
/** On average, of a bucket. */
const BUCKET_CHANGES = 32
const BUCKETS_MAX = 2 ** 16

/** `seed`: of the segment, so that no client can choose keys that fall together. */
export const itemHash = (seed: number, space: SpaceId, key: KeyBytes): number =>
  (hashBytes(key) ^ spaceHash(space) ^ seed) >>> 0

export const spaceHash = (space: SpaceId): number => Math.imul(space + 1, 0x9e37_79b1)

export const indexFileOf = ({ file }: LogSegment): string => file.replace(/\.commits$/, '.index')

/** Records that cannot be read. `end`: the number with which the next segment begins; undefined if this is the last. */
export function gapsIn({ damaged, next, end: offset }: LogScan, end: number | undefined): readonly LogGap[] {
  const gaps = damaged.filter((gap) => gap.end > gap.first)
  return end !== undefined && end > next ? [...gaps, { first: next, end, offset }] : gaps
}

/** Reads a part of the file, as far as it is there. */
type ReadPart = (position: number, length: number) => Promise<Buffer>

/** The index of a segment that grows, or was read anew. */
export class GrowingIndex implements LogIndex {
  readonly #segment: LogSegment
  #frames: IndexedFrame[] = []
  readonly #gaps: LogGap[] = []
  /** Hash, number from the first on, offset; again and again. */
  #changes = new Uint32Array(3 * 64)
  #count = 0
  #newest = -1
  #spaces = 0
  /** Reads the segment; undefined once all changes of the frames are noted. */
  #unread: ReadPart | undefined
  #noting: Promise<void> | undefined

  constructor(segment: LogSegment) {
    this.#segment = segment
  }

  /** `end`: the number with which the next segment begins; undefined if this is the last. */
  static of(segment: LogSegment, bytes: Buffer, scan: LogScan, end: number | undefined): GrowingIndex {
    const index = new GrowingIndex(segment)
    for (const frame of scan.frames) {
      eachChangeOf(bytes, frame.offset, frame, index.note)
      index.add(frame)
    }
    index.#gaps.push(...gapsIn(scan, end))
    return index
  }

  /** As a start has it: its frames, of which the changes are not noted yet. */
  static later(segment: LogSegment, scan: LogScan, read: ReadPart): GrowingIndex {
    const index = new GrowingIndex(segment)
    for (const frame of scan.frames) index.add(frame)
    index.#gaps.push(...gapsIn(scan, undefined))
    index.#unread = read
    return index
  }

  /** Resolves when the changes of all frames are noted. Before a change is noted, and before its length is asked. */
  whole(): Promise<void> {
    if (this.#unread === undefined) return Promise.resolve()
    this.#noting ??= this.#noteAll(this.#unread).finally(() => (this.#noting = undefined))
    return this.#noting
  }

  /** A frame at a time, between which others have their turn. */
  async #noteAll(read: ReadPart): Promise<void> {
    this.#count = 0
    for (const frame of this.#frames) {
      const bytes = await read(frame.offset, frame.bytes)
      const found = decodeLogFrame(bytes, frame.offset, this.#segment, frame.offset)
      if (found?.first === frame.first && found.end === frame.end) eachChangeOf(bytes, 0, found, this.note)
      else this.#lose(frame)
    }
    this.#unread = undefined
  }

  /** It was damaged since the start. */
  #lose(lost: IndexedFrame): void {
    this.#frames = this.#frames.filter((frame) => frame !== lost)
    this.#spaces -= lost.spaces.length
    this.#gaps.push({ first: lost.first, end: lost.end, offset: lost.offset })
  }

  get frames(): readonly IndexedFrame[] {
    return this.#frames
  }

  get gaps(): readonly LogGap[] {
    return this.#gaps
  }

  get newest(): number {
    return this.#newest
  }

  get headBytes(): number {
    return (
      LOG_INDEX_HEADER_BYTES +
      this.#frames.length * FRAME_ROW_BYTES +
      this.#spaces * SPACE_BYTES +
      bucketsFor(this.#count) * BUCKET_BYTES
    )
  }

  /** Of the file that it becomes. */
  get fileBytes(): number {
    return this.headBytes + this.#count * CHANGE_BYTES
  }

  readonly note: ChangeVisitor = (number, space, key, offset) =>
    this.#note(itemHash(this.#segment.seed, space, key), number, offset)

  #note(hash: number, number: number, offset: number): void {
    const at = this.#count * 3
    if (at === this.#changes.length) {
      const grown = new Uint32Array(2 * at)
      grown.set(this.#changes)
      this.#changes = grown
    }
    this.#changes[at] = hash
    this.#changes[at + 1] = number - this.#segment.first
    this.#changes[at + 2] = offset
    this.#count++
  }

  /** A frame that was just written. */
  addPacked(records: PackedRecords, frame: LogFrame): void {
    const { seed } = this.#segment
    records.eachNote(frame, (hash, number, offset) => this.#note((hash ^ seed) >>> 0, number, offset))
    this.add(frame)
  }

  /** Its changes were noted already. */
  add(frame: LogFrame): void {
    if (frame.end === frame.first) return
    this.#frames.push(frame)
    this.#spaces += frame.spaces.length
    this.#newest = Math.max(this.#newest, frame.newest)
  }

  async find(hash: number): Promise<readonly ChangePlace[]> {
    await this.whole()
    const places: ChangePlace[] = []
    const changes = this.#changes
    for (let at = 0; at < this.#count * 3; at += 3)
      if (changes[at] === hash)
        places.push({ number: this.#segment.first + changes[at + 1]!, offset: changes[at + 2]! })
    return places
  }

  encode(end: number): Buffer {
    const [changes, count] = [this.#changes, this.#count]
    const buckets = bucketsFor(count)
    const { headBytes } = this
    const bytes = Buffer.alloc(this.fileBytes)
    const { seed, first } = this.#segment
    LOG_INDEX_MAGIC.copy(bytes)
    bytes.writeUInt32BE(VERSION, 4)
    bytes.writeUInt32BE(seed, 12)
    bytes.writeDoubleBE(first, 16)
    bytes.writeDoubleBE(end, 24)
    bytes.writeUInt32BE(this.#frames.length, 32)
    bytes.writeUInt32BE(count, 36)
    bytes.writeUInt32BE(buckets, 40)
    bytes.writeUInt32BE(headBytes, 44)
    let at = LOG_INDEX_HEADER_BYTES
    for (const frame of this.#frames) at = encodeRow(bytes, at, frame)
    const ends = new Uint32Array(buckets)
    for (let n = 0; n < count; n++) ends[bucketOf(changes[3 * n]!, buckets)]!++
    for (let bucket = 1; bucket < buckets; bucket++) ends[bucket]! += ends[bucket - 1]!
    const places = Uint32Array.from(ends, (_, bucket) => (bucket === 0 ? 0 : ends[bucket - 1]!))
    for (let n = 0; n < count; n++) {
      const place = headBytes + CHANGE_BYTES * places[bucketOf(changes[3 * n]!, buckets)]!++
      for (let part = 0; part < 3; part++) bytes.writeUInt32BE(changes[3 * n + part]!, place + 4 * part)
    }
    let from = headBytes
    for (const bucketEnd of ends) {
      const to = headBytes + CHANGE_BYTES * bucketEnd
      bytes.writeUInt32BE(bucketEnd, at)
      bytes.writeUInt32BE(crc32(bytes.subarray(from, to), seed), at + 4)
      at += BUCKET_BYTES
      from = to
    }
    bytes.writeUInt32BE(headChecksum(bytes.subarray(0, headBytes), seed), 8)
    return bytes
  }
}

function encodeRow(bytes: Buffer, from: number, frame: IndexedFrame): number {
  let at = bytes.writeUInt32BE(frame.offset, from)
  at = bytes.writeUInt32BE(frame.bytes, at)
  at = bytes.writeDoubleBE(frame.first, at)
  at = bytes.writeUInt32BE(frame.end - frame.first, at)
  at = bytes.writeUInt32BE(frame.spaces.length, at)
  at = bytes.writeDoubleBE(frame.oldest, at)
  at = bytes.writeDoubleBE(frame.newest, at)
  for (const space of frame.spaces) at = bytes.writeUInt32BE(space, at)
  return at
}

/** Length of the head of the file that begins with these bytes; undefined if none does. */
export function headBytesOf(header: Buffer): number | undefined {
  if (header.length < LOG_INDEX_HEADER_BYTES || header.compare(LOG_INDEX_MAGIC, 0, 4, 0, 4) !== 0)
    return undefined
  return header.readUInt32BE(44)
}

/** The index whose head this is; undefined if it is not this segment's, or damaged. */
export function decodeIndexHead(
  head: Buffer,
  { seed, first }: LogSegment,
  end: number,
  read: ReadPart,
): LogIndex | undefined {
  const headBytes = headBytesOf(head)
  if (headBytes !== head.length || head.readUInt32BE(8) !== headChecksum(head, seed)) return undefined
  if (head.readUInt32BE(4) !== VERSION || head.readDoubleBE(16) !== first || head.readDoubleBE(24) !== end)
    return undefined
  const frames: IndexedFrame[] = []
  let at = LOG_INDEX_HEADER_BYTES
  for (let left = head.readUInt32BE(32); left > 0; left--) {
    const spacesAt = at + FRAME_ROW_BYTES
    const frameFirst = head.readDoubleBE(at + 8)
    const spaces = Array.from(
      { length: head.readUInt32BE(at + 20) },
      (_, nth) => head.readUInt32BE(spacesAt + nth * SPACE_BYTES) as SpaceId,
    )
    frames.push({
      offset: head.readUInt32BE(at),
      bytes: head.readUInt32BE(at + 4),
      first: frameFirst,
      end: frameFirst + head.readUInt32BE(at + 16),
      oldest: head.readDoubleBE(at + 24),
      newest: head.readDoubleBE(at + 32),
      spaces,
    })
    at = spacesAt + spaces.length * SPACE_BYTES
  }
  const buckets = head.subarray(at)
  const find = async (hash: number): Promise<readonly ChangePlace[] | undefined> => {
    const bucket = bucketOf(hash, buckets.length / BUCKET_BYTES) * BUCKET_BYTES
    const from = bucket === 0 ? 0 : buckets.readUInt32BE(bucket - BUCKET_BYTES)
    const length = CHANGE_BYTES * (buckets.readUInt32BE(bucket) - from)
    const bytes = await read(headBytes + CHANGE_BYTES * from, length)
    if (bytes.length < length || crc32(bytes, seed) !== buckets.readUInt32BE(bucket + 4)) return undefined
    const places: ChangePlace[] = []
    for (let place = 0; place < length; place += CHANGE_BYTES)
      if (bytes.readUInt32BE(place) === hash)
        places.push({ number: first + bytes.readUInt32BE(place + 4), offset: bytes.readUInt32BE(place + 8) })
    return places
  }
  // Indexes of damaged segments are not written.
  return { frames, gaps: [], headBytes, find }
}

const bucketsFor = (count: number): number => {
  let buckets = 1
  while (buckets < BUCKETS_MAX && buckets * BUCKET_CHANGES < count) buckets *= 2
  return buckets
}

/** By the upper bits. */
const bucketOf = (hash: number, buckets: number): number => Math.floor((hash / 2 ** 32) * buckets)

/** Over everything but the magic and the checksum itself. */
const headChecksum = (head: Buffer, seed: number): number =>
  crc32(head.subarray(12), crc32(head.subarray(4, 8), seed))
