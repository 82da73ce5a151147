// A segment: one file of the journal. Its name says which offset of the journal its first byte is, and gives the seed
// of its checksums.
//
//   header  0 magic  4 version  8 crc  12 seed  16 start  24 id of the data folder  40 zeros  48
//   frames  ...
//   seal    0 magic  4 zeros    8 crc  12 seed of the next segment  16 position  24      once the next one is there
//
// The header says the same as the name, so that a file that was renamed, swapped or brought from another folder is known
// for what it is. The seal says that there is a next segment, and which: one that is missing is missed. A segment is
// begun in this order, each step durable before the next:
//
//   create the file, header --> name of the file --> seal of the one before --> first frame
import { crc32 } from 'node:zlib'

export interface Segment {
  readonly file: string
  /** Offset in the whole journal of the first byte of the file. */
  readonly start: number
  readonly seed: number
}

export interface SegmentHeader extends Segment {
  /** Of the data folder. */
  readonly owner: string
}

export const SEGMENT_HEADER_BYTES = 48
export const SEAL_BYTES = 24
const HEADER_MAGIC = Buffer.from('SRTS', 'latin1')
export const SEAL_MAGIC = Buffer.from('SRTE', 'latin1')
const VERSION = 1
const NAME = /^([0-9a-f]{14})-([0-9a-f]{8})\.journal$/

export function segmentNamed(file: string): Segment | undefined {
  const match = NAME.exec(file)
  if (match?.[1] === undefined || match[2] === undefined) return undefined
  return { file, start: Number.parseInt(match[1], 16), seed: Number.parseInt(match[2], 16) }
}

export function newSegment(start: number, seed: number): Segment {
  const file = `${start.toString(16).padStart(14, '0')}-${seed.toString(16).padStart(8, '0')}.journal`
  return { file, start, seed }
}

/** All segments of a folder, in order. */
export function segmentsIn(names: readonly string[]): Segment[] {
  return names
    .map(segmentNamed)
    .filter((segment) => segment !== undefined)
    .toSorted((a, b) => a.start - b.start || a.seed - b.seed)
}

/** Offset of its first frame. */
export const framesFrom = ({ start }: Segment): number => start + SEGMENT_HEADER_BYTES

/** `owner`: the id of the data folder, 32 hexadecimal digits. */
export function encodeHeader({ start, seed }: Segment, owner: string): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
  HEADER_MAGIC.copy(header)
  header.writeUInt32BE(VERSION, 4)
  header.writeUInt32BE(seed, 12)
  header.writeDoubleBE(start, 16)
  header.write(owner, 24, 16, 'hex')
  header.writeUInt32BE(checksum(header, seed), 8)
  return header
}

/** What the file says of itself, whatever its name is; undefined if it has no whole header. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES) return undefined
  const header = bytes.subarray(0, SEGMENT_HEADER_BYTES)
  const seed = header.readUInt32BE(12)
  if (header.compare(HEADER_MAGIC, 0, 4, 0, 4) !== 0 || header.readUInt32BE(8) !== checksum(header, seed))
    return undefined
  return { ...newSegment(header.readDoubleBE(16), seed), owner: header.toString('hex', 24, 40) }
}

/** `position`: the offset at which it will stand. The next segment begins right behind it. */
export function encodeSeal({ seed }: Segment, position: number, next: Segment): Buffer {
  const seal = Buffer.alloc(SEAL_BYTES)
  SEAL_MAGIC.copy(seal)
  seal.writeUInt32BE(next.seed, 12)
  seal.writeDoubleBE(position, 16)
  seal.writeUInt32BE(checksum(seal, seed), 8)
  return seal
}

/** The segment that follows, if a seal stands at this place. */
export function decodeSeal(bytes: Buffer, at: number, seed: number, position: number): Segment | undefined {
  if (at < 0 || at + SEAL_BYTES > bytes.length) return undefined
  const seal = bytes.subarray(at, at + SEAL_BYTES)
  if (seal.compare(SEAL_MAGIC, 0, 4, 0, 4) !== 0 || seal.readUInt32BE(8) !== checksum(seal, seed))
    return undefined
  return seal.readDoubleBE(16) === position
    ? newSegment(position + SEAL_BYTES, seal.readUInt32BE(12))
    : undefined
}

/** Over everything but the checksum itself. */
function checksum(bytes: Buffer, seed: number): number {
  return crc32(bytes.subarray(12), crc32(bytes.subarray(0, 8), seed))
}
