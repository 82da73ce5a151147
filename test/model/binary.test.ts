import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { base64Bytes, base64ToBytes, compareBase64, parseBase64 } from '../../src/model/binary.js'
import { bytes, sign } from './values.js'

describe('binaries', () => {
  test('base64 keeps its text, its length is known without decoding, and its order is that of the bytes', () => {
    fc.assert(
      fc.property(bytes(), bytes(), (a, b) => {
        const text = a.toString('base64')
        assert.equal(parseBase64(text), text)
        assert.equal(base64Bytes(text), a.length)
        assert.equal(base64ToBytes(text), a.toString('latin1'))
        assert.equal(sign(compareBase64(text, b.toString('base64'))), sign(Buffer.compare(a, b)))
      }),
    )
  })

  for (const [text, message] of [
    ['a', 'Base64 encoded length is expected a multiple of 4 bytes but found: 1'],
    ['aaa', 'Base64 encoded length is expected a multiple of 4 bytes but found: 3'],
    ['a!==', "Invalid base 64 character: '!'"],
    ['====', 'Invalid last non-pad Base64 character dectected'],
    ['a===', 'Invalid last non-pad Base64 character dectected'],
    ['aa==aaaa', 'Invalid last non-pad Base64 character dectected'],
    ['-_-_', "Invalid base 64 character: '-'"],
    ['aa\n=', "Invalid base 64 character: '\n'"],
    [' aaa', "Invalid base 64 character: ' '"],
    ['éaaa', "Invalid base 64 character: 'é'"],
    ['ab==', 'Invalid last non-pad Base64 character dectected'],
    ['aab=', 'Invalid last non-pad Base64 character dectected'],
  ] as const) {
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.throws(() => parseBase64(text), { name: 'SerializationException', message })
    })
  }

  test('what is accepted is what encoding gives, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'A', 'Q', 'g', '/', '+', '=', '-') }), (text) => {
        const canonical = Buffer.from(text, 'base64').toString('base64') === text
        if (canonical) assert.equal(parseBase64(text), text)
        else assert.throws(() => parseBase64(text), { name: 'SerializationException' })
      }),
      { numRuns: 1000 },
    )
  })
})
