// Where the parts of the ledger stand on the shelf, and how they are written there. Integers are big-endian, so that keys are
// in the order of their numbers.
//
//   s                     how far it is: size, next record of the log, hash of the last header
//   h block               headers from that block on, each behind its length (u16), up to the end of their bundle of 256
//   d block entry         entries from that one on, with salt and data: rows (below); the next piece goes on where it ends
//   T level index         hashes of a tile; of one that is full also those of its inner nodes, row by row
//   n document            its newest revision, and the places of some before it (heads.ts)
//   i document version    places of older revisions, from that version on
//   x transaction         its block
//   u length unit block   a block of that unit of work: the id is its client's, and others may choose the same
//   t table id            the blocks of its creation and of its end
//   k                     where the key is at home (ledger-key.ts)
//
//   row  block u48  entry u32  length u32  length of salt and data u32 (0: none)  entry, salt, data
import { asBuffer } from '../line/record.js'
import type { KeyBytes } from '../model/brand.js'
import { NO_HASH, type StoredEntry } from '../verify/block.js'

export const STATE_KEY = 's' as KeyBytes
export const headersKey = (block: number): KeyBytes => `h${u48(block)}` as KeyBytes
export const rowsKey = (block: number, entry: number): KeyBytes => `d${u48(block)}${u32(entry)}` as KeyBytes
export const tileKey = (level: number, index: number): KeyBytes =>
  `T${String.fromCharCode(level)}${u48(index)}` as KeyBytes
export const newestKey = (document: string): KeyBytes => `n${document}` as KeyBytes
export const olderKey = (document: string, version: number): KeyBytes =>
  `i${document}${u48(version)}` as KeyBytes
export const transactionKey = (tx: string): KeyBytes =>
  `x${Buffer.from(tx, 'utf8').toString('latin1')}` as KeyBytes
export const unitKey = (unit: string, block: number): KeyBytes =>
  `${unitPrefix(unit)}${u48(block)}` as KeyBytes
/** Of all its blocks: no id begins with another one's length and text. */
export const unitPrefix = (unit: string): KeyBytes => {
  const bytes = Buffer.from(unit, 'utf8')
  return `u${String.fromCharCode(bytes.length >> 8, bytes.length & 0xff)}${bytes.toString('latin1')}` as KeyBytes
}
export const tableKey = (tableId: string): KeyBytes => `t${tableId}` as KeyBytes

/** The block of a key of headers or rows. */
export const blockIn = (key: KeyBytes): number => Buffer.from(key, 'latin1').readUIntBE(1, 6)

const u48 = (value: number): string =>
  String.fromCharCode((value / 2 ** 40) & 0xff, (value / 2 ** 32) & 0xff) + u32(value % 2 ** 32)

const u32 = (value: number): string =>
  String.fromCharCode((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)

export const encodeBlockNumber = (block: number): Uint8Array => Buffer.from(u48(block), 'latin1')
export const decodeBlockNumber = (value: Uint8Array): number => asBuffer(value).readUIntBE(0, 6)

/** One entry of a block, with its salt and data; without them if there are none, or none any more. */
export interface EntryRow extends StoredEntry {
  readonly block: number
  readonly entry: number
}

export const ROW_HEADER_BYTES = 18

/** Of the row of that entry; text, salt and data follow. */
export function writeRowHeader(
  bytes: Buffer,
  at: number,
  row: {
    readonly block: number
    readonly entry: number
    readonly textBytes: number
    readonly dataBytes: number
  },
): void {
  bytes.writeUIntBE(row.block, at, 6)
  bytes.writeUInt32BE(row.entry, at + 6)
  bytes.writeUInt32BE(row.textBytes, at + 10)
  bytes.writeUInt32BE(row.dataBytes, at + 14)
}

const rowBytes = ({ bytes, data }: EntryRow): number =>
  ROW_HEADER_BYTES + bytes.byteLength + (data?.byteLength ?? 0)

export function encodeRows(rows: readonly EntryRow[]): Buffer {
  const bytes = Buffer.allocUnsafe(rows.reduce((length, row) => length + rowBytes(row), 0))
  let at = 0
  for (const { block, entry, bytes: text, data } of rows) {
    writeRowHeader(bytes, at, {
      block,
      entry,
      textBytes: text.byteLength,
      dataBytes: data?.byteLength ?? 0,
    })
    bytes.set(text, at + ROW_HEADER_BYTES)
    if (data !== undefined) bytes.set(data, at + ROW_HEADER_BYTES + text.byteLength)
    at += ROW_HEADER_BYTES + text.byteLength + (data?.byteLength ?? 0)
  }
  return bytes
}

/** Parts of `value`, not copies. */
export function decodeRows(value: Uint8Array): EntryRow[] {
  const bytes = asBuffer(value)
  const rows: EntryRow[] = []
  for (let at = 0; at < bytes.length;) {
    const textAt = at + ROW_HEADER_BYTES
    const dataAt = textAt + bytes.readUInt32BE(at + 10)
    const end = dataAt + bytes.readUInt32BE(at + 14)
    rows.push({
      block: bytes.readUIntBE(at, 6),
      entry: bytes.readUInt32BE(at + 6),
      bytes: bytes.subarray(textAt, dataAt),
      ...(end > dataAt && { data: bytes.subarray(dataAt, end) }),
    })
    at = end
  }
  return rows
}

/** How far the ledger is. */
export interface LedgerState {
  readonly size: number
  /** The first record of the log of commits that is not in a block yet. */
  readonly next: number
  /** Hash of the last header, as a leaf; of zeros if there is none. */
  readonly prev: Uint8Array
}

export const encodeState = ({ size, next, prev }: LedgerState): Uint8Array => {
  const bytes = Buffer.allocUnsafe(12 + prev.byteLength)
  bytes.writeUIntBE(size, 0, 6)
  bytes.writeUIntBE(next, 6, 6)
  bytes.set(prev, 12)
  return bytes
}

export function decodeState(value: Uint8Array | undefined): LedgerState {
  if (value === undefined) return { size: 0, next: 1, prev: NO_HASH }
  const bytes = asBuffer(value)
  return { size: bytes.readUIntBE(0, 6), next: bytes.readUIntBE(6, 6), prev: bytes.subarray(12, 44) }
}

/** The blocks in which a table was made a ledger, and in which it ended. */
export interface TableMarks {
  readonly created: number
  readonly dropped?: number
}

export const encodeMarks = (marks: TableMarks): Uint8Array => Buffer.from(JSON.stringify(marks))
export const decodeMarks = (value: Uint8Array): TableMarks =>
  JSON.parse(asBuffer(value).toString()) as TableMarks
