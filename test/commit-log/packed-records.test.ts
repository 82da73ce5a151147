// Records on their way to a file of the log, packed as its frames have them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { decodeLogFrame, recordsOfFrame } from '../../src/commit-log/files/log-frame.js'
import { PackedRecords } from '../../src/commit-log/files/packed-records.js'
import { ListedRecords } from '../../src/commit-log/pending-records.js'
import { type KeyBytes, spaceId, timestamp } from '../../src/model/brand.js'
import { assertRecords, changeOf, recordOf } from '../suites/log-storage.js'

const SEGMENT = { file: '', first: 0, seed: 7 }

const change = fc
  .record({
    space: fc.integer({ min: 1, max: 200 }),
    key: fc.integer({ min: 0, max: 4 }),
    imageBytes: fc.nat(200),
  })
  .map(({ space, key, imageBytes }) =>
    changeOf(key, { space: spaceId(space), key: `key ${key}`, imageBytes }),
  )
const records = fc
  .array(fc.tuple(fc.array(change, { minLength: 1, maxLength: 90 }), fc.nat(50)), { maxLength: 60 })
  .map((all) =>
    all.map(([changes, time], at) => ({ ...recordOf(at + 11, changes), timestamp: timestamp(time) })),
  )

test('packed records: they say what the records say, one by one and as a frame, whatever number of tables they are of', () => {
  fc.assert(
    fc.property(records, fc.nat(50), (all, time) => {
      const [packed, listed] = [new PackedRecords(Buffer.allocUnsafeSlow(512)), new ListedRecords()]
      for (const record of all) {
        packed.add(record)
        listed.add(record)
      }
      assertRecords([...packed], all)
      assert.equal(packed.firstAt(timestamp(time)), listed.firstAt(timestamp(time)))
      for (const space of [1, 100, 200])
        for (const key of ['key 1', 'key 4'])
          assert.deepEqual(
            packed.numbersOf(spaceId(space), key as KeyBytes),
            listed.numbersOf(spaceId(space), key as KeyBytes),
          )
      const place = { first: 11, position: { upTo: 5, number: 10 }, offset: 300 }
      const { bytes, frame } = packed.frame(place, SEGMENT)
      const found = decodeLogFrame(bytes, 300, SEGMENT, 300)
      assert.deepEqual(found, frame)
      assertRecords(recordsOfFrame(bytes, frame), all)
    }),
    { numRuns: 60 },
  )
})

test('packed records: what was read of them stays what it was when their room is used again', () => {
  const first = PackedRecords.of([recordOf(1), recordOf(2)])
  const read = first.at(1)
  const second = new PackedRecords(first.buffer)
  for (const number of [3, 4]) second.add(recordOf(number))
  assertRecords([read], [recordOf(2)])
  assertRecords([...second], [recordOf(3), recordOf(4)])
})

test('packed records: a number that does not follow is refused', () => {
  const packed = PackedRecords.of([recordOf(1)])
  assert.throws(() => packed.add(recordOf(3)), /was to follow 1/)
})
