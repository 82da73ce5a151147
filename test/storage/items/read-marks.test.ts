import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes, Timestamp } from '../../../src/model/brand.js'
import { ReadMarks } from '../../../src/storage/items/marks.js'
import { seededRandom } from '../../suites/seeded-random.js'

const at = (n: number): Timestamp => n as Timestamp
const item = (n: number): KeyBytes => `item ${n}` as KeyBytes

test('read marks: a mark is never below what was read, however many items were read since', () => {
  const random = seededRandom(1)
  const marks = new ReadMarks(at(100))
  const highest = new Map<KeyBytes, number>()
  for (let n = 0; n < 300_000; n++) {
    // Not in order: some transactions are slow.
    const timestamp = at(1000 + n - random(500))
    const read = item(random(n % 7 === 0 ? 200 : 120_000))
    marks.raise(read, timestamp)
    highest.set(read, Math.max(highest.get(read) ?? 0, timestamp))
    if (n % 10_000 === 0)
      for (const [each, mark] of highest) assert.ok(marks.of(each) >= mark, `${each} after ${n}`)
  }
  for (const [each, mark] of highest) assert.ok(marks.of(each) >= mark, each)
})

test('read marks: an item that was not read has the low-water mark, which rises with what is forgotten', () => {
  const marks = new ReadMarks(at(100))
  assert.equal(marks.of(item(1)), 100)
  marks.raise(item(1), at(50))
  assert.equal(marks.of(item(1)), 100)
  marks.raise(item(1), at(200))
  marks.raise(item(1), at(150))
  assert.equal(marks.of(item(1)), 200)
  assert.equal(marks.of(item(2)), 100)
  // As many as are kept, and as many again.
  for (let n = 0; n < 200_000; n++) marks.raise(item(n), at(1000 + n))
  const lowWater = marks.of(item(-1))
  assert.ok(lowWater > 1000 && lowWater < 1000 + 150_000, `forgotten up to ${lowWater}`)
  assert.equal(marks.of(item(199_999)), 1000 + 199_999)
})
