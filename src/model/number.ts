// DynamoDB's numbers: exact decimals of up to 38 significant digits, and zero.
//
// A number lives as its canonical text, which is what DynamoDB answers with: plain digits, never an exponent, no zeros
// that carry no value, no plus, no negative zero. Two numbers are equal if and only if their texts are. Everything here
// but `parseNumber` takes canonical text and would be wrong with another.
import type { DecimalText } from './brand.js'
import { RewordedError, validationError } from './errors.js'
import { limits } from './limits.js'

const { numberDigitsMax, numberCharactersMax } = limits
/** Exponents of the first significant digit, as in 9.99E+125. */
const EXPONENT_MAX = 125
const EXPONENT_MIN = -130

/**
 * The canonical text of a number as a client wrote it: `parseNumber('1.50E2')` is `'150'`. Throws DynamoDB's
 * ValidationException for what is no number, too large, too small or too precise.
 */
export function parseNumber(text: string): DecimalText {
  return isCanonical(text) ? (text as DecimalText) : parseAnyNotation(text)
}

/** Negative, zero or positive, as `Array.prototype.sort` wants it. */
export function compareNumbers(a: string, b: string): number {
  if (a === b) return 0
  const aNegative = a.charCodeAt(0) === MINUS
  const bNegative = b.charCodeAt(0) === MINUS
  if (aNegative !== bNegative) return aNegative ? -1 : 1
  // Of two canonical numbers of one sign the one with more integer digits is larger in magnitude; with as many, the
  // texts align digit by digit, and the shorter one is a prefix or differs before its end.
  const aWhole = wholeLength(a)
  const bWhole = wholeLength(b)
  const magnitude = aWhole === bWhole ? (a < b ? -1 : 1) : aWhole - bWhole
  return aNegative ? -magnitude : magnitude
}

/** The exact sum. Like DynamoDB, refuses a result of more than 38 digits instead of rounding it, as an overflow. */
export function addNumbers(a: string, b: string): DecimalText {
  if (isSmallInteger(a) && isSmallInteger(b)) return String(Number(a) + Number(b)) as DecimalText
  return combine(a, b, (x, y) => x + y)
}

/** The exact difference; refuses like `addNumbers`. */
export function subtractNumbers(a: string, b: string): DecimalText {
  if (isSmallInteger(a) && isSmallInteger(b)) return String(Number(a) - Number(b)) as DecimalText
  return combine(a, b, (x, y) => x - y)
}

/**
 * The size DynamoDB charges: a byte, and a byte for every two significant digits, counted apart before and after the
 * point, and one more for a sign.
 */
export function numberBytes(text: string): number {
  if (text === '0') return 1
  const negative = text.charCodeAt(0) === MINUS
  const point = text.indexOf('.')
  let digits: number
  if (point < 0) {
    digits = pairs(lastDigit(text) - (negative ? 1 : 0) + 1)
  } else {
    const first = firstDigit(text)
    digits =
      first < point
        ? pairs(point - (negative ? 1 : 0)) + pairs(text.length - point - 1)
        : pairs(text.length - first)
  }
  return 1 + digits + (negative ? 1 : 0)
}

/**
 * The digits without the point, and the power of ten of the first of them. Zero has no digits.
 */
export interface Decimal {
  readonly negative: boolean
  /** Starts and ends with a digit other than 0. */
  readonly digits: string
  readonly exponent: number
}

export function decimalOf(text: string): Decimal {
  const negative = text.charCodeAt(0) === MINUS
  if (text === '0') return { negative, digits: '', exponent: 0 }
  const whole = wholeLength(text)
  const first = firstDigit(text)
  const last = lastDigit(text)
  if (whole === text.length)
    return { negative, digits: text.slice(first, last + 1), exponent: whole - first - 1 }
  if (first > whole) return { negative, digits: text.slice(first), exponent: whole - first }
  return { negative, digits: text.slice(first, whole) + text.slice(whole + 1), exponent: whole - first - 1 }
}

export function textOf({ negative, digits, exponent }: Decimal): DecimalText {
  if (digits === '') return '0' as DecimalText
  let text: string
  if (exponent < 0) text = '0.' + '0'.repeat(-exponent - 1) + digits
  else if (exponent >= digits.length - 1) text = digits + '0'.repeat(exponent - digits.length + 1)
  else text = digits.slice(0, exponent + 1) + '.' + digits.slice(exponent + 1)
  return (negative ? '-' + text : text) as DecimalText
}

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39

/** Sums of two integers of this many characters are exact in a double. */
const SMALL_INTEGER_LENGTH_MAX = 15

const pairs = (digits: number): number => (digits + 1) >> 1

const isSmallInteger = (text: string): boolean =>
  text.length <= SMALL_INTEGER_LENGTH_MAX && text.indexOf('.') < 0

/** Where the point stands or would stand. */
function wholeLength(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? text.length : point
}

function firstDigit(text: string): number {
  let at = 0
  while (text.charCodeAt(at) <= ZERO) at++
  return at
}

function lastDigit(text: string): number {
  let at = text.length - 1
  while (text.charCodeAt(at) === ZERO) at--
  return at
}

