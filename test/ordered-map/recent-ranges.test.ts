// Ranges that are kept at hand, against the index without them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes } from '../../src/model/brand.js'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { IndexChange, OrderedMap, ScanRange } from '../../src/ordered-map/ordered-map.js'
import { withRecentRanges } from '../../src/ordered-map/recent-ranges.js'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { testFolder } from '../support/folder.js'
import { orderedMapSuite } from '../suites/ordered-map.js'

orderedMapSuite('index with recent ranges', () => Promise.resolve(withRecentRanges(memoryMap())))
orderedMapSuite('LMDB index with recent ranges', () =>
  Promise.resolve(withRecentRanges(lmdbMap(testFolder()))),
)

const keyOf = (number: number): KeyBytes => `key/${String(number).padStart(3, '0')}` as KeyBytes

function scanned(map: OrderedMap, range: ScanRange, entriesMax: number): readonly string[] {
  const seen: string[] = []
  map.scan(range, (lent, length) => {
    seen.push(Buffer.from(lent.subarray(0, length)).toString())
    return seen.length < entriesMax
  })
  return seen
}

/** Counts the scans that reach it. */
function counted(index: OrderedMap): OrderedMap & { scans: number } {
  const counting = {
    scans: 0,
    get: (key: KeyBytes) => index.get(key),
    range: (range: ScanRange) => index.range(range),
    scan: (range: ScanRange, look: Parameters<OrderedMap['scan']>[1]) => {
      counting.scans++
      index.scan(range, look)
    },
    apply: (changes: Iterable<IndexChange>, upTo: number) => index.apply(changes, upTo),
    get appliedUpTo() {
      return index.appliedUpTo
    },
    close: () => index.close(),
  }
  return counting
}

test('recent ranges: what is scanned is what the index holds, whatever is kept, and how little', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed)
    const plain = memoryMap()
    const bytesMax = random.skewed(1, 1024 * 1024)
    const kept = withRecentRanges(memoryMap(), { recentRangesBytesMax: bytesMax })
    for (let step = 0; step < 400; step++) {
      if (random.chance(0.05)) {
        const changes = Array.from({ length: random.skewed(1, 50) }, (_, nth): IndexChange => {
          const value = random.chance(0.2) ? undefined : Buffer.from(`${seed}.${step}.${nth}`)
          return [keyOf(random.below(100)), value]
        })
        await plain.apply(changes, step)
        await kept.apply(changes, step)
      }
      const from = random.below(10) * 10
      const range = {
        from: keyOf(from),
        to: keyOf(from + 10 + 10 * random.below(3)),
        reverse: random.chance(0.3),
      }
      const entriesMax = random.skewed(1, 40)
      assert.deepEqual(
        scanned(kept, range, entriesMax),
        scanned(plain, range, entriesMax),
        `seed ${seed}, step ${step}`,
      )
    }
  }
})

test('recent ranges: the third scan of a range does not reach the index, until something is written or more is wanted', async () => {
  const index = counted(memoryMap())
  const kept = withRecentRanges(index)
  await kept.apply(
    Array.from({ length: 20 }, (_, at): IndexChange => [keyOf(at), Buffer.from(String(at))]),
    1,
  )
  const range = { from: keyOf(0), to: keyOf(20), reverse: false }
  for (let time = 0; time < 5; time++) scanned(kept, range, 10)
  assert.equal(index.scans, 2)
  assert.equal(scanned(kept, range, 15).length, 15)
  assert.equal(index.scans, 3)
  assert.equal(scanned(kept, range, 15).length, 15)
  assert.equal(index.scans, 3)
  await kept.apply([[keyOf(3), undefined]], 2)
  assert.deepEqual(scanned(kept, range, 4), ['0', '1', '2', '4'])
  assert.equal(index.scans, 4)
})

test('recent ranges: after a write that failed nothing is kept, for it may have been done', async () => {
  const index = memoryMap()
  const failing: OrderedMap = Object.assign(counted(index), {
    apply: async (changes: Iterable<IndexChange>, upTo: number) => {
      await index.apply(changes, upTo)
      throw new Error('no answer')
    },
  })
  await index.apply([[keyOf(1), Buffer.from('before')]], 1)
  const kept = withRecentRanges(failing)
  const range = { from: keyOf(0), to: keyOf(9), reverse: false }
  for (let time = 0; time < 3; time++) assert.deepEqual(scanned(kept, range, 10), ['before'])
  await assert.rejects(kept.apply([[keyOf(1), Buffer.from('behind')]], 2), /no answer/)
  assert.deepEqual(scanned(kept, range, 10), ['behind'])
})
