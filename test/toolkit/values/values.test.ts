import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseItem } from '../../../src/model/parse-value.js'
import {
  fromSdkItem,
  marshall,
  marshallItem,
  NumberValue,
  toSdkItem,
  toSdkValue,
  unmarshall,
  unmarshallItem,
} from '../../../src/toolkit/values/values.js'

const PAIRS: readonly (readonly [plain: unknown, value: object])[] = [
  ['text', { S: 'text' }],
  ['', { S: '' }],
  [0, { N: '0' }],
  [-1.5, { N: '-1.5' }],
  [1e-7, { N: '0.0000001' }],
  [9007199254740991, { N: '9007199254740991' }],
  [9007199254740993n, { N: '9007199254740993' }],
  [-(10n ** 30n), { N: '-1000000000000000000000000000000' }],
  [true, { BOOL: true }],
  [null, { NULL: true }],
  [new Uint8Array([1, 2, 3]), { B: 'AQID' }],
  [[1, 'a', [null]], { L: [{ N: '1' }, { S: 'a' }, { L: [{ NULL: true }] }] }],
  [{ a: { b: 1 } }, { M: { a: { M: { b: { N: '1' } } } } }],
  [new Set(['a', 'b']), { SS: ['a', 'b'] }],
  [new Set([1, 2n ** 60n]), { NS: ['1', '1152921504606846976'] }],
  [new Set([new Uint8Array([7])]), { BS: ['Bw=='] }],
]

for (const [plain, value] of PAIRS) {
  test(`values: ${JSON.stringify(value)} is converted both ways`, () => {
    assert.deepEqual(marshall(plain), value)
    assert.deepEqual(unmarshall(value as never), plain)
  })
}

test('values: small integers are numbers, not bigints, and maps and boxed values are taken', () => {
  assert.deepEqual(marshall(5n), { N: '5' })
  assert.equal(unmarshall({ N: '5' }), 5)
  assert.deepEqual(marshall(new Map([['a', 1]])), { M: { a: { N: '1' } } })
  assert.deepEqual(marshall(Object.assign(Object.create(null) as object, { a: 1 })), { M: { a: { N: '1' } } })
  assert.deepEqual(marshall(Buffer.from([1, 2, 3])), { B: 'AQID' })
  assert.deepEqual(marshall({ f: () => 1, list: [() => 1, 2] }), { M: { list: { L: [{ N: '2' }] } } })
})

test('values: a number that JavaScript cannot hold exactly is never rounded', () => {
  const precise = unmarshall({ N: '0.1234567890123456789' })
  assert.ok(precise instanceof NumberValue)
  assert.equal(precise.toString(), '0.1234567890123456789')
  assert.equal(JSON.stringify({ precise }), '{"precise":"0.1234567890123456789"}')
  assert.deepEqual(marshall(precise), { N: '0.1234567890123456789' })
  assert.throws(() => marshall({ big: 2 ** 53 }), /the attribute big is 9007199254740992, beyond/)
  assert.throws(() => marshall(Number.NaN), /NaN/)
  assert.throws(() => marshall([1, Number.POSITIVE_INFINITY]), /the attribute \[1\] is Infinity/)
})

test("values: the NumberValue of Amazon's package is taken, too", () => {
  const theirs = { value: '1.50', toAttributeValue: () => ({ N: '1.50' }) }
  assert.deepEqual(marshall(Object.assign(Object.create({ constructor: { name: 'NumberValue' } }), theirs)), {
    N: '1.5',
  })
})

test('values: what DynamoDB has no type for is refused with its place', () => {
  assert.throws(() => marshallItem({ a: { b: [undefined] } }), /the attribute a\.b\[0\] is undefined/)
  assert.throws(() => marshallItem({ when: new Date(0) }), /the attribute when is an instance of Date/)
  assert.throws(() => marshallItem({ tags: new Set() }), /the attribute tags is an empty set/)
  assert.throws(() => marshallItem({ tags: new Set([1, 'a']) }), /a set of several types/)
  assert.throws(() => marshallItem({ s: Symbol('x') }), /a symbol/)
  assert.throws(() => marshallItem([1]), /an item is a plain object/)
  let deep: unknown = 1
  for (let level = 0; level < 32; level++) deep = [deep]
  assert.throws(() => marshallItem({ deep }), /nested more than 32 levels/)
})

test('values: an attribute named __proto__ stays one', () => {
  const item = JSON.parse('{"__proto__":{"S":"x"},"constructor":{"S":"y"}}') as never
  const plain = unmarshallItem(item)
  assert.deepEqual(Object.keys(plain), ['__proto__', 'constructor'])
  assert.deepEqual(Object.keys(marshallItem(plain)), ['__proto__', 'constructor'])
})

