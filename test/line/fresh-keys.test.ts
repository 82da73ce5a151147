// What is put and removed again before anything was written: the intents of a transaction that is committed at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { Frame } from '../../src/journal/frame.js'
import { openJournal } from '../../src/journal/journal.js'
import type { KeyBytes, Timestamp } from '../../src/model/brand.js'
import { HybridClock } from '../../src/line/hybrid-clock.js'
import { JournalLine } from '../../src/line/journal-line.js'
import { FaultyDisk, outOfSpace } from '../faults/faulty-files.js'
import { testRuntime } from '../support/test-runtime.js'

const key = '\u0001k' as KeyBytes
const range = { from: '\u0001' as KeyBytes, to: '\u0002' as KeyBytes, reverse: false }
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString()
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function openLine() {
  const runtime = testRuntime(1)
  const disk = new FaultyDisk()
  const index = memoryMap()
  const options = { files: disk, folder: 'j', runtime, reserveBytes: 0 }
  const journal = await openJournal(options, [0], () => Promise.resolve())
  const clock = new HybridClock(runtime.clock)
  const line = new JournalLine({ index, journal, writer: 0, runtime, clock })
  let made = 0
  return {
    line,
    clock,
    disk,
    index,
    /** How often a value was made. */
    made: () => made,
    putNew: (value: string) =>
      line.putNew(
        key,
        () => {
          made++
          return Buffer.from(value)
        },
        10,
      ),
    /** What the disk has, as another process would read it. */
    frames: async () => {
      const frames: Frame[] = []
      await openJournal(options, [0], (frame) => Promise.resolve(void frames.push(frame)))
      return frames
    },
  }
}

test('a new key that is removed in the same batch is not written, nor is its value made; the time is', async () => {
  const { line, clock, putNew, made, frames } = await openLine()
  const highest = (clock.timestamp + 5_000_000) as Timestamp
  clock.witness(highest)
  putNew('intent')
  line.put(key, undefined)
  assert.equal(line.decided.get(key), undefined)
  const whenDurable = line.whenDurable()
  assert.ok(whenDurable !== undefined, 'there is something to wait for')
  await whenDurable
  assert.equal(made(), 0)
  const [frame, ...more] = await frames()
  assert.deepEqual([frame?.changes, more], [[], []])
  assert.ok((frame?.timestamp ?? 0) >= highest)
})

test('a new key that stays is seen by those who decide, and by readers once it is written', async () => {
  const { line, putNew, made, frames } = await openLine()
  putNew('intent')
  assert.equal(made(), 0)
  assert.ok(line.whenDurableAt(key) !== undefined, 'it is known without its value')
  assert.equal(made(), 0)
  assert.equal(text(line.decided.get(key)), 'intent')
  assert.deepEqual(
    Array.from(line.decided.range(range), ([, value]) => text(value)),
    ['intent'],
  )
  assert.equal(line.durable.get(key), undefined)
  assert.deepEqual([...line.durable.range(range)], [])
  await line.whenDurable()
  assert.equal(text(line.durable.get(key)), 'intent')
  assert.equal(made(), 1, 'made once')
  const [frame] = await frames()
  assert.deepEqual(
    frame?.changes.map(([at, value]) => [at, text(value)]),
    [[key, 'intent']],
  )
})

test('a new key that is removed while it is being written is removed by the next batch', async () => {
  const { line, putNew } = await openLine()
  putNew('intent')
  const first = line.whenDurable()
  await turn()
  line.put(key, undefined)
  await first
  await line.whenDurableAt(key)
  assert.equal(line.durable.get(key), undefined)
  await line.close()
})

test('what is new in a batch that has removed an older value hides that value to the end', async () => {
  const { line, index, putNew } = await openLine()
  await index.apply([[key, Buffer.from('older')]], 0)
  line.put(key, undefined)
  putNew('intent')
  assert.equal(text(line.decided.get(key)), 'intent')
  line.put(key, undefined)
  assert.equal(line.decided.get(key), undefined)
  await line.whenDurable()
  assert.equal(line.durable.get(key), undefined)
  await line.close()
  assert.equal(index.get(key), undefined)
})

test('a new key that is put once more in the same batch has its last value, and can be removed', async () => {
  const { line, putNew } = await openLine()
  putNew('one')
  line.put(key, Buffer.from('two'))
  assert.equal(text(line.decided.get(key)), 'two')
  line.put(key, undefined)
  assert.equal(line.decided.get(key), undefined)
  await line.whenDurable()
  assert.equal(line.durable.get(key), undefined)
})

test('a write that fails takes new keys back, those that were being written and those that were not', async () => {
  const { line, disk, putNew } = await openLine()
  const other = '\u0001other' as KeyBytes
  disk.fault = (step) => {
    if (step !== 'write') return
    disk.fault = () => undefined
    line.putNew(other, () => Buffer.from('other'), 10)
    throw outOfSpace()
  }
  putNew('intent')
  await assert.rejects(line.whenDurable() as Promise<void>, /no room/)
  for (const each of [key, other]) {
    assert.equal(line.decided.get(each), undefined)
    assert.equal(line.whenDurableAt(each), undefined)
  }
  putNew('again')
  await line.whenDurable()
  assert.equal(text(line.durable.get(key)), 'again')
})

test('a value that cannot be made fails its batch, and the next one is written', async () => {
  const { line, putNew } = await openLine()
  line.put('\u0001before' as KeyBytes, Buffer.from('before'))
  const unmakeable = (): never => {
    throw new Error('cannot be made')
  }
  line.putNew(key, unmakeable, 10)
  await assert.rejects(line.whenDurable() as Promise<void>, /cannot be made/)
  assert.equal(line.decided.get('\u0001before' as KeyBytes), undefined)
  putNew('again')
  await line.whenDurable()
  assert.equal(text(line.durable.get(key)), 'again')
})
