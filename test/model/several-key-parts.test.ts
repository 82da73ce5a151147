// Keys of several HASH and RANGE attributes, compared with a plain model that sorts and filters a list.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { spaceId } from '../../src/model/brand.js'
import { compareValues } from '../../src/model/compare.js'
import { indexEntryKey, itemKey, sortBytes } from '../../src/model/key-bytes.js'
import { indexRange, type SortCondition } from '../../src/model/key-range.js'
import {
  partitionParts,
  sortParts,
  type IndexShape,
  type ItemKey,
  type KeyAttribute,
  type KeySchema,
} from '../../src/model/table.js'
import type { AttributeValue, Item, KeyAttributeType } from '../../src/model/value.js'

const TYPES = ['S', 'N', 'B'] as const

/** Few values, so that ties, prefixes and neighbours are common; some end where the groups of an entry's key do. */
const VALUES: Readonly<Record<KeyAttributeType, readonly AttributeValue[]>> = {
  S: ['a', 'a\0', 'ab', 'abcdefgh', 'abcdefgh\0', 'abcdefghi', '\uffff', '\u{1f600}'].map((S) => ({ S })),
  N: ['0', '-1', '1', '10', '9.5', '-0.25', '123456789012345678901234567890'].map((N) => ({ N })),
  B: [[0], [0, 0], [255], [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 0], [255, 255]].map((list) => ({
    B: Buffer.from(list).toString('base64'),
  })),
}

const parts = (prefix: string, min: number): fc.Arbitrary<KeyAttribute[]> =>
  fc
    .array(fc.constantFrom(...TYPES), { minLength: min, maxLength: 4 })
    .map((types) => types.map((type, at) => ({ name: `${prefix}${at}`, type })))

const schemas: fc.Arbitrary<KeySchema> = fc
  .tuple(parts('h', 1), parts('r', 0))
  .map(([[partition, ...furtherPartition], [sort, ...furtherSort]]) => ({
    partition: partition!,
    ...(sort && { sort }),
    ...(furtherPartition.length > 0 && { furtherPartition }),
    ...(furtherSort.length > 0 && { furtherSort }),
  }))

const indexOf = (key: KeySchema): IndexShape => ({
  name: 'i',
  space: spaceId(1),
  kind: 'global',
  key,
  projection: { type: 'ALL' },
})

const baseOf = (id: string): ItemKey => itemKey({ partition: { name: 'id', type: 'S' } }, { id: { S: id } })

function valuesOf(names: readonly KeyAttribute[], draws: readonly number[]): Item {
  return Object.fromEntries(
    names.map(({ name, type }, at) => [name, VALUES[type][draws[at]! % VALUES[type].length]!]),
  )
}

const draws = fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 })

