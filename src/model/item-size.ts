// Sizes as DynamoDB counts them, for the 400 KB limit, pages and capacity. Only for validated values: recursion is
// bounded by their depth.
import { base64Bytes } from './binary.js'
import { numberBytes } from './number.js'
import type { AttributeValue, Item } from './value.js'

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
  return 1
}

const CONTAINER_BYTES = 3

function sum<Member>(members: readonly Member[], bytesOf: (member: Member) => number): number {
  let bytes = 0
  for (const member of members) bytes += bytesOf(member)
  return bytes
}
