// An item as bytes: a fixed header, then its wire form. The JSON is answered as it stands, without being parsed.
//
//   0 format  1 last write  2 timestamp (f64)  10 LSN (f64)  18 item bytes (u32)  22 JSON in UTF-8
import type { Lsn, Timestamp } from '../model/brand.js'
import type { Item } from '../model/value.js'
import type { ItemRecord, ItemState, LastWrite } from '../rules/item/item.js'
import type { NextImage } from '../rules/item/single-write.js'

const FORMAT = 1
export const HEADER_BYTES = 22
const UPDATED = 1
const BLIND = 2

/** `json`: the text of the item, where it is known already. */
export function encodeItemRecord(next: NextImage, timestamp: Timestamp, lsn: Lsn, json?: Uint8Array): Buffer {
  const bytes = json === undefined ? withText(JSON.stringify(next.item)) : withBytes(json)
  bytes[0] = FORMAT
  bytes[1] = (next.lastWrite.kind === 'update' ? UPDATED : 0) | (next.lastWrite.blind ? BLIND : 0)
  bytes.writeDoubleBE(timestamp, 2)
  bytes.writeDoubleBE(lsn, 10)
  bytes.writeUInt32BE(next.itemBytes, 18)
  return bytes
}

function withText(json: string): Buffer {
  const jsonBytes = Buffer.byteLength(json)
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + jsonBytes)
  // As many bytes as characters: it is ASCII, which is copied faster as what it also is.
  bytes.write(json, HEADER_BYTES, jsonBytes === json.length ? 'latin1' : 'utf8')
  return bytes
}

function withBytes(json: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + json.length)
  bytes.set(json, HEADER_BYTES)
  return bytes
}

/** By flags; shared, because a request decodes many records and looks at few of these. */
const LAST_WRITES: readonly LastWrite[] = [
  { kind: 'put', blind: false },
  { kind: 'update', blind: false },
  { kind: 'put', blind: true },
  { kind: 'update', blind: true },
]

/** Its JSON is a part of the bytes, and made only for whoever asks: a write seldom needs what was there before. */
class StoredRecord implements ItemRecord {
  readonly timestamp: Timestamp
  readonly lsn: Lsn
  readonly lastWrite: LastWrite
  readonly itemBytes: number
  readonly #bytes: Buffer
  #json: Uint8Array | undefined

  constructor(bytes: Buffer) {
    this.timestamp = bytes.readDoubleBE(2) as Timestamp
    this.lsn = bytes.readDoubleBE(10) as Lsn
    this.lastWrite = LAST_WRITES[(bytes[1] as number) & (UPDATED | BLIND)] as LastWrite
    this.itemBytes = bytes.readUInt32BE(18)
    this.#bytes = bytes
  }

  get json(): Uint8Array {
    return (this.#json ??= this.#bytes.subarray(HEADER_BYTES))
  }
}

/** The record in these bytes, which are not copied. */
export function decodeItemRecord(stored: Uint8Array): ItemRecord {
  const bytes = asBuffer(stored)
  if (bytes[0] !== FORMAT) throw unknownFormat(bytes)
  return new StoredRecord(bytes)
}

const unknownFormat = (bytes: Uint8Array): Error =>
  new Error(`an item record of format ${bytes[0]}, which this version does not know`)

/** Only the size, for counters. */
export function recordItemBytes(stored: Uint8Array): number {
  return asBuffer(stored).readUInt32BE(18)
}

/** The same of a record that is only lent: the bytes may be longer than it. */
export function lentItemBytes(lent: Uint8Array): number {
  if (lent[0] !== FORMAT) throw unknownFormat(lent)
  return ((lent[18]! << 24) | (lent[19]! << 16) | (lent[20]! << 8) | lent[21]!) >>> 0
}

/** Only when it was written. */
export function recordTimestamp(stored: Uint8Array): Timestamp {
  return asBuffer(stored).readDoubleBE(2) as Timestamp
}

export function parseRecord(record: ItemRecord): Item {
  return JSON.parse(asBuffer(record.json).toString('utf8')) as Item
}

/** The state of an item, parsed at most once. */
export function itemState(stored: Uint8Array | undefined): ItemState {
  if (stored === undefined) return NO_ITEM
  const record = decodeItemRecord(stored)
  let parsed: Item | undefined
  return { record, item: () => (parsed ??= parseRecord(record)) }
}

const NO_ITEM: ItemState = { record: undefined, item: () => undefined }

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
