import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { testFolder } from '../support/folder.js'
import { orderedMapSuite } from '../suites/ordered-map.js'

orderedMapSuite('memory index', () => Promise.resolve(memoryMap()))
orderedMapSuite('LMDB index', () => Promise.resolve(lmdbMap(testFolder())))
orderedMapSuite('LMDB index, written by the same thread', () =>
  Promise.resolve(lmdbMap(testFolder(), { otherProcess: false })),
)

test('LMDB index: what was applied, and up to where, is there after it is opened again', async () => {
  const folder = testFolder()
  const long = 'k'.repeat(1500) as KeyBytes
  const first = lmdbMap(folder)
  await first.apply([[long, Buffer.from('v')]], 77)
  await first.close()
  const second = lmdbMap(folder)
  assert.equal(second.appliedUpTo, 77)
  assert.equal(Buffer.from(second.get(long) ?? []).toString(), 'v')
  await second.apply([[`${long}x` as KeyBytes, Buffer.from('w')]], 78)
  assert.equal([...second.range({ from: 'k' as KeyBytes, to: 'l' as KeyBytes, reverse: true })].length, 2)
  await second.close()
})
