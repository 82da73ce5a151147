// The checksum of a record on disk: CRC-32 over its key and its value, behind the value.
//
//   value | checksum (u32, little-endian)
//
// With the key in it, a value under another key and a key with a flipped bit are found as well. Every flip of one bit is found,
// and so is every burst of up to 32; of other damage all but one in 2^32.
import { crc32 } from 'node:zlib'
import type { KeyBytes } from '../model/brand.js'

export const CHECKSUM_BYTES = 4

/** A record of the index is not what was written: it must not be served. Others may well be sound. */
export class EntryDamaged extends Error {
  override readonly name = 'EntryDamaged'
  /** The key that was asked for, or that of the record as it stands there. */
  readonly key: KeyBytes
  readonly why: string

  constructor(key: KeyBytes, why: string) {
    super(
      `The record with key ${Buffer.from(key, 'latin1').toString('hex')} of the index is damaged (${why})`,
    )
    this.key = key
    this.why = why
  }
}

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : 0xedb88320 ^ (crc >>> 1)
  return crc
})

/** With this a checksum begins. A call into zlib would take longer: keys are short, and are strings. */
export function checksumOfKey(key: KeyBytes): number {
  let crc = -1
  for (let at = 0; at < key.length; at++) crc = TABLE[(crc ^ key.charCodeAt(at)) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}

/** The same, of the bytes. */
export function checksumOfKeyBytes(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1
  for (let at = start; at < end; at++) crc = TABLE[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}

/** Writes the checksum of everything before the last four bytes into them. */
export function seal(ofKey: number, record: Uint8Array): void {
  const at = record.length - CHECKSUM_BYTES
  const crc = crc32(record.subarray(0, at), ofKey)
  record[at] = crc
  record[at + 1] = crc >>> 8
  record[at + 2] = crc >>> 16
  record[at + 3] = crc >>> 24
}

/** A copy of the value, with its checksum. */
export function sealed(key: KeyBytes, value: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(value.length + CHECKSUM_BYTES)
  record.set(value)
  seal(checksumOfKey(key), record)
  return record
}

/**
 * The value within the record that stands in the first `length` of these bytes, or undefined if it is not as it was written.
 * The bytes are not copied.
 */
export function unsealed(
  ofKey: number,
  record: Uint8Array,
  length: number = record.length,
): Uint8Array | undefined {
  const at = length - CHECKSUM_BYTES
  if (at < 0) return undefined
  const value = record.subarray(0, at)
  const stored =
    (record[at]! | (record[at + 1]! << 8) | (record[at + 2]! << 16) | (record[at + 3]! << 24)) >>> 0
  return crc32(value, ofKey) === stored ? value : undefined
}
