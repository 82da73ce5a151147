import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { itemBytes, valueBytes, type AttributeValue, type Item } from '../../src/model/value.js'

describe('sizes', () => {
  for (const [json, size] of [
    ['{"S":""}', 0],
    ['{"S":"abc"}', 3],
    ['{"S":"é😀"}', 6],
    ['{"N":"27"}', 2],
    ['{"N":"-27"}', 3],
    ['{"B":""}', 0],
    ['{"B":"AAE="}', 2],
    ['{"BOOL":false}', 1],
    ['{"NULL":true}', 1],
    ['{"SS":["ab","é"]}', 4],
    ['{"NS":["1","-100"]}', 5],
    ['{"BS":["AA==","AAAA"]}', 4],
    ['{"L":[]}', 3],
    ['{"L":[{"S":"ab"},{"NULL":true}]}', 3 + 2 + 2 + 1],
    ['{"M":{}}', 3],
    ['{"M":{"ab":{"S":"c"},"d":{"L":[]}}}', 3 + 2 + (2 + 1) + (1 + 3)],
  ] as const) {
    test(`${json} takes ${size} bytes`, () => {
      assert.equal(valueBytes(JSON.parse(json) as AttributeValue), size)
    })
  }

  test('an item takes the bytes of its names and values', () => {
    assert.equal(itemBytes({}), 0)
    assert.equal(itemBytes({ pk: { S: 'abc' }, é: { N: '1' } }), 2 + 3 + 2 + 2)
  })

  test('__proto__ counts like any other name', () => {
    assert.equal(itemBytes(JSON.parse('{"__proto__":{"S":"ab"}}') as Item), 9 + 2)
  })
})
