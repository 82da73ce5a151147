// Bytes and their texts, without Buffer. Base64 and UTF-8 are strict: of two texts that differ, two results differ.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const DIGITS = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = '='.charCodeAt(0)
/** A multiple of three; four thirds of it are arguments that a call takes well. */
const CHUNK_BYTES = 6144

export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** Undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

export function base64(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const end = Math.min(bytes.length, start + CHUNK_BYTES)
    const codes = new Uint8Array(4 * Math.ceil((end - start) / 3)).fill(PADDING)
    for (let at = start, to = 0; at < end; at += 3, to += 4) {
      const [two, three] = [at + 1 < end ? bytes[at + 1]! : 0, at + 2 < end ? bytes[at + 2]! : 0]
      codes[to] = DIGITS[bytes[at]! >> 2]!
      codes[to + 1] = DIGITS[((bytes[at]! & 3) << 4) | (two >> 4)]!
      if (at + 1 < end) codes[to + 2] = DIGITS[((two & 15) << 2) | (three >> 6)]!
      if (at + 2 < end) codes[to + 3] = DIGITS[three & 63]!
    }
    // Not by its iterator: a verifier writes millions of hashes.
    text += Reflect.apply(String.fromCharCode, undefined, codes) as string
  }
  return text
}

/** Undefined if the text is not what `base64` would make of the bytes, or not of so many. */
export function fromBase64(text: string, length?: number): Uint8Array | undefined {
  try {
    const binary = atob(text)
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
    return base64(bytes) === text && bytes.length === (length ?? bytes.length) ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Whether it is what `base64` makes of some 32 bytes: its last digit has two bits that are 0. */
export const isHashText = (text: unknown): boolean =>
  typeof text === 'string' && /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text)

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** A decimal without a sign or leading zeros that a number holds exactly; else undefined. */
export function decimal(text: string): number | undefined {
  return /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}
