import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { OrderedMap } from '../../src/ordered-map/ordered-map.js'
import { openJournal } from '../../src/journal/journal.js'
import { type KeyBytes, spaceId } from '../../src/model/brand.js'
import { WriteFailed } from '../../src/line/errors.js'
import { HybridClock } from '../../src/line/hybrid-clock.js'
import { JournalLine } from '../../src/line/journal-line.js'
import { LocalNode } from '../../src/storage/node/local-node.js'
import { Overlay } from '../../src/line/overlay.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { FaultyDisk } from '../faults/faulty-files.js'
import { page } from '../suites/storage-node.js'
import { plain, plainItem, put } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A node whose index does what the test says before each commit. */
async function nodeOn(
  beforeApply: () => Promise<void>,
  overlayBytesMax: number,
): Promise<{
  node: StorageNode
  runtime: ReturnType<typeof testRuntime>
  index: OrderedMap
  disk: FaultyDisk
}> {
  const inner = memoryMap()
  const index: OrderedMap = {
    get: (key) => inner.get(key),
    range: (range) => inner.range(range),
    scan: (range, look) => inner.scan(range, look),
    apply: async (changes, upTo) => {
      await beforeApply()
      await inner.apply(changes, upTo)
    },
    get appliedUpTo() {
      return inner.appliedUpTo
    },
    close: () => inner.close(),
  }
  const runtime = testRuntime(1)
  const disk = new FaultyDisk()
  const options = { files: disk, folder: 'j', runtime, reserveBytes: 0, segmentBytesMax: 100 }
  const journal = await openJournal(options, [0], () => Promise.resolve())
  const clock = new HybridClock(runtime.clock)
  const line = new JournalLine({ index, journal, writer: 0, runtime, clock, overlayBytesMax })
  return {
    node: new LocalNode({ line, clock, runtime, onClose: () => Promise.resolve() }),
    runtime,
    index,
    disk,
  }
}

test('applying: writers wait while the overlay is full, and are let in in the order they came', async () => {
  let release = (): void => undefined
  let held = true
  const { node } = await nodeOn(
    () => (held ? new Promise((resolve) => (release = resolve)) : Promise.resolve()),
    2000,
  )
  const done: number[] = []
  const writes = Array.from({ length: 30 }, (_, i) =>
    put(node, plain, plainItem(`i${i}`)).then(() => done.push(i)),
  )
  await turns()
  assert.ok(done.length > 0 && done.length < 10, `${done.length} before the index takes any`)
  held = false
  release()
  await Promise.all(writes)
  assert.deepEqual(
    done,
    Array.from({ length: 30 }, (_, i) => i),
  )
  assert.equal((await node.range(page(plain.space))).entries.length, 30)
  await node.close()
})

test('applying: an index that fails keeps nobody waiting, is tried again, and loses nothing', async () => {
  let failing = true
  const { node, runtime, index } = await nodeOn(
    () => (failing ? Promise.reject(new Error('MDB_MAP_FULL')) : Promise.resolve()),
    2000,
  )
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => put(node, plain, plainItem(`i${i}`))),
  )
  const kept = results.filter((result) => result.status === 'fulfilled').length
  assert.ok(kept > 0 && kept < 30)
  for (const result of results) {
    if (result.status === 'rejected') assert.ok(result.reason instanceof WriteFailed)
  }
  await assert.rejects(put(node, plain, plainItem('more')), /The index cannot take more: MDB_MAP_FULL/)
  assert.equal((await node.range(page(plain.space))).entries.length, kept)
  failing = false
  runtime.clock.advance(5000)
  await turns()
  assert.equal((await put(node, plain, plainItem('more'))).verdict, 'done')
  assert.equal((await node.range(page(plain.space))).entries.length, kept + 1)
  await node.close()
  assert.ok(index.appliedUpTo > 0)
})

test('applying: a segment is removed only once the index is beyond it', async () => {
  const releases: (() => void)[] = []
  const { node, disk, index } = await nodeOn(() => new Promise((resolve) => releases.push(resolve)), 4000)
  const writes: Promise<unknown>[] = []
  for (let i = 0; i < 8; i++) {
    writes.push(put(node, plain, plainItem(`i${i}`)))
    await turns()
  }
  assert.equal(releases.length, 1)
  const before = disk.paths.length
  releases[0]?.()
  await turns()
  assert.ok(index.appliedUpTo > 0)
  assert.ok(disk.paths.length < before, 'some were removed')
  // A restart now: the index and what the journal has beyond it are everything.
  const keys = new Set(
    [...index.range({ from: '\0\0\0\x01' as KeyBytes, to: '\0\0\0\x02' as KeyBytes, reverse: false })].map(
      ([key]) => key,
    ),
  )
  const options = { files: disk.moved('j', 'j'), folder: 'j', runtime: testRuntime(2), segmentBytesMax: 100 }
  await openJournal(options, [index.appliedUpTo], (frame) => {
    for (const [key] of frame.changes) if (key.startsWith('\0\0\0\x01')) keys.add(key)
    return Promise.resolve()
  })
  await Promise.all(writes)
  assert.equal(keys.size, 8)
})

test('applying: a space is swept even while other writes go on, and they are not lost', async () => {
  const { node } = await nodeOn(() => Promise.resolve(), 1_000_000)
  for (let i = 0; i < 5; i++) await put(node, plain, plainItem(`i${i}`))
  const other = { ...plain, space: spaceId(2) }
  const swept = node.sweep(plain.space, 10)
  const writes = Array.from({ length: 5 }, (_, i) => put(node, other, plainItem(`j${i}`)))
  assert.equal(await swept, true)
  await Promise.all(writes)
  assert.equal((await node.range(page(plain.space))).entries.length, 0)
  assert.equal((await node.range(page(other.space))).entries.length, 5)
  await node.close()
})

test('overlay: readers see durable versions, deciders the newest, and a roll back takes back the rest', () => {
  const overlay = new Overlay()
  const key = 'k' as KeyBytes
  const value = (text: string): Buffer => Buffer.from(text)
  const seen = (): (string | undefined)[] =>
    [overlay.durable(key), overlay.decided(key)].map((v) => v?.value && Buffer.from(v.value).toString())
  overlay.put(key, value('one'), 1)
  assert.deepEqual(seen(), [undefined, 'one'])
  overlay.promote(1)
  overlay.put(key, value('two'), 2)
  overlay.put(key, undefined, 3)
  assert.deepEqual(seen(), ['one', undefined])
  overlay.put(key, value('three'), 3)
  assert.deepEqual(seen(), ['one', 'three'])
  overlay.promote(2)
  assert.deepEqual(seen(), ['two', 'three'])
  overlay.rollBack([key])
  assert.deepEqual(seen(), ['two', 'two'])
  overlay.drop([key], 1)
  assert.deepEqual(seen(), ['two', 'two'])
  overlay.drop([key], 2)
  assert.deepEqual(seen(), [undefined, undefined])
})
