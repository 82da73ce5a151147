import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { spaceId, type KeyBytes } from '../../src/model/brand.js'
import { compareValues } from '../../src/model/compare.js'
import { indexEntryKey, itemKey, sortBytes } from '../../src/model/key-bytes.js'
import {
  indexRange,
  itemRange,
  keyAfter,
  prefixEnd,
  segmentRange,
  type KeyRange,
  type SortCondition,
} from '../../src/model/key-range.js'
import type { IndexShape, KeySchema } from '../../src/model/table.js'
import type { AttributeValue, KeyAttributeType } from '../../src/model/value.js'
import { base64, bytes, canonical, text } from './values.js'

const within = (key: string, { from, to }: KeyRange): boolean => key >= from && (to === undefined || key < to)

type Op = SortCondition['op']
const OPS: readonly Op[] = ['=', '<', '<=', '>', '>=', 'BETWEEN', 'begins_with']

/** What Query should find, said without bytes. */
function meets(
  type: KeyAttributeType,
  value: AttributeValue,
  op: Op,
  a: AttributeValue,
  b: AttributeValue,
): boolean {
  const order = compareValues(value, a)!
  switch (op) {
    case '=':
      return order === 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    case 'BETWEEN':
      return order >= 0 && compareValues(value, b)! <= 0
    case 'begins_with':
    default:
      return sortBytes(type, value).startsWith(sortBytes(type, a))
  }
}

const conditionOf = (op: Op, a: AttributeValue, b: AttributeValue): SortCondition =>
  op === 'BETWEEN' ? { op, values: [a, b] } : { op, values: [a] }

interface Case {
  readonly type: KeyAttributeType
  readonly value: AttributeValue
  readonly a: AttributeValue
  readonly b: AttributeValue
}

/** The second value starts with the first, often: random values rarely would. */
const related = <Value>(
  value: fc.Arbitrary<Value>,
  join: (a: Value, b: Value) => Value,
): fc.Arbitrary<[Value, Value, Value]> =>
  fc
    .tuple(value, value, value, fc.boolean())
    .map(([a, rest, b, joined]) => [joined ? join(a, rest) : rest, a, b])

const cases: fc.Arbitrary<Case> = fc.oneof(
  related(text(12), (a, b) => a + b).map(([value, a, b]): Case => ({
    type: 'S',
    value: { S: value },
    a: { S: a },
    b: { S: b },
  })),
  related(bytes(20), (a, b) => Buffer.concat([a, b]))
    .map((all) => all.map((one) => one.toString('base64')) as [string, string, string])
    .map(([value, a, b]): Case => ({ type: 'B', value: { B: value }, a: { B: a }, b: { B: b } })),
  related(canonical, (a) => a).map(([value, a, b]): Case => ({
    type: 'N',
    value: { N: value },
    a: { N: a },
    b: { N: b },
  })),
)

const schemaOf = (type: KeyAttributeType): KeySchema => ({
  partition: { name: 'pk', type: 'S' },
  sort: { name: 'sk', type },
})

describe('ranges of one partition', () => {
  for (const op of OPS) {
    test(`hold exactly the items and entries whose sort key meets ${op}`, () => {
      fc.assert(
        fc.property(cases, fc.constantFrom('p', 'q'), text(), ({ type, value, a, b }, pk, other) => {
          fc.pre(op !== 'begins_with' || type !== 'N')
          const schema = schemaOf(type)
          const condition = conditionOf(op, a, b)
          const expected = pk === 'p' && meets(type, value, op, a, b)

          const item = { pk: { S: pk }, sk: value }
          assert.equal(
            within(itemKey(schema, item).bytes, itemRange(schema, { S: 'p' }, condition)),
            expected,
          )

          const index: IndexShape = {
            name: 'i',
            space: spaceId(1),
            kind: 'global',
            key: schema,
            projection: { type: 'ALL' },
          }
          const base = itemKey({ partition: { name: 'id', type: 'S' } }, { id: { S: other } })
          const entry = indexEntryKey(index, item, base)
          if (entry === undefined) return
          assert.equal(within(entry, indexRange(schema, { S: 'p' }, condition)), expected)
        }),
        { numRuns: 1500 },
      )
    })
  }

  test('without a condition hold the partition and nothing else', () => {
    fc.assert(
      fc.property(
        fc.oneof(text(4), fc.constant('x'.repeat(300))),
        fc.oneof(text(4), fc.constant('x'.repeat(301))),
        text(),
        (p, q, sk) => {
          const schema = schemaOf('S')
          const { bytes } = itemKey(schema, { pk: { S: q }, sk: { S: sk } })
          assert.equal(within(bytes, itemRange(schema, { S: p })), p === q)
        },
      ),
    )
  })

  test('never end before they start, even when BETWEEN is the wrong way round', () => {
    const { from, to } = itemRange(
      schemaOf('S'),
      { S: 'p' },
      { op: 'BETWEEN', values: [{ S: 'z' }, { S: 'a' }] },
    )
    assert.equal(from, to)
  })

  test('begins_with of bytes ff reaches to the end of the partition', () => {
    const schema = schemaOf('B')
    const key = itemKey(schema, { pk: { S: 'p' }, sk: { B: Buffer.alloc(20, 255).toString('base64') } })
    const condition: SortCondition = { op: 'begins_with', values: [{ B: '//8=' }] }
    assert.ok(within(key.bytes, itemRange(schema, { S: 'p' }, condition)))
  })

  test('begins_with makes no sense for numbers', () => {
    const condition: SortCondition = { op: 'begins_with', values: [{ N: '1' }] }
    assert.throws(() => itemRange(schemaOf('N'), { S: 'p' }, condition), TypeError)
  })
})

describe('neighbours of keys', () => {
  const key = base64(6).map((one) => Buffer.from(one, 'base64').toString('latin1') as KeyBytes)

  test('nothing lies between a key and the one after it', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        assert.ok(keyAfter(a) > a)
        assert.ok(b <= a || b >= keyAfter(a))
      }),
    )
  })

  test('the end of a prefix lies after all that have it and before all others that follow', () => {
    fc.assert(
      fc.property(key, key, (prefix, rest) => {
        const end = prefixEnd(prefix)
        if (end === undefined) assert.match(prefix, /^\xff*$/)
        else {
          assert.ok(prefix + rest < end)
          assert.equal(rest >= prefix && rest < end, rest.startsWith(prefix))
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('segments', () => {
  for (const total of [1, 2, 3, 7, 1024, 999_999, 1_000_000]) {
    test(`${total} of them cover every key exactly once`, () => {
      assert.equal(segmentRange(0, total).from, '')
      assert.equal(segmentRange(total - 1, total).to, undefined)
      for (let segment = 1; segment < total; segment++) {
        const { from, to } = segmentRange(segment, total)
        assert.equal(segmentRange(segment - 1, total).to, from)
        assert.ok(to === undefined || from < to)
      }
    })
  }

  test('are of one size, give or take one hash', () => {
    const start = (segment: number) => Buffer.from(segmentRange(segment, 3).from, 'latin1').readUInt32BE()
    assert.equal(start(1), 0x55555555)
    assert.equal(start(2), 0xaaaaaaaa)
  })

  test('outside of the total do not exist', () => {
    assert.throws(() => segmentRange(3, 3), RangeError)
    assert.throws(() => segmentRange(-1, 3), RangeError)
    assert.throws(() => segmentRange(0, 0), RangeError)
    assert.throws(() => segmentRange(0, 1_000_001), RangeError)
  })
})
