import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppendFailed, AppendUnsure, JournalDamaged } from '../../src/journal/errors.js'
import type { Frame, FrameContent } from '../../src/journal/frame.js'
import { type Journal, openJournal } from '../../src/journal/journal.js'
import { recoverJournal } from '../../src/journal/read-back.js'
import { SEGMENT_HEADER_BYTES } from '../../src/journal/segment.js'
import { type KeyBytes, lsn, timestamp } from '../../src/model/brand.js'
import type { FileLayer } from '../../src/runtime/files.js'
import { realFiles } from '../../src/runtime/real-files.js'
import { FaultyDisk, ioError, outOfSpace, somePages, tornAt } from '../faults/faulty-files.js'
import { testFolder } from '../support/folder.js'
import { type TestWriter, writerOf } from '../support/journal-writer.js'
import { testRuntime } from '../support/test-runtime.js'

const FOLDER = 'journal'

/** The value of batch n is different for each n, and its length too. */
const payload = (n: number): Buffer => Buffer.alloc(20 + ((n * 37) % 90), `batch ${n};`)

const batch = (n: number): FrameContent => ({
  timestamp: timestamp(1000 + n),
  lsn: lsn(n),
  changes: new Map([
    [`key ${n}` as KeyBytes, payload(n)],
    [`gone ${n}` as KeyBytes, undefined],
  ]),
})

const append = (writer: TestWriter, n: number): Promise<number> => writer.append(batch(n))

async function open(
  disk: FaultyDisk,
  from = 0,
  segmentBytesMax = 1 << 20,
): Promise<{ journal: TestWriter; numbers: number[]; frames: Frame[] }> {
  const frames: Frame[] = []
  const journal = await openJournal(
    { files: disk, folder: FOLDER, runtime: testRuntime(1), segmentBytesMax, reserveBytes: 0 },
    [from],
    (frame) => {
      frames.push(frame)
      return Promise.resolve()
    },
  )
  for (const frame of frames) {
    const n = frame.lsn
    assert.equal(frame.timestamp, 1000 + n)
    assert.deepEqual(
      frame.changes.map(([key, value]) => [key, value && Buffer.from(value)]),
      [
        [`key ${n}`, payload(n)],
        [`gone ${n}`, undefined],
      ],
    )
  }
  return { journal: writerOf(journal), frames, numbers: frames.map((frame) => frame.lsn as number) }
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)

async function history(
  batches: number,
  segmentBytesMax?: number,
): Promise<{ disk: FaultyDisk; ends: number[] }> {
  const disk = new FaultyDisk()
  const { journal } = await open(disk, 0, segmentBytesMax)
  const ends = [0]
  for (let n = 1; n <= batches; n++) ends.push(await append(journal, n))
  return { disk, ends }
}

test('journal: every batch is read back in order, from any offset at which one begins', async () => {
  const { disk, ends } = await history(6, 300)
  assert.ok(disk.paths.length > 2, 'several segments')
  for (const [n, end] of ends.entries()) {
    const { numbers } = await open(disk.copy(), end)
    assert.deepEqual(numbers, upTo(6).slice(n))
  }
})

test('journal: what the index holds already is not read again', async () => {
  const { disk, ends } = await history(6)
  const reads: (readonly number[])[] = []
  const files: FileLayer = {
    open: async (path, options) => {
      const handle = await disk.open(path, options)
      return {
        writeSynced: (bytes, position) => handle.writeSynced(bytes, position),
        read: (position, length) => {
          reads.push([position, position + length])
          return handle.read(position, length)
        },
        reserve: (position, length, pieceBytes) => handle.reserve(position, length, pieceBytes),
        truncateSynced: (length) => handle.truncateSynced(length),
        length: () => handle.length(),
        close: () => handle.close(),
      }
    },
    list: (folder) => disk.list(folder),
    remove: (path) => disk.remove(path),
    makeFolder: () => disk.makeFolder(),
    syncFolder: (path) => disk.syncFolder(path),
  }
  const replayed: number[] = []
  const from = ends[4] as number
  await recoverJournal(
    { files, folder: FOLDER, heldUpTo: [from] },
    async (frame) => void replayed.push(frame.lsn),
  )
  assert.deepEqual(replayed, [5, 6])
  assert.deepEqual(reads, [
    [0, SEGMENT_HEADER_BYTES],
    [from, ends[6]],
  ])
})

