// Changes as bytes, on their way to the process that writes the index.
//
//   key length (u32) | value length (u32; all ones: a removal) | key | value | room      one after another
//
// The room is for the checksum, which that process works out.
import { CHECKSUM_BYTES } from './checksum.js'
import type { IndexChange } from './ordered-map.js'

const HEAD_BYTES = 8
const REMOVAL = 0xffff_ffff

/** All changes, in as many pieces as it takes; `lend` gives the memory for a piece of at least so many bytes. */
export function* encodeChanges(
  changes: Iterable<IndexChange>,
  lend: (bytesMin: number) => ArrayBuffer,
): Iterable<Uint8Array<ArrayBuffer>> {
  let piece: Buffer<ArrayBuffer> | undefined
  let at = 0
  for (const [key, value] of changes) {
    const bytes = HEAD_BYTES + key.length + (value === undefined ? 0 : value.length + CHECKSUM_BYTES)
    if (piece !== undefined && at + bytes > piece.length) {
      yield piece.subarray(0, at)
      piece = undefined
    }
    if (piece === undefined) {
      piece = Buffer.from(lend(bytes))
      at = 0
    }
    piece.writeUInt32LE(key.length, at)
    piece.writeUInt32LE(value?.length ?? REMOVAL, at + 4)
    at += HEAD_BYTES
    at += piece.write(key, at, 'latin1')
    if (value === undefined) continue
    piece.set(value, at)
    at += value.length + CHECKSUM_BYTES
  }
  if (piece !== undefined) yield piece.subarray(0, at)
}

/** Shows each change; key and record, a value with the room behind it, are parts of the bytes. */
export function forEachChange(
  bytes: Uint8Array,
  look: (key: Uint8Array, record: Uint8Array | undefined) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < bytes.length) {
    const keyEnd = at + HEAD_BYTES + view.getUint32(at, true)
    const valueLength = view.getUint32(at + 4, true)
    const key = bytes.subarray(at + HEAD_BYTES, keyEnd)
    if (valueLength === REMOVAL) {
      at = keyEnd
      look(key, undefined)
    } else {
      at = keyEnd + valueLength + CHECKSUM_BYTES
      look(key, bytes.subarray(keyEnd, at))
    }
  }
}
