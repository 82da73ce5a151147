// A segment: one file of the log of commits. Its name says the number of its first record, and gives the seed of its
// checksums.
//
//   header  0 magic  4 version  8 crc  12 seed  16 first number  24 id of the data folder  40 position at its beginning
//           56 the segment before: first number  64 seed  68 zeros  72 bytes  80 bytes of its index  88 newest timestamp
//   slots   96 crc  100 turn  104 first number that is kept       112 the same once more       128
//   frames  ...
//   seal    0 magic  4 zeros  8 crc  12 seed of the next segment  16 offset of the seal  24 its first number  32
//
// Everything that a start must know of a segment stands in the header of the one that follows, so that of all but the last
// only the headers are read. A segment is begun in this order, each step durable before the next:
//
//   create the file, header --> name of the file --> seal of the one before --> first frame
//
// Which records were let go stands in the slots of the last segment before any file is removed: a file that is missing can
// be told from one that was trimmed. They are overwritten in turn, so that one is whole whatever happens, and so that
// trimming needs no room on a full disk.
import { crc32 } from 'node:zlib'
import type { LogPosition } from '../log-storage.js'

export interface LogSegment {
  readonly file: string
  /** Number of its first record. */
  readonly first: number
  readonly seed: number
}

/** What is known of a segment without reading it. */
export interface LogSegmentSummary {
  readonly bytes: number
  readonly indexBytes: number
  /** The newest commit timestamp in it; -1 if it has no record. */
  readonly newest: number
}

export interface LogSegmentHeader extends LogSegment {
  /** Of the data folder: 32 hexadecimal digits. */
  readonly owner: string
  readonly position: LogPosition
  readonly previous: (LogSegment & LogSegmentSummary) | undefined
}

export const LOG_HEADER_BYTES = 128
export const LOG_SEAL_BYTES = 32
export const LOG_SEAL_MAGIC = Buffer.from('SRLE', 'latin1')
const HEADER_MAGIC = Buffer.from('SRLS', 'latin1')
const VERSION = 1
const SLOTS_AT = 96
const SLOT_BYTES = 16
const NAME = /^([0-9a-f]{14})-([0-9a-f]{8})\.commits$/

export function newLogSegment(first: number, seed: number): LogSegment {
  return {
    file: `${first.toString(16).padStart(14, '0')}-${seed.toString(16).padStart(8, '0')}.commits`,
    first,
    seed,
  }
}

/** All segments of a folder, in order. */
export function logSegmentsIn(names: readonly string[]): LogSegment[] {
  return names
    .map((file) => NAME.exec(file))
    .filter((match) => match !== null)
    .map(([file, first = '', seed = '']) => ({
      file,
      first: Number.parseInt(first, 16),
      seed: Number.parseInt(seed, 16),
    }))
    .toSorted((a, b) => a.first - b.first || a.seed - b.seed)
}

export function encodeLogHeader(header: LogSegmentHeader, kept: number): Buffer {
  const bytes = Buffer.alloc(LOG_HEADER_BYTES)
  HEADER_MAGIC.copy(bytes)
  bytes.writeUInt32BE(VERSION, 4)
  bytes.writeUInt32BE(header.seed, 12)
  bytes.writeDoubleBE(header.first, 16)
  bytes.write(header.owner, 24, 16, 'hex')
  bytes.writeDoubleBE(header.position.upTo, 40)
  bytes.writeDoubleBE(header.position.number, 48)
  if (header.previous !== undefined) {
    bytes.writeDoubleBE(header.previous.first, 56)
    bytes.writeUInt32BE(header.previous.seed, 64)
    bytes.writeDoubleBE(header.previous.bytes, 72)
    bytes.writeDoubleBE(header.previous.indexBytes, 80)
    bytes.writeDoubleBE(header.previous.newest, 88)
  }
  bytes.writeUInt32BE(checksum(bytes.subarray(0, SLOTS_AT), header.seed), 8)
  for (const turn of [0, 1]) encodeSlot(header, { first: kept, turn }).copy(bytes, slotAt(turn))
  return bytes
}

