// Keys as bytes whose order is the order in which Query answers. KeyBytes are latin1 strings, one character a byte.
//
//   item          hash u32 | partition | sort key as it is
//   index entry   hash u32 | partition | sort key, self-delimiting | item key, or its digest when longer than 64
//   expiry entry  seconds u64 | item key, or its digest when longer than 64
//
//   partition     length u16 | bytes        up to 255 bytes
//                 ffff | SHA-256            longer: only equality matters for partition keys
//
// Of an index with several HASH or RANGE attributes the bytes of the partition, or of the sort key, are those of the
// attributes one after another, each self-delimiting: so the entries stand in the order of the first RANGE attribute, then
// of the second, and so on.
//
// Strings are UTF-8, binaries raw, numbers as `numberKeyBytes` has them. The hash is of the partition's bytes, so the
// entries of one partition stand together, sorted, and partitions are spread evenly. Integers are big-endian. The
// longest key, an index entry with four RANGE attributes of 1,024 bytes together, takes 1,504 bytes: it fits LMDB's 1,978
// with its space.
import { createHash } from 'node:crypto'
import { base64ToBytes } from './binary.js'
import type { DecimalText, KeyBytes, SpaceId } from './brand.js'
import { limits } from './limits.js'
import { decimalOf, textOf } from './number.js'
import type { IndexShape, ItemKey, KeyAttribute, KeySchema } from './table.js'
import { attribute, type AttributeValue, type Item, type KeyAttributeType } from './value.js'

/** latin1 strings compare as their bytes do. */
export function compareKeyBytes(a: KeyBytes, b: KeyBytes): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The key of an item from its attributes, which must have the key's, of the right types. */
export function itemKey(schema: KeySchema, attributes: Item): ItemKey {
  const partition = keyAttributeBytes(schema.partition, attributes)
  const hash = hashBytes(partition)
  const sort = schema.sort === undefined ? '' : keyAttributeBytes(schema.sort, attributes)
  return { hash, bytes: (prefixOf(hash, partition) + sort) as KeyBytes }
}

/**
 * Where the item stands in the index. Undefined if it does not belong there: an index key attribute is missing, of
 * another type, empty, or larger than a key may be.
 */
export function indexEntryKey(index: IndexShape, item: Item, base: ItemKey): KeyBytes | undefined {
  const { partition, sort, furtherPartition, furtherSort } = index.key
  const partitionBytes =
    furtherPartition === undefined
      ? indexAttributeBytes(partition, item, limits.partitionKeyBytesMax)
      : oneAfterAnother([partition, ...furtherPartition], item, limits.partitionKeyBytesMax)
  if (partitionBytes === undefined) return undefined
  let bytes = prefixOf(hashBytes(partitionBytes), partitionBytes)
  if (sort !== undefined) {
    const parts = furtherSort === undefined ? [sort] : [sort, ...furtherSort]
    const sortKey = oneAfterAnother(parts, item, limits.sortKeyBytesMax)
    if (sortKey === undefined) return undefined
    bytes += sortKey
  }
  return (bytes + suffixOf(base)) as KeyBytes
}

/** Undefined if one of them is not usable as a key, or if they are too large together. */
function oneAfterAnother(parts: readonly KeyAttribute[], item: Item, bytesMax: number): string | undefined {
  let bytes = ''
  let bytesLeft = bytesMax
  for (const part of parts) {
    const one = indexAttributeBytes(part, item, bytesLeft)
    if (one === undefined) return undefined
    bytesLeft -= one.length
    bytes += part.type === 'N' ? one : grouped(one)
  }
  return bytes
}

/** Where the item stands among those that expire, earliest first. */
export function expiryEntryKey(seconds: number, base: ItemKey): KeyBytes {
  return (expiryPrefix(seconds) + suffixOf(base)) as KeyBytes
}

