import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAttributeValue, parseItem } from '../../src/model/parse-value.js'
import { attribute } from '../../src/model/value.js'

const INVALID = 'One or more parameter values were invalid: '
const EMPTY = 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'
const SEVERAL =
  'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes'
const NESTING =
  'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'

const nested = (open: string, leaf: string, close: string, levels: number): unknown =>
  JSON.parse(open.repeat(levels) + leaf + close.repeat(levels))
const lists = (levels: number): unknown => nested('{"L":[', '{"S":"a"}', ']}', levels)
const maps = (levels: number): unknown => nested('{"M":{"a":', '{"S":"a"}', '}}', levels)

describe('values from a client', () => {
  for (const json of [
    '{"S":""}',
    '{"S":"😀"}',
    '{"N":"1.5"}',
    '{"B":""}',
    '{"B":"AAE="}',
    '{"BOOL":false}',
    '{"NULL":true}',
    '{"SS":["","a"]}',
    '{"NS":["1","2"]}',
    '{"BS":["","AA=="]}',
    '{"L":[]}',
    '{"M":{}}',
    '{"L":[{"M":{"a":{"L":[{"N":"1"}]}}}]}',
  ]) {
    test(`${json} is canonical and is not copied`, () => {
      const value: unknown = JSON.parse(json)
      assert.equal(parseAttributeValue(value), value)
    })
  }

  for (const [json, stored] of [
    ['{"N":"1.0"}', '{"N":"1"}'],
    ['{"NS":["1e1","2"]}', '{"NS":["2","10"]}'],
    ['{"L":[{"S":"a"},{"N":"01"},{"S":"b"}]}', '{"L":[{"S":"a"},{"N":"1"},{"S":"b"}]}'],
    ['{"M":{"a":{"N":"1"},"b":{"N":"1.0"}}}', '{"M":{"a":{"N":"1"},"b":{"N":"1"}}}'],
    ['{"S":"a","N":null}', '{"S":"a"}'],
    ['{"X":"a","S":"b"}', '{"S":"b"}'],
    ['{"X":"a","N":"1.0"}', '{"N":"1"}'],
    ['{"BOOL":"true"}', '{"BOOL":true}'],
    ['{"BOOL":"No"}', '{"BOOL":false}'],
    ['{"NULL":"true"}', '{"NULL":true}'],
  ] as const) {
    test(`${json} becomes ${stored}, and the client's object is left alone`, () => {
      const value: unknown = JSON.parse(json)
      assert.equal(JSON.stringify(parseAttributeValue(value)), stored)
      assert.equal(JSON.stringify(value), json)
    })
  }

  for (const [json, message] of [
    ['{}', EMPTY],
    ['null', EMPTY],
    ['{"X":"a"}', EMPTY],
    ['{"S":null}', EMPTY],
    ['{"L":[{}]}', EMPTY],
    ['{"L":[null]}', EMPTY],
    ['{"M":{"a":null}}', EMPTY],
    ['{"S":"a","N":"1"}', SEVERAL],
    ['{"S":"a","NULL":true}', SEVERAL],
    ['{"S":"a","N":"x"}', 'The parameter cannot be converted to a numeric value: x'],
    ['{"N":""}', 'The parameter cannot be converted to a numeric value: '],
    ['{"NS":["1",""]}', 'The parameter cannot be converted to a numeric value: '],
    ['{"NULL":false}', `${INVALID}Null attribute value types must have the value of true`],
    ['{"SS":[]}', `${INVALID}An string set  may not be empty`],
    ['{"NS":[]}', `${INVALID}An number set  may not be empty`],
    ['{"BS":[]}', `${INVALID}Binary sets should not be empty`],
    ['{"SS":["a","a"]}', `${INVALID}Input collection ["a", "a"] contains duplicates.`],
    ['{"NS":["1","1.0"]}', `${INVALID}Input collection contains duplicates.`],
    ['{"BS":["AA==","AA=="]}', `${INVALID}Input collection ["AA==","AA=="]of type BS contains duplicates.`],
    ['{"SS":["a",null]}', `${INVALID}An string set may not have a null string as a member`],
    ['{"M":{"":{"S":"a"}}}', 'Empty attribute name'],
    ['{"S":"\\ud800"}', `${INVALID}A string contains an unpaired surrogate`],
    ['{"S":"\\ude00\\ud83d"}', `${INVALID}A string contains an unpaired surrogate`],
    ['{"SS":["\\udfff"]}', `${INVALID}A string contains an unpaired surrogate`],
    ['{"M":{"\\ud800":{"S":"a"}}}', `${INVALID}An attribute name contains an unpaired surrogate`],
  ] as const) {
    test(`${json} is refused: ${message}`, () => {
      assert.throws(() => parseAttributeValue(JSON.parse(json)), { name: 'ValidationException', message })
    })
  }

  for (const [json, message] of [
    ['5', 'Unexpected value type in payload'],
    ['"a"', 'Unexpected value type in payload'],
    ['{"L":["a"]}', 'Unexpected value type in payload'],
    ['[]', 'Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue'],
    ['{"S":5}', 'NUMBER_VALUE cannot be converted to String'],
    ['{"S":5.5}', 'DECIMAL_VALUE cannot be converted to String'],
    ['{"N":5}', 'NUMBER_VALUE cannot be converted to String'],
    ['{"NS":[5]}', 'NUMBER_VALUE cannot be converted to String'],
    ['{"S":true}', 'TRUE_VALUE cannot be converted to String'],
    ['{"S":false}', 'FALSE_VALUE cannot be converted to String'],
    ['{"S":[]}', 'Unrecognized collection type class java.lang.String'],
    ['{"S":{}}', 'Start of structure or map found where not expected'],
    ['{"BOOL":1}', 'NUMBER_VALUE cannot be converted to Boolean'],
    ['{"BOOL":"x"}', 'Unexpected token received from parser'],
    ['{"BOOL":[]}', 'Unrecognized collection type class java.lang.Boolean'],
    ['{"B":5}', 'only base-64-encoded strings are convertible to bytes'],
    ['{"B":[]}', 'Unrecognized collection type class java.nio.ByteBuffer'],
    ['{"B":{}}', 'Start of structure or map found where not expected'],
    ['{"B":"abc"}', 'Base64 encoded length is expected a multiple of 4 bytes but found: 3'],
    ['{"BS":["abc"]}', 'Base64 encoded length is expected a multiple of 4 bytes but found: 3'],
    ['{"SS":"a"}', 'Unexpected field type'],
    ['{"SS":{}}', 'Start of structure or map found where not expected'],
    ['{"L":"x"}', 'Unexpected field type'],
    ['{"L":{}}', 'Start of structure or map found where not expected'],
    ['{"M":5}', 'Unexpected field type'],
    [
      '{"M":[]}',
      'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>',
    ],
  ] as const) {
    test(`${json} has the wrong JSON types: ${message}`, () => {
      assert.throws(() => parseAttributeValue(JSON.parse(json)), { name: 'SerializationException', message })
    })
  }

  test('32 levels are allowed, the 33rd is not', () => {
    const deepest = lists(31)
    assert.equal(parseAttributeValue(deepest), deepest)
    assert.equal(parseItem({ a: deepest }).a, deepest)
    for (const tooDeep of [lists(32), maps(32)]) {
      assert.throws(() => parseAttributeValue(tooDeep), { name: 'ValidationException', message: NESTING })
      assert.throws(() => parseItem({ a: tooDeep }), { name: 'ValidationException', message: NESTING })
    }
  })

  test('200,000 levels are refused without overflowing the stack', () => {
    assert.throws(() => parseAttributeValue(lists(200_000)), { message: NESTING })
    assert.throws(() => parseItem({ a: maps(200_000) }), { message: NESTING })
  })
})

