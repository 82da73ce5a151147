// A journal that is read back pauses between the frames of a group, and the log may be asked for something meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEntry } from '../../src/commit-log/entries.js'
import { LocalLog } from '../../src/commit-log/local-log.js'
import { memoryLogStorage } from '../../src/commit-log/memory-log.js'
import { type KeyBytes, spaceId, timestamp, type TxId } from '../../src/model/brand.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'

const tx = 'T' as TxId
const change = (order: number, key: string): LogEntry => ({
  kind: 'change',
  of: 'finish',
  tx,
  order,
  timestamp: timestamp(1),
  change: { space: spaceId(1), key: key as KeyBytes, event: 'insert', operation: 'put', cause: 'request' },
})
const part = (order: number, node: number): LogEntry => ({
  kind: 'part',
  tx,
  order,
  node,
  nodes: [0, 1],
  isDone: true,
})

test('log of commits: half a group of the journal is not taken for a whole one, whoever asks meanwhile', async () => {
  const storage = memoryLogStorage()
  const log = new LocalLog({
    runtime: realRuntime(),
    storage,
    begin: () => Promise.resolve(storage),
  })
  // The frame of the first node has come, with the completion; that of the second has not.
  log.add([change(0, 'x'), part(1, 0), { kind: 'completed', tx, order: 4 }])
  await log.flush()
  assert.equal(log.last, 0, 'nothing is a record yet')
  log.add([change(2, 'y'), part(3, 1)])
  log.settle(100)
  await log.flush()
  const { records } = await storage.read({ from: 1, recordsMax: 10, bytesMax: Infinity })
  assert.deepEqual(
    records.map(({ changes }) => changes.map(({ key }) => key)),
    [['x', 'y']],
  )
  await log.close()
})
