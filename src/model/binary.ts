// Binary values: canonical base64, as the wire has them. Node's decoder skips what it does not know, so nothing is
// decoded before it was checked here.
import { serializationError } from './errors.js'

/**
 * Returns the text if it is canonical base64: the standard alphabet, padded, unused bits zero. Throws DynamoDB's
 * SerializationException otherwise. Equal bytes thus have equal texts.
 */
export function parseBase64(text: string): string {
  const { length } = text
  if (length % 4 !== 0)
    throw serializationError(`Base64 encoded length is expected a multiple of 4 bytes but found: ${length}`)
  const padding = paddingOf(text)
  const end = length - padding
  for (let at = 0; at < end; at++) {
    if (sextet(text, at) !== INVALID) continue
    throw serializationError(
      text.charCodeAt(at) === PAD ? MISPLACED : `Invalid base 64 character: '${text.charAt(at)}'`,
    )
  }
  // One pad character leaves two unused bits, two leave four.
  if (padding > 0 && (sextet(text, end - 1) & (padding === 1 ? 0b11 : 0b1111)) !== 0)
    throw serializationError(MISPLACED)
  return text
}

/** How many bytes a canonical base64 text stands for. */
export function base64Bytes(text: string): number {
  return (text.length / 4) * 3 - paddingOf(text)
}

/** Compares what two canonical base64 texts stand for, byte by byte, unsigned. */
export function compareBase64(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a, 'base64'), Buffer.from(b, 'base64'))
}

/** The bytes of a canonical base64 text, as a latin1 string. */
export function base64ToBytes(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1')
}

/** The canonical base64 text of bytes that are a latin1 string. */
export function bytesToBase64(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('base64')
}

const INVALID = 0xff
/** With the slip of the service. */
const MISPLACED = 'Invalid last non-pad Base64 character dectected'
const PAD = 0x3d

const SEXTETS = (() => {
  const table = new Uint8Array(128).fill(INVALID)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let value = 0; value < alphabet.length; value++) table[alphabet.charCodeAt(value)] = value
  return table
})()

const sextet = (text: string, at: number): number => SEXTETS[text.charCodeAt(at)] ?? INVALID

function paddingOf(text: string): number {
  const { length } = text
  if (length === 0 || text.charCodeAt(length - 1) !== PAD) return 0
  return text.charCodeAt(length - 2) === PAD ? 2 : 1
}
