import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileFilter } from '../../src/changes/trigger/filter-pattern.js'

const RECORD = {
  eventName: 'MODIFY',
  dynamodb: {
    SizeBytes: 59,
    Keys: { id: { S: 'order-7' } },
    NewImage: {
      id: { S: 'order-7' },
      state: { S: 'Paid' },
      total: { N: '12.5' },
      tags: { SS: ['new', 'gift'] },
      flag: { BOOL: true },
      nothing: { NULL: true },
      place: { M: { city: { S: 'Bern' } } },
      empty: { S: '' },
    },
  },
}
const inNew = (attributes: object): object => ({ dynamodb: { NewImage: attributes } })

/** What a pattern says of the record above. */
const MATCHES: readonly (readonly [string, object, boolean])[] = [
  ['an empty pattern', {}, true],
  ['equality', { eventName: ['MODIFY'] }, true],
  ['equality with one of several', { eventName: ['INSERT', 'MODIFY'] }, true],
  ['equality with another value', { eventName: ['REMOVE'] }, false],
  ['equality is case-sensitive', { eventName: ['modify'] }, false],
  ['a nested value', inNew({ state: { S: ['Paid'] } }), true],
  ['a value in a map', inNew({ place: { M: { city: { S: ['Bern'] } } } }), true],
  ['a missing attribute', inNew({ colour: { S: ['red'] } }), false],
  ['a missing image', { dynamodb: { OldImage: { state: { S: ['Paid'] } } } }, false],
  ['members are all to match', inNew({ state: { S: ['Paid'] }, flag: { BOOL: [false] } }), false],
  ['a boolean', inNew({ flag: { BOOL: [true] } }), true],
  ['null is null only', inNew({ nothing: { NULL: [null] } }), false],
  ['an empty string', inNew({ empty: { S: [''] } }), true],
  ['a number as text', inNew({ total: { N: ['12.5'] } }), true],
  ['an element of a set', inNew({ tags: { SS: ['gift'] } }), true],
  ['no element of a set', inNew({ tags: { SS: ['old'] } }), false],
  ['prefix', { dynamodb: { Keys: { id: { S: [{ prefix: 'order-' }] } } } }, true],
  ['another prefix', { dynamodb: { Keys: { id: { S: [{ prefix: 'invoice-' }] } } } }, false],
  ['prefix of any case', inNew({ state: { S: [{ prefix: { 'equals-ignore-case': 'PA' } }] } }), true],
  ['suffix', inNew({ state: { S: [{ suffix: 'id' }] } }), true],
  ['another suffix', inNew({ state: { S: [{ suffix: 'ID' }] } }), false],
  ['suffix of any case', inNew({ state: { S: [{ suffix: { 'equals-ignore-case': 'ID' } }] } }), true],
  ['equals-ignore-case', inNew({ state: { S: [{ 'equals-ignore-case': 'pAID' }] } }), true],
  ['equals-ignore-case is no prefix', inNew({ state: { S: [{ 'equals-ignore-case': 'pa' }] } }), false],
  ['exists', inNew({ state: { S: [{ exists: true }] } }), true],
  ['exists of what is missing', inNew({ colour: { S: [{ exists: true }] } }), false],
  ['exists: false of what is missing', inNew({ colour: { S: [{ exists: false }] } }), true],
  ['exists: false of what is there', inNew({ state: { S: [{ exists: false }] } }), false],
  ['exists looks at leaves', { dynamodb: { NewImage: [{ exists: true }] } }, false],
  ['exists: false or a value', inNew({ state: { S: [{ exists: false }, 'Paid'] } }), true],
  ['anything-but another value', inNew({ state: { S: [{ 'anything-but': ['Open', 'New'] }] } }), true],
  ['anything-but this value', inNew({ state: { S: [{ 'anything-but': 'Paid' }] } }), false],
  ['anything-but of what is missing', inNew({ colour: { S: [{ 'anything-but': 'red' }] } }), false],
  ['anything-but a prefix', inNew({ state: { S: [{ 'anything-but': { prefix: 'Pa' } }] } }), false],
  ['anything-but a suffix', inNew({ state: { S: [{ 'anything-but': { suffix: 'x' } }] } }), true],
  ['numeric', { dynamodb: { SizeBytes: [{ numeric: ['>', 50] }] } }, true],
  ['numeric between', { dynamodb: { SizeBytes: [{ numeric: ['>', 50, '<=', 59] }] } }, true],
  ['numeric below', { dynamodb: { SizeBytes: [{ numeric: ['>', 50, '<', 59] }] } }, false],
  ['numeric equality', { dynamodb: { SizeBytes: [{ numeric: ['=', 59] }] } }, true],
  ['a number of text beside what matches', inNew({ total: { N: [{ numeric: ['>', 5] }, '12.5'] } }), true],
  [
    'a number of text beside what does not',
    inNew({ total: { N: [{ numeric: ['>', 5] }, { 'anything-but': '12.5' }] } }),
    false,
  ],
  ['numeric of text', { eventName: [{ numeric: ['>', 0] }] }, false],
  ['$or, the second', { $or: [{ eventName: ['REMOVE'] }, inNew({ state: { S: ['Paid'] } })] }, true],
  ['$or, none', { $or: [{ eventName: ['REMOVE'] }, { eventName: ['INSERT'] }] }, false],
  [
    '$or beside another member',
    { eventName: ['INSERT'], $or: [{ eventName: ['MODIFY'] }, inNew({ state: { S: ['Paid'] } })] },
    false,
  ],
  [
    '$or deeper down',
    { dynamodb: { $or: [{ SizeBytes: [1] }, { Keys: { id: { S: ['order-7'] } } }] } },
    true,
  ],
]

