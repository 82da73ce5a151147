import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { spaceId } from '../../src/model/brand.js'
import { compareValues } from '../../src/model/compare.js'
import {
  expiryEntryKey,
  expiryPrefix,
  grouped,
  hashBytes,
  indexEntryKey,
  indexSortBytes,
  itemKey,
  partitionPrefix,
  sortBytes,
  spacePrefix,
} from '../../src/model/key-bytes.js'
import type { IndexShape, KeySchema } from '../../src/model/table.js'
import type { AttributeValue, Item, KeyAttributeType } from '../../src/model/value.js'
import { base64, bytes, canonical, sign, text } from './values.js'

const KEY_BYTES_MAX = 1978 - 4

const schemaOf = (sort: KeyAttributeType): KeySchema => ({
  partition: { name: 'pk', type: 'S' },
  sort: { name: 'sk', type: sort },
})

const indexOf = (key: KeySchema): IndexShape => ({
  name: 'byOther',
  space: spaceId(2),
  kind: 'global',
  key,
  projection: { type: 'ALL' },
})

const byOther = indexOf({ partition: { name: 'gpk', type: 'S' }, sort: { name: 'gsk', type: 'S' } })

/** Two values of one key type. */
const pair: fc.Arbitrary<[KeyAttributeType, AttributeValue, AttributeValue]> = fc.oneof(
  fc
    .tuple(text(), text())
    .map(([a, b]): [KeyAttributeType, AttributeValue, AttributeValue] => ['S', { S: a }, { S: b }]),
  fc
    .tuple(canonical, canonical)
    .map(([a, b]): [KeyAttributeType, AttributeValue, AttributeValue] => ['N', { N: a }, { N: b }]),
  fc
    .tuple(base64(), base64())
    .map(([a, b]): [KeyAttributeType, AttributeValue, AttributeValue] => ['B', { B: a }, { B: b }]),
)

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const isBytes = (key: string): boolean => /^[\0-\xff]*$/.test(key)

