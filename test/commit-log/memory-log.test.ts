import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryLogStorage } from '../../src/commit-log/memory-log.js'
import { logStorageSuite, readAll, recordOf } from '../suites/log-storage.js'

logStorageSuite('log in memory', (tuning) => Promise.resolve(memoryLogStorage({ knobs: tuning })))

test('log in memory: beyond its bound the oldest records go', async () => {
  const storage = memoryLogStorage({ knobs: { logMemoryBytesMax: 5000, logBlockBytesMax: 500 } })
  for (let number = 1; number <= 100; number++) {
    await storage.append([recordOf(number)], { upTo: number, number })
    assert.ok(storage.bytes <= 5000)
  }
  assert.ok(storage.first > 50 && storage.first < 100)
  assert.equal((await readAll(storage, storage.first)).at(-1)?.number, 100)
})
