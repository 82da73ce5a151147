// Whether an item may stand in the indexes of its table: DynamoDB refuses an item whose index key attributes are there
// but are not usable as keys. An item that lacks one is simply not in that index. One of §3.3's system restrictions: checked
// at prepare, on every image that an update may meet (point 6).
import { resolvePath } from '../../expression/expression.js'
import { base64Bytes } from '../../model/binary.js'
import { limits } from '../../model/limits.js'
import { numberKeyBytes } from '../../model/key-bytes.js'
import {
  hasSeveralParts,
  keyParts,
  partitionParts,
  sortParts,
  type IndexShape,
  type KeyAttribute,
  type TableShape,
  type VectorShape,
} from '../../model/table.js'
import { type AttributeValue, type Item, attribute, typeOf } from '../../model/value.js'
import type { Mutation } from './item.js'
import { vectorRefusal } from './vectors.js'

/** Why the item cannot be stored, in DynamoDB's words; undefined if it can. */
export function indexKeyRefusal(
  table: TableShape,
  item: Item,
  by: Mutation['kind'] = 'put',
): string | undefined {
  for (const index of table.indexes) {
    const { partition, sort } = index.key
    const refusal = hasSeveralParts(index.key)
      ? (severalRefusal(index, partitionParts(index.key), item, { ...HASH_TOGETHER, by }) ??
        severalRefusal(index, sortParts(index.key), item, { ...RANGE_TOGETHER, by }))
      : (keyRefusal(index, partition, item, PARTITION_LIMIT, by) ??
        (sort === undefined ? undefined : keyRefusal(index, sort, item, SORT_LIMIT, by)))
    if (refusal !== undefined) return refusal
  }
  return table.vectors === undefined ? undefined : vectorIndexRefusal(table.vectors, item, by)
}

function vectorIndexRefusal(
  vectors: readonly VectorShape[],
  item: Item,
  by: Mutation['kind'],
): string | undefined {
  for (const vector of vectors) {
    const refusal = vectorRefusal(vector, item)
    if (refusal !== undefined) return refusal
    for (const searched of vector.search) {
      const keyed = keyRefusal(vector, searched, item, PARTITION_LIMIT, by)
      if (keyed !== undefined) return keyed
    }
  }
  return undefined
}

type Named = Pick<IndexShape, 'name'>

/**
 * Of a write of a transaction: an empty value that it gives a key attribute of an index, whatever it meets. DynamoDB refuses the
 * whole request for it.
 */
export function emptyIndexKeyRefusal(table: TableShape, mutation: Mutation): string | undefined {
  const given = givenEmpty(mutation)
  if (given.size === 0) return undefined
  for (const index of table.indexes) {
    for (const part of keyParts(index.key)) {
      if (given.get(part.name) === part.type) return emptyKey(index, part, mutation.kind)
    }
  }
  return undefined
}

/** The attributes that a write gives an empty string or binary, with its type. Looked at once, however many indexes there are. */
function givenEmpty(mutation: Mutation): ReadonlyMap<unknown, string> {
  const empty = new Map<unknown, string>()
  const note = (name: unknown, value: AttributeValue | undefined): void => {
    if (value !== undefined && (('S' in value && value.S === '') || ('B' in value && value.B === '')))
      empty.set(name, typeOf(value))
  }
  if (mutation.kind === 'put') for (const [name, value] of Object.entries(mutation.item)) note(name, value)
  if (mutation.kind !== 'update') return empty
  const { tree, bindings } = mutation.update
  for (const action of tree.actions) {
    if (action.type !== 'set' || action.value.type !== 'value' || action.path.steps.length > 1) continue
    note(resolvePath(action.path, bindings.names)[0], bindings.values.get(action.value.name))
  }
  return empty
}

interface KeyLimit {
  readonly bytesMax: number
  readonly message: string
}

// The missing space and the wording are DynamoDB's.
const PARTITION_LIMIT: KeyLimit = {
  bytesMax: limits.partitionKeyBytesMax,
  message: `Size of hashkey has exceeded the maximum size limit of${limits.partitionKeyBytesMax} bytes`,
}
const SORT_LIMIT: KeyLimit = {
  bytesMax: limits.sortKeyBytesMax,
  message: `Aggregated size of all range keys has exceeded the size limit of ${limits.sortKeyBytesMax} bytes`,
}

interface AggregateLimit {
  readonly role: 'HASH' | 'RANGE'
  readonly bytesMax: number
}
type Together = AggregateLimit & { readonly by: Mutation['kind'] }

const HASH_TOGETHER: AggregateLimit = { role: 'HASH', bytesMax: limits.partitionKeyBytesMax }
const RANGE_TOGETHER: AggregateLimit = { role: 'RANGE', bytesMax: limits.sortKeyBytesMax }

/** Those that are there have to be usable as keys, and together they have to keep within one key's size. */
function severalRefusal(
  index: IndexShape,
  parts: readonly KeyAttribute[],
  item: Item,
  { role, bytesMax, by }: Together,
): string | undefined {
  let bytes = 0
  const names: string[] = []
  for (const part of parts) {
    const refusal = keyRefusal(index, part, item, UNLIMITED, by)
    if (refusal !== undefined) return refusal
    const value = attribute(item, part.name)
    if (value === undefined) continue
    bytes += keyBytesOf(value)
    names.push(part.name)
  }
  if (bytes <= bytesMax) return undefined
  return (
    `Aggregate size for ${role} key attributes ${names.join(', ')} of index ${index.name} has exceeded limit ` +
    `${bytesMax} bytes, with actual size ${bytes} bytes`
  )
}

const UNLIMITED: KeyLimit = { bytesMax: Number.POSITIVE_INFINITY, message: '' }

/** As it counts towards the size of a key. */
function keyBytesOf(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S)
  if ('B' in value) return base64Bytes(value.B)
  return 'N' in value ? numberKeyBytes(value.N).length : 0
}

function keyRefusal(
  index: Named,
  key: KeyAttribute,
  item: Item,
  limit: KeyLimit,
  by: Mutation['kind'],
): string | undefined {
  const value = attribute(item, key.name)
  if (value === undefined) return undefined
  const actual = typeOf(value)
  if (actual !== key.type) {
    return (
      `One or more parameter values were invalid: Type mismatch for Index Key ${key.name} ` +
      `Expected: ${key.type} Actual: ${actual} IndexName: ${index.name}`
    )
  }
  const bytes = keyBytesOf(value)
  if (bytes === 0) return emptyKey(index, key, by)
  if (bytes > limit.bytesMax) return unsupported(index, key, `${limit.message}.`)
  return undefined
}

function emptyKey(index: Named, key: KeyAttribute, by: Mutation['kind']): string {
  const why = `The AttributeValue for a key attribute cannot contain an empty ${key.type === 'S' ? 'string' : 'binary'} value.`
  if (by !== 'update') return unsupported(index, key, why)
  return (
    'One or more parameter values are not valid. The update expression attempted to update a secondary index key to a ' +
    `value that is not supported. ${why}`
  )
}

function unsupported(index: Named, key: KeyAttribute, why: string): string {
  return (
    'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
    `${why} IndexName: ${index.name}, IndexKey: ${key.name}`
  )
}
