import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { compareUtf8, compareValues, sameItem, sameValue } from '../../src/model/compare.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { canonical, sign, text } from './values.js'

const value = (json: string): AttributeValue => JSON.parse(json) as AttributeValue

describe('equality', () => {
  for (const [a, b] of [
    ['{"S":"a"}', '{"S":"a"}'],
    ['{"N":"1"}', '{"N":"1"}'],
    ['{"NULL":true}', '{"NULL":true}'],
    ['{"SS":["a","b"]}', '{"SS":["b","a"]}'],
    ['{"NS":["1","2"]}', '{"NS":["2","1"]}'],
    ['{"BS":["AA==","AQ=="]}', '{"BS":["AQ==","AA=="]}'],
    ['{"M":{"a":{"S":"1"},"b":{"S":"2"}}}', '{"M":{"b":{"S":"2"},"a":{"S":"1"}}}'],
    ['{"L":[{"S":"a"},{"SS":["x","y"]}]}', '{"L":[{"S":"a"},{"SS":["y","x"]}]}'],
    ['{"M":{"__proto__":{"S":"1"}}}', '{"M":{"__proto__":{"S":"1"}}}'],
  ] as const) {
    test(`${a} equals ${b}`, () => {
      assert.ok(sameValue(value(a), value(b)))
    })
  }

  for (const [a, b] of [
    ['{"S":"1"}', '{"N":"1"}'],
    ['{"S":"a"}', '{"S":"b"}'],
    ['{"B":"AA=="}', '{"B":"AQ=="}'],
    ['{"BOOL":true}', '{"BOOL":false}'],
    ['{"BOOL":true}', '{"NULL":true}'],
    ['{"NULL":true}', '{"BOOL":true}'],
    ['{"SS":["a"]}', '{"SS":["a","b"]}'],
    ['{"SS":["1"]}', '{"NS":["1"]}'],
    ['{"NS":["1"]}', '{"SS":["1"]}'],
    ['{"BS":["AA=="]}', '{"SS":["AA=="]}'],
    ['{"L":[{"S":"a"},{"S":"b"}]}', '{"L":[{"S":"b"},{"S":"a"}]}'],
    ['{"L":[{"S":"a"}]}', '{"L":[{"S":"a"},{"S":"b"}]}'],
    ['{"L":[]}', '{"M":{}}'],
    ['{"M":{"a":{"S":"1"}}}', '{"M":{"b":{"S":"1"}}}'],
    ['{"M":{}}', '{"M":{"__proto__":{"S":"1"}}}'],
    ['{"M":{"toString":{"S":"1"}}}', '{"M":{"a":{"S":"1"}}}'],
  ] as const) {
    test(`${a} does not equal ${b}`, () => {
      assert.ok(!sameValue(value(a), value(b)))
      assert.ok(!sameValue(value(b), value(a)))
    })
  }

  test('items are equal whatever the order of their attributes', () => {
    const a: Item = { x: { S: '1' }, y: { N: '2' } }
    assert.ok(sameItem(a, { y: { N: '2' }, x: { S: '1' } }))
    assert.ok(!sameItem(a, { y: { N: '2' } }))
  })
})

describe('order', () => {
  test('strings compare by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(text(), text(), (a, b) => {
        assert.equal(sign(compareUtf8(a, b)), sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }),
      { numRuns: 2000 },
    )
    assert.ok(compareUtf8('\uffff', '\u{10000}') < 0)
  })

  test('numbers compare as numbers, binaries by bytes', () => {
    assert.ok(compareValues({ N: '10' }, { N: '9' })! > 0)
    assert.ok(compareValues({ N: '-10' }, { N: '-9' })! < 0)
    assert.ok(compareValues({ B: '/w==' }, { B: 'AA==' })! > 0)
    fc.assert(
      fc.property(canonical, (number) => assert.equal(compareValues({ N: number }, { N: number }), 0)),
    )
  })

  test('values of two types, and of types without an order, do not compare', () => {
    assert.equal(compareValues({ S: '1' }, { N: '1' }), undefined)
    assert.equal(compareValues({ N: '1' }, { B: 'AA==' }), undefined)
    assert.equal(compareValues({ BOOL: true }, { BOOL: true }), undefined)
    assert.equal(compareValues({ L: [] }, { L: [] }), undefined)
  })
})
