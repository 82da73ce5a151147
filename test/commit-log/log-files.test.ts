import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogTrimmed } from '../../src/commit-log/commit-log.js'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import { checkLogFiles } from '../../src/commit-log/files/log-check.js'
import { openLogFiles } from '../../src/commit-log/files/log-files.js'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { type KeyBytes, timestamp } from '../../src/model/brand.js'
import { hashBytes } from '../../src/model/key-bytes.js'
import type { Knobs } from '../../src/model/knobs.js'
import type { FileLayer } from '../../src/runtime/files.js'
import { realFiles } from '../../src/runtime/real-files.js'
import { FaultyDisk, ioError, outOfSpace } from '../faults/faulty-files.js'
import { assertRecords, changeOf, logStorageSuite, ORDERS, readAll, recordOf } from '../suites/log-storage.js'
import { testFolder } from '../support/folder.js'
import { needsSmallDisk, smallDisk } from '../support/small-disk.js'
import { testRuntime } from '../support/test-runtime.js'

const OWNER = '0123456789abcdef'.repeat(2)
const FOLDER = 'data/commit-log'
const SMALL: Partial<Knobs> = { logSegmentBytesMax: 400 }

const open = (files: FileLayer, tuning: Partial<Knobs> = SMALL, folder = FOLDER): Promise<LogStorage> =>
  openLogFiles({ files, folder, owner: OWNER, runtime: testRuntime(1), knobs: tuning })

logStorageSuite('log in files', (tuning) => open(realFiles(), tuning, join(testFolder(), 'data', 'log')))
logStorageSuite('log on a simulated disk', (tuning) => open(new FaultyDisk(), tuning))

async function append(storage: LogStorage, upTo: number): Promise<void> {
  for (let number = storage.last + 1; number <= upTo; number++)
    await storage.append([recordOf(number)], { upTo: number * 100, number })
}

const upTo = (last: number, first = 1): ReturnType<typeof recordOf>[] =>
  Array.from({ length: last - first + 1 }, (_, at) => recordOf(first + at))

async function log(records: number, tuning = SMALL): Promise<FaultyDisk> {
  const disk = new FaultyDisk()
  const storage = await open(disk, tuning)
  await append(storage, records)
  await storage.close()
  return disk
}

function flipBit(disk: FaultyDisk, path: string, bit: number): void {
  const bytes = disk.bytes(path)
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  disk.place(path, bytes)
}

const segmentsOf = (disk: FaultyDisk): string[] =>
  disk.paths.filter((path) => path.endsWith('.commits')).toSorted()
const indexesOf = (disk: FaultyDisk): string[] =>
  disk.paths.filter((path) => path.endsWith('.index')).toSorted()

test('log in files: everything is there after it is opened again, and numbers go on', async () => {
  const disk = await log(10)
  assert.ok(segmentsOf(disk).length > 2)
  assert.equal(indexesOf(disk).length, segmentsOf(disk).length - 1)
  const storage = await open(disk)
  assert.deepEqual([storage.first, storage.last, storage.position], [1, 10, { upTo: 1000, number: 10 }])
  assertRecords(await readAll(storage, 1), upTo(10))
  await append(storage, 12)
  assertRecords(await readAll(storage, 1), upTo(12))
  await storage.close()
  assert.equal(
    storage.bytes,
    disk.paths.reduce((bytes, path) => bytes + disk.bytes(path).length, 0),
  )
})

test('log in files: numbers go on after everything that can go was trimmed, and after restarts', async () => {
  const disk = await log(10)
  let storage = await open(disk)
  const first = await storage.trim(timestamp(2 ** 50))
  assert.equal(segmentsOf(disk).length, 1)
  assert.equal(indexesOf(disk).length, 0)
  await storage.close()
  storage = await open(disk.afterPowerCut())
  assert.deepEqual([storage.first, storage.last], [first, 10])
  await append(storage, 12)
  assertRecords(await readAll(storage, first), upTo(12, first))
  await storage.close()
})

