import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseItem } from '../../src/model/parse-value.js'
import {
  fromSdkItem,
  marshall,
  marshallItem,
  NumberValue,
  toSdkItem,
  unmarshall,
  unmarshallItem,
} from '../../src/toolkit/values.js'

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
  const set = fc.oneof(
    fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).map((members) => new Set<unknown>(members)),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 4 }).map((members) => new Set<unknown>(members)),
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