describe('an index with several key attributes', () => {
  test('stands in the order of its first RANGE attribute, then of the second, and so on', () => {
    fc.assert(
      fc.property(schemas, draws, draws, draws, (key, hash, one, two) => {
        const fixed = valuesOf(partitionParts(key), hash)
        const range = sortParts(key)
        const a: Item = { ...fixed, ...valuesOf(range, one) }
        const b: Item = { ...fixed, ...valuesOf(range, two) }
        const order = range
          .map(({ name }) => compareValues(a[name]!, b[name]!)!)
          .find((difference) => difference !== 0)
        const [x, y] = [
          indexEntryKey(indexOf(key), a, baseOf('1')),
          indexEntryKey(indexOf(key), b, baseOf('2')),
        ]
        assert.equal(x! < y!, order === undefined ? baseOf('1').bytes < baseOf('2').bytes : order < 0)
      }),
      { numRuns: 3000 },
    )
  })

  const OPS: readonly SortCondition['op'][] = ['=', '<', '<=', '>', '>=', 'BETWEEN', 'begins_with']

  test('a range holds exactly the entries with equal HASH attributes and first RANGE attributes that meet the last condition', () => {
    fc.assert(
      fc.property(
        schemas,
        fc.tuple(draws, draws, draws),
        fc.constantFrom(...OPS),
        fc.nat(4),
        (key, [wanted, other, bounds], op, length) => {
          const hash = partitionParts(key)
          const range = sortParts(key)
          const asked = { ...valuesOf(hash, wanted), ...valuesOf(range, wanted.toReversed()) }
          // Like what is asked for in most attributes, so that what differs is now here, now there.
          const item: Item = Object.fromEntries(
            Object.entries({ ...valuesOf(hash, other), ...valuesOf(range, other.toReversed()) }).map(
              ([name, value], at) => [name, other[at]! % 4 === 0 ? value : asked[name]!],
            ),
          )
          const at = Math.min(length, range.length) - 1
          const last = range[at]
          fc.pre(op !== 'begins_with' || last?.type !== 'N')
          const high = last && VALUES[last.type][bounds[0]! % VALUES[last.type].length]!
          const condition = last && conditionOf(op, asked[last.name]!, high!)
          const entry = indexEntryKey(indexOf(key), item, baseOf('x'))!
          const { from, to } = indexRange(key, asked[hash[0]!.name]!, condition, {
            partition: hash.slice(1).map(({ name }) => asked[name]!),
            sortPrefix: range.slice(0, Math.max(at, 0)).map(({ name }) => asked[name]!),
          })
          const equal = [...hash, ...range.slice(0, Math.max(at, 0))].every(
            ({ name }) => compareValues(item[name]!, asked[name]!) === 0,
          )
          const meets = last === undefined || meetsCondition(last, item[last.name]!, condition!)
          assert.equal(entry >= from && (to === undefined || entry < to), equal && meets)
        },
      ),
      { numRuns: 6000 },
    )
  })

  test('has no item that lacks one of them, or has it empty or of another type', () => {
    fc.assert(
      fc.property(
        schemas,
        draws,
        fc.nat(7),
        fc.constantFrom('absent', 'empty', 'other'),
        (key, drawn, at, how) => {
          const all = [...partitionParts(key), ...sortParts(key)]
          const item: Record<string, AttributeValue> = { ...valuesOf(all, drawn) }
          assert.notEqual(indexEntryKey(indexOf(key), item, baseOf('x')), undefined)
          const { name, type } = all[at % all.length]!
          fc.pre(how !== 'empty' || type !== 'N')
          delete item[name]
          if (how === 'empty') item[name] = type === 'S' ? { S: '' } : { B: '' }
          if (how === 'other') item[name] = { BOOL: true }
          assert.equal(indexEntryKey(indexOf(key), item, baseOf('x')), undefined)
        },
      ),
    )
  })

  test('takes 1,024 bytes of RANGE attributes together, and the longest entry fits the index file', () => {
    const key: KeySchema = {
      partition: { name: 'h', type: 'S' },
      sort: { name: 'r0', type: 'S' },
      furtherSort: ['r1', 'r2', 'r3'].map((name) => ({ name, type: 'S' as const })),
    }
    const item = (bytes: number): Item => ({
      h: { S: 'h'.repeat(255) },
      r0: { S: 'a' },
      r1: { S: 'b' },
      r2: { S: 'c' },
      r3: { S: 'd'.repeat(bytes - 3) },
    })
    const base = baseOf('x'.repeat(58))
    assert.equal(indexEntryKey(indexOf(key), item(1024), base)?.length, 1504)
    assert.equal(indexEntryKey(indexOf(key), item(1025), base), undefined)
  })
})

const conditionOf = (op: SortCondition['op'], a: AttributeValue, b: AttributeValue): SortCondition =>
  op === 'BETWEEN' ? { op, values: [a, b] } : { op, values: [a] }

/** Said without the bytes of a key, but for begins_with. */
function meetsCondition(
  { type }: KeyAttribute,
  value: AttributeValue,
  { op, values }: SortCondition,
): boolean {
  const order = compareValues(value, values[0])!
  if (op === '=') return order === 0
  if (op === '<') return order < 0
  if (op === '<=') return order <= 0
  if (op === '>') return order > 0
  if (op === '>=') return order >= 0
  if (op === 'BETWEEN') return order >= 0 && compareValues(value, values[1])! <= 0
  return sortBytes(type, value).startsWith(sortBytes(type, values[0]))
}