test('journal: a file cut at every offset gives the whole batches before it', async () => {
  const { disk, ends } = await history(5)
  const [path] = disk.paths as [string]
  const bytes = disk.bytes(path)
  for (let length = 0; length <= bytes.length; length++) {
    const cut = disk.copy()
    cut.place(path, bytes.subarray(0, length))
    const { journal, numbers } = await open(cut)
    assert.deepEqual(numbers, upTo(ends.filter((end) => end > 0 && end <= length).length))
    // And it goes on from there.
    const next = numbers.length + 1
    await append(journal, next)
    assert.deepEqual((await open(cut)).numbers, upTo(next))
  }
})

test('journal: a bit flipped at every offset is refused with a sentence, or loses the last batch only', async () => {
  const { disk, ends } = await history(5, 400)
  const lastBegins = ends[4] as number
  for (const path of disk.paths) {
    const bytes = disk.bytes(path)
    const start = Number.parseInt(path.slice(FOLDER.length + 1), 16)
    for (let at = 0; at < bytes.length; at++) {
      const flipped = disk.copy()
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8))
      flipped.place(path, damaged)
      const untouched = flipped.copy()
      if (at < SEGMENT_HEADER_BYTES) {
        // The frames say that the file has its own name.
        assert.deepEqual((await open(flipped)).numbers, upTo(5))
      } else if (start + at >= lastBegins) {
        assert.deepEqual((await open(flipped)).numbers, upTo(4))
      } else {
        await assert.rejects(open(flipped), (error: Error) => {
          assert.ok(error instanceof JournalDamaged)
          assert.match(error.message, /^The journal file journal\/\S+ is damaged at byte \d+: .* Restore/s)
          return true
        })
        assert.deepEqual(flipped.bytes(path), damaged, 'nothing was changed')
      }
      // What the index holds already is not needed any more.
      assert.deepEqual((await open(untouched, ends[5])).numbers, [])
    }
  }
})

test('journal: a power cut at every step, with any part of the unsynced bytes, keeps what was acknowledged', async () => {
  const outcomes = [
    (safe: Buffer) => safe,
    (_: Buffer, seen: Buffer) => seen,
    ...[1, 3, 12, 51, 52, 60, 100].map(tornAt),
    somePages((page) => page % 2 === 0),
    somePages((page) => page % 2 === 1),
  ]
  const batches = 5
  const { disk: whole } = await history(batches, 300)
  for (let cutAt = 1; cutAt <= whole.steps; cutAt++) {
    for (const outcome of outcomes) {
      const disk = new FaultyDisk()
      disk.fault = () => (disk.steps >= cutAt ? new Promise(() => undefined) : undefined)
      let acknowledged = 0
      const dying = (async () => {
        const { journal } = await open(disk, 0, 300)
        for (let n = 1; n <= batches; n++) {
          await append(journal, n)
          acknowledged = n
        }
      })()
      await Promise.race([dying, new Promise((resolve) => setImmediate(() => setImmediate(resolve)))])
      const after = disk.afterPowerCut(outcome)
      const { journal, numbers } = await open(after, 0, 300)
      assert.ok(numbers.length >= acknowledged, `step ${cutAt}: ${numbers.length} of ${acknowledged}`)
      assert.deepEqual(numbers, upTo(numbers.length))
      await append(journal, numbers.length + 1)
      assert.deepEqual((await open(after, 0, 300)).numbers, upTo(numbers.length + 1))
    }
  }
})

test('journal: a batch without the one before it, when neither was synced, is cut and not refused', async () => {
  // As if two batches had been under way at once and their pages had come back in the other order.
  const { disk, ends } = await history(4)
  const [path] = disk.paths as [string]
  const { encodeFrame, frameBytes } = await import('../../src/journal/frame.js')
  const seed = Number.parseInt(path.slice(-16, -8), 16)
  const content = { timestamp: timestamp(1), lsn: lsn(1), changes: new Map() }
  const late = encodeFrame(Buffer.alloc(frameBytes(content)), content, {
    seed,
    writer: 0,
    goesOn: false,
    position: (ends[4] as number) + 200,
    syncedUpTo: ends[4] as number,
  })
  disk.place(path, Buffer.concat([disk.bytes(path), Buffer.alloc(200), late]))
  assert.deepEqual((await open(disk)).numbers, upTo(4))
  assert.equal(disk.bytes(path).length, ends[4])
})

