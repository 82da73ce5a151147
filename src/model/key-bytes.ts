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
// Strings are UTF-8, binaries raw, numbers as number-key.ts has them. The hash is of the partition's bytes, so the
// entries of one partition stand together, sorted, and partitions are spread evenly. Integers are big-endian. The
// longest key, an index entry with four RANGE attributes of 1,024 bytes together, takes 1,504 bytes: it fits LMDB's 1,978
// with its space.
import { createHash } from 'node:crypto'
import { base64ToBytes } from './binary.js'
import type { KeyBytes, SpaceId } from './brand.js'
import { hashBytes } from './hash.js'
import { limits } from './limits.js'
import { numberKeyBytes } from './number-key.js'
import type { IndexShape, ItemKey, KeyAttribute, KeySchema } from './table.js'
import { attribute, type AttributeValue, type Item, type KeyAttributeType } from './value.js'

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
