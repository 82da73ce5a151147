// An item that is put whole must fit every index that it belongs to.
import { base64Bytes } from '../model/binary.js'
import { validationError } from '../model/errors.js'
import { limits } from '../model/limits.js'
import type { IndexShape, KeyAttribute, TableShape } from '../model/table.js'
import { attribute, typeOf, type Item } from '../model/value.js'

/** Refuses an item with an attribute that cannot be the key of an index. An item without it is just not in the index. */
export function checkIndexKeys(table: TableShape, item: Item): void {
  for (const index of table.indexes) {
    checkIndexPart(index, index.key.partition, limits.partitionKeyBytesMax, item)
    if (index.key.sort !== undefined) checkIndexPart(index, index.key.sort, limits.sortKeyBytesMax, item)
  }
}

function checkIndexPart(index: IndexShape, part: KeyAttribute, bytesMax: number, item: Item): void {
  const value = attribute(item, part.name)
  if (value === undefined) return
  if (typeOf(value) !== part.type) {
    throw validationError(
      `One or more parameter values were invalid: Type mismatch for Index Key ${part.name} ` +
        `Expected: ${part.type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
    )
  }
  if ('N' in value) return
  const bytes = 'S' in value ? Buffer.byteLength(value.S) : 'B' in value ? base64Bytes(value.B) : 0
  if (bytes === 0) {
    throw validationError(
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        `The AttributeValue for a key attribute cannot contain an empty ${part.type === 'S' ? 'string' : 'binary'} value. ` +
        `IndexName: ${index.name}, IndexKey: ${part.name}`,
    )
  }
  if (bytes > bytesMax) {
    throw validationError(
      bytesMax === limits.partitionKeyBytesMax
        ? 'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes'
        : 'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    )
  }
}
