// Pages of items as one text: their limits, their room, and that nobody writes into the text of another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes, Lsn, Timestamp } from '../../../src/model/brand.js'
import { spaceId } from '../../../src/model/brand.js'
import {
  type RangeText,
  type RangeTextRequest,
  TextCollector,
} from '../../../src/storage/contract/range-text.js'
import { encodeItemRecord } from '../../../src/line/record.js'
import { seededRandom } from '../../suites/seeded-random.js'

const request = (more: Partial<RangeTextRequest> = {}): RangeTextRequest => ({
  space: spaceId(1),
  from: '' as KeyBytes,
  reverse: false,
  entriesMax: 1000,
  bytesMax: 1 << 30,
  roomBefore: 522,
  roomAfter: 512,
  ...more,
})

function recordOf(text: string, itemBytes: number): Buffer {
  const item = { text: { S: text } }
  const lastWrite = { kind: 'put', blind: true } as const
  return encodeItemRecord({ item, itemBytes, lastWrite }, 1 as Timestamp, 1 as Lsn)
}

/** As an index lends: in a longer buffer, which is overwritten afterwards. */
function take(collector: TextCollector, record: Buffer): boolean {
  const lent = Buffer.alloc(record.length + 100, 'L')
  lent.set(record)
  try {
    return collector.take(lent, record.length)
  } finally {
    lent.fill(0)
  }
}

const textsOf = ({ bytes, start, end }: RangeText): string[] =>
  (JSON.parse(`[${bytes.toString('utf8', start, end)}]`) as { text: { S: string } }[]).map(
    ({ text }) => text.S,
  )

test('range texts: a page ends with the entry that reaches a limit', () => {
  const collector = new TextCollector()
  collector.begin(request({ entriesMax: 2 }))
  assert.deepEqual(
    ['a', 'b'].map((text) => take(collector, recordOf(text, 10))),
    [true, false],
  )
  assert.deepEqual(textsOf(collector.finish()), ['a', 'b'])
  collector.begin(request({ bytesMax: 25 }))
  assert.deepEqual(
    ['c', 'd', 'e'].map((text) => take(collector, recordOf(text, 10))),
    [true, true, false],
  )
  const page = collector.finish()
  assert.deepEqual([page.entries, page.itemBytes], [3, 30])
  assert.deepEqual(JSON.parse(page.bytes.toString('utf8', page.lastStart, page.end)), { text: { S: 'e' } })
})

test('range texts: an empty page has its room, and a record of another format is refused', () => {
  const collector = new TextCollector()
  collector.begin(request())
  const { bytes, start, end, entries } = collector.finish()
  assert.deepEqual([end - start, entries], [0, 0])
  assert.ok(start >= 522 && end + 512 <= bytes.length)
  collector.begin(request())
  const foreign = recordOf('a', 10)
  foreign[0] = 9
  assert.throws(() => take(collector, foreign), /format 9/)
  collector.begin(request())
  take(collector, recordOf('after', 10))
  assert.deepEqual(textsOf(collector.finish()), ['after'])
})

test('range texts: texts of all lengths stay as they are, whatever is written into the room of others', () => {
  const seed = 11
  const random = seededRandom(seed)
  const collector = new TextCollector()
  const pages: (Pick<RangeTextRequest, 'roomBefore' | 'roomAfter'> & {
    readonly page: RangeText
    readonly texts: readonly string[]
    readonly mark: number
  })[] = []
  for (let round = 0; round < 400; round++) {
    const room = { roomBefore: random(800), roomAfter: random(800) }
    const longest = [10, 900, 5_000, 70_000, 400_000][random(round % 20 === 0 ? 5 : 3)] as number
    const texts = Array.from(
      { length: random(20) },
      (_, at) => `${round}.${at}é${'x'.repeat(random(longest))}`,
    )
    collector.begin(request(room))
    for (const text of texts) take(collector, recordOf(text, text.length))
    const page = collector.finish()
    const mark = round % 256
    page.bytes.fill(mark, page.start - room.roomBefore, page.start)
    page.bytes.fill(mark, page.end, page.end + room.roomAfter)
    pages.push({ page, texts, mark, ...room })
    if (pages.length > 40) pages.shift()
    for (const each of pages) {
      const { start, end, bytes } = each.page
      assert.deepEqual(textsOf(each.page), each.texts, `seed ${seed}, round ${round}`)
      const { roomBefore, roomAfter } = each
      assert.deepEqual(bytes.subarray(start - roomBefore, start), Buffer.alloc(roomBefore, each.mark))
      assert.deepEqual(bytes.subarray(end, end + roomAfter), Buffer.alloc(roomAfter, each.mark))
    }
  }
})
