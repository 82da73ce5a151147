// Waiting for what is there must end although more comes: the target is taken when the wait begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { OrderedMap } from '../../src/ordered-map/ordered-map.js'
import { openJournal } from '../../src/journal/journal.js'
import { type KeyBytes, type Lsn, type Timestamp, spaceId } from '../../src/model/brand.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { OutOfSpace } from '../../src/runtime/files.js'
import { Applier, type DurableBatch } from '../../src/line/applier.js'
import { HybridClock } from '../../src/line/hybrid-clock.js'
import { JournalLine } from '../../src/line/journal-line.js'
import { LocalNode } from '../../src/storage/node/local-node.js'
import { FaultyDisk } from '../faults/faulty-files.js'
import { inSpace } from '../../src/line/spaces.js'
import { page } from '../suites/storage-node.js'
import { plain, plainItem, put } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

/** A load that would go on for ever ends after so many, so that a defect fails and does not hang. */
const LOADS_MAX = 200

const batchOf = (number: number): DurableBatch => ({
  number,
  changes: new Map([[`key-${number}` as KeyBytes, Buffer.from('value')]]),
  bytes: 100,
  timestamp: number as Timestamp,
  lsn: number as Lsn,
  end: number * 10,
})

/** What was begun goes on. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An index that tells the test of each commit before it is done. */
function told(beforeApply: () => void): OrderedMap & { readonly commits: number } {
  const inner = memoryMap()
  let commits = 0
  return {
    get: (key) => inner.get(key),
    range: (range) => inner.range(range),
    scan: (range, look) => inner.scan(range, look),
    apply: async (changes, upTo) => {
      commits++
      await Promise.resolve()
      beforeApply()
      await inner.apply(changes, upTo)
    },
    get appliedUpTo() {
      return inner.appliedUpTo
    },
    get commits() {
      return commits
    },
    close: () => inner.close(),
  }
}

/** An applier that gets a batch, and so a load, for each one that it applies. */
function loaded(): { applier: Applier; index: ReturnType<typeof told>; applied: () => number } {
  let added = 0
  let applied = 0
  const index = told(() => {
    if (added < LOADS_MAX) applier.add(batchOf(++added))
  })
  const applier = new Applier({
    index,
    runtime: testRuntime(1),
    applied: (batches) => (applied = batches.at(-1)?.number ?? 0),
    failed: (error) => assert.fail(error),
    delayMs: 500,
    delaysMax: 10,
    hurryBytes: 1_000_000,
    changesMax: 1,
  })
  while (added < 3) applier.add(batchOf(++added))
  return { applier, index, applied: () => applied }
}

test('applying: a drain ends with what there was when it began, though a load comes for each that is applied', async () => {
  const { applier, index, applied } = loaded()
  await applier.drain()
  assert.ok(applied() >= 3)
  assert.ok(index.commits <= 5, `${index.commits} commits for three loads`)
})

test('applying: direct changes wait for one commit, though a load comes for each that is applied', async () => {
  const { applier, index } = loaded()
  await applier.direct([['direct' as KeyBytes, Buffer.from('value')]])
  assert.ok(index.commits <= 3, `${index.commits} commits before it`)
  assert.ok(index.get('direct' as KeyBytes) !== undefined)
})

test('applying: drains and direct changes end in the order of their batches, each once', async () => {
  const { applier } = loaded()
  const order: string[] = []
  const first = applier.drain().then(() => order.push('first'))
  applier.add(batchOf(LOADS_MAX + 1))
  const second = applier.drain().then(() => order.push('second'))
  await Promise.all([first, second])
  assert.deepEqual(order, ['first', 'second'])
})

test('applying: a failed commit is told to every drain and direct change that waits', async () => {
  const failure = new Error('MDB_MAP_FULL')
  const index: OrderedMap = Object.assign(memoryMap(), { apply: () => Promise.reject(failure) })
  const applier = new Applier({
    index,
    runtime: testRuntime(1),
    applied: () => assert.fail('nothing is applied'),
    failed: () => undefined,
    delayMs: 500,
    delaysMax: 10,
    hurryBytes: 1_000_000,
    changesMax: 12_000,
  })
  applier.add(batchOf(1))
  const waits = [applier.drain(), applier.drain(), applier.direct([])]
  for (const wait of await Promise.allSettled(waits))
    assert.equal(wait.status === 'rejected' && wait.reason, failure)
  applier.stop()
})

