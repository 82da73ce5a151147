import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogDamaged } from '../../src/commit-log/commit-log.js'
import { checkLogFiles } from '../../src/commit-log/files/log-check.js'
import { openLogFiles } from '../../src/commit-log/files/log-files.js'
import { scanLogSegment } from '../../src/commit-log/files/log-scan.js'
import { type LogSegment, logSegmentsIn } from '../../src/commit-log/files/log-segment.js'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { FaultyDisk, somePages, tornAt } from '../faults/faulty-files.js'
import { assertRecords, readAll, recordOf } from '../suites/log-storage.js'
import { testRuntime } from '../support/test-runtime.js'

const OWNER = '00112233445566778899aabbccddeeff'
const folder = 'data/commit-log'
const knobs = { logSegmentBytesMax: 500 }

const open = (
  disk: FaultyDisk,
  options: { owner?: string; seed?: number; state?: 'begun' } = {},
): Promise<LogStorage> =>
  openLogFiles({
    files: disk,
    folder,
    owner: OWNER,
    runtime: testRuntime(options.seed ?? 3),
    knobs,
    ...options,
  })

const findingsOf = async (disk: FaultyDisk): Promise<string> =>
  (await checkLogFiles({ files: disk, folder, owner: OWNER })).findings.join('\n')

async function append(storage: LogStorage, upTo: number): Promise<void> {
  for (let number = storage.last + 1; number <= upTo; number++)
    await storage.append([recordOf(number)], { upTo: number * 100, number })
}

async function log(records: number, options: { owner?: string; seed?: number } = {}): Promise<FaultyDisk> {
  const disk = new FaultyDisk()
  const storage = await open(disk, options)
  await append(storage, records)
  await storage.close()
  return disk
}

const segmentsOf = (disk: FaultyDisk): string[] => disk.paths.filter((path) => path.endsWith('.commits'))

/** Refused when it is opened, found when it is checked, and not changed by either. */
async function assertRefused(disk: FaultyDisk, sentence: RegExp): Promise<void> {
  const before = disk.paths.map((path) => [path, disk.bytes(path)])
  await assert.rejects(open(disk), (error) => error instanceof LogDamaged && sentence.test(error.message))
  assert.match(await findingsOf(disk), sentence)
  assert.deepEqual(
    disk.paths.map((path) => [path, disk.bytes(path)]),
    before,
  )
}

for (const at of [0, 1, 2, -1]) {
  test(`parts of the log: without its file ${at} it is refused`, async () => {
    const disk = await log(16)
    const missing = segmentsOf(disk).at(at) as string
    await disk.remove(missing)
    await assertRefused(
      disk,
      at === 0 ? /should begin with record 1, .* a file is missing/ : /is missing: .* names it/,
    )
  })
}

test('parts of the log: a trimmed log misses its first file too', async () => {
  const disk = await log(16)
  const storage = await open(disk)
  assert.ok((await storage.trim(recordOf(6).timestamp)) > 1)
  await storage.close()
  await (await open(disk)).close()
  await disk.remove(segmentsOf(disk)[0] as string)
  await assertRefused(disk, /should begin with record .* a file is missing/)
})

