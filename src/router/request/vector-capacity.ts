// What vectors cost, as DynamoDB counts it: an attribute that a vector index reads counts four bytes for each dimension where a
// write is charged, whatever its numbers are; and a write that changes what such an index holds is charged for in bytes.
import { sameValue } from '../../model/compare.js'
import {
  itemBytes,
  valueBytes,
  attribute,
  setAttribute,
  type Item,
  type MutableItem,
} from '../../model/value.js'
import { keyNames, type TableShape, type VectorShape } from '../../model/table.js'
import { indexedVector, vectorNames } from '../../rules/item/vectors.js'

const COORDINATE_BYTES = 4
/** The least that one entry of an index is charged for. */
const ENTRY_BYTES_MIN = 1024

/** The size of an item where a write of it is charged. */
export function chargedBytes(vectors: readonly VectorShape[], item: Item | undefined): number {
  if (item === undefined) return 0
  let bytes = itemBytes(item)
  for (const name of new Set(vectors.map((vector) => vector.attribute))) {
    const value = attribute(item, name)
    if (value !== undefined && 'L' in value) bytes += COORDINATE_BYTES * value.L.length - valueBytes(value)
  }
  return bytes
}

/** By index name, of the indexes that hold something else than before. */
export function vectorWriteBytes(
  { key, vectors = [] }: TableShape,
  old: Item | undefined,
  next: Item | undefined,
): ReadonlyMap<string, number> {
  const names = keyNames(key)
  const charged = new Map<string, number>()
  for (const vector of vectors) {
    const before = old && entryOf(vector, names, old)
    const after = next && entryOf(vector, names, next)
    if (before === undefined && after === undefined) continue
    if (before !== undefined && after !== undefined && sameValue({ M: before }, { M: after })) continue
    const bytes = Math.max(chargedBytes([vector], before), chargedBytes([vector], after))
    charged.set(vector.name, Math.max(ENTRY_BYTES_MIN, bytes))
  }
  return charged
}

function entryOf(vector: VectorShape, keys: readonly string[], item: Item): Item | undefined {
  if (indexedVector(vector, item) === undefined) return undefined
  const names = vectorNames(vector, keys)
  if (names === undefined) return item
  const entry: MutableItem = {}
  for (const name of names) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(entry, name, value)
  }
  return entry
}
