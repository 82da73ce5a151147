// Bytes and their texts, without Buffer. Base64 and UTF-8 are strict: of two texts that differ, two results differ.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** The arguments that a call of String.fromCharCode takes well. */
const CHARACTERS_MAX = 8192

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
  for (let at = 0; at < bytes.length; at += CHARACTERS_MAX)
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_MAX))
  return btoa(text)
}

/** Undefined if the text is not what `base64` would make of the bytes, or not of so many. */
export function fromBase64(text: string, length?: number): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return base64(bytes) === text && bytes.length === (length ?? bytes.length) ? bytes : undefined
  } catch {
    return undefined
  }
}

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
