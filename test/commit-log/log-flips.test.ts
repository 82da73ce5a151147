import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogDamaged } from '../../src/commit-log/commit-log.js'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import { checkLogFiles, type LogFindings } from '../../src/commit-log/files/log-check.js'
import { openLogFiles } from '../../src/commit-log/files/log-files.js'
import { repairLogFiles } from '../../src/commit-log/files/log-repair.js'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { type KeyBytes, timestamp } from '../../src/model/brand.js'
import { FaultyDisk } from '../faults/faulty-files.js'
import { assertRecords, changeOf, ORDERS, recordOf, USERS } from '../suites/log-storage.js'
import { seededRandom } from '../suites/seeded-random.js'
import { sized } from '../support/sizes.js'
import { testRuntime } from '../support/test-runtime.js'

const OWNER = 'fedcba9876543210'.repeat(2)
const folder = 'data/commit-log'
const PER_FRAME = 2
const LAST = 24
/** Enough, and so small that every byte gets its turn. */
const knobs = { logSegmentBytesMax: 700 }
/** Of so many bytes one. */
const STRIDE = sized(5, 1)

const record = (number: number): CommitRecord =>
  recordOf(number, [
    changeOf(number, { imageBytes: 10 + (number % 5) }),
    ...(number % 4 === 0 ? [changeOf(number, { space: USERS, imageBytes: 3 })] : []),
  ])

const open = (disk: FaultyDisk): Promise<LogStorage> =>
  openLogFiles({ files: disk, folder, owner: OWNER, runtime: testRuntime(7), knobs })
const check = (disk: FaultyDisk, journalFrom = 0): Promise<LogFindings> =>
  checkLogFiles({ files: disk, folder, owner: OWNER, journalFrom })

async function soundLog(): Promise<{ disk: FaultyDisk; first: number }> {
  const disk = new FaultyDisk()
  const storage = await open(disk)
  await append(storage)
  const first = await storage.trim(record(8).timestamp)
  await storage.close()
  return { disk, first }
}

/** From wherever it ends, as the journal would. */
async function append(storage: LogStorage): Promise<void> {
  for (let number = storage.last + 1; number <= LAST; number += PER_FRAME) {
    const records = [number, number + 1].map(record)
    await storage.append(records, { upTo: (number + 1) * 100, number: number + 1 })
  }
}

/** Everything it has, by all three ways: how many records it serves, or that it tells of damage. Nothing wrong is served. */
async function served(disk: FaultyDisk, first: number): Promise<'refused' | { readonly missing: number }> {
  let storage: LogStorage
  try {
    storage = await open(disk)
  } catch (error) {
    assert.ok(error instanceof LogDamaged, String(error))
    return 'refused'
  }
  let missing = 0
  const damaged = (error: unknown): undefined => {
    assert.ok(error instanceof LogDamaged, String(error))
    missing++
    return undefined
  }
  const { last } = storage
  assert.ok(last === LAST || last === LAST - PER_FRAME, `the last is ${last}`)
  assert.deepEqual(storage.position, { upTo: last * 100, number: last })
  await append(storage)
  assert.equal(storage.first, first)
  for (let from = first; from <= LAST;) {
    const page = await storage.read({ from, recordsMax: 3, bytesMax: 1e6 }).catch(damaged)
    if (page === undefined) {
      from++
      continue
    }
    assertRecords(
      page.records,
      Array.from({ length: page.next - from }, (_, at) => record(from + at)),
    )
    from = page.next
  }
  for (let number = first; number <= LAST; number++) {
    const at = await storage.numberAt(record(number).timestamp)
    // Never behind it: what lies before may be unknown.
    assert.ok(at === number || (missing > 0 && at < number), `${at} for ${number}`)
  }
  for (const space of [ORDERS, USERS]) {
    const key = 'key 1' as KeyBytes
    const numbers = await storage
      .ofItem({ space, key, from: first, to: LAST, reverse: false, entriesMax: 99 })
      .catch(damaged)
    if (numbers === undefined) continue
    const right = Array.from({ length: LAST - first + 1 }, (_, at) => record(first + at))
      .filter(({ changes }) => changes.some((change) => change.space === space && change.key === key))
      .map(({ number }) => number)
    assert.deepEqual(numbers, right)
  }
  await storage.close()
  return { missing }
}

test('damage of the log: every flipped bit is found by verify, or everything is served as before', async () => {
  const { disk, first } = await soundLog()
  assert.deepEqual(await check(disk), { findings: [], records: LAST - first + 1 })
  assert.deepEqual(await served(disk.copy(), first), { missing: 0 })
  const random = seededRandom(20261117)
  const outcomes = { found: 0, harmless: 0, refused: 0, mended: 0 }
  for (const path of disk.paths) {
    const sound = disk.bytes(path)
    for (let byte = random(STRIDE); byte < sound.length; byte += STRIDE) {
      const flipped = Buffer.from(sound)
      flipped[byte]! ^= 1 << random(8)
      const copy = disk.copy()
      copy.place(path, flipped)
      const what = `${path}, byte ${byte}`
      const { findings } = await check(copy)
      const repaired = copy.copy()
      const result = await served(copy, first)
      if (findings.length === 0) {
        assert.deepEqual(result, { missing: 0 }, what)
        outcomes.harmless++
        continue
      }
      outcomes.found++
      assert.match(findings.join(), new RegExp(path.slice(path.lastIndexOf('/') + 1)))
      if (result === 'refused') {
        outcomes.refused++
        continue
      }
      const { lost } = await repairLogFiles({ files: repaired, folder, owner: OWNER })
      const left = await check(repaired)
      assert.equal(lost === 0, left.findings.length === 0 || result.missing === 0, what)
      if (left.findings.length === 0) outcomes.mended++
      assert.deepEqual(await served(repaired, first), result, what)
    }
  }
  assert.ok(outcomes.found > 1000 / STRIDE && outcomes.mended > 500 / STRIDE, JSON.stringify(outcomes))
})

test('damage of the log: a damaged frame takes its records alone, and the others are numbered as before', async () => {
  const { disk } = await soundLog()
  const path = disk.paths.findLast((name) => name.endsWith('.commits')) as string
  const bytes = disk.bytes(path)
  bytes[140]! ^= 1
  disk.place(path, bytes)
  const storage = await open(disk)
  const at = Number.parseInt(path.slice(path.lastIndexOf('/') + 1), 16)
  await assert.rejects(
    storage.read({ from: at, recordsMax: 9, bytesMax: 1e6 }),
    new RegExp(
      `Records ${at} to ${at + 1} of the log of commits cannot be read: the file .* is damaged at byte 128`,
    ),
  )
  const before = await storage.read({ from: at - 1, recordsMax: 9, bytesMax: 1e6 })
  assert.deepEqual([before.records.map(({ number }) => number), before.next], [[at - 1], at])
  const rest = await storage.read({ from: at + 2, recordsMax: 9, bytesMax: 1e6 })
  assert.equal(rest.records[0]?.number, at + 2)
  assert.equal(storage.last, LAST)
  assert.equal(await storage.numberAt(timestamp(2 ** 50)), at, 'which may have been of that time')
  await storage.close()
})

test('damage of the log: a last frame that the journal does not have any more is found', async () => {
  const { disk } = await soundLog()
  const path = disk.paths.findLast((name) => name.endsWith('.commits')) as string
  const bytes = disk.bytes(path)
  bytes[bytes.length - 1]! ^= 1
  disk.place(path, bytes)
  assert.deepEqual((await check(disk)).findings, [])
  assert.match((await check(disk, LAST * 100)).findings.join(), /the journal does not have them any more/)
})