test('log in files: a start reads the headers and the last segment, however many there are', async () => {
  const disk = await log(60)
  const reads: [string, number][] = []
  const files: FileLayer = {
    open: async (path, options) => {
      const handle = await disk.open(path, options)
      const read = handle.read.bind(handle)
      return Object.assign(handle, {
        read: (position: number, length: number) => {
          reads.push([path, length])
          return read(position, length)
        },
      })
    },
    list: (folder) => disk.list(folder),
    remove: (path) => disk.remove(path),
    makeFolder: () => disk.makeFolder(),
    syncFolder: (path) => disk.syncFolder(path),
  }
  const storage = await open(files)
  const segments = segmentsOf(disk)
  const large = reads.filter(([, length]) => length > 128)
  assert.deepEqual(
    large.map(([path]) => path),
    [segments.at(-1)],
  )
  assert.equal(reads.length, segments.length + 1)
  await storage.close()
})

test('log in files: an index that is missing or damaged is made anew from its segment', async () => {
  const disk = await log(20)
  const [missing, flipped, cut, other] = indexesOf(disk) as [string, string, string, string]
  const before = new Map(indexesOf(disk).map((path) => [path, disk.bytes(path)]))
  await disk.remove(missing)
  flipBit(disk, flipped, 60 * 8)
  disk.place(cut, disk.bytes(cut).subarray(0, 50))
  disk.place(other, disk.bytes(cut))
  const storage = await open(disk)
  assertRecords(await readAll(storage, 1), upTo(20))
  assert.deepEqual(
    await storage.ofItem({
      space: ORDERS,
      key: 'key 2' as KeyBytes,
      from: 1,
      to: 20,
      reverse: false,
      entriesMax: 9,
    }),
    [2, 5, 8, 11, 14, 17, 20],
  )
  await storage.close()
  for (const [path, bytes] of before) assert.deepEqual(disk.bytes(path), bytes, path)
})

for (const [name, failure] of [
  ['has no room', outOfSpace],
  ['fails', ioError],
] as const) {
  test(`log in files: after a write that ${name} nothing is left of it, and the records can be appended again`, async () => {
    const disk = new FaultyDisk()
    const storage = await open(disk, { logSegmentBytesMax: 1000 })
    let failures = 0
    for (let number = 1; number <= 30; number++) {
      const { bytes } = storage
      let countdown = number % 4
      disk.partialBytes = number * 7
      disk.fault = (step) => {
        if ((step === 'write' || step === 'sync' || step === 'syncFolder') && countdown-- === 0)
          throw failure()
      }
      const record = recordOf(number)
      while (storage.last < number) {
        try {
          await storage.append([record], { upTo: number, number })
        } catch {
          failures++
          assert.equal(storage.last, number - 1)
          assert.equal(storage.bytes, bytes)
        }
      }
    }
    disk.fault = () => undefined
    assert.ok(failures > 10)
    assertRecords(await readAll(storage, 1), upTo(30))
    await storage.close()
    assert.ok(indexesOf(disk).length > 2)
    const { findings } = await checkLogFiles({ files: disk, folder: FOLDER, owner: OWNER })
    assert.deepEqual(findings, [])
    const again = await open(disk.afterPowerCut())
    assertRecords(await readAll(again, 1), upTo(30))
    await again.close()
  })
}

test('log in files: a log that cannot be cut back takes no more records before a restart', async () => {
  const disk = new FaultyDisk()
  const storage = await open(disk)
  await append(storage, 1)
  disk.partialBytes = 40
  disk.fault = (step) => {
    if (step === 'sync' || step === 'truncate') throw ioError()
  }
  await assert.rejects(
    append(storage, 2),
    /not be cut back to what it was .* no more records before a restart/,
  )
  disk.fault = () => undefined
  await assert.rejects(append(storage, 2), /before a restart/)
  assertRecords(await readAll(storage, 1), upTo(1))
  await storage.close()
  const again = await open(disk)
  assert.ok(again.last >= 1)
  await append(again, 3)
  assertRecords(await readAll(again, 1), upTo(3))
  await again.close()
})

