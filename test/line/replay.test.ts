import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { OrderedMap } from '../../src/ordered-map/ordered-map.js'
import { OutOfSpace } from '../../src/runtime/files.js'
import { openNodeOver } from '../../src/storage/folder/open-local-node.js'
import { FaultyDisk } from '../faults/faulty-files.js'
import { page } from '../suites/storage-node.js'
import { getItem, plain, plainItem, put, remove } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

/** An index in memory that outlives its node, and is written only while it may be. */
function writtenAtTimes(): { readonly index: OrderedMap; mayBeWritten: boolean } {
  const inner = memoryMap()
  const self: { mayBeWritten: boolean; index: OrderedMap } = {
    mayBeWritten: true,
    index: {
      get: (key) => inner.get(key),
      range: (range) => inner.range(range),
      scan: (range, look) => inner.scan(range, look),
      apply: (changes, upTo) =>
        self.mayBeWritten ? inner.apply(changes, upTo) : Promise.reject(new Error('ENOSPC: no room')),
      get appliedUpTo() {
        return inner.appliedUpTo
      },
      close: () => Promise.resolve(),
    },
  }
  return self
}

test('replay: a start whose index cannot be written reads, counts and decides by the journal, and says why', async () => {
  const at = writtenAtTimes()
  const disk = new FaultyDisk()
  const troubles: string[] = []
  const open = () =>
    openNodeOver(
      {
        runtime: testRuntime(1),
        files: disk,
        folder: '/journal',
        index: at.index,
        onTrouble: (error) => troubles.push(error.message),
      },
      () => Promise.resolve(),
    )
  const first = await open()
  await put(first, plain, plainItem('indexed'))
  await put(first, plain, plainItem('removed'))
  await first.close()

  at.mayBeWritten = false
  const second = await open()
  await put(second, plain, plainItem('new'))
  await remove(second, plain, plainItem('removed'))
  const before = await put(second, plain, plainItem('last'))
  const counted = await second.count(plain.space)
  await second.close()
  assert.deepEqual(troubles, ['Applying to the index fails, and is tried again: ENOSPC: no room'])

  const third = await open()
  assert.match(troubles.at(-1) ?? '', /The index lacks the last writes: ENOSPC: no room/)
  assert.deepEqual(await third.count(plain.space), counted)
  assert.deepEqual(await getItem(third, plain, plainItem('new')), plainItem('new'))
  assert.deepEqual(await getItem(third, plain, plainItem('indexed')), plainItem('indexed'))
  assert.equal(await getItem(third, plain, plainItem('removed')), undefined)
  assert.equal((await third.range(page(plain.space))).entries.length, 3)
  const after = await put(third, plain, plainItem('last'))
  assert.ok(before.verdict === 'done' && after.verdict === 'done' && before.new && after.new)
  assert.ok(after.new.timestamp > before.new.timestamp && after.new.lsn > before.new.lsn)
  at.mayBeWritten = true
  await third.close()

  const fourth = await open()
  assert.equal((await fourth.range(page(plain.space))).entries.length, 3)
  assert.deepEqual(await fourth.count(plain.space), counted)
  await fourth.close()
})

test('replay: a write that the journal refuses after such a start takes back nothing that was acknowledged before', async () => {
  const at = writtenAtTimes()
  const disk = new FaultyDisk()
  const open = () =>
    openNodeOver(
      {
        runtime: testRuntime(1),
        files: disk,
        folder: '/journal',
        index: at.index,
        onTrouble: () => undefined,
      },
      () => Promise.resolve(),
    )
  const kept = (text: string) => ({ ...plainItem('kept'), text: { S: text } })
  const first = await open()
  await put(first, plain, kept('indexed'))
  await first.close()
  at.mayBeWritten = false
  const second = await open()
  await put(second, plain, kept('acknowledged'))
  await put(second, plain, plainItem('new'))
  await second.close()

  const third = await open()
  disk.fault = (step) => {
    if (step === 'write') throw new OutOfSpace('ENOSPC: no room')
  }
  await assert.rejects(put(third, plain, kept('refused')), /no room/)
  await assert.rejects(put(third, plain, plainItem('new')), /no room/)
  disk.fault = () => undefined
  assert.deepEqual(await getItem(third, plain, plainItem('kept')), kept('acknowledged'))
  assert.deepEqual(await getItem(third, plain, plainItem('new')), plainItem('new'))
  at.mayBeWritten = true
  await third.close()

  const fourth = await open()
  assert.deepEqual(await getItem(fourth, plain, plainItem('kept')), kept('acknowledged'))
  assert.equal((await fourth.range(page(plain.space))).entries.length, 2)
  await fourth.close()
})
