// Numbers as bytes whose order is the order of the numbers, none of them a prefix of another: so a number can stand
// anywhere in a key.
//
//   zero       01
//   positive   02  exponent+130  then two digits a byte: pair * 2 + (1 if another pair follows)
//   negative   00  then every further byte of the positive form, complemented
//
// At most 21 bytes; a small integer takes 3.
import type { DecimalText } from './brand.js'
import { decimalOf, textOf } from './number.js'

/** The key bytes of a canonical number, as a latin1 string. */
export function numberKeyBytes(text: string): string {
  if (text === '0') return ZERO
  const { negative, digits, exponent } = decimalOf(text)
  const flip = negative ? 0xff : 0
  let bytes = (negative ? NEGATIVE : POSITIVE) + String.fromCharCode((exponent + EXPONENT_BIAS) ^ flip)
  const { length } = digits
  for (let at = 0; at < length; at += 2) {
    const low = at + 1 < length ? digits.charCodeAt(at + 1) - DIGIT : 0
    const pair = (digits.charCodeAt(at) - DIGIT) * 10 + low
    bytes += String.fromCharCode((pair * 2 + (at + 2 < length ? 1 : 0)) ^ flip)
  }
  return bytes
}

/** The number whose key bytes start at that place, and where they end. */
export function numberFromKeyBytes(bytes: string, start = 0): { text: DecimalText; end: number } {
  const sign = bytes[start]
  if (sign === ZERO) return { text: '0' as DecimalText, end: start + 1 }
  if (sign !== NEGATIVE && sign !== POSITIVE) throw new RangeError('not the key bytes of a number')
  const negative = sign === NEGATIVE
  const flip = negative ? 0xff : 0
  const exponent = (bytes.charCodeAt(start + 1) ^ flip) - EXPONENT_BIAS
  let digits = ''
  let at = start + 2
  for (;;) {
    const byte = bytes.charCodeAt(at++) ^ flip
    if (!(byte >> 1 < 100)) throw new RangeError('not the key bytes of a number')
    digits += String(byte >> 1).padStart(2, '0')
    if ((byte & 1) === 0) break
  }
  if (digits.endsWith('0')) digits = digits.slice(0, -1)
  return { text: textOf({ negative, digits, exponent }), end: at }
}

const NEGATIVE = '\x00'
const ZERO = '\x01'
const POSITIVE = '\x02'
const EXPONENT_BIAS = 130
const DIGIT = 0x30