test(
  'log in files: on a full disk nothing is lost, trimming makes room, and appending goes on',
  needsSmallDisk,
  async () => {
    using disk = smallDisk(400_000)
    const storage = await open(realFiles(), { logSegmentBytesMax: 40_000 }, join(disk.path, 'commit-log'))
    const record = (number: number): CommitRecord =>
      recordOf(number, [changeOf(number, { imageBytes: 2000 })])
    const appendOne = (number: number): Promise<void> =>
      storage.append([record(number)], { upTo: number, number })
    await assert.rejects(async () => {
      while (storage.last < 1000) await appendOne(storage.last + 1)
    }, /could not be written: ENOSPC/)
    const full = storage.last
    await assert.rejects(appendOne(full + 1), /ENOSPC/)
    assert.equal((await readAll(storage, 1)).length, full)
    const first = await storage.trim(record(20).timestamp)
    assert.ok(first > 1)
    for (let number = full + 1; number <= full + 5; number++) await appendOne(number)
    await storage.close()
    const again = await open(realFiles(), {}, join(disk.path, 'commit-log'))
    assertRecords(
      await readAll(again, first),
      Array.from({ length: full + 6 - first }, (_, at) => record(first + at)),
    )
    await again.close()
  },
)

test('log in files: readers that meet appends and trims are served what is kept, or told that it is trimmed', async () => {
  const storage = await open(
    realFiles(),
    { logSegmentBytesMax: 1500, logIndexesMax: 1, logCacheBytesMax: 1 },
    join(testFolder(), 'log'),
  )
  await append(storage, 20)
  const upToNumber = 400
  let [read, told] = [0, 0]
  const reader = async (behind: number): Promise<void> => {
    while (storage.last < upToNumber) {
      await new Promise(setImmediate)
      const from = Math.max(1, storage.last - behind)
      try {
        const { records } = await storage.read({ from, recordsMax: 10, bytesMax: 1e6 })
        assertRecords(records, upTo(from + records.length - 1, from))
        const item = {
          space: ORDERS,
          key: 'key 1' as KeyBytes,
          from,
          to: from + 8,
          reverse: false,
          entriesMax: 9,
        }
        for (const number of await storage.ofItem(item)) assert.equal(number % 3, 1)
        assert.ok((await storage.numberAt(recordOf(from).timestamp)) >= from)
        read++
      } catch (error) {
        assert.ok(error instanceof LogTrimmed, String(error))
        told++
      }
    }
  }
  const writer = async (): Promise<void> => {
    for (let number = 21; number <= upToNumber; number++) {
      await append(storage, number)
      if (number % 7 === 0) await storage.trim(recordOf(number - 15).timestamp)
    }
  }
  await Promise.all([writer(), ...[0, 5, 14, 18, 25, 30].map(reader)])
  assert.ok(read > 50 && told > 0, `${read} pages, ${told} trimmed`)
  await storage.close()
})

test('log in files: a frame that is damaged after the start is told when an item is asked for, and appends go on', async () => {
  const disk = await log(6, {})
  const storage = await open(disk, {})
  const [file] = segmentsOf(disk) as [string]
  flipBit(disk, file, 8 * 300)
  await append(storage, 7)
  const [change] = recordOf(7).changes as [CommitRecord['changes'][number]]
  const item = { space: change.space, key: change.key, from: 7, to: 7, reverse: false, entriesMax: 10 }
  assert.deepEqual(await storage.ofItem(item), [7])
  await assert.rejects(storage.ofItem({ ...item, from: 1 }), { name: 'LogDamaged' })
})

test('log in files: two items whose keys have the same hash are told apart', async () => {
  const byHash = new Map<number, string>()
  let pair: readonly [string, string] | undefined
  for (let n = 0; pair === undefined && n < 1_000_000; n++) {
    const [key, hash] = [`key ${n}`, hashBytes(`key ${n}`)]
    const other = byHash.get(hash)
    if (other !== undefined) pair = [other, key]
    byHash.set(hash, key)
  }
  const keys = pair as readonly [string, string]
  const storage = await open(new FaultyDisk())
  for (let number = 1; number <= 12; number++) {
    const change = changeOf(number, { key: keys[number % 3 === 0 ? 1 : 0] })
    await storage.append([recordOf(number, [change])], { upTo: number, number })
  }
  const item = { space: ORDERS, key: keys[1] as KeyBytes, from: 1, to: 12, reverse: false, entriesMax: 9 }
  assert.deepEqual(await storage.ofItem(item), [3, 6, 9, 12])
  await storage.close()
})
