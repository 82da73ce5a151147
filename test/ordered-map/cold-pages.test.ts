// Pages are brought into memory before LMDB reads them: which ones, when, and never to the harm of a read.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KeyBytes } from '../../src/model/brand.js'
import { bringBranches } from '../../src/ordered-map/lmdb/cold/branch-pages.js'
import { ColdPages } from '../../src/ordered-map/lmdb/cold/cold-pages.js'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { runsOf } from '../../src/ordered-map/lmdb/cold/page-runs.js'
import { RecentPages } from '../../src/ordered-map/lmdb/cold/recent-pages.js'
import { testFolder } from '../support/folder.js'

const ENTRIES = 3000
const key = (n: number): KeyBytes => `key${String(n).padStart(5, '0')}` as KeyBytes
const still = { fsRead: 0, majorPageFault: 0 }

/** Every tenth value is on pages of its own, some on many. */
async function filledFolder(): Promise<string> {
  const path = testFolder()
  const index = lmdbMap(path)
  const bytes = (n: number): number => (n % 100 === 0 ? 200_000 : n % 10 === 0 ? 9000 : 300)
  // Only even numbers: those between are absent.
  const changes = Array.from({ length: ENTRIES }, (_, n) => [key(2 * n), Buffer.alloc(bytes(n), n)] as const)
  await index.apply(changes, 1)
  await index.close()
  return path
}

test('cold pages: after a wait a key is ready, whether it is there or not, and however long its value', async () => {
  const folder = await filledFolder()
  const pages = new ColdPages(folder, { isCold: true, counters: () => still })
  for (let n = 0; n < 2 * ENTRIES; n = n * 2 + 7) {
    const first = pages.ready(key(n))
    if (n === 0) assert.ok(first !== undefined, 'nothing was read before')
    await first
    assert.equal(pages.ready(key(n)), undefined, key(n))
  }
  for (const beyond of ['a', 'z', ''] as KeyBytes[]) {
    await pages.ready(beyond)
    assert.equal(pages.ready(beyond), undefined)
  }
  await pages.close()
})

test('cold pages: after a wait the entries of a range are ready, in both directions and up to its bounds', async () => {
  const folder = await filledFolder()
  for (const reverse of [false, true])
    for (const [from, to] of [
      [key(0), key(99_999)],
      [key(500), key(900)],
      [key(501), key(502)],
    ] as const) {
      const pages = new ColdPages(folder, { isCold: true, counters: () => still })
      await pages.readyRange({ from, to, reverse }, Infinity, Infinity)
      for (let n = 0; n < 2 * ENTRIES; n++)
        if (key(n) >= from && key(n) < to)
          assert.equal(pages.ready(key(n)), undefined, `${key(n)} ${reverse}`)
      await pages.close()
    }
  const few = new ColdPages(folder, { isCold: true, counters: () => still })
  await few.readyRange({ from: key(0), to: key(99_999), reverse: false }, 10, Infinity)
  assert.equal(few.ready(key(18)), undefined)
  const behind = few.ready(key(4000))
  assert.ok(behind !== undefined, 'a range of ten entries does not bring the whole table')
  await behind
  await few.close()
})

test('cold pages: many reads at once, and a close in the middle of them, end', async () => {
  const pages = new ColdPages(await filledFolder(), { isCold: true, counters: () => still })
  const waiting = Array.from({ length: 500 }, (_, n) => pages.ready(key(n * 11)))
  const range = pages.readyRange({ from: key(0), to: key(99_999), reverse: false }, Infinity, Infinity)
  await pages.close()
  await Promise.all([...waiting, range])
  assert.equal(pages.ready(key(1)), undefined)
})

