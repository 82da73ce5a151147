// Attributes in front of a stored text, against parsing all of it.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { leadingAttributes } from '../../src/model/leading-attributes.js'
import { parseItem } from '../../src/model/parse-value.js'
import { pickAttributes, type Item } from '../../src/model/value.js'
import { item as items } from '../transfer/items.js'

function check(item: Item, names: readonly string[]): void {
  const text = JSON.stringify(item)
  const bytes = Buffer.from(`{"before":${text},"behind":1}`)
  const end = bytes.length - ',"behind":1}'.length
  assert.deepEqual(
    leadingAttributes(bytes, end - Buffer.byteLength(text), end, names),
    pickAttributes(item, names),
  )
}

test('leading attributes: the same as of the whole item, wherever they stand', () => {
  const key = fc.oneof(
    fc.string({ unit: 'binary' }).map((S) => ({ S })),
    fc.integer().map((N) => ({ N: String(N) })),
    fc.uint8Array({ minLength: 1 }).map((bytes) => ({ B: Buffer.from(bytes).toString('base64') })),
  )
  const name = fc.oneof(
    fc.constantFrom('pk', 'sk', '__proto__', 'a"b', 'a\\nb', 'größe'),
    fc.string({ minLength: 1 }),
  )
  fc.assert(
    fc.property(
      items,
      items,
      fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
      key,
      (before, behind, names, value) => {
        const keys = Object.fromEntries(names.map((each) => [each, value]))
        for (const given of [
          { ...keys, ...behind },
          { ...before, ...keys },
          { ...before, ...keys, ...behind },
        ])
          check(parseItem(JSON.parse(JSON.stringify(given))), names)
      },
    ),
    { numRuns: 500, seed: 48 },
  )
})

test('leading attributes: a name that only looks like another is not taken for it', () => {
  check({ 'a\nb': { S: 'x' }, 'a\\nb': { S: 'y' } }, ['a\\nb'])
  check({ pk: { S: 'a\\' }, sk: { S: '"' } }, ['pk', 'sk'])
  check({ pk: { BOOL: true }, sk: { N: '1' } }, ['sk'])
  check({ sk: { N: '1' }, pk: { S: '' } }, ['pk', 'sk'])
})