test('applying: a load waits while it grows, for so many delays at most, and no longer once it does not', async () => {
  const clock = manualClock(0)
  const index = told(() => undefined)
  const applier = new Applier({
    index,
    runtime: { ...testRuntime(1), clock },
    applied: () => undefined,
    failed: (error) => assert.fail(error),
    delayMs: 500,
    delaysMax: 4,
    hurryBytes: 1_000_000,
    changesMax: 12_000,
  })
  applier.add(batchOf(1))
  applier.add(batchOf(2))
  clock.advance(999)
  await turn()
  assert.equal(index.commits, 0)
  clock.advance(1)
  await turn()
  assert.equal(index.commits, 1)
})

test('applying: a load that does not stop to grow is applied all the same', async () => {
  const clock = manualClock(0)
  const index = told(() => undefined)
  const applier = new Applier({
    index,
    runtime: { ...testRuntime(1), clock },
    applied: () => undefined,
    failed: (error) => assert.fail(error),
    delayMs: 500,
    delaysMax: 4,
    hurryBytes: 1_000_000,
    changesMax: 12_000,
  })
  for (let number = 1; number <= 20; number++) {
    applier.add(batchOf(number))
    clock.advance(99)
  }
  await turn()
  assert.equal(index.commits, 0)
  clock.advance(20)
  await turn()
  assert.equal(index.commits, 1)
})

test('applying: a sweep ends although another batch is always being written', async () => {
  const runtime = testRuntime(1)
  const options = { files: new FaultyDisk(), folder: 'j', runtime, reserveBytes: 0 }
  const journal = await openJournal(options, [0], () => Promise.resolve())
  const clock = new HybridClock(runtime.clock)
  const line = new JournalLine({ index: memoryMap(), journal, writer: 0, runtime, clock })
  const node = new LocalNode({ line, clock, runtime, onClose: () => Promise.resolve() })
  for (let i = 0; i < 25; i++) await put(node, plain, plainItem(`i${i}`))
  const other = { ...plain, space: spaceId(2) }
  let batches = 0
  const load = { isOver: false }
  // Three writers in turn: when the batch of one is written the next has begun.
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let i = 0; i < LOADS_MAX && !load.isOver; i++) {
      await put(node, other, plainItem(`j${writer}-${i}`))
      batches++
    }
  })
  let steps = 1
  while (!(await node.sweep(plain.space, 10))) steps++
  load.isOver = true
  assert.equal(steps, 3)
  assert.ok(batches < LOADS_MAX, `${batches} writes before three steps were through`)
  await Promise.all(writers)
  assert.equal((await node.range(page(plain.space))).entries.length, 0)
  assert.equal((await node.range(page(other.space))).entries.length, batches)
  await node.close()
})

test('applying: a sweep waits for what readers have seen and the journal had no room for', async () => {
  const runtime = testRuntime(1)
  const files = new FaultyDisk()
  const journal = await openJournal({ files, folder: 'j', runtime, reserveBytes: 0 }, [0], () =>
    Promise.resolve(),
  )
  const index = memoryMap()
  const line = new JournalLine({ index, journal, writer: 0, runtime, clock: new HybridClock(runtime.clock) })
  const space = spaceId(7)
  const seen = inSpace(space, 'seen' as KeyBytes)
  line.put(seen, Buffer.from('first'))
  await line.whenDurable()
  files.fault = (step) => {
    if (step === 'write') throw new OutOfSpace('ENOSPC')
  }
  // Visible at once: it stays when the batch is lost, and goes along with the next.
  line.putVisible(seen, Buffer.from('second'))
  await assert.rejects(line.sweep(space, 10), /no room/)
  files.fault = () => undefined
  assert.equal(await line.sweep(space, 10), true)
  await line.close()
  assert.equal(index.get(seen), undefined)
})
