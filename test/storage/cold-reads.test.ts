// A read whose pages are not in memory waits for them alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyBytes } from '../../src/model/brand.js'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { OrderedMap } from '../../src/ordered-map/ordered-map.js'
import { openNodeOver } from '../../src/storage/folder/open-local-node.js'
import { FaultyDisk } from '../faults/faulty-files.js'
import { page } from '../suites/storage-node.js'
import { getItem, plain, plainItem, put } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

/** Keys with these letters are not in memory before the disk has answered. */
function indexOnDisk(isCold: (key: KeyBytes) => boolean): {
  readonly index: OrderedMap
  readonly answer: () => void
} {
  const inner = memoryMap()
  let answer = (): void => undefined
  const disk = new Promise<void>((resolve) => {
    answer = resolve
  })
  return {
    answer,
    index: {
      get: (key) => inner.get(key),
      range: (range) => inner.range(range),
      scan: (range, look) => inner.scan(range, look),
      ready: (key) => (isCold(key) ? disk : undefined),
      readyRange: () => disk,
      apply: (changes, upTo) => inner.apply(changes, upTo),
      get appliedUpTo() {
        return inner.appliedUpTo
      },
      close: () => Promise.resolve(),
    },
  }
}

test('a read or write that needs the disk keeps no other waiting', async () => {
  let isWarm = true
  const { index, answer } = indexOnDisk((key) => !isWarm && key.includes('cold'))
  const parts = { runtime: testRuntime(1), files: new FaultyDisk(), folder: '/journal', index }
  const node = await openNodeOver(parts, () => Promise.resolve())
  await put(node, plain, plainItem('cold'))
  await put(node, plain, plainItem('hot'))
  isWarm = false
  const done: string[] = []
  const told = (name: string) => () => done.push(name)
  const cold = [
    getItem(node, plain, plainItem('cold')).then(told('get')),
    put(node, plain, plainItem('cold')).then(told('put')),
    node.range(page(plain.space)).then(told('range')),
  ]
  assert.ok((await getItem(node, plain, plainItem('hot'))) !== undefined)
  await put(node, plain, plainItem('hot'))
  assert.deepEqual(done, [])
  answer()
  await Promise.all(cold)
  assert.deepEqual(new Set(done), new Set(['get', 'put', 'range']))
  await node.close()
})
