// A log of commits that cannot be written stops writes, never itself, and never reads (point 29).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { memoryLogStorage } from '../../src/commit-log/memory-log.js'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import { realFiles } from '../../src/runtime/real-files.js'
import { keyAttributesOf, type TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import type { WriteRequest } from '../../src/storage/contract/storage-node.js'
import { openJournalled } from '../../src/storage/folder/open-local-node.js'
import { testFolder } from '../support/folder.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { testRuntime } from '../support/test-runtime.js'

const TABLE: TableShape = {
  name: 'T',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
  version: 1,
  logged: { old: true, new: true },
}

function put(id: string, n: number): WriteRequest {
  const item: Item = { id: { S: id }, n: { N: String(n) }, filler: { S: 'x'.repeat(500) } }
  return {
    table: TABLE,
    key: itemKey(TABLE.key, item),
    keyAttributes: keyAttributesOf(TABLE.key, item),
    mutation: { kind: 'put', item },
  }
}

/** A storage whose disk is full for as long as a test says. */
function fillable(): { readonly storage: LogStorage; setFull: (full: boolean) => void } {
  const kept = memoryLogStorage()
  let isFull = false
  const storage: LogStorage = {
    get first() {
      return kept.first
    },
    get last() {
      return kept.last
    },
    get bytes() {
      return kept.bytes
    },
    get position() {
      return kept.position
    },
    collect: () => kept.collect(),
    release: (records) => kept.release(records),
    append: (records, position) =>
      isFull ? Promise.reject(new Error('ENOSPC: no space left')) : kept.append(records, position),
    read: (request) => kept.read(request),
    numberAt: (timestamp) => kept.numberAt(timestamp),
    ofItem: (request) => kept.ofItem(request),
    trim: (before) => kept.trim(before),
    hold: (from) => kept.hold(from),
    close: () => kept.close(),
  }
  return { storage, setFull: (full) => (isFull = full) }
}

test('log of commits: one that cannot be written refuses writes with the reason, reads go on, and nothing is missing after', async () => {
  const { storage, setFull } = fillable()
  const troubles: string[] = []
  const { nodes, log } = await openJournalled(
    {
      runtime: realRuntime(),
      indexes: [memoryMap()],
      files: realFiles(),
      folder: testFolder(),
      tuning: { logBacklogBytesMax: 20_000, logFlushBytes: 2000 },
      log: { storage, begin: () => Promise.resolve(storage) },
      onTrouble: (error) => troubles.push(error.message),
    },
    () => Promise.resolve(),
  )
  const node = nodes[0]!
  await node.setShape(TABLE)
  await node.write(put('a', 0))
  setFull(true)
  let acknowledged = 1
  let refusal: unknown
  for (let n = 1; n < 1000; n++) {
    refusal = await node.write(put('a', n)).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refusal !== undefined) break
    acknowledged++
  }
  assert.match(String(refusal), /WriteFailed: The log of commits cannot take more: ENOSPC: no space left/)
  assert.match(troubles[0] ?? '', /The log of commits cannot be written, and is tried again: ENOSPC/)
  // Reads go on, of items and of the log.
  const read = await node.get(TABLE.space, put('a', 0).key)
  assert.match(Buffer.from(read!.json).toString(), new RegExp(`"N":"${acknowledged - 1}"`))
  assert.equal(log.last, acknowledged)

  setFull(false)
  await log.flush()
  await node.write(put('a', 5000))
  acknowledged++
  const numbers: number[] = []
  for (let from = 1; from <= log.last;) {
    const { records, next } = await log.read({ from, recordsMax: 100, bytesMax: Infinity })
    numbers.push(...records.map(({ number }) => number))
    from = next
  }
  assert.deepEqual(
    numbers,
    Array.from({ length: acknowledged }, (_, at) => at + 1),
  )
  await node.close()
})

test('log of commits: a writer that waits for the one who follows it goes on in the moment in which that one has caught up', async () => {
  const { storage } = fillable()
  const { nodes, log } = await openJournalled(
    {
      // Nothing else happens behind the writes: what is to be heard of is heard of from the follower.
      runtime: testRuntime(1),
      indexes: [memoryMap(), memoryMap()],
      files: realFiles(),
      folder: testFolder(),
      log: { storage, begin: () => Promise.resolve(storage) },
    },
    () => Promise.resolve(),
  )
  const follower = { next: 1, behindMax: 3 }
  const moved: (() => void)[] = []
  log.follow({
    get next() {
      return follower.next
    },
    behindMax: follower.behindMax,
    failure: undefined,
    onMoved: (callback) => moved.push(callback),
  })
  const move = (next: number): void => {
    follower.next = next
    for (const callback of moved) callback()
  }
  const [node, other] = nodes
  for (const each of nodes) await each.setShape(TABLE)
  await node!.write(put('a', 1))
  // It is not behind: between this and its next step the log becomes full, and has room again.
  move(2)
  for (const n of [2, 3, 4, 5]) await node!.write(put('a', n))
  assert.ok(log.isFull)
  const waits = other!.write(put('b', 1))
  move(6)
  assert.equal((await waits).verdict, 'done')
  for (const each of nodes) await each.close()
})