/** All entries that expire before that second stand before this. */
export function expiryPrefix(seconds: number): KeyBytes {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new RangeError(`not a second: ${seconds}`)
  return (u32(Math.floor(seconds / 2 ** 32)) + u32(seconds % 2 ** 32)) as KeyBytes
}

/** What all keys of one partition start with, in a table or an index; `further` has the values of further HASH attributes. */
export function partitionPrefix(
  partition: AttributeValue,
  further: readonly AttributeValue[] = [],
): KeyBytes {
  const bytes =
    further.length === 0 ? scalarBytes(partition) : [partition, ...further].map(delimitedScalar).join('')
  return prefixOf(hashBytes(bytes), bytes) as KeyBytes
}

/** A sort key as it stands at the end of an item's key. */
export function sortBytes(type: KeyAttributeType, value: AttributeValue): string {
  const bytes = bytesOfType(type, value)
  if (bytes === undefined) throw new TypeError(`a sort key that is not of type ${type}`)
  return bytes
}

/** A sort key as it stands within the key of an index entry: in the same order, and no prefix of another. */
export function indexSortBytes(type: KeyAttributeType, value: AttributeValue): string {
  const bytes = sortBytes(type, value)
  return type === 'N' ? bytes : grouped(bytes)
}

/**
 * Bytes in groups of eight, each followed by how many of them are used, or by 9 if another group follows; the last
 * group is filled with zeros. Keeps the order, and no result is a prefix of another.
 */
export function grouped(bytes: string): string {
  let groups = ''
  let at = 0
  for (; bytes.length - at > GROUP; at += GROUP) groups += bytes.slice(at, at + GROUP) + MORE
  const used = bytes.length - at
  return groups + bytes.slice(at) + FILL[used]
}

/** What every key of a space starts with in a node's index. */
export const spacePrefix = (space: SpaceId): string => u32(space)

/** An unsigned 32-bit integer, big-endian. */
export const u32 = (value: number): string =>
  String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)

const INLINE_PARTITION_BYTES_MAX = 255
const INLINE_SUFFIX_BYTES_MAX = 64
const DIGEST_MARK = '\xff\xff'

const GROUP = 8
const MORE = '\x09'
const FILL = Array.from(
  { length: GROUP + 1 },
  (_, used) => '\x00'.repeat(GROUP - used) + String.fromCharCode(used),
)

function prefixOf(hash: number, partition: string): string {
  return partition.length <= INLINE_PARTITION_BYTES_MAX
    ? u32(hash) + String.fromCharCode(0, partition.length) + partition
    : u32(hash) + DIGEST_MARK + digest(partition)
}

const suffixOf = (base: ItemKey): string =>
  base.bytes.length <= INLINE_SUFFIX_BYTES_MAX ? base.bytes : digest(base.bytes)

const digest = (bytes: string): string =>
  createHash('sha256').update(bytes, 'latin1').digest().toString('latin1')

function keyAttributeBytes(key: KeyAttribute, attributes: Item): string {
  const value = attribute(attributes, key.name)
  const bytes = value === undefined ? undefined : bytesOfType(key.type, value)
  if (bytes === undefined) throw new TypeError(`no key attribute ${key.name} of type ${key.type}`)
  return bytes
}

function indexAttributeBytes(key: KeyAttribute, item: Item, bytesMax: number): string | undefined {
  const value = attribute(item, key.name)
  const bytes = value === undefined ? undefined : bytesOfType(key.type, value)
  return bytes === undefined || bytes.length === 0 || bytes.length > bytesMax ? undefined : bytes
}

function bytesOfType(type: KeyAttributeType, value: AttributeValue): string | undefined {
  if (type === 'S') return 'S' in value ? utf8(value.S) : undefined
  if (type === 'N') return 'N' in value ? numberKeyBytes(value.N) : undefined
  return 'B' in value ? base64ToBytes(value.B) : undefined
}

const delimitedScalar = (value: AttributeValue): string =>
  'N' in value ? scalarBytes(value) : grouped(scalarBytes(value))

