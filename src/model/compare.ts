// Equality and order of validated values, as conditions and sort keys see them.
import { compareBase64 } from './binary.js'
import { compareNumbers } from './number.js'
import { attribute, type AttributeValue, type Item } from './value.js'

/** Deep equality: sets and maps have no order, lists have one, values of different types are never equal. */
export function sameValue(a: AttributeValue, b: AttributeValue): boolean {
  if (a === b) return true
  // Numbers and binaries are canonical, so equal values are equal texts.
  if ('S' in a) return 'S' in b && a.S === b.S
  if ('N' in a) return 'N' in b && a.N === b.N
  if ('B' in a) return 'B' in b && a.B === b.B
  if ('BOOL' in a) return 'BOOL' in b && a.BOOL === b.BOOL
  if ('NULL' in a) return 'NULL' in b
  if ('M' in a) return 'M' in b && sameItem(a.M, b.M)
  if ('L' in a) return 'L' in b && sameList(a.L, b.L)
  if ('SS' in a) return 'SS' in b && sameSet(a.SS, b.SS)
  if ('NS' in a) return 'NS' in b && sameSet(a.NS, b.NS)
  return 'BS' in b && sameSet(a.BS, b.BS)
}

/** The same names with the same values, in any order. */
export function sameItem(a: Item, b: Item): boolean {
  if (a === b) return true
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => {
    const other = attribute(b, name)
    return other !== undefined && sameValue(attribute(a, name)!, other)
  })
}

/** The order of two strings, two numbers or two binaries; undefined for anything else, which has no order. */
export function compareValues(a: AttributeValue, b: AttributeValue): number | undefined {
  if ('S' in a) return 'S' in b ? compareUtf8(a.S, b.S) : undefined
  if ('N' in a) return 'N' in b ? compareNumbers(a.N, b.N) : undefined
  if ('B' in a) return 'B' in b ? compareBase64(a.B, b.B) : undefined
  return undefined
}

/**
 * Compares strings by the bytes of their UTF-8 form, which is the order of code points. `<` compares UTF-16 units and
 * puts U+10000 and above, written as surrogates, before U+E000.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const x = a.charCodeAt(at)
    const y = b.charCodeAt(at)
    if (x !== y) return x >= SURROGATES && y >= SURROGATES ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000

/** Moves surrogates above every other unit. */
const rank = (unit: number): number => (unit >= AFTER_SURROGATES ? unit : unit + 0x2800)

function sameList(a: readonly AttributeValue[], b: readonly AttributeValue[]): boolean {
  return a === b || (a.length === b.length && a.every((value, at) => sameValue(value, b[at]!)))
}

/** Members are distinct within each set. */
function sameSet(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  const members = new Set(a)
  return b.every((member) => members.has(member))
}