/** True only for canonical text; false for canonical text of more than 38 digits, which takes the long way. */
function isCanonical(text: string): boolean {
  const { length } = text
  let at = text.charCodeAt(0) === MINUS ? 1 : 0
  const digits = length - at
  if (digits === 0 || digits > numberDigitsMax) return false
  const first = text.charCodeAt(at)
  if (first === ZERO) {
    if (length === 1) return true
    if (text.charCodeAt(at + 1) !== POINT) return false
  } else if (first < ZERO || first > NINE) {
    return false
  }
  let point = false
  for (at++; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code === POINT && !point) point = true
    else if (code < ZERO || code > NINE) return false
  }
  const last = text.charCodeAt(length - 1)
  return !point || (last !== ZERO && last !== POINT)
}

function parseAnyNotation(text: string): DecimalText {
  if (text === '') throw new RewordedError(`${NOT_NUMERIC}: `, NOT_NUMERIC)
  // Before anything looks at its characters: there may be millions of them.
  if (text.length > numberCharactersMax)
    throw notANumber(`${text.slice(0, numberCharactersMax)}... (${text.length} characters)`)
  let at = 0
  const negative = text.charCodeAt(0) === MINUS
  if (negative || text.charCodeAt(0) === PLUS) at++

  const start = at
  let point = -1
  let first = -1
  let last = -1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === POINT && point < 0) {
      point = at
    } else if (code >= ZERO && code <= NINE) {
      if (code === ZERO) continue
      if (first < 0) first = at
      last = at
    } else {
      break
    }
  }
  const end = at
  if (end - start - (point < 0 ? 0 : 1) === 0) throw notANumber(text)
  const shift = at < text.length ? parseExponent(text, at) : 0
  if (first < 0) {
    // DynamoDB looks at the exponent that a zero is written with, unless it has a point.
    if (point < 0) checkExponent(shift, shift, text)
    return '0' as DecimalText
  }

  if (point < 0) point = end
  const exponent = (first < point ? point - first - 1 : point - first) + shift
  const digits =
    first < point && last > point
      ? text.slice(first, point) + text.slice(point + 1, last + 1)
      : text.slice(first, last + 1)
  checkExponent(exponent, shift, text)
  return checkedText({ negative, digits, exponent })
}

/** Far out of range, yet exact when a text's length is added to it. */
const EXPONENT_FAR = 1e12

function parseExponent(text: string, start: number): number {
  const letter = text[start]
  if (letter !== 'e' && letter !== 'E') throw notANumber(text)
  let at = start + 1
  const negative = text.charCodeAt(at) === MINUS
  if (negative || text.charCodeAt(at) === PLUS) at++
  if (at === text.length) throw notANumber(text)
  let value = 0
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE) throw notANumber(text)
    value = Math.min(value * 10 + code - ZERO, EXPONENT_FAR)
  }
  if (at - start > EXPONENT_CHARACTERS_MAX && BigInt(text.slice(start + 1).replace(/^[+-]/, '')) > LONG_MAX)
    throw notANumber(text)
  return negative ? -value : value
}

/** A letter and eighteen digits: fewer than a Java long has. */
const EXPONENT_CHARACTERS_MAX = 19
const LONG_MAX = 2n ** 63n - 1n

const NOT_NUMERIC = 'The parameter cannot be converted to a numeric value'

const notANumber = (text: string): Error => validationError(`${NOT_NUMERIC}: ${text}`)

function checkedText(decimal: Decimal): DecimalText {
  const { digits, exponent } = decimal
  checkExponent(exponent)
  if (digits.length > numberDigitsMax)
    throw validationError(`Attempting to store more than ${numberDigitsMax} significant digits in a Number`)
  return textOf(decimal)
}

const OVERFLOW = 'Number overflow. Attempting to store a number with magnitude larger than supported range'
const UNDERFLOW = 'Number underflow. Attempting to store a number with magnitude smaller than supported range'

/** `shift` is the exponent that the text is written with, if it is written with one. */
function checkExponent(exponent: number, shift = 0, text = ''): void {
  if (exponent >= EXPONENT_MIN && exponent <= EXPONENT_MAX) return
  const message = exponent > EXPONENT_MAX ? OVERFLOW : UNDERFLOW
  throw new RewordedError(message, asBigDecimal(shift, text) ?? message)
}

const INT_MAX = 2 ** 31 - 1
/** Beyond it Java's difference of precision and scale wraps around, and a number that is too large looks too small. */
const WRAPPING_EXPONENT_MIN = INT_MAX - 40

/** What the older check of requests, which reads numbers as Java's BigDecimal does, says of an exponent of its own. */
function asBigDecimal(shift: number, text: string): string | undefined {
  if (Math.abs(shift) > INT_MAX) return `${NOT_NUMERIC}: ${text}`
  return shift < WRAPPING_EXPONENT_MIN ? undefined : UNDERFLOW
}

const overflow = (): Error => validationError(OVERFLOW)

/** Both as integers at the finer of their two scales: at most 126 + 167 digits. */
function combine(a: string, b: string, operation: (x: bigint, y: bigint) => bigint): DecimalText {
  const scale = Math.max(fractionLength(a), fractionLength(b))
  const result = operation(scaled(a, scale), scaled(b, scale))
  if (result === 0n) return '0' as DecimalText
  const negative = result < 0n
  const text = String(negative ? -result : result)
  const digits = text.slice(0, lastDigit(text) + 1)
  // The service has no message of its own for this.
  if (digits.length > numberDigitsMax) throw overflow()
  return checkedText({ negative, digits, exponent: text.length - 1 - scale })
}

const fractionLength = (text: string): number => Math.max(0, text.length - wholeLength(text) - 1)

function scaled(text: string, scale: number): bigint {
  const fraction = fractionLength(text)
  return BigInt(text.replace('.', '') + '0'.repeat(scale - fraction))
}
