// The key of an item as text for messages, made from its bytes again.
import type { KeyBytes } from './brand.js'
import { numberFromKeyBytes } from './key-bytes.js'
import type { KeyAttribute, KeySchema } from './table.js'

const HASH_BYTES = 4
const LENGTH_BYTES = 2
const DIGEST_BYTES = 32
const DIGEST_MARK = 0xffff

/**
 * Key attributes in JSON, as on the wire. Of a partition key longer than 255 bytes only the digest is known; bytes that are no
 * key at all are shown as they are.
 *
 * @example
 * keyText({ partition: { name: 'id', type: 'S' } }, bytes) // {"id":{"S":"7"}}
 */
export function keyText(schema: KeySchema, bytes: KeyBytes): string {
  const attributes = keyAttributesFrom(schema, bytes)
  return attributes === undefined
    ? `0x${Buffer.from(bytes, 'latin1').toString('hex')}`
    : JSON.stringify(attributes)
}

/** The same as values; undefined for bytes that are no key of this schema. */
export function keyAttributesFrom(schema: KeySchema, bytes: KeyBytes): object | undefined {
  try {
    return attributesOf(schema, bytes)
  } catch {
    return undefined
  }
}

function attributesOf({ partition, sort }: KeySchema, bytes: KeyBytes): object {
  const start = HASH_BYTES + LENGTH_BYTES
  const length = (bytes.charCodeAt(HASH_BYTES) << 8) | bytes.charCodeAt(HASH_BYTES + 1)
  const isDigest = length === DIGEST_MARK
  const end = start + (isDigest ? DIGEST_BYTES : length)
  if (!(end <= bytes.length)) throw new RangeError('not the bytes of a key')
  const first = bytes.slice(start, end)
  return {
    [partition.name]: isDigest
      ? { sha256: Buffer.from(first, 'latin1').toString('hex') }
      : valueOf(partition, first),
    ...(sort && { [sort.name]: valueOf(sort, bytes.slice(end)) }),
  }
}

function valueOf({ type }: KeyAttribute, bytes: string): object {
  if (type === 'N') return { N: numberFromKeyBytes(bytes).text }
  const buffer = Buffer.from(bytes, 'latin1')
  return type === 'S' ? { S: buffer.toString('utf8') } : { B: buffer.toString('base64') }
}
