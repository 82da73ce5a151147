// The order of the members of sets, and what large sets cost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compareBase64 } from '../../src/model/binary.js'
import { compareUtf8 } from '../../src/model/compare.js'
import { compareNumbers, parseNumber } from '../../src/model/number.js'
import { parseAttributeValue } from '../../src/model/parse-value.js'
import { sortedMembers } from '../../src/model/sets.js'

const texts = fc.string({ unit: 'grapheme', maxLength: 6 })
const numbers = fc
  .tuple(fc.integer(), fc.integer({ min: -9, max: 9 }))
  .map(([digits, exponent]) => `${digits}e${exponent}`)

for (const [type, member, compare] of [
  ['SS', texts, compareUtf8],
  ['NS', numbers.map((number) => parseNumber(number)), compareNumbers],
  [
    'BS',
    fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    compareBase64,
  ],
] as const) {
  test(`sets: the members of ${type} stand as conditions order them`, () => {
    fc.assert(
      fc.property(fc.uniqueArray<string, string>(member, { maxLength: 20, selector: String }), (members) => {
        assert.deepEqual(sortedMembers(type, members), members.toSorted(compare))
      }),
    )
  })
}

test('sets: characters beyond the basic plane come last, as their bytes do', () => {
  assert.deepEqual(sortedMembers('SS', ['😀', '\ufffd', 'é', 'z']), ['z', 'é', '\ufffd', '😀'])
})

/** As many members as a request can bring. To compare each with all before it takes minutes. */
const MANY = 200_000
const shuffled = Array.from({ length: MANY }, (_, at) => String((at * 7919) % MANY))

test('sets: one repeated member of very many is found by one look at each', () => {
  for (const [type, members] of [
    ['SS', shuffled],
    ['BS', shuffled.map((text) => Buffer.from(text).toString('base64'))],
  ] as const) {
    assert.throws(() => parseAttributeValue({ [type]: [...members, members.at(-1)] }), {
      name: 'ValidationException',
      message: /^One or more parameter values were invalid: Input collection \["/,
    })
  }
})
