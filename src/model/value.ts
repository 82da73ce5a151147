// The data model: DynamoDB's attribute values exactly as the wire spells them, so that an item read from disk is the
// JSON text that leaves on the socket, and nothing is converted on the way.
//
// Items are plain objects as JSON.parse makes them. A name such as `__proto__` or `constructor` is an ordinary
// attribute: read items only through `attribute`, and build them only through `setAttribute`.
import { base64Bytes } from './binary.js'
import { validationError } from './errors.js'
import { limits } from './limits.js'
import { numberBytes } from './number.js'

/** An attribute value in the form of the wire: numbers as decimal text, binaries as base64. */
export type AttributeValue =
  | { readonly S: string }
  /** Canonical decimal text, see number.ts. */
  | { readonly N: string }
  /** Canonical base64. */
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Item }

export type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M'
export type KeyAttributeType = 'S' | 'N' | 'B'

/** An item, or the value of a map: attribute values by name. Every value in it has been validated. */
export interface Item {
  readonly [name: string]: AttributeValue
}
export interface MutableItem {
  [name: string]: AttributeValue
}

/** The attribute of that name, never something inherited from Object.prototype. */
export function attribute(item: Item, name: string): AttributeValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined
}

export function setAttribute(item: MutableItem, name: string, value: AttributeValue): void {
  setMember(item, name, value)
}

/** As JSON.parse does it: `__proto__` is a name like any other, and of two with one name the later one stays. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/** The one type tag of a validated value. */
export function typeOf(value: AttributeValue): AttributeType {
  for (const tag in value) return tag as AttributeType
  throw new TypeError('an attribute value without a type')
}

/** Only those attributes of the item that have one of the names. */
export function pickAttributes(item: Item, names: Iterable<string>): Item {
  const picked: MutableItem = {}
  for (const name of names) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(picked, name, value)
  }
  return picked
}

// Sizes as DynamoDB counts them, for the 400 KB limit, pages and capacity. Only for validated values: recursion is
// bounded by their depth.

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