test('journal: bytes of another segment do not pass for a batch', async () => {
  const { disk } = await history(2)
  const [path] = disk.paths as [string]
  const other = path.replace(/-........\./, '-00000001.')
  const moved = new FaultyDisk()
  moved.place(other, disk.bytes(path))
  await assert.rejects(open(moved), /has another file's name: it was written as /)
  // Nor if nothing says so.
  const begun = disk.bytes(path).fill(0, 0, SEGMENT_HEADER_BYTES)
  moved.place(other, begun)
  await assert.rejects(open(moved), /is not a file of a journal, or has lost its beginning/)
  assert.deepEqual(moved.bytes(other), begun)
})

for (const partialBytes of [0, 1, 30, 1000]) {
  test(`journal: when the disk is full after ${partialBytes} bytes, the batch fails, is cut off, and the next one is kept`, async () => {
    const { disk, ends } = await history(2)
    const { journal } = await open(disk)
    disk.partialBytes = partialBytes
    disk.fault = (step) => {
      if (step === 'write') throw outOfSpace()
    }
    await assert.rejects(append(journal, 3), AppendFailed)
    disk.fault = () => undefined
    assert.equal(disk.bytes(disk.paths[0] as string).length, ends[2])
    await append(journal, 3)
    assert.deepEqual((await open(disk)).numbers, upTo(3))
  })
}

test('journal: after a failed sync, or a failed cut, nothing is accepted until it is opened again', async () => {
  for (const failing of ['sync', 'truncate', 'write'] as const) {
    const { disk } = await history(2)
    const { journal } = await open(disk)
    disk.fault = (step) => {
      if (failing === 'truncate' && step === 'write') throw outOfSpace()
      if (step === failing) throw ioError()
    }
    await assert.rejects(append(journal, 3), AppendUnsure)
    disk.fault = () => undefined
    await assert.rejects(append(journal, 4), AppendUnsure)
    const { numbers } = await open(disk)
    assert.deepEqual(numbers.slice(0, 2), [1, 2])
  }
})

test('journal: a new segment is not used before its name is on the disk', async () => {
  const { disk } = await history(2, 100)
  const { journal } = await open(disk, 0, 100)
  disk.fault = (step) => {
    if (step === 'syncFolder') throw ioError()
  }
  await assert.rejects(append(journal, 3), AppendUnsure)
})

test('journal: segments before an offset are removed, and the current one stays', async () => {
  const { disk, ends } = await history(6, 200)
  const { journal } = await open(disk, 0, 200)
  const before = disk.paths.length
  await journal.share.applied(ends[4] as number)
  assert.ok(disk.paths.length < before)
  assert.deepEqual((await open(disk, ends[4] as number, 200)).numbers, [5, 6])
  await journal.share.applied(ends[6] as number)
  assert.equal(disk.paths.length, 1)
  await assert.rejects(open(disk, 0), JournalDamaged)
})

test('journal: on real files, with room prepared ahead, batches of many sizes are read back', async () => {
  const folder = testFolder()
  const options = {
    files: realFiles(),
    folder,
    runtime: testRuntime(1),
    segmentBytesMax: 900_000,
    reserveBytes: 300_000,
  }
  const journal = writerOf(await openJournal(options, [0], () => Promise.reject(new Error('empty'))))
  const sizes = Array.from({ length: 60 }, (_, i) => (i * 7919) % 90_000)
  for (const [i, size] of sizes.entries()) {
    await journal.append({
      timestamp: timestamp(i),
      lsn: lsn(i),
      changes: new Map([['k' as KeyBytes, Buffer.alloc(size, String(i))]]),
    })
  }
  await journal.share.leave()
  const seen: number[] = []
  const again = await openJournal(options, [0], (frame) => {
    assert.deepEqual(
      Buffer.from(frame.changes[0]?.[1] ?? []),
      Buffer.alloc(sizes[frame.lsn] as number, String(frame.lsn)),
    )
    seen.push(frame.lsn)
    return Promise.resolve()
  })
  assert.equal(seen.length, sizes.length)
  await writerOf(again).share.leave()
})

const GROUP = [
  [0, 1],
  [1, 2],
  [2, 3],
] as const

const framesOf = async (
  disk: FaultyDisk,
  from: readonly number[],
  segmentBytesMax = 1 << 20,
): Promise<{ journal: Journal; seen: (readonly [writer: number, batch: number])[] }> => {
  const seen: (readonly [number, number])[] = []
  const options = { files: disk, folder: FOLDER, runtime: testRuntime(1), segmentBytesMax, reserveBytes: 0 }
  const journal = await openJournal(options, from, async ({ writer, lsn: batch, changes }) => {
    if (changes.length > 0) seen.push([writer, batch])
  })
  return { journal, seen }
}

test('journal: writers that ask together share one write, and each gets back its own batches', async () => {
  const disk = new FaultyDisk()
  const { journal } = await framesOf(disk, [0, 0, 0])
  await journal.begin()
  const writers = [0, 1, 2].map((number) => writerOf(journal, number))
  let writes = 0
  disk.fault = (step) => void (step === 'write' && writes++)
  await Promise.all(writers.map((writer, number) => writer.append(batch(number + 1))))
  assert.equal(writes, 1)
  const [first] = writers as [TestWriter]
  const end = await first.append(batch(4))
  assert.equal(writes, 2)
  const all = [...GROUP, [0, 4]]
  assert.deepEqual((await framesOf(disk.copy(), [0, 0, 0])).seen, all)
  // An index that is ahead is not given again what it holds.
  assert.deepEqual((await framesOf(disk.copy(), [end, 0, end])).seen, [[1, 2]])
})

test('journal: of a group that was torn nothing counts, and nothing of it is taken for damage', async () => {
  const disk = new FaultyDisk()
  const { journal } = await framesOf(disk, [0, 0, 0])
  const writers = [0, 1, 2].map((number) => writerOf(journal, number))
  const ends = await Promise.all(writers.map((writer, number) => writer.append(batch(number + 1))))
  const [path] = disk.paths as [string]
  const bytes = disk.bytes(path)
  for (let at = SEGMENT_HEADER_BYTES; at < bytes.length; at++) {
    const torn = disk.copy()
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] as number) ^ 0xff
    // The pages behind it may have reached the disk all the same.
    torn.place(path, damaged)
    assert.deepEqual((await framesOf(torn, [0, 0, 0])).seen, [], `torn at ${at}`)
    assert.equal(torn.bytes(path).length, SEGMENT_HEADER_BYTES, `torn at ${at}`)
  }
  assert.deepEqual((await framesOf(disk, [0, 0, 0])).seen, GROUP)
  // An index that was brought up to the middle of a group gets the rest of it.
  assert.deepEqual((await framesOf(disk, [ends[1], 0, 0] as number[])).seen, GROUP.slice(1))
})

