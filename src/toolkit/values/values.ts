// Plain JavaScript values and DynamoDB's, converted as @aws-sdk/util-dynamodb does, with one difference: a number that
// JavaScript cannot hold exactly is never rounded. It becomes a bigint if it is whole, and a NumberValue otherwise.
//
//   plain object --marshallItem--> Item (the wire's form: numbers as canonical text, binaries as base64)
//                <-unmarshallItem--
//   Item --toSdkItem--> the SDK's form (binaries as Uint8Array) --fromSdkItem--> Item
//
// Items within the toolkit are in the wire's form, which is what src/expression evaluates.
import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb'
import { limits } from '../../model/limits.js'
import { parseNumber } from '../../model/number.js'
import {
  attribute,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
  setMember,
} from '../../model/value.js'

/**
 * A number with more digits than JavaScript's numbers have. `marshall` also accepts the NumberValue of
 * @aws-sdk/util-dynamodb.
 *
 * @example
 *   console.log(new NumberValue('0.1234567890123456789').toString()) // 0.1234567890123456789
 */
export class NumberValue {
  /** The number as DynamoDB writes it: plain digits, no exponent. */
  readonly value: string

  /** Throws if DynamoDB cannot store the number: more than 38 digits, or out of its range. */
  constructor(value: string | number | bigint) {
    this.value = parseNumber(typeof value === 'number' ? safeText(value, '') : String(value))
  }

  /** The number as an attribute value. */
  toAttributeValue(): { readonly N: string } {
    return { N: this.value }
  }

  /** The digits. */
  toString(): string {
    return this.value
  }

  /** The digits, as a string: JSON has no such numbers. */
  toJSON(): string {
    return this.value
  }
}

/**
 * Converts one JavaScript value to an attribute value in the form of the wire, where binaries are base64. It takes strings,
 * numbers, bigints, booleans, null, binary views, arrays, maps, plain objects, and sets of one type. Anything else throws a
 * TypeError that names the place. As in util-dynamodb, functions within objects and arrays are left out.
 *
 * @example
 *   console.log(JSON.stringify(marshall({ n: 1, tags: new Set(['a']) }))) // {"M":{"n":{"N":"1"},"tags":{"SS":["a"]}}}
 */
export function marshall(value: unknown): AttributeValue {
  return toAttribute(value, '', 1)
}

/**
 * Converts a plain object to an item in the form of the wire.
 *
 * @example
 *   console.log(marshallItem({ id: 'alice', balance: 100 })) // { id: { S: 'alice' }, balance: { N: '100' } }
 */
export function marshallItem(item: object): Item {
  if (Array.isArray(item) || item instanceof Set || !isMapLike(item))
    throw new TypeError(`an item is a plain object, not ${describe(item)}`)
  return toMap(item, '', 0)
}

/**
 * Converts an attribute value to a plain JavaScript value. A number that JavaScript cannot hold exactly becomes a bigint, or a
 * `NumberValue` if it is not whole.
 *
 * @example
 *   console.log(unmarshall({ N: '12345678901234567890' })) // 12345678901234567890n
 */
export function unmarshall(value: AttributeValue): unknown {
  if ('S' in value) return value.S
  if ('N' in value) return numberOf(value.N)
  if ('M' in value) return unmarshallItem(value.M)
  if ('L' in value) return value.L.map(unmarshall)
  if ('BOOL' in value) return value.BOOL
  if ('NULL' in value) return null
  if ('B' in value) return bytesOf(value.B)
  if ('SS' in value) return new Set(value.SS)
  if ('NS' in value) return new Set(value.NS.map(numberOf))
  return new Set(value.BS.map(bytesOf))
}

/**
 * Converts an item to a plain object. An attribute named `__proto__` is kept as one.
 *
 * @example
 *   console.log(unmarshallItem({ id: { S: 'alice' }, balance: { N: '100' } })) // { id: 'alice', balance: 100 }
 */
export function unmarshallItem(item: Item): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const name of Object.keys(item)) setMember(plain, name, unmarshall(attribute(item, name)!))
  return plain
}

/** In the shapes of the AWS SDK, where binaries are bytes. */
export function toSdkItem(item: Item): Record<string, SdkValue> {
  const converted: Record<string, SdkValue> = {}
  for (const name of Object.keys(item)) setMember(converted, name, toSdkValue(attribute(item, name)!))
  return converted
}

export function toSdkValue(value: AttributeValue): SdkValue {
  if ('B' in value) return { B: bytesOf(value.B) }
  if ('BS' in value) return { BS: value.BS.map(bytesOf) }
  if ('L' in value) return { L: value.L.map(toSdkValue) }
  if ('M' in value) return { M: toSdkItem(value.M) }
  // The rest is the same in both.
  return value as SdkValue
}

/** What an SDK client answered, in the wire's form. Endpoints answer with canonical numbers; all are made so here. */
export function fromSdkItem(item: Readonly<Record<string, SdkValue>>): Item {
  const converted: MutableItem = {}
  for (const name of Object.keys(item)) setAttribute(converted, name, fromSdkValue(item[name]!))
  return converted
}

