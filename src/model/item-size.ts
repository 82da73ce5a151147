// Sizes as DynamoDB counts them, for the 400 KB limit, pages and capacity. Only for validated values: recursion is
// bounded by their depth.
import { base64Bytes } from './binary.js'
import { validationError } from './errors.js'
import { limits } from './limits.js'
import { numberBytes } from './number.js'
import type { AttributeValue, Item } from './value.js'

/** Why an item of that size cannot be stored, in DynamoDB's words; undefined if it can. */
export function itemSizeRefusal(
  bytes: number,
  kind: 'put' | 'update' | 'delete' = 'put',
): string | undefined {
  if (bytes <= limits.itemBytesMax) return undefined
  return kind === 'update'
    ? 'Item size to update has exceeded the maximum allowed size'
    : 'Item size has exceeded the maximum allowed size'
}

/** The size of an item that is to be put. Throws ValidationException if it is too large to be stored. */
export function storableBytes(item: Item): number {
  const bytes = itemBytes(item)
  const refusal = itemSizeRefusal(bytes)
  if (refusal !== undefined) throw validationError(refusal)
  return bytes
}

/** UTF-8 names and the sizes of the values. */
export function itemBytes(item: Item): number {
  let bytes = 0
  for (const name of Object.keys(item)) bytes += Buffer.byteLength(name) + valueBytes(item[name]!)
  return bytes
}

/** A list or map costs three bytes, and one for each element or pair. */
export function valueBytes(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S)
  if ('N' in value) return numberBytes(value.N)
  if ('M' in value) return CONTAINER_BYTES + Object.keys(value.M).length + itemBytes(value.M)
  if ('L' in value) return CONTAINER_BYTES + value.L.length + sum(value.L, valueBytes)
  if ('B' in value) return base64Bytes(value.B)
  if ('SS' in value) return sum(value.SS, (member) => Buffer.byteLength(member))
  if ('NS' in value) return sum(value.NS, numberBytes)
  if ('BS' in value) return sum(value.BS, base64Bytes)
  return FLAG_BYTES
}

/** Of a list or map, besides one for each element or pair. */
export const CONTAINER_BYTES = 3
/** Of true, false and null. */
export const FLAG_BYTES = 1

function sum<Member>(members: readonly Member[], bytesOf: (member: Member) => number): number {
  let bytes = 0
  for (const member of members) bytes += bytesOf(member)
  return bytes
}
