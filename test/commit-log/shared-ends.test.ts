import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { spaceId, type KeyBytes, type Timestamp } from '../../src/model/brand.js'
import { type ChangeEntry, decodeLogEntry, encodeLogEntry } from '../../src/commit-log/entries.js'
import {
  differenceBytes,
  sharedEnds,
  withDifference,
  writeDifference,
} from '../../src/commit-log/shared-ends.js'

/** Of few different bytes, so that ends are often alike and overlap. */
const image = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 80 }).map((text) => Buffer.from(text))

test('shared ends: an old image is the new one with what differs, also where its ends overlap in the other', () => {
  fc.assert(
    fc.property(image, image, (old, next) => {
      const shared = sharedEnds(old, next)
      const bytes = Buffer.alloc(differenceBytes(old, shared))
      assert.equal(writeDifference(bytes, 0, old, shared), bytes.length)
      assert.deepEqual(withDifference(bytes, next), old)
    }),
  )
})

test('shared ends: an entry of the journal has the images that were put into it, its new one in the frame or not', () => {
  fc.assert(
    fc.property(image, image, fc.boolean(), (old, next, isInFrame) => {
      const change = {
        space: spaceId(7),
        key: 'key' as KeyBytes,
        event: 'modify',
        operation: 'put',
        cause: 'request',
        old,
        new: next,
      } as const
      const entry: ChangeEntry = { kind: 'change', of: 'single', order: 3, timestamp: 5 as Timestamp, change }
      const encoded = encodeLogEntry(entry, () => isInFrame)
      const bytes = Buffer.alloc(encoded.byteLength)
      encoded.writeTo(bytes, 0)
      assert.deepEqual(
        decodeLogEntry(bytes, () => next),
        entry,
      )
    }),
  )
})
