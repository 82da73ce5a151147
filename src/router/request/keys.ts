// Primary keys in requests, checked against the key schema with DynamoDB's texts.
import { base64Bytes } from '../../model/binary.js'
import { validationError } from '../../model/errors.js'
import { itemKey } from '../../model/key-bytes.js'
import { limits } from '../../model/limits.js'
import { parseItem } from '../../model/parse-value.js'
import type { ItemKey, KeyAttribute, KeySchema, TableShape } from '../../model/table.js'
import { attribute, typeOf, type AttributeValue, type Item } from '../../model/value.js'

export interface ParsedKey {
  readonly key: ItemKey
  readonly attributes: Item
}

/** The `Key` of a request: exactly the key attributes, nothing else. */
export function parseKey(table: Pick<TableShape, 'key'>, json: unknown): ParsedKey {
  const attributes = parseItem(json)
  return { key: checkedKeyOf(table, attributes), attributes }
}

/** The same for attributes that have been parsed already. */
export function checkedKeyOf(table: Pick<TableShape, 'key'>, attributes: Item): ItemKey {
  checkKey(table.key, attributes)
  return itemKey(table.key, attributes)
}

export function checkKey(schema: KeySchema, attributes: Item): void {
  if (Object.keys(attributes).length !== (schema.sort === undefined ? 1 : 2)) throw schemaMismatch()
  checkKeyPart(schema.partition, 'partition', attributes)
  if (schema.sort !== undefined) checkKeyPart(schema.sort, 'sort', attributes)
}

function checkKeyPart(part: KeyAttribute, role: KeyRole, attributes: Item): void {
  const value = attribute(attributes, part.name)
  if (value === undefined || typeOf(value) !== part.type) throw schemaMismatch()
  checkKeyValue(part.name, role, value)
}

const schemaMismatch = (): Error => validationError('The provided key element does not match the schema')

/** The key of a whole item, as PutItem gives it. */
export function keyOfItem(table: TableShape, item: Item): ItemKey {
  checkItemKeyPart(table.key.partition, 'partition', item)
  if (table.key.sort !== undefined) checkItemKeyPart(table.key.sort, 'sort', item)
  return itemKey(table.key, item)
}

function checkItemKeyPart(part: KeyAttribute, role: KeyRole, item: Item): void {
  const value = attribute(item, part.name)
  if (value === undefined) {
    throw validationError(
      `One or more parameter values were invalid: Missing the key ${part.name} in the item`,
    )
  }
  if (typeOf(value) !== part.type) {
    throw validationError(
      `One or more parameter values were invalid: Type mismatch for key ${part.name} expected: ${part.type} actual: ${typeOf(value)}`,
    )
  }
  checkKeyValue(part.name, role, value)
}

export type KeyRole = 'partition' | 'sort'

/** Emptiness and size of one key value whose type is right. */
export function checkKeyValue(name: string, role: KeyRole, value: AttributeValue): void {
  if ('N' in value) return
  const bytes = 'S' in value ? Buffer.byteLength(value.S) : 'B' in value ? base64Bytes(value.B) : 0
  if (bytes === 0) {
    throw validationError(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${'S' in value ? 'string' : 'binary'} value. Key: ${name}`,
    )
  }
  if (role === 'partition' && bytes > limits.partitionKeyBytesMax) {
    throw validationError(
      'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
    )
  }
  if (role === 'sort' && bytes > limits.sortKeyBytesMax) {
    throw validationError(
      'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    )
  }
}