for (const [what, pattern, expected] of MATCHES) {
  test(`trigger, filter: ${what} ${expected ? 'matches' : 'does not match'}`, () => {
    const asText = compileFilter({ Filters: [{ Pattern: JSON.stringify(pattern) }] })
    const asObject = compileFilter({ Filters: [{ Pattern: pattern }] })
    assert.equal(asText(RECORD), expected)
    assert.equal(asObject(RECORD), expected)
  })
}

test('trigger, filter: several patterns are alternatives, and without any every record passes', () => {
  const filter = compileFilter({
    Filters: [{ Pattern: { eventName: ['REMOVE'] } }, { Pattern: { eventName: ['MODIFY'] } }],
  })
  assert.equal(filter(RECORD), true)
  assert.equal(compileFilter({ Filters: [] })(RECORD), true)
})

test('trigger, filter: names of Object.prototype are ordinary names', () => {
  const filter = compileFilter({ Filters: [{ Pattern: { constructor: [{ exists: false }] } }] })
  assert.equal(filter(RECORD), true)
})

/** What is no pattern is refused with its place. */
const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  ['{', /pattern 1 is not JSON/],
  ['[]', /pattern 1 is an object/],
  [{ eventName: 'INSERT' }, /pattern 1\.eventName is an object/],
  [{ eventName: [] }, /pattern 1\.eventName is an empty list/],
  [{ eventName: [{ wildcard: '*' }] }, /pattern 1\.eventName\[0\] has the unknown rule "wildcard"/],
  [{ eventName: [{ prefix: 1 }] }, /needs a string/],
  [{ eventName: [{ prefix: 'a', suffix: 'b' }] }, /one rule/],
  [{ eventName: [{ exists: 'yes' }] }, /exists is true or false/],
  [{ eventName: [{ numeric: ['>'] }] }, /is a list such as/],
  [{ eventName: [{ numeric: ['!=', 1] }] }, /\[0\] is one of/],
  [{ eventName: [{ numeric: ['>', '1'] }] }, /\[1\] is a number/],
  [{ eventName: [['INSERT']] }, /pattern 1\.eventName\[0\] is a string/],
  [{ $or: [{ eventName: ['INSERT'] }] }, /\$or is a list of at least two/],
  [inNew({ total: { N: [12.5] } }), /pattern 1\.dynamodb\.NewImage\.total\.N can never match/],
  [inNew({ total: { N: [{ numeric: ['>', 5] }] } }), /can never match/],
  [inNew({ total: { N: [{ 'anything-but': [5] }] } }), /can never match/],
]

for (const [pattern, message] of REFUSED) {
  test(`trigger, filter: ${JSON.stringify(pattern)} is refused`, () => {
    assert.throws(() => compileFilter({ Filters: [{ Pattern: pattern as object }] }), {
      name: 'TypeError',
      message,
    })
  })
}