export function fromSdkValue(value: SdkValue): AttributeValue {
  if (value.B !== undefined) return { B: base64(value.B) }
  if (value.BS !== undefined) return { BS: value.BS.map(base64) }
  if (value.L !== undefined) return { L: value.L.map(fromSdkValue) }
  if (value.M !== undefined) return { M: fromSdkItem(value.M) }
  if (value.N !== undefined) return { N: parseNumber(value.N) }
  if (value.NS !== undefined) return { NS: value.NS.map(parseNumber) }
  return value as AttributeValue
}

function toAttribute(value: unknown, path: string, level: number): AttributeValue {
  if (level > limits.nestingDepthMax)
    throw new RangeError(`${at(path)} is nested more than ${limits.nestingDepthMax} levels deep`)
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'number':
      return { N: parseNumber(safeText(value, path)) }
    case 'boolean':
      return { BOOL: value }
    case 'bigint':
      return { N: parseNumber(value.toString()) }
    case 'object':
      return value === null ? { NULL: true } : objectAttribute(value, path, level)
    case 'undefined':
      throw new TypeError(`${at(path)} is undefined: leave it out, or use null`)
    case 'function':
    case 'symbol':
      throw new TypeError(`${at(path)} is ${describe(value)}, which DynamoDB has no type for`)
  }
}

function objectAttribute(value: object, path: string, level: number): AttributeValue {
  if (Array.isArray(value)) return { L: toList(value, path, level) }
  if (value instanceof Set) return setAttributeOf(value, path)
  const bytes = binaryOf(value)
  if (bytes !== undefined) return { B: base64(bytes) }
  if (isNumberValue(value)) return { N: parseNumber(value.toAttributeValue().N) }
  if (isMapLike(value)) return { M: toMap(value, path, level) }
  if (isBox(value)) return toAttribute(value.valueOf(), path, level)
  throw new TypeError(
    `${at(path)} is ${describe(value)}, which DynamoDB has no type for: make it a plain object, a string or a number`,
  )
}

function toList(list: readonly unknown[], path: string, level: number): readonly AttributeValue[] {
  const elements: AttributeValue[] = []
  for (const [index, element] of list.entries()) {
    if (typeof element !== 'function') elements.push(toAttribute(element, `${path}[${index}]`, level + 1))
  }
  return elements
}

function toMap(map: object, path: string, level: number): Item {
  const item: MutableItem = {}
  const prefix = path === '' ? '' : `${path}.`
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'function') setAttribute(item, name, toAttribute(value, prefix + name, level + 1))
  }
  if (map instanceof Map) for (const [name, value] of map) add(String(name), value)
  else for (const name of Object.keys(map)) add(name, (map as Record<string, unknown>)[name])
  return item
}

function setAttributeOf(set: ReadonlySet<unknown>, path: string): AttributeValue {
  if (set.size === 0) throw new TypeError(`${at(path)} is an empty set, which DynamoDB does not have`)
  const members = [...set].map((member) => toAttribute(member, path, 1))
  const [first] = members as [AttributeValue]
  if ('S' in first) return { SS: membersOf(members, path, (one) => ('S' in one ? one.S : undefined)) }
  if ('N' in first) return { NS: membersOf(members, path, (one) => ('N' in one ? one.N : undefined)) }
  if ('B' in first) return { BS: membersOf(members, path, (one) => ('B' in one ? one.B : undefined)) }
  throw new TypeError(`${at(path)} is a set of something else than strings, numbers or binaries`)
}

function membersOf(
  members: readonly AttributeValue[],
  path: string,
  textOf: (member: AttributeValue) => string | undefined,
): readonly string[] {
  const texts = new Set<string>()
  for (const member of members) {
    const text = textOf(member)
    if (text === undefined) throw new TypeError(`${at(path)} is a set of several types`)
    texts.add(text)
  }
  return [...texts]
}

/** Within these bounds the text of a double says exactly what was meant by it. */
function safeText(value: number, path: string): string {
  if (!Number.isFinite(value))
    throw new RangeError(`${at(path)} is ${value}, which DynamoDB has no number for`)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(
      `${at(path)} is ${value}, beyond what JavaScript's numbers hold exactly: use a bigint or a NumberValue`,
    )
  return String(value)
}

function numberOf(text: string): number | bigint | NumberValue {
  const number = Number(text)
  // The text of a double is the shortest that leads back to it: where it is this one, nothing is lost.
  if (String(number) === text) return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : BigInt(text)
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(number) ? number : BigInt(text)
  return parseNumber(String(number)) === text ? number : new NumberValue(text)
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

function binaryOf(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined
}

/** Ours, or the one of @aws-sdk/util-dynamodb. */
function isNumberValue(value: object): value is { toAttributeValue(): { N: string } } {
  return 'toAttributeValue' in value && typeof value.toAttributeValue === 'function' && 'value' in value
}

/** `new Number(1)` and its like. */
const isBox = (value: object): boolean =>
  /^\[object (?:String|Number|Boolean)\]$/.test(Object.prototype.toString.call(value))

function isMapLike(value: object): boolean {
  if (value instanceof Map) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const at = (path: string): string => (path === '' ? 'the value' : `the attribute ${path}`)

function describe(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value === 'symbol' ? 'a symbol' : `a ${typeof value}`
  return `an instance of ${(value.constructor as { name?: string } | undefined)?.name ?? 'an unknown class'}`
}
