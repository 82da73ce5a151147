// Whether a list or a set has a value in it, for `contains`.
//
// An expression may ask that 149 times, of a list of 200,000 elements. So a long one that was looked through several times is
// not looked through again: what it holds is noted once, as texts, and forgotten together with the item that it is of.
import { sameValue } from '../../model/compare.js'
import { typeOf, type AttributeValue } from '../../model/value.js'

/** Shorter ones are always looked through. */
const LONG = 256
/** As many looks take about as long as noting what is there. */
const LOOKS_MAX = 8

interface Looked {
  looks: number
  texts: Set<string> | undefined
}

const looked = new WeakMap<readonly unknown[], Looked>()

export function holdsElement(list: readonly AttributeValue[], part: AttributeValue): boolean {
  const texts = textsOf(list, comparedText)
  if (texts !== undefined) return texts.has(comparedText(part))
  const type = typeOf(part)
  for (const element of list) if (type in element && sameValue(element, part)) return true
  return false
}

export function holdsMember(members: readonly string[], member: string): boolean {
  return textsOf(members, (text) => text)?.has(member) ?? members.includes(member)
}

/** What is in it, once it is worth to know; an array is either a list of values or the members of a set. */
function textsOf<Held>(held: readonly Held[], text: (one: Held) => string): ReadonlySet<string> | undefined {
  if (held.length < LONG) return undefined
  let look = looked.get(held)
  if (look === undefined) looked.set(held, (look = { looks: 0, texts: undefined }))
  if (++look.looks <= LOOKS_MAX) return undefined
  return (look.texts ??= new Set(held.map(text)))
}

/** The same text for equal values, another one for all others. */
export function comparedText(value: AttributeValue): string {
  if ('S' in value) return `S${value.S}`
  if ('N' in value) return `N${value.N}`
  if ('B' in value) return `B${value.B}`
  if ('BOOL' in value) return value.BOOL ? 'true' : 'false'
  if ('NULL' in value) return 'null'
  return JSON.stringify(canonical(value))
}

/** Sets and maps have no order: here they have one. */
function canonical(value: AttributeValue): unknown {
  if ('L' in value) return ['L', value.L.map(canonical)]
  if ('M' in value) {
    const names = Object.keys(value.M).toSorted()
    return ['M', names.map((name) => [name, canonical(value.M[name]!)])]
  }
  if ('SS' in value) return ['SS', value.SS.toSorted()]
  if ('NS' in value) return ['NS', value.NS.toSorted()]
  if ('BS' in value) return ['BS', value.BS.toSorted()]
  return comparedText(value)
}
