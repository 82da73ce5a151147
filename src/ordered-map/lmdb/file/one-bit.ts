// Finds the one bit of a record that was flipped, by its checksum. CRC-32 is linear: what a flipped bit does to the checksum
// depends on its place alone, and differs from place to place. Two flipped bits are never taken for one in records of up to
// 11 KB; other damage is, in one of half a million records of 1 KB, so nobody is served what was mended by this alone.
import { crc32 } from 'node:zlib'
import type { KeyBytes } from '../../../model/brand.js'
import { CHECKSUM_BYTES, checksumOfKey } from '../../checksum.js'

const REVERSED_POLYNOMIAL = 0xedb88320
/** Beyond this the search takes too long. */
const RECORD_BYTES_MAX = 512 * 1024

/** The key and the record (a value with its checksum) as they were before one bit was flipped, if that is what happened. */
export function beforeOneFlip(
  key: KeyBytes,
  record: Uint8Array,
): { readonly key: KeyBytes; readonly record: Uint8Array } | undefined {
  const flipped = flippedBit(key, record)
  if (flipped === undefined) return undefined
  const { byte, bit } = flipped
  if (byte < key.length) {
    const mended = key.charCodeAt(byte) ^ (1 << bit)
    return {
      key: (key.slice(0, byte) + String.fromCharCode(mended) + key.slice(byte + 1)) as KeyBytes,
      record,
    }
  }
  const bytes = Uint8Array.from(record)
  bytes[byte - key.length]! ^= 1 << bit
  return { key, record: bytes }
}

/** The key as it was. */
export const keyBefore = (key: KeyBytes, record: Uint8Array): KeyBytes | undefined =>
  beforeOneFlip(key, record)?.key

/** Counted from the first byte of the key to the last of the record. */
function flippedBit(
  key: KeyBytes,
  record: Uint8Array,
): { readonly byte: number; readonly bit: number } | undefined {
  const valueLength = record.length - CHECKSUM_BYTES
  if (valueLength < 0 || record.length > RECORD_BYTES_MAX) return undefined
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  const wanted =
    (crc32(record.subarray(0, valueLength), checksumOfKey(key)) ^ view.getUint32(valueLength, true)) >>> 0
  if (wanted === 0) return undefined
  // In the checksum itself: the difference is that bit.
  if ((wanted & (wanted - 1)) === 0) {
    const at = 31 - Math.clz32(wanted)
    return { byte: key.length + valueLength + (at >> 3), bit: at & 7 }
  }
  // From the last bit before the checksum backwards: each is the one behind it, a step further on.
  let effect = REVERSED_POLYNOMIAL
  for (let byte = key.length + valueLength - 1; byte >= 0; byte--) {
    for (let bit = 7; bit >= 0; bit--) {
      if (effect >>> 0 === wanted) return { byte, bit }
      effect = (effect & 1) === 0 ? effect >>> 1 : (effect >>> 1) ^ REVERSED_POLYNOMIAL
    }
  }
  return undefined
}
