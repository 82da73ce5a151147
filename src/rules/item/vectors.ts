// Vectors in items: whether an item with a vector attribute may be stored, and which items are in a vector index. An item
// without the attribute, or without the HASH attribute of the search schema, is simply not in the index; one whose attribute
// is no vector of that length is refused, as one is whose index keys are of a wrong type. Checked where index keys are.
import type { VectorShape } from '../../model/table.js'
import { type AttributeValue, type Item, attribute, typeOf } from '../../model/value.js'

/** Why the item cannot be stored, in DynamoDB's words; undefined if it can. */
export function vectorRefusal(
  { name, attribute: vector, dimensions }: VectorShape,
  item: Item,
): string | undefined {
  const value = attribute(item, vector)
  if (value === undefined) return undefined
  if (!('L' in value)) {
    return `${INVALID} Invalid type for parameter ${vector}, Expected: 32-bit floating point number list IndexName: ${name}`
  }
  if (value.L.length !== dimensions) {
    return `${INVALID} Invalid size for parameter ${vector}, Expected: ${dimensions}, Actual: ${value.L.length} IndexName: ${name}`
  }
  const wrong = value.L.findIndex((element) => coordinate(element) === undefined)
  if (wrong < 0) return undefined
  return (
    `${INVALID} Invalid type for parameter ${vector}[${wrong}], Expected: 32-bit floating point number, ` +
    `Actual: ${typeOf(value.L[wrong]!)}. IndexName: ${name}`
  )
}

const INVALID = 'One or more parameter values were invalid.'

/** The element as the index has it: a number of 32 bits. */
export function coordinate(element: AttributeValue): number | undefined {
  if (!('N' in element)) return undefined
  const value = Math.fround(Number(element.N))
  return Number.isFinite(value) ? value : undefined
}

/** The vector of the item in that index; undefined where the item is not in it, as one that was there before the index and has none. */
export function indexedVector(
  { attribute: vector, dimensions, search }: VectorShape,
  item: Item,
): Float32Array | undefined {
  const value = attribute(item, vector)
  if (value === undefined || !('L' in value) || value.L.length !== dimensions) return undefined
  for (const { name, type, kind } of search) {
    const searched = attribute(item, name)
    if (kind === 'hash' && (searched === undefined || typeOf(searched) !== type)) return undefined
  }
  const coordinates = new Float32Array(dimensions)
  for (const [at, element] of value.L.entries()) {
    const number = coordinate(element)
    if (number === undefined) return undefined
    coordinates[at] = number
  }
  return coordinates
}

/** The attributes that the index holds of an item, its vector among them; undefined: all. */
export function vectorNames(
  { attribute: vector, projection, search }: VectorShape,
  keyNames: readonly string[],
): ReadonlySet<string> | undefined {
  if (projection.type === 'ALL') return undefined
  const included = projection.type === 'INCLUDE' ? projection.attributes : []
  return new Set([...keyNames, vector, ...search.map(({ name }) => name), ...included])
}