test('journal: an end before what one of the indexes holds is damage, and nothing is cut', async () => {
  const disk = new FaultyDisk()
  const { journal } = await framesOf(disk, [0, 0])
  const [first, second] = [0, 1].map((number) => writerOf(journal, number)) as [TestWriter, TestWriter]
  const end = await first.append(batch(1))
  const held = await second.append(batch(2))
  const [path] = disk.paths as [string]
  const bytes = disk.bytes(path).subarray(0, end)
  disk.place(path, bytes)
  await assert.rejects(framesOf(disk, [end, held]), /an index holds what stood up to byte/)
  assert.deepEqual(disk.bytes(path), bytes)
  assert.deepEqual((await framesOf(disk, [end, end])).seen, [])
})

test('journal: a full disk fails the batches of all writers in the group, and all of them go on', async () => {
  const disk = new FaultyDisk()
  const { journal } = await framesOf(disk, [0, 0])
  const writers = [0, 1].map((number) => writerOf(journal, number))
  disk.fault = (step) => {
    if (step === 'write') throw outOfSpace()
  }
  const outcomes = await Promise.allSettled(writers.map((writer, number) => writer.append(batch(number + 1))))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  disk.fault = () => undefined
  await Promise.all(writers.map((writer, number) => writer.append(batch(number + 3))))
  assert.deepEqual((await framesOf(disk, [0, 0])).seen, [
    [0, 3],
    [1, 4],
  ])
})

test('journal: a writer that has nothing to say does not keep old segments alive', async () => {
  const disk = new FaultyDisk()
  const { journal } = await framesOf(disk, [0, 0], 300)
  const busy = writerOf(journal, 0)
  const heard: number[] = []
  const idle = journal.join(1, {
    take: () => ({ timestamp: timestamp(1), lsn: lsn(1), changes: new Map() }),
    written: (end) => heard.push(end),
    failed: () => undefined,
  })
  for (let n = 1; n <= 20; n++) {
    const end = await busy.append(batch(n))
    await busy.share.applied(end)
    await idle.applied(heard.at(-1) as number)
  }
  assert.ok(heard.length > 3, 'it was asked at the beginning of each segment')
  assert.ok(disk.paths.length <= 2, `${disk.paths.length} segments are left`)
})