describe('the hash of partition keys', () => {
  for (const [input, hash] of [
    ['', 0],
    ['a', 0x3c2569b2],
    ['abc', 0xb3dd93fa],
    ['hello', 0x248bfa47],
    ['hello, world', 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
  ] as const) {
    test(`of ${JSON.stringify(input)} is MurmurHash3's and never changes`, () => {
      assert.equal(hashBytes(input), hash)
    })
  }

  for (const [name, keyOf] of [
    ['counting', (n: number) => String(n)],
    ['padded', (n: number) => `user#${String(n).padStart(10, '0')}`],
    ['numeric', (n: number) => sortBytes('N', { N: String(n) })],
  ] as const) {
    test(`spreads ${name} keys over 1024 buckets as evenly as chance`, () => {
      const counts = Array.from({ length: 1024 }, () => 0)
      const perBucket = 100
      for (let n = 0; n < counts.length * perBucket; n++) counts[hashBytes(keyOf(n)) >>> 22]!++
      const chi = counts.reduce((sum, count) => sum + (count - perBucket) ** 2 / perBucket, 0)
      // Mean 1023, deviation 45: six deviations either side.
      assert.ok(chi > 750 && chi < 1295, `chi squared ${chi}`)
    })
  }
})

describe('item keys', () => {
  test('have the layout that is on disk', () => {
    const { hash, bytes } = itemKey(schemaOf('S'), { pk: { S: 'abc' }, sk: { S: 'é' }, other: { N: '1' } })
    assert.equal(hash, 0xb3dd93fa)
    assert.equal(bytes, '\xb3\xdd\x93\xfa\x00\x03abc\xc3\xa9')
    assert.equal(spacePrefix(spaceId(0x01020304)), '\x01\x02\x03\x04')
  })

  test('within a partition sort as DynamoDB sorts: UTF-8 bytes, numbers, raw bytes', () => {
    fc.assert(
      fc.property(pair, ([type, a, b]) => {
        const x = itemKey(schemaOf(type), { pk: { S: 'p' }, sk: a }).bytes
        const y = itemKey(schemaOf(type), { pk: { S: 'p' }, sk: b }).bytes
        assert.equal(order(x, y), sign(compareValues(a, b)!))
        assert.ok(isBytes(x))
        assert.ok(x.startsWith(partitionPrefix({ S: 'p' })))
      }),
      { numRuns: 2000 },
    )
  })

  test('of different items differ', () => {
    fc.assert(
      fc.property(text(4), text(4), text(4), text(4), (p, s, q, t) => {
        const a = itemKey(schemaOf('S'), { pk: { S: p }, sk: { S: s } }).bytes
        const b = itemKey(schemaOf('S'), { pk: { S: q }, sk: { S: t } }).bytes
        assert.equal(a === b, p === q && s === t)
      }),
    )
  })

  test('take a digest of a partition key of more than 255 bytes', () => {
    const inline = partitionPrefix({ S: 'x'.repeat(255) })
    assert.equal(inline.length, 4 + 2 + 255)
    const digested = partitionPrefix({ S: 'x'.repeat(256) })
    assert.equal(digested.length, 4 + 2 + 32)
    assert.equal(digested.slice(4, 6), '\xff\xff')
    assert.notEqual(digested, partitionPrefix({ S: 'x'.repeat(257) }))
    assert.equal(partitionPrefix({ S: 'é'.repeat(128) }).length, 4 + 2 + 32)
  })

  test('may be made of numbers and binaries, and of names like __proto__', () => {
    const schema: KeySchema = { partition: { name: '__proto__', type: 'N' }, sort: { name: 'b', type: 'B' } }
    const item = JSON.parse('{"b":{"B":"AP8="},"__proto__":{"N":"0"}}') as Item
    assert.equal(itemKey(schema, item).bytes.slice(4), '\x00\x01\x01\x00\xff')
  })

  test('need their attributes', () => {
    assert.throws(() => itemKey(schemaOf('S'), { pk: { S: 'a' } }), TypeError)
    assert.throws(() => itemKey(schemaOf('S'), { pk: { S: 'a' }, sk: { N: '1' } }), TypeError)
  })
})

describe('groups of eight', () => {
  test('keep the order of bytes and are prefix-free', () => {
    fc.assert(
      fc.property(bytes(), bytes(), (a, b) => {
        const x = grouped(a.toString('latin1'))
        const y = grouped(b.toString('latin1'))
        assert.equal(order(x, y), sign(Buffer.compare(a, b)))
        assert.equal(x.startsWith(y), a.equals(b))
        assert.equal(x.length % 9, 0)
      }),
      { numRuns: 3000 },
    )
  })

  test('mark how much of the last group is used', () => {
    assert.equal(grouped(''), '\0\0\0\0\0\0\0\0\0')
    assert.equal(grouped('abc'), 'abc\0\0\0\0\0\x03')
    assert.equal(grouped('abcdefgh'), 'abcdefgh\x08')
    assert.equal(grouped('abcdefghi'), 'abcdefgh\x09i\0\0\0\0\0\0\0\x01')
  })
})

describe('index entries', () => {
  const base = itemKey(schemaOf('S'), { pk: { S: 'a' }, sk: { S: 'b' } })
  const entry = (item: Item): string | undefined => indexEntryKey(byOther, item, base)

  test('sort by the index sort key whatever item follows', () => {
    fc.assert(
      fc.property(pair, text(), text(), ([type, a, b], s, t) => {
        const index = indexOf({ partition: { name: 'gpk', type: 'S' }, sort: { name: 'gsk', type } })
        const keyOf = (value: AttributeValue, sk: string): string | undefined =>
          indexEntryKey(
            index,
            { gpk: { S: 'g' }, gsk: value },
            itemKey(schemaOf('S'), { pk: { S: 'p' }, sk: { S: sk } }),
          )
        const x = keyOf(a, s)
        const y = keyOf(b, t)
        if (x === undefined || y === undefined) return
        const expected = sign(compareValues(a, b)!)
        if (expected !== 0) assert.equal(order(x, y), expected)
        else assert.equal(x === y, s === t)
        assert.ok(isBytes(x))
        assert.ok(x.startsWith(partitionPrefix({ S: 'g' }) + indexSortBytes(type, a)))
      }),
      { numRuns: 2000 },
    )
  })

  test('exist only for items that have the whole index key, of the right types, and not empty', () => {
    assert.ok(entry({ gpk: { S: 'g' }, gsk: { S: 's' } }))
    assert.equal(entry({ gpk: { S: 'g' } }), undefined)
    assert.equal(entry({ gsk: { S: 's' } }), undefined)
    assert.equal(entry({ gpk: { N: '1' }, gsk: { S: 's' } }), undefined)
    assert.equal(entry({ gpk: { S: 'g' }, gsk: { NULL: true } }), undefined)
    assert.equal(entry({ gpk: { S: '' }, gsk: { S: 's' } }), undefined)
    assert.equal(entry({ gpk: { S: 'g' }, gsk: { S: '' } }), undefined)
    assert.equal(entry({ gpk: { S: 'g'.repeat(2049) }, gsk: { S: 's' } }), undefined)
    assert.equal(entry({ gpk: { S: 'g' }, gsk: { S: 's'.repeat(1025) } }), undefined)
  })

  test('of an index without a sort key are the partition and the item', () => {
    const index = indexOf({ partition: { name: 'gpk', type: 'N' } })
    assert.equal(indexEntryKey(index, { gpk: { N: '7' } }, base), partitionPrefix({ N: '7' }) + base.bytes)
  })

  test('of items with long keys end in a digest, and differ', () => {
    const long = (sk: string) => itemKey(schemaOf('S'), { pk: { S: 'a' }, sk: { S: 'x'.repeat(100) + sk } })
    const item: Item = { gpk: { S: 'g' }, gsk: { S: 's' } }
    const a = indexEntryKey(byOther, item, long('a'))!
    assert.equal(a.length, partitionPrefix({ S: 'g' }).length + 9 + 32)
    assert.notEqual(a, indexEntryKey(byOther, item, long('b')))
  })
})

test('the longest possible keys fit into LMDB', () => {
  for (const partitionLength of [255, 256, 2048]) {
    for (const [type, sort] of [
      ['S', { S: 's'.repeat(1024) }],
      ['B', { B: Buffer.alloc(1024, 255).toString('base64') }],
    ] as const) {
      const partition: AttributeValue = { S: 'p'.repeat(partitionLength) }
      const base = itemKey(schemaOf(type), { pk: partition, sk: sort })
      assert.ok(base.bytes.length <= KEY_BYTES_MAX)
      const index = indexOf({ partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type } })
      const short = itemKey({ partition: { name: 'pk', type: 'S' } }, { pk: { S: 'x'.repeat(58) } })
      assert.equal(short.bytes.length, 64)
      for (const item of [base, short]) {
        const entry = indexEntryKey(index, { pk: partition, sk: sort }, item)!
        assert.ok(entry.length <= 1477 && entry.length <= KEY_BYTES_MAX)
        assert.ok(expiryEntryKey(Number.MAX_SAFE_INTEGER, item).length <= KEY_BYTES_MAX)
      }
    }
  }
})

test('expiry entries sort by time, then by item', () => {
  const seconds = fc.oneof(fc.maxSafeNat(), fc.integer({ min: 0, max: 300 }))
  fc.assert(
    fc.property(seconds, seconds, text(60), text(60), (a, b, p, q) => {
      const item = (sk: string) => itemKey(schemaOf('S'), { pk: { S: 'p' }, sk: { S: sk } })
      const x = expiryEntryKey(a, item(p))
      const y = expiryEntryKey(b, item(q))
      if (a !== b) assert.equal(order(x, y), Math.sign(a - b))
      else assert.equal(x === y, p === q)
      assert.equal(order(x, expiryPrefix(b)), a < b ? -1 : 1)
    }),
  )
  assert.throws(() => expiryPrefix(-1), RangeError)
  assert.throws(() => expiryPrefix(1.5), RangeError)
})
