// Items that are read from their bytes without being parsed, against the way that all others take.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { itemBytes } from '../../src/model/value.js'
import { parseItem } from '../../src/model/parse-value.js'
import { PlainItems } from '../../src/model/plain-item.js'
import { item as items } from '../transfer/items.js'

const reader = new PlainItems(['id', 'n'])

/** What is plain must be what the other way finds, and kept as the same text. */
function check(text: string): boolean {
  const bytes = Buffer.from(`before${text}behind`)
  const found = reader.read(bytes, 6, bytes.length - 6)
  if (found === undefined) return false
  const json: unknown = JSON.parse(text)
  const item = parseItem(json)
  assert.equal(item, json, text)
  assert.equal(JSON.stringify(item), text)
  assert.equal(found.itemBytes, itemBytes(item), text)
  for (const name of ['id', 'n']) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined
    const isKept = value !== undefined && ('S' in value || 'N' in value)
    assert.deepEqual(found.attributes[name], isKept ? value : undefined, text)
  }
  return true
}

test('plain items: sizes and keys are those of the item when it is parsed', () => {
  fc.assert(
    fc.property(items, (item) => {
      check(JSON.stringify(item))
      check(JSON.stringify({ id: { S: 'a' }, ...item, n: { N: '7' } }))
    }),
    { numRuns: 500, seed: 24 },
  )
})

test('plain items: in a long text every byte is looked at, wherever it stands in memory', () => {
  const letters = 'abcdefgh'.repeat(12)
  for (let offset = 0; offset < 4; offset++)
    for (let at = 0; at < letters.length; at++)
      for (const put of ['"', '\\', '\u0000', '\u001f', ' ', '!', '#', '[', ']', 'é', '\u007f', '😀']) {
        const text = `{"id":{"S":"${letters.slice(0, at)}${put}${letters.slice(at + 1)}"}}`
        const bytes = Buffer.from(`${'-'.repeat(offset)}${text}`)
        const isPlain = reader.read(bytes, offset, bytes.length) !== undefined
        assert.equal(
          isPlain,
          JSON.stringify(put).length === put.length + 2,
          `${JSON.stringify(put)} at ${at}`,
        )
      }
})

test('plain items: texts that were changed somewhere are either as before or not plain', () => {
  const text = JSON.stringify({
    id: { S: 'a b' },
    n: { N: '-120' },
    ü: { S: 'größe' },
    t: { SS: ['a', 'b', 'c'] },
    f: { BOOL: true },
    g: { BOOL: false },
    z: { NULL: true },
    m: { M: { a: { L: [{ S: '' }, { N: '0' }, { M: {} }, { L: [] }] } } },
  })
  assert.ok(check(text))
  for (let at = 0; at < text.length; at++) {
    for (const put of ['', ' ', '"', '\\', '{', '}', ',', ':', '0', 'a', 'S', 'N', '[', ']', '\u0000']) {
      for (const cut of [0, 1]) {
        const changed = text.slice(0, at) + put + text.slice(at + cut)
        check(changed)
      }
    }
  }
})

for (const [what, text] of Object.entries({
  'a member that is there twice': '{"id":{"S":"a"},"id":{"S":"b"}}',
  'a member of a map that is there twice': '{"id":{"S":"a"},"m":{"M":{"a":{"N":"1"},"a":{"N":"2"}}}}',
  'two types': '{"id":{"S":"a","N":"1"}}',
  'an unknown type': '{"id":{"X":"a"}}',
  'a name that is a number': '{"id":{"S":"a"},"2":{"S":"a"},"1":{"S":"a"}}',
  'white space': '{"id": {"S":"a"}}',
  'an escape': '{"id":{"S":"\\u0061"}}',
  'a number in another notation': '{"id":{"N":"1.0"}}',
  'a number with a zero in front': '{"id":{"N":"01"}}',
  'a negative zero': '{"id":{"N":"-0"}}',
  'no digits': '{"id":{"N":"-"}}',
  'a set out of order': '{"id":{"SS":["b","a"]}}',
  'a set with a member twice': '{"id":{"SS":["a","a"]}}',
  'an empty set': '{"id":{"SS":[]}}',
  'a name without letters': '{"":{"S":"a"}}',
  'null that is false': '{"id":{"NULL":false}}',
  'an end before the end': '{"id":{"S":"a"}}}',
  'something behind a comma': '{"id":{"S":"a"},}',
  'no end': '{"id":{"S":"a"}',
}))
  test(`plain items: ${what} is not plain`, () => {
    const bytes = Buffer.from(text)
    assert.equal(reader.read(bytes, 0, bytes.length), undefined)
  })

test('plain items: bytes that are no UTF-8, and items that are too large or too deep, are not plain', () => {
  const bytes = Buffer.from('{"id":{"S":"a"}}')
  bytes[12] = 0xff
  assert.equal(reader.read(bytes, 0, bytes.length), undefined)
  const large = Buffer.from(`{"id":{"S":"${'x'.repeat(410 * 1024)}"}}`)
  assert.equal(reader.read(large, 0, large.length), undefined)
  const deep = Buffer.from(`{"id":${'{"L":['.repeat(200_000)}${']}'.repeat(200_000)}}`)
  assert.equal(reader.read(deep, 0, deep.length), undefined)
})
