import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as assertProperty, array, integer, property } from 'fast-check'
import { ByteWriter } from '../../src/workers/bytes.js'
import { SlabReader } from '../../src/workers/slabs.js'
import { sized } from '../support/sizes.js'

test('workers: messages of any length are whole, however they come, and stay as they are when more is read', () => {
  assertProperty(
    property(
      array(integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 12 }),
      array(integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 8 }),
      (lengths, pieces) => {
        const sent = lengths.map((length, at) => Buffer.alloc(length, at + 1))
        const stream = Buffer.concat(
          sent.map((bytes) => {
            const writer = new ByteWriter()
            writer.bytes(bytes)
            return writer.takeFrame()
          }),
        )
        const read: Buffer[] = []
        const reader = new SlabReader((message) => read.push(message))
        for (let [at, turn] = [0, 0]; at < stream.length; turn++) {
          const room = reader.room()
          assert.ok(room.length > 0, 'there is no room')
          const copied = stream.copy(room, 0, at, at + (pieces[turn % pieces.length] as number))
          at += copied
          reader.filled(copied)
        }
        const parts = read.map((message, at) => message.subarray(message.length - (lengths[at] as number)))
        assert.deepEqual(parts, sent)
      },
    ),
    { numRuns: sized(40, 300) },
  )
})