function scalarBytes(value: AttributeValue): string {
  const bytes = bytesOfType('S' in value ? 'S' : 'N' in value ? 'N' : 'B', value)
  if (bytes === undefined) throw new TypeError('a key is a string, a number or a binary')
  return bytes
}

/** ASCII text is its own UTF-8 form. */
function utf8(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) >= 0x80) return Buffer.from(text, 'utf8').toString('latin1')
  }
  return text
}

// MurmurHash3, 32 bits (Austin Appleby, public domain), over a latin1 string. It decides where a partition lives, so it
// must never change.

/** The hash of its partition key, with which every key begins. */
export const partitionHash = (key: KeyBytes): number =>
  ((key.charCodeAt(0) << 24) | (key.charCodeAt(1) << 16) | (key.charCodeAt(2) << 8) | key.charCodeAt(3)) >>> 0

/** An unsigned 32-bit hash of the bytes. */
export function hashBytes(bytes: string): number {
  const { length } = bytes
  const whole = length & ~3
  let hash = 0
  for (let at = 0; at < whole; at += 4) {
    const block =
      bytes.charCodeAt(at) |
      (bytes.charCodeAt(at + 1) << 8) |
      (bytes.charCodeAt(at + 2) << 16) |
      (bytes.charCodeAt(at + 3) << 24)
    hash ^= scramble(block)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = length - 1; at >= whole; at--) tail = (tail << 8) | bytes.charCodeAt(at)
  hash ^= scramble(tail) ^ length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

// Numbers as bytes whose order is the order of the numbers, none of them a prefix of another: so a number can stand
// anywhere in a key.
//
//   zero       01
//   positive   02  exponent+130  then two digits a byte: pair * 2 + (1 if another pair follows)
//   negative   00  then every further byte of the positive form, complemented
//
// At most 21 bytes; a small integer takes 3.

/** The key bytes of a canonical number, as a latin1 string. */
export function numberKeyBytes(text: string): string {
  if (text === '0') return ZERO
  const { negative, digits, exponent } = decimalOf(text)
  const flip = negative ? 0xff : 0
  let bytes = (negative ? NEGATIVE : POSITIVE) + String.fromCharCode((exponent + EXPONENT_BIAS) ^ flip)
  const { length } = digits
  for (let at = 0; at < length; at += 2) {
    const low = at + 1 < length ? digits.charCodeAt(at + 1) - DIGIT : 0
    const pair = (digits.charCodeAt(at) - DIGIT) * 10 + low
    bytes += String.fromCharCode((pair * 2 + (at + 2 < length ? 1 : 0)) ^ flip)
  }
  return bytes
}

/** The number whose key bytes start at that place, and where they end. */
export function numberFromKeyBytes(bytes: string, start = 0): { text: DecimalText; end: number } {
  const sign = bytes[start]
  if (sign === ZERO) return { text: '0' as DecimalText, end: start + 1 }
  if (sign !== NEGATIVE && sign !== POSITIVE) throw new RangeError('not the key bytes of a number')
  const negative = sign === NEGATIVE
  const flip = negative ? 0xff : 0
  const exponent = (bytes.charCodeAt(start + 1) ^ flip) - EXPONENT_BIAS
  let digits = ''
  let at = start + 2
  for (;;) {
    const byte = bytes.charCodeAt(at++) ^ flip
    if (!(byte >> 1 < 100)) throw new RangeError('not the key bytes of a number')
    digits += String(byte >> 1).padStart(2, '0')
    if ((byte & 1) === 0) break
  }
  if (digits.endsWith('0')) digits = digits.slice(0, -1)
  return { text: textOf({ negative, digits, exponent }), end: at }
}

const NEGATIVE = '\x00'
const ZERO = '\x01'
const POSITIVE = '\x02'
const EXPONENT_BIAS = 130
const DIGIT = 0x30