test('cold pages: the counters of the process say when pages are brought and when not', async () => {
  let counters = { fsRead: 0, majorPageFault: 0 }
  let nowMs = 0
  const pages = new ColdPages(await filledFolder(), {
    isCold: false,
    counters: () => counters,
    nowMs: () => (nowMs += 100),
  })
  const reads = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await pages.ready(key(n))
  }
  await reads(5000)
  assert.equal(pages.isCold, false)
  counters = { fsRead: 8, majorPageFault: 2 }
  await reads(64)
  assert.equal(pages.isCold, true, 'it has waited for pages')
  for (let n = 0; n < 40; n++) {
    counters = { ...counters, fsRead: counters.fsRead + 8 }
    await reads(64)
  }
  assert.equal(pages.isCold, true, 'it reads from the disk')
  await reads(2 * 1024 + 64)
  assert.equal(pages.isCold, false, 'it reads nothing from the disk any more')
  counters = { ...counters, majorPageFault: 4 }
  await reads(64)
  await reads(2 * 1024 + 64)
  assert.equal(pages.isCold, true, 'the last time that was too early')
  await pages.close()
})

test('cold pages: while nothing is brought the counters are asked ten times a second at most', async () => {
  let majorPageFault = 0
  let asked = 0
  let nowMs = 0
  const pages = new ColdPages(await filledFolder(), {
    isCold: false,
    counters: () => (asked++, { fsRead: 0, majorPageFault }),
    nowMs: () => nowMs,
  })
  const reads = (count: number): void => {
    for (let n = 0; n < count; n++) void pages.ready(key(n))
  }
  const readsFor = (ms: number): void => {
    for (const end = nowMs + ms; nowMs < end; nowMs++) reads(64)
  }
  asked = 0
  readsFor(1000)
  assert.equal(asked, 10)
  majorPageFault = 2
  readsFor(200)
  assert.equal(pages.isCold, false, 'two waits in thousands of reads are few')
  majorPageFault = 4
  nowMs += 100
  reads(64)
  nowMs += 100
  majorPageFault = 6
  reads(64)
  assert.equal(pages.isCold, true, 'two waits in 64 reads are not')
  await pages.close()
})

test('cold pages: a damaged file is no reason to fail: LMDB says what is wrong with it', async () => {
  const folder = await filledFolder()
  const file = join(folder, 'data.mdb')
  const whole = readFileSync(file)
  for (let trial = 0; trial < 60; trial++) {
    const damaged = Buffer.from(whole)
    // Both trees above the entries, and pages anywhere.
    for (let n = 0; n < 400; n++) damaged[(trial * 7919 + n * 104_729) % damaged.length]! ^= 1 << (n % 8)
    writeFileSync(file, damaged)
    const pages = new ColdPages(folder, { isCold: true, counters: () => still })
    await pages.ready(key(trial * 100))
    await pages.readyRange({ from: key(0), to: key(99_999), reverse: trial % 2 === 0 }, 1000, Infinity)
    await pages.close()
  }
  writeFileSync(file, Buffer.alloc(100))
  const none = new ColdPages(folder, { isCold: true, counters: () => still })
  await none.ready(key(1))
  await none.close()
  await bringBranches(folder)
})

test('cold pages: neighbours are read together, in pieces of 64 KB', () => {
  assert.deepEqual(runsOf([9, 2, 3, 5, 30], 4096), [
    { first: 2, pages: 4 },
    { first: 9, pages: 1 },
    { first: 30, pages: 1 },
  ])
  const long = runsOf(
    Array.from({ length: 100 }, (_, n) => n),
    4096,
  )
  assert.ok(long.every(({ pages }) => pages <= 16))
  assert.equal(
    long.reduce((sum, { pages }) => sum + pages, 0),
    100,
  )
})

test('cold pages: a page that is not asked for in two generations is forgotten', () => {
  const recent = new RecentPages()
  recent.add(5)
  recent.add(1000)
  recent.age()
  assert.ok(recent.has(5) && !recent.has(6))
  recent.age()
  assert.ok(recent.has(5), 'it was asked for')
  assert.ok(!recent.has(1000))
})
