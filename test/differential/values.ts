// Random attribute values. The pools are small, so that conditions and keys meet.
import type { Random } from './random.js'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }
export type ScalarType = 'S' | 'N' | 'B'

const STRINGS = ['a', 'b', 'ab', 'abc', 'B', 'é', '\u{1f600}', '~', 'a b', '0', '10', 'x'.repeat(300)]
const NUMBERS = [
  '0',
  '1',
  '2',
  '-1',
  '3',
  '10',
  '9',
  '0.1',
  '-0.5',
  '3.14',
  '1e2',
  '100',
  '1.50',
  '007',
  '+5',
  '-0',
  '123456789012345678901234567890',
  '99999999999999999999999999999999999999',
  '1E125',
  '-1E125',
  '9.9999999999999999999999999999999999999E+125',
  '1E-130',
  '-1E-130',
  '1.5e-7',
  '1e20',
  '1e21',
  '.5',
  '5.',
]
const WRONG_NUMBERS = [
  '',
  'abc',
  '1e126',
  '1E-131',
  '1e',
  'NaN',
  'Infinity',
  '0x10',
  '1_000',
  ' 5',
  '5 ',
  '--1',
  '1,5',
  '123456789012345678901234567890123456789',
  '1.23456789012345678901234567890123456789',
  '1e999999',
]
const BINARIES = ['AA==', 'AQI=', '/w==', 'YWJj', 'YQ==', 'gA==', 'AAA=']
const WRONG_BINARIES = ['a', '####', 'YQ', 'YQ=', 'YR==', '=', 'Y Q==']
const WRONG_VALUES: readonly Json[] = [
  {},
  { S: 'a', N: '1' },
  { X: 'a' },
  { S: 1 },
  { N: 1 },
  { N: true },
  { B: 5 },
  { BOOL: 'true' },
  { BOOL: 'x' },
  { BOOL: 1 },
  { NULL: false },
  { NULL: 'true' },
  { SS: [] },
  { NS: [] },
  { BS: [] },
  { SS: 'a' },
  { SS: [1] },
  { NS: ['1', '1.0'] },
  { NS: ['abc'] },
  { SS: ['a', 'a'] },
  { BS: ['YQ==', 'YQ=='] },
  { L: {} },
  { L: [{}] },
  { M: [] },
  { M: { a: {} } },
  { S: null },
  null,
  'a',
  5,
  [],
]

export const TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'] as const
export type Type = (typeof TYPES)[number]

/** Names of attributes; some need a placeholder. */
export const NAMES = [
  'a',
  'b',
  'c',
  'd',
  'm',
  'l',
  'n',
  's1',
  'ss',
  'ns',
  'bs',
  'Size',
  'x.y',
  'x-y',
  'é',
  '_u',
  '1st',
]

/** What an attribute of that name mostly holds, so that an update meets the type it needs. */
const USUAL: Readonly<Record<string, Type>> = {
  m: 'M',
  l: 'L',
  n: 'N',
  a: 'S',
  ss: 'SS',
  ns: 'NS',
  bs: 'BS',
  d: 'M',
}

export function usualValue(random: Random, attribute: string, depth = 0): Json {
  const type = USUAL[attribute]
  return type !== undefined && !random.oneIn(5) ? valueOf(random, type, depth) : value(random, depth)
}

/** A name that mostly holds that type. */
export function usualName(random: Random, type: Type): string {
  const names = Object.keys(USUAL).filter((one) => USUAL[one] === type)
  return names.length > 0 && !random.oneIn(4) ? random.pick(names) : random.pick(NAMES)
}

export function text(random: Random): string {
  if (random.oneIn(30)) return ''
  return random.pick(STRINGS)
}

export function number(random: Random): string {
  if (random.mischief()) return random.pick(WRONG_NUMBERS)
  if (random.oneIn(6)) return String(random.below(2_000) - 1_000)
  if (random.oneIn(8)) return randomDecimal(random)
  return random.pick(NUMBERS)
}

function randomDecimal(random: Random): string {
  const digits = random.several(1, 38, () => random.below(10)).join('')
  const point = random.below(digits.length)
  const mantissa = `${digits.slice(0, point) || '0'}.${digits.slice(point)}`
  const exponent = random.oneIn(2) ? '' : `E${random.below(160) - 80}`
  return `${random.oneIn(3) ? '-' : ''}${mantissa}${exponent}`
}

export function binary(random: Random): string {
  if (random.mischief()) return random.pick(WRONG_BINARIES)
  if (random.oneIn(30)) return ''
  return random.pick(BINARIES)
}

export function value(random: Random, depth = 0): Json {
  if (random.mischief(40)) return random.pick(WRONG_VALUES)
  return valueOf(random, random.pick(depth < 3 ? TYPES : TYPES.slice(0, 8)), depth)
}

export function valueOf(random: Random, type: Type, depth = 0): Json {
  switch (type) {
    case 'S':
      return { S: text(random) }
    case 'N':
      return { N: number(random) }
    case 'B':
      return { B: binary(random) }
    case 'BOOL':
      return { BOOL: random.oneIn(2) }
    case 'NULL':
      return { NULL: true }
    case 'SS':
      return { SS: distinct(random, () => text(random)) }
    case 'NS':
      return { NS: random.mischief() ? ['1', '1.0', '2'] : distinct(random, () => String(random.below(6))) }
    case 'BS':
      return { BS: distinct(random, () => binary(random)) }
    case 'L':
      return { L: random.several(0, depth < 3 ? 4 : 0, () => value(random, depth + 1)) }
    case 'M':
      return {
        M: Object.fromEntries(
          random.several(0, 4, () => {
            const member = name(random)
            return [member, usualValue(random, member, depth + 1)]
          }),
        ),
      }
  }
}

function distinct(random: Random, make: () => string): string[] {
  const made = random.several(1, 4, make)
  return random.mischief() ? made : [...new Set(made)]
}

export function name(random: Random): string {
  if (random.mischief(60)) return random.pick(['', 'n'.repeat(300), '#a', ':a'])
  return random.pick(NAMES)
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