/** What the file says of itself, whatever its name is; undefined if it has no whole header. */
export function decodeLogHeader(bytes: Buffer): LogSegmentHeader | undefined {
  if (bytes.length < SLOTS_AT) return undefined
  const seed = bytes.readUInt32BE(12)
  if (bytes.compare(HEADER_MAGIC, 0, 4, 0, 4) !== 0) return undefined
  if (bytes.readUInt32BE(8) !== checksum(bytes.subarray(0, SLOTS_AT), seed)) return undefined
  const before = bytes.readDoubleBE(56)
  return {
    ...newLogSegment(bytes.readDoubleBE(16), seed),
    owner: bytes.toString('hex', 24, 40),
    position: { upTo: bytes.readDoubleBE(40), number: bytes.readDoubleBE(48) },
    previous:
      before === 0
        ? undefined
        : {
            ...newLogSegment(before, bytes.readUInt32BE(64)),
            bytes: bytes.readDoubleBE(72),
            indexBytes: bytes.readDoubleBE(80),
            newest: bytes.readDoubleBE(88),
          },
  }
}

/** The first number that is kept, as the last trimming wrote it down. */
export interface KeptSlot {
  readonly first: number
  /** Counts the trimmings. */
  readonly turn: number
}

export const slotAt = (turn: number): number => SLOTS_AT + (turn % 2) * SLOT_BYTES

export function encodeSlot({ seed }: LogSegment, { first, turn }: KeptSlot): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES)
  slot.writeUInt32BE(turn, 4)
  slot.writeDoubleBE(first, 8)
  slot.writeUInt32BE(crc32(slot.subarray(4), seed), 0)
  return slot
}

/**
 * The newest slot. `isSure`: both are whole. If not, the one that is lost may have been newer.
 */
export function decodeSlots(
  bytes: Buffer,
  { seed }: LogSegment,
): (KeptSlot & { readonly isSure: boolean }) | undefined {
  const slots: KeptSlot[] = []
  for (const at of [slotAt(0), slotAt(1)]) {
    const slot = bytes.subarray(at, at + SLOT_BYTES)
    if (slot.length === SLOT_BYTES && slot.readUInt32BE(0) === crc32(slot.subarray(4), seed))
      slots.push({ turn: slot.readUInt32BE(4), first: slot.readDoubleBE(8) })
  }
  const [newest] = slots.toSorted((a, b) => b.turn - a.turn)
  return newest && { ...newest, isSure: slots.length === 2 }
}

/** `offset`: where in the file it will stand. */
export function encodeLogSeal({ seed }: LogSegment, offset: number, next: LogSegment): Buffer {
  const seal = Buffer.alloc(LOG_SEAL_BYTES)
  LOG_SEAL_MAGIC.copy(seal)
  seal.writeUInt32BE(next.seed, 12)
  seal.writeDoubleBE(offset, 16)
  seal.writeDoubleBE(next.first, 24)
  seal.writeUInt32BE(checksum(seal, seed), 8)
  return seal
}

/** The segment that follows, if a seal stands at this place; `bytes` begin with the byte at `from` of the file. */
export function decodeLogSeal(
  bytes: Buffer,
  offset: number,
  { seed }: LogSegment,
  from = 0,
): LogSegment | undefined {
  const at = offset - from
  if (at < 0 || at + LOG_SEAL_BYTES > bytes.length) return undefined
  const seal = bytes.subarray(at, at + LOG_SEAL_BYTES)
  if (seal.compare(LOG_SEAL_MAGIC, 0, 4, 0, 4) !== 0 || seal.readUInt32BE(8) !== checksum(seal, seed))
    return undefined
  return seal.readDoubleBE(16) === offset
    ? newLogSegment(seal.readDoubleBE(24), seal.readUInt32BE(12))
    : undefined
}

/** Over everything but the checksum itself, which stands at 8. */
function checksum(bytes: Buffer, seed: number): number {
  return crc32(bytes.subarray(12), crc32(bytes.subarray(0, 8), seed))
}
