// Conditions on keys as ranges of key bytes, from inclusive, to exclusive. Every range here is exact: it holds the keys
// that meet the condition and no other.
import type { KeyBytes } from './brand.js'
import { limits } from './limits.js'
import { grouped, indexSortBytes, partitionPrefix, sortBytes, u32 } from './key-bytes.js'
import { sortParts, type KeyAttribute, type KeySchema } from './table.js'
import type { AttributeValue } from './value.js'

export interface KeyRange {
  readonly from: KeyBytes
  /** Absent: to the end of the space. */
  readonly to?: KeyBytes
}

/** A condition on the sort key, as Query's KeyConditionExpression can state it. */
export type SortCondition =
  | {
      readonly op: '=' | '<' | '<=' | '>' | '>=' | 'begins_with'
      readonly values: readonly [AttributeValue]
    }
  | { readonly op: 'BETWEEN'; readonly values: readonly [AttributeValue, AttributeValue] }

/** What a query gives of the further key attributes of an index that has several. */
export interface FurtherConditions {
  /** The values of the HASH attributes after the first: all of them. */
  readonly partition: readonly AttributeValue[]
  /** The values of the RANGE attributes before the one that the sort condition is about. */
  readonly sortPrefix: readonly AttributeValue[]
}

/** The items of one partition of a table whose sort key meets the condition. */
export function itemRange(schema: KeySchema, partition: AttributeValue, sort?: SortCondition): KeyRange {
  // The sort key ends the key, so the next key is the next sort key.
  return rangeOf(schema, { partition, sort, further: undefined }, ITEM_LAYOUT)
}

/** The entries of one partition of an index whose sort key meets the condition. */
export function indexRange(
  schema: KeySchema,
  partition: AttributeValue,
  sort?: SortCondition,
  further?: FurtherConditions,
): KeyRange {
  // The item's own key follows the sort key, so many entries may have one sort key.
  return rangeOf(schema, { partition, sort, further }, INDEX_LAYOUT)
}

/** One of `totalSegments` parts of a table or index; together they hold every key once. */
export function segmentRange(segment: number, totalSegments: number): KeyRange {
  if (!(totalSegments >= 1 && totalSegments <= limits.segmentsMax && segment >= 0 && segment < totalSegments))
    throw new RangeError(`no segment ${segment} of ${totalSegments}`)
  const start = (part: number): number => Math.floor((2 ** 32 * part) / totalSegments)
  const from = (segment === 0 ? '' : u32(start(segment))) as KeyBytes
  return segment === totalSegments - 1 ? { from } : { from, to: u32(start(segment + 1)) as KeyBytes }
}

/** The smallest key greater than this one. */
export const keyAfter = (bytes: KeyBytes): KeyBytes => (bytes + '\x00') as KeyBytes

/** The smallest key greater than all that start with these bytes; undefined if there is none. */
export function prefixEnd(bytes: KeyBytes): KeyBytes | undefined {
  let length = bytes.length
  while (length > 0 && bytes.charCodeAt(length - 1) === 0xff) length--
  if (length === 0) return undefined
  const last = bytes.charCodeAt(length - 1)
  return (bytes.slice(0, length - 1) + String.fromCharCode(last + 1)) as KeyBytes
}

interface SortLayout {
  readonly encode: typeof sortBytes
  readonly encodeRaw: (bytes: string) => string
  /** The smallest key after all that have exactly this sort key. */
  readonly after: (bytes: KeyBytes) => KeyBytes | undefined
}

const ITEM_LAYOUT: SortLayout = { encode: sortBytes, encodeRaw: (bytes) => bytes, after: keyAfter }
const INDEX_LAYOUT: SortLayout = { encode: indexSortBytes, encodeRaw: grouped, after: prefixEnd }

function rangeOf(
  schema: KeySchema,
  asked: {
    readonly partition: AttributeValue
    readonly sort: SortCondition | undefined
    readonly further: FurtherConditions | undefined
  },
  layout: SortLayout,
): KeyRange {
  const { partition, sort, further } = asked
  const ofPartition = partitionPrefix(partition, further?.partition)
  if (sort === undefined) return range(ofPartition, prefixEnd(ofPartition))
  const parts = sortParts(schema)
  const equal = further?.sortPrefix ?? []
  // The last attribute with a condition says the range, within those that are equal in all before it.
  const prefix = equal.reduce<string>(
    (bytes, value, at) => bytes + layout.encode(typeAt(parts, at), value),
    ofPartition,
  ) as KeyBytes
  const end = prefixEnd(prefix)
  const type = typeAt(parts, equal.length)
  const at = (value: AttributeValue): KeyBytes => (prefix + layout.encode(type, value)) as KeyBytes
  const [value] = sort.values
  const from = at(value)
  const after = layout.after(from)
  if (sort.op === '=') return range(from, after)
  if (sort.op === '<') return range(prefix, from)
  if (sort.op === '<=') return range(prefix, after)
  if (sort.op === '>') return range(after, end)
  if (sort.op === '>=') return range(from, end)
  if (sort.op === 'BETWEEN') return range(from, layout.after(at(sort.values[1])))
  if (type === 'N') throw new TypeError('begins_with of a number')
  // Strings that start with these bytes are those from it up to the next string of its length.
  const next = prefixEnd(sortBytes(type, value) as KeyBytes)
  return range(from, next === undefined ? end : ((prefix + layout.encodeRaw(next)) as KeyBytes))
}

function typeAt(parts: readonly KeyAttribute[], at: number): KeyAttribute['type'] {
  const part = parts[at]
  if (part === undefined) throw new TypeError('a condition on a sort key that does not exist')
  return part.type
}

/** A lower bound beyond every key makes an empty range, and so does one above the upper bound. */
function range(from: KeyBytes | undefined, to: KeyBytes | undefined): KeyRange {
  if (from === undefined) return { from: '' as KeyBytes, to: '' as KeyBytes }
  if (to === undefined) return { from }
  return { from, to: to < from ? from : to }
}
