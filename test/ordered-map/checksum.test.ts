import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { checksumOfKey, checksumOfKeyBytes, sealed, unsealed } from '../../src/ordered-map/checksum.js'
import { beforeOneFlip } from '../../src/ordered-map/lmdb/file/one-bit.js'
import type { KeyBytes } from '../../src/model/brand.js'

const keys = fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => latin1(bytes))
const values = fc.uint8Array({ maxLength: 300 })
const latin1 = (bytes: Uint8Array): KeyBytes => Buffer.from(bytes).toString('latin1') as KeyBytes

test('checksum: the value is read back under its own key, and under no other', () => {
  fc.assert(
    fc.property(keys, keys, values, (key, other, value) => {
      const record = sealed(key, value)
      assert.deepEqual(Buffer.from(unsealed(checksumOfKey(key), record) ?? 'x'), Buffer.from(value))
      if (other !== key) assert.equal(unsealed(checksumOfKey(other), record), undefined)
    }),
  )
})

test('checksum: it is CRC-32 of key and value, however it is worked out', () => {
  fc.assert(
    fc.property(keys, values, (key, value) => {
      const bytes = Buffer.from(key, 'latin1')
      assert.equal(checksumOfKey(key), crc32(bytes))
      assert.equal(checksumOfKeyBytes(Buffer.concat([value, bytes]), value.length, value.length + bytes.length), crc32(bytes)) // prettier-ignore
      assert.equal(sealed(key, value).readUInt32LE(value.length), crc32(Buffer.concat([bytes, value])))
    }),
  )
})

test('checksum: every flipped bit of key, value or checksum is found, and found again in its place', () => {
  fc.assert(
    fc.property(keys, values, fc.nat(), (key, value, at) => {
      const record = sealed(key, value)
      const whole = Buffer.concat([Buffer.from(key, 'latin1'), record])
      const bit = at % (whole.length * 8)
      const flipped = Buffer.from(whole)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const flippedKey = latin1(flipped.subarray(0, key.length))
      const flippedRecord = flipped.subarray(key.length)
      assert.equal(unsealed(checksumOfKey(flippedKey), flippedRecord), undefined)
      const before = beforeOneFlip(flippedKey, flippedRecord)
      assert.equal(before?.key, key)
      assert.deepEqual(Buffer.from(before?.record ?? []), record)
    }),
  )
})

test('checksum: two flipped bits are found, and are not taken for one', () => {
  fc.assert(
    fc.property(keys, values, fc.nat(), fc.nat(), (key, value, first, second) => {
      const whole = Buffer.concat([Buffer.from(key, 'latin1'), sealed(key, value)])
      const bits = [first % (whole.length * 8), second % (whole.length * 8)]
      fc.pre(bits[0] !== bits[1])
      for (const bit of bits) whole[bit >> 3]! ^= 1 << (bit & 7)
      const flippedKey = latin1(whole.subarray(0, key.length))
      assert.equal(unsealed(checksumOfKey(flippedKey), whole.subarray(key.length)), undefined)
      assert.equal(beforeOneFlip(flippedKey, whole.subarray(key.length)), undefined)
    }),
  )
})

test('checksum: a record that is too short to have one is damaged', () => {
  assert.equal(unsealed(checksumOfKey('k' as KeyBytes), Buffer.alloc(3)), undefined)
  assert.equal(beforeOneFlip('k' as KeyBytes, Buffer.alloc(3)), undefined)
})