test('parts of the log: a renamed file and swapped files are refused', async () => {
  const disk = await log(16)
  const [first, second] = segmentsOf(disk) as [string, string]
  const renamed = disk.copy()
  renamed.place(`${folder}/${'f'.repeat(14)}-00000000.commits`, disk.bytes(second))
  await assertRefused(renamed, /has another file's name: it was written as/)
  const swapped = disk.copy()
  swapped.place(first, disk.bytes(second))
  swapped.place(second, disk.bytes(first))
  await assertRefused(swapped, /has another file's name/)
})

test("parts of the log: another folder's file is refused", async () => {
  const other = await log(16, { owner: 'f'.repeat(32) })
  await assertRefused(other, /belongs to another data folder/)
})

test('parts of the log: a file that is no segment is refused', async () => {
  const disk = await log(4)
  disk.place(segmentsOf(disk).at(-1) as string, Buffer.alloc(1000, 'no log'))
  await assertRefused(disk, /is not a file of a log of commits/)
})

test('parts of the log: an empty folder is a new log, unless it is known that there is one', async () => {
  await assert.rejects(open(new FaultyDisk(), { state: 'begun' }), /There is no log of commits in/)
  assert.equal((await open(new FaultyDisk())).last, 0)
  assert.equal(await findingsOf(new FaultyDisk()), '')
})

test('parts of the log: the last file cut at every byte gives the whole appends before it', async () => {
  const disk = await log(12)
  const path = segmentsOf(disk).at(-1) as string
  const bytes = disk.bytes(path)
  const [segment] = logSegmentsIn([path.slice(folder.length + 1)]) as [LogSegment]
  const { first } = segment
  const lasts = new Set<number>()
  for (let length = 129; length < bytes.length; length++) {
    const copy = disk.copy()
    copy.place(path, bytes.subarray(0, length))
    assert.equal(await findingsOf(copy), '')
    const shortened = copy.copy()
    const short = await open(shortened)
    await short.append([], short.position)
    await short.close()
    const left = shortened.bytes(path)
    assert.equal(scanLogSegment(left, segment).end, left.length, 'nothing of the torn tail is left')
    const storage = await open(copy)
    lasts.add(storage.last)
    assert.deepEqual(storage.position, { upTo: storage.last * 100, number: storage.last })
    await append(storage, 13)
    assertRecords(
      await readAll(storage, 1),
      Array.from({ length: 13 }, (_, at) => recordOf(at + 1)),
    )
    await storage.close()
  }
  assert.deepEqual(
    [...lasts],
    Array.from({ length: 12 - first + 1 }, (_, at) => first - 1 + at),
  )
})

class PowerCut extends Error {}

test('parts of the log: the power may fail at every step of appends, of new segments and of trims', async () => {
  const upTo = 14
  let steps = 0
  let torn = 0
  for (let cutAt = 1; steps === 0 || cutAt <= steps; cutAt++) {
    const disk = new FaultyDisk()
    let acknowledged = 0
    let trimmedTo = 1
    disk.partialBytes = cutAt * 13
    disk.fault = () => {
      if (disk.steps >= cutAt) throw new PowerCut()
    }
    try {
      const storage = await open(disk)
      for (; acknowledged < upTo; acknowledged++) {
        await append(storage, acknowledged + 1)
        if (acknowledged % 5 === 4) trimmedTo = await storage.trim(recordOf(acknowledged - 1).timestamp)
      }
      await storage.close()
      steps = disk.steps
    } catch {
      // The process is gone.
    }
    disk.fault = () => undefined
    const left = [
      undefined,
      (_: Buffer, seen: Buffer) => seen,
      tornAt(cutAt % 90),
      somePages((page) => page % 2 === 0),
      somePages((page) => page % 2 === 1),
    ]
    for (const unsynced of [...left, 'killed' as const]) {
      const after = unsynced === 'killed' ? disk : disk.afterPowerCut(unsynced)
      assert.equal(await findingsOf(after), '', `step ${cutAt}`)
      const storage = await open(after, { seed: cutAt })
      assert.ok(storage.last >= acknowledged && storage.last <= acknowledged + 1, `step ${cutAt}`)
      assert.ok(storage.first >= trimmedTo)
      if (storage.last > acknowledged) torn++
      await append(storage, upTo + 2)
      const { first } = storage
      assertRecords(
        await readAll(storage, first),
        Array.from({ length: upTo + 3 - first }, (_, at) => recordOf(first + at)),
      )
      await storage.close()
      assert.equal(await findingsOf(after), '', `step ${cutAt}, afterwards`)
    }
  }
  assert.ok(steps > 60 && torn > 0, `${steps} steps, ${torn} kept without an answer`)
})
