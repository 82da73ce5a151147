import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { holdsElement, holdsMember, comparedText } from '../../src/expression/evaluate/membership.js'
import { sameValue } from '../../src/model/compare.js'
import type { AttributeValue } from '../../src/model/value.js'

const word = fc.constantFrom('', 'a', 'b', 'true', 'null', 'Sa', '["L",[]]')
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 })

/** Few different ones, so that equal values are met, and some that only look alike. */
const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    word.map((S): AttributeValue => ({ S })),
    fc.constantFrom<AttributeValue>({ N: '1' }, { N: '10' }, { B: 'AA==' }, { NULL: true }),
    fc.boolean().map((BOOL): AttributeValue => ({ BOOL })),
    words.map((SS): AttributeValue => ({ SS })),
    fc.constantFrom<AttributeValue>({ NS: ['1', '10'] }, { NS: ['10', '1'] }, { BS: ['AA=='] }),
    fc.array(tie('value'), { maxLength: 2 }).map((L): AttributeValue => ({ L })),
    fc.dictionary(word, tie('value'), { maxKeys: 2 }).map((M): AttributeValue => ({ M })),
  ),
}))

test('contains: two values have the same text if and only if they are equal', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(comparedText(a) === comparedText(b), sameValue(a, b))
      assert.equal(comparedText(a), comparedText(structuredClone(a)))
    }),
    { numRuns: 2_000 },
  )
})

test('contains: a long list answers the hundredth question as it answered the first', () => {
  const elements = fc.array(value, { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(elements, value, (few, part) => {
      const list = Array.from({ length: 300 }, (_, at) => few[at % few.length] as AttributeValue)
      const expected = few.some((element) => sameValue(element, part))
      for (let asked = 0; asked < 100; asked++) assert.equal(holdsElement(list, part), expected)
    }),
    { numRuns: 100 },
  )
})

test('contains: a long set answers the hundredth question as it answered the first', () => {
  const members = Array.from({ length: 1_000 }, (_, at) => `member ${at}`)
  for (let asked = 0; asked < 100; asked++) {
    assert.ok(holdsMember(members, `member ${asked * 10}`))
    assert.ok(!holdsMember(members, `member ${1_000 + asked}`))
  }
})
