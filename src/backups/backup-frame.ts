// One frame of the file of a backup.
//
//   file    header | items ... | undo ... | redo ... | end
//   frame   0 magic  4 crc  8 kind  12 number of the frame  16 length of the body  20 body
//   body    header, end: JSON text
//           items, undo, redo: entries; each 0 kind  1 length  5 JSON text of an item, or of the key of one that is not there
//   file's last eight bytes: the offset of the frame `end`
//
// The checksum covers all that follows it, and begins with the seed that the header names: a frame of another file, or one at
// another place, is not taken for a frame of this file.
import { crc32 } from 'node:zlib'

export const BACKUP_FRAME_HEADER_BYTES = 20
export const TRAILER_BYTES = 8
export const BACKUP_FORMAT = 1
const MAGIC = Buffer.from('SRBK', 'latin1')
const KINDS = ['header', 'items', 'undo', 'redo', 'end'] as const
const ENTRY_HEADER_BYTES = 5
/** No frame is longer: what says so is damaged. An item has at most 400 KB, and a frame ends with the one that fills it. */
export const FRAME_BYTES_MAX = 8 * 1024 * 1024

export type FrameKind = (typeof KINDS)[number]

/** What becomes of an item: it is as this text says, or it is not there, and this is the text of its key. */
export interface BackupEntry {
  readonly kind: 'put' | 'remove'
  readonly text: Uint8Array
}

export interface FrameHead {
  readonly kind: FrameKind
  readonly number: number
  readonly bodyBytes: number
  readonly checksum: number
}

/** A file of a backup is not what was written. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged'
}

export function encodeBackupFrame(kind: FrameKind, number: number, seed: number, body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(BACKUP_FRAME_HEADER_BYTES + body.byteLength)
  MAGIC.copy(bytes)
  bytes.writeUInt32BE(KINDS.indexOf(kind), 8)
  bytes.writeUInt32BE(number, 12)
  bytes.writeUInt32BE(body.byteLength, 16)
  bytes.set(body, BACKUP_FRAME_HEADER_BYTES)
  bytes.writeUInt32BE(crc32(bytes.subarray(8), seed), 4)
  return bytes
}

/** Undefined if no frame can begin like this. */
export function decodeBackupHead(bytes: Uint8Array): FrameHead | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (head.length < BACKUP_FRAME_HEADER_BYTES || head.compare(MAGIC, 0, 4, 0, 4) !== 0) return undefined
  const kind = KINDS[head.readUInt32BE(8)]
  const bodyBytes = head.readUInt32BE(16)
  if (kind === undefined || bodyBytes > FRAME_BYTES_MAX) return undefined
  return { kind, number: head.readUInt32BE(12), bodyBytes, checksum: head.readUInt32BE(4) }
}

/** `frame`: with its head. */
export const isWhole = (frame: Uint8Array, head: FrameHead, seed: number): boolean =>
  frame.byteLength === BACKUP_FRAME_HEADER_BYTES + head.bodyBytes &&
  crc32(frame.subarray(8), seed) === head.checksum

export const entryBytes = ({ text }: BackupEntry): number => ENTRY_HEADER_BYTES + text.byteLength

export function encodeEntries(entries: readonly BackupEntry[]): Buffer {
  let length = 0
  for (const entry of entries) length += entryBytes(entry)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const { kind, text } of entries) {
    bytes[at] = kind === 'put' ? 1 : 2
    bytes.writeUInt32BE(text.byteLength, at + 1)
    bytes.set(text, at + ENTRY_HEADER_BYTES)
    at += ENTRY_HEADER_BYTES + text.byteLength
  }
  return bytes
}

/** Texts are parts of the body, not copies. */
export function* decodeEntries(body: Buffer): Generator<BackupEntry, void, undefined> {
  for (let at = 0; at < body.length;) {
    const kind = body[at] === 1 ? 'put' : 'remove'
    const from = at + ENTRY_HEADER_BYTES
    at = from + body.readUInt32BE(from - 4)
    yield { kind, text: body.subarray(from, at) }
  }
}