test('values: every plain item comes back as it was, through the SDK form, too, and is valid', () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 10n ** 37n }),
    fc.double({ noNaN: true, min: 1e-5, max: 1e9 }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 9 }),
  )
  // In the order in which sets are kept.
  const set = fc.oneof(
    fc
      .uniqueArray(fc.string(), { minLength: 1, maxLength: 4 })
      .map(
        (members) =>
          new Set<unknown>(members.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))),
      ),
    fc
      .uniqueArray(fc.integer(), { minLength: 1, maxLength: 4 })
      .map((members) => new Set<unknown>(members.toSorted((a, b) => a - b))),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, scalar, set, fc.array(tie('value'), { maxLength: 4 }), tie('map')),
    map: fc.dictionary(fc.string({ minLength: 1, maxLength: 6 }), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), value, { noNullPrototype: true }), (plain) => {
      const item = marshallItem(plain)
      assert.deepEqual(parseItem(item), item)
      assert.deepEqual(fromSdkItem(toSdkItem(item)), item)
      assert.deepEqual(unmarshallItem(item), plain)
    }),
    { numRuns: 300 },
  )
})

// What @aws-sdk/util-dynamodb documents of marshall() and unmarshall() without options. It is no dependency, so its part
// of each comparison is written down; docs/reference/units.md has the table of differences.
const SAME_AS_THEIRS: readonly (readonly [what: string, plain: unknown, theirs: object])[] = [
  ['an empty string stays one', '', { S: '' }],
  ['an empty binary stays one', new Uint8Array(0), { B: new Uint8Array(0) }],
  ['null', null, { NULL: true }],
  ['negative zero', -0, { N: '0' }],
  ['the largest safe integer', Number.MAX_SAFE_INTEGER, { N: '9007199254740991' }],
  ['a bigint', 2n ** 70n, { N: '1180591620717411303424' }],
  ['boxed values', [Object(1), Object('a'), Object(true)], { L: [{ N: '1' }, { S: 'a' }, { BOOL: true }] }],
  ['a map is an object', new Map([['a', { b: [1] }]]), { M: { a: { M: { b: { L: [{ N: '1' }] } } } } }],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { M: { a: { N: '1' } } }],
  ['functions of an object are left out', { a: 1, f: () => 1 }, { M: { a: { N: '1' } } }],
  ['bytes of an ArrayBuffer', new Uint8Array([1, 2]).buffer, { B: new Uint8Array([1, 2]) }],
  ['bytes of a view', new DataView(new Uint8Array([1, 2, 3]).buffer, 1), { B: new Uint8Array([2, 3]) }],
  ['a set of strings', new Set(['b', 'a']), { SS: ['b', 'a'] }],
  ['a set of bytes', new Set([new Uint8Array([1])]), { BS: [new Uint8Array([1])] }],
]

for (const [what, plain, theirs] of SAME_AS_THEIRS) {
  test(`values: as util-dynamodb has it: ${what}`, () =>
    assert.deepEqual(toSdkValue(marshall(plain)), theirs))
}

test('values: as util-dynamodb without options, undefined, empty sets, instances and numbers that are none are refused', () => {
  class Account {
    readonly id = 'a'
  }
  for (const refused of [
    undefined,
    { a: undefined },
    [undefined],
    new Set([undefined]),
    new Set(),
    new Set([true]),
    new Account(),
    new Date(0),
    2 ** 53,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    Symbol('s'),
  ])
    assert.throws(
      () => marshall(refused),
      /undefined|empty set|something else|instance of|beyond|NaN|Infinity|symbol/,
    )
})

test('values: as util-dynamodb, what is stored comes back: bigints where they are needed, sets as sets, bytes as bytes', () => {
  const stored = {
    small: { N: '9007199254740991' },
    large: { N: '9007199254740992' },
    set: { NS: ['1', '9007199254740993'] },
    bytes: { B: 'AQI=' },
    nothing: { NULL: true },
    list: { L: [{ S: '' }, { BOOL: false }, { M: {} }] },
  } as const
  assert.deepEqual(unmarshallItem(stored), {
    small: 9007199254740991,
    large: 9007199254740992n,
    set: new Set([1, 9007199254740993n]),
    bytes: new Uint8Array([1, 2]),
    nothing: null,
    list: ['', false, {}],
  })
})

test('values: where util-dynamodb does otherwise', () => {
  // It would round the first, and refuse the second.
  for (const precise of ['0.1234567890123456789', '12345678901234567890.5'])
    assert.equal(String(unmarshall({ N: precise })), precise)
  // It sends 1e-7, and what DynamoDB stores is this.
  assert.deepEqual(marshall(1e-7), { N: '0.0000001' })
  assert.throws(() => marshall(1e-200), /underflow|Underflow|supported|magnitude/i)
  assert.throws(() => marshall(new Set([1, 'a'])), /several types/)
  assert.deepEqual(marshall({ constructor: 'x' }), { M: { constructor: { S: 'x' } } })
  assert.throws(() => marshall(Object.create({ inherited: 1 })), /instance of Object/)
  assert.throws(() => marshall(new Blob(['x'])), /instance of Blob/)
})