describe('items from a client', () => {
  test('an attribute may be called __proto__ or constructor', () => {
    const json =
      '{"__proto__":{"N":"1"},"constructor":{"S":"a"},"toString":{"M":{"__proto__":{"NULL":true}}}}'
    const same: unknown = JSON.parse(json)
    assert.equal(parseItem(same), same)

    const item = parseItem(JSON.parse(json.replace('"1"', '"1.0"')))
    assert.deepEqual(attribute(item, '__proto__'), { N: '1' })
    assert.equal(Object.getPrototypeOf(item), Object.prototype)
    assert.equal(JSON.stringify(item), json)
  })

  test('a changed value next to __proto__ keeps both, in their order', () => {
    const item = parseItem(JSON.parse('{"a":{"S":"x"},"__proto__":{"S":"y"},"n":{"N":"01"}}'))
    assert.equal(JSON.stringify(item), '{"a":{"S":"x"},"__proto__":{"S":"y"},"n":{"N":"1"}}')
  })

  test('a name takes at most 65,535 bytes of UTF-8', () => {
    const named = (name: string) => parseItem({ [name]: { S: 'a' } })
    named('x'.repeat(65_535))
    named('é'.repeat(32_767))
    const message = 'Attribute name is too large, must be less than 65536 bytes'
    assert.throws(() => named('x'.repeat(65_536)), { name: 'ValidationException', message })
    assert.throws(() => named('é'.repeat(32_768)), { name: 'ValidationException', message })
  })

  for (const json of ['5', 'null', '"a"', 'true']) {
    test(`${json} is no item`, () => {
      const refusal = { name: 'SerializationException', message: 'Unexpected field type' }
      assert.throws(() => parseItem(JSON.parse(json)), refusal)
    })
  }
})
