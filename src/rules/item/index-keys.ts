// Whether an item may stand in the indexes of its table: DynamoDB refuses an item whose index key attributes are there
// but are not usable as keys. An item that lacks one is simply not in that index. One of §3.3's system restrictions: checked
// at prepare, on every image that an update may meet (point 6).
import { base64Bytes } from '../../model/binary.js'
import { limits } from '../../model/limits.js'
import type { IndexShape, KeyAttribute, TableShape } from '../../model/table.js'
import { type Item, attribute, typeOf } from '../../model/value.js'

/** Why the item cannot be stored, in DynamoDB's words; undefined if it can. */
export function indexKeyRefusal(table: TableShape, item: Item): string | undefined {
  for (const index of table.indexes) {
    const { partition, sort } = index.key
    const refusal =
      keyRefusal(index, partition, item, PARTITION_LIMIT) ??
      (sort === undefined ? undefined : keyRefusal(index, sort, item, SORT_LIMIT))
    if (refusal !== undefined) return refusal
  }
  return undefined
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

function keyRefusal(index: IndexShape, key: KeyAttribute, item: Item, limit: KeyLimit): string | undefined {
  const value = attribute(item, key.name)
  if (value === undefined) return undefined
  const actual = typeOf(value)
  if (actual !== key.type) {
    return (
      `One or more parameter values were invalid: Type mismatch for Index Key ${key.name} ` +
      `Expected: ${key.type} Actual: ${actual} IndexName: ${index.name}`
    )
  }
  const bytes = 'S' in value ? Buffer.byteLength(value.S) : 'B' in value ? base64Bytes(value.B) : 1
  if (bytes === 0) {
    const kind = key.type === 'S' ? 'string' : 'binary'
    return unsupported(
      index,
      key,
      `The AttributeValue for a key attribute cannot contain an empty ${kind} value.`,
    )
  }
  if (bytes > limit.bytesMax) return unsupported(index, key, `${limit.message}.`)
  return undefined
}

function unsupported(index: IndexShape, key: KeyAttribute, why: string): string {
  return (
    'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
    `${why} IndexName: ${index.name}, IndexKey: ${key.name}`
  )
}
