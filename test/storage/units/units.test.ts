import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { testFolder } from '../../support/folder.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import type { Timestamp } from '../../../src/model/brand.js'
import { FaultyDisk, outOfSpace } from '../../faults/faulty-files.js'
import { itemOf, number, plain, plainItem, put, rich } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'
import { unitNodeSuite } from '../../suites/unit-node.js'

unitNodeSuite('units, LMDB node', async () => {
  const runtime = testRuntime(1)
  const path = testFolder()
  const node = await openLocalNode({ runtime, path })
  return {
    node,
    now: () => runtime.clock.nowMicros(),
    advanceMs: (ms) => runtime.clock.advance(ms),
    setBackMs: (ms) => runtime.clock.jump(-ms),
    reopen: async () => {
      await node.close()
      return openLocalNode({ runtime, path })
    },
  }
})

const items = [{ space: plain.space, key: itemKey(plain.key, plainItem('a')) }]
const wide = (n: number): ReturnType<typeof plainItem> =>
  plainItem(`i${n}`, { filler: { S: 'x'.repeat(1000) }, n: number(n) })

test('units: beyond the limit of bytes the oldest snapshots are dropped, and the newest goes on', async () => {
  const historyBytesMax = 50_000
  const node = await openLocalNode({ runtime: testRuntime(1), memory: true, units: { historyBytesMax } })
  for (let n = 0; n < 200; n++) await put(node, plain, wide(n % 100))
  const { timestamp: first } = await node.openSnapshot({})
  for (let n = 0; n < 100; n++) {
    await put(node, plain, wide(n))
    assert.ok(node.unitsHeld.historyBytes <= historyBytesMax)
  }
  assert.deepEqual(await node.readSnapshot({ at: first, items }), { verdict: 'snapshot-too-old' })
  const { timestamp: second } = await node.openSnapshot({})
  assert.equal((await node.readSnapshot({ at: second, items })).verdict, 'read')
  await node.close()
})

test('units: soak: short snapshots beside many writes, and what is kept stays bounded and ends at nothing', async () => {
  const runtime = testRuntime(1)
  const node = await openLocalNode({ runtime, memory: true })
  const open: Timestamp[] = []
  let highest = 0
  for (let n = 0; n < 30_000; n++) {
    await put(node, rich, {
      id: { S: `p${n % 97}` },
      n: number(n % 7),
      color: { S: `c${n % 3}` },
      weight: number(n),
    })
    if (n % 10 === 0) open.push((await node.openSnapshot({})).timestamp)
    if (open.length > 8) await node.closeSnapshot(open.splice(n % 3, 1)[0] as Timestamp)
    highest = Math.max(highest, node.unitsHeld.historyBytes)
  }
  // Nine snapshots are open at most, each behind ten writes or so: some hundred images, not thirty thousand.
  assert.ok(highest > 0 && highest < 500_000, `${highest} bytes`)
  for (const timestamp of open) await node.closeSnapshot(timestamp)
  assert.deepEqual(node.unitsHeld, { snapshots: 0, historyBytes: 0, locks: 0 })
  await node.close()
})

test('units: a long snapshot does not keep what only short ones beside it have seen', async () => {
  const node = await openLocalNode({ runtime: testRuntime(1), memory: true })
  await put(node, plain, wide(1))
  const { timestamp: long } = await node.openSnapshot({})
  await put(node, plain, wide(1))
  const kept = node.unitsHeld.historyBytes
  for (let n = 0; n < 100; n++) {
    const { timestamp } = await node.openSnapshot({})
    await put(node, plain, wide(1))
    assert.ok(node.unitsHeld.historyBytes > kept)
    await node.closeSnapshot(timestamp)
    assert.equal(node.unitsHeld.historyBytes, kept)
  }
  await node.closeSnapshot(long)
  assert.equal(node.unitsHeld.historyBytes, 0)
  await node.close()
})

test('units: locks are bounded in number, and expired ones make room', async () => {
  const runtime = testRuntime(1)
  const node = await openLocalNode({ runtime, memory: true, units: { unitLocksMax: 3 } })
  const lock = (id: string, ...names: string[]) =>
    node.lockItems({
      unit: { id, began: 1 as Timestamp },
      items: names.map((name) => ({ space: plain.space, key: itemKey(plain.key, plainItem(name)) })),
      until: (runtime.clock.nowMicros() + 1_000_000) as Timestamp,
    })
  assert.deepEqual(await lock('u1', 'a', 'b', 'c'), { verdict: 'locked' })
  assert.deepEqual(await lock('u2', 'd'), { verdict: 'too-many' })
  runtime.clock.advance(1_001)
  assert.deepEqual(await lock('u2', 'd'), { verdict: 'locked' })
  await node.close()
})

test('units: when steps are taken back, snapshots are dropped: the past of what never was must not show', async () => {
  const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
  const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning: { reserveBytes: 0 } })
  await put(node, plain, plainItem('a', { v: number(1) }))
  const { timestamp: at } = await node.openSnapshot({})
  disk.fault = (step) => (step === 'write' ? Promise.reject(outOfSpace()) : undefined)
  await assert.rejects(put(node, plain, plainItem('a', { v: number(2) })))
  disk.fault = () => undefined
  assert.deepEqual(await node.readSnapshot({ at, items }), { verdict: 'snapshot-too-old' })
  assert.deepEqual(node.unitsHeld, { snapshots: 0, historyBytes: 0, locks: 0 })
  const { timestamp: later } = await node.openSnapshot({})
  const reply = await node.readSnapshot({ at: later, items })
  assert.ok(reply.verdict === 'read' && reply.results[0]?.verdict === 'value')
  assert.deepEqual(itemOf(reply.results[0].record), plainItem('a', { v: number(1) }))
  await node.close()
})

test('units: a read at a snapshot is answered once what it saw is durable, and not before', async () => {
  const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
  const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning: { reserveBytes: 0 } })
  await put(node, plain, plainItem('a', { v: number(1) }))
  // The ceiling is durable from here on.
  await node.openSnapshot({})
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  disk.fault = (step) => (step === 'sync' ? released : undefined)
  const written = put(node, plain, plainItem('a', { v: number(2) }))
  const { timestamp: at } = await node.openSnapshot({ above: 'decided' })
  const overwritten = put(node, plain, plainItem('a', { v: number(3) }))
  const range = {
    at,
    table: plain,
    space: plain.space,
    from: '' as never,
    reverse: false,
    entriesMax: 9,
    bytesMax: 999,
  }
  let answers = 0
  const reads = [node.readSnapshot({ at, items }), node.rangeAt(range)].map(async (reading) => {
    const reply = await reading
    answers++
    return reply
  })
  const beside = await node.readSnapshot({
    at,
    items: [{ space: plain.space, key: itemKey(plain.key, plainItem('b')) }],
  })
  assert.deepEqual(
    beside,
    { verdict: 'read', results: [{ verdict: 'value' }] },
    'what is durable is not waited for',
  )
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(answers, 0)
  disk.fault = () => undefined
  release()
  await Promise.all([written, overwritten])
  const [one, all] = await Promise.all(reads)
  assert.ok(one?.verdict === 'read' && 'results' in one && one.results[0]?.verdict === 'value')
  assert.deepEqual(itemOf(one.results[0].record), plainItem('a', { v: number(2) }))
  assert.ok(all?.verdict === 'read' && 'page' in all)
  assert.deepEqual(
    all.page.entries.map(({ record }) => itemOf(record)),
    [plainItem('a', { v: number(2) })],
  )
  await node.close()
})

test('units: while a batch is written, a new snapshot stands before it and waits for no disk', async () => {
  const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
  const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning: { reserveBytes: 0 } })
  const seenAt = async (at: Timestamp): Promise<unknown> => {
    const reply = await node.readSnapshot({ at, items })
    assert.ok(reply.verdict === 'read' && reply.results[0]?.verdict === 'value')
    return itemOf(reply.results[0].record)?.['v']
  }
  const seenByNew = async (): Promise<unknown> => {
    const reply = await node.readSnapshot({ at: 'new', items })
    assert.ok(reply.verdict === 'read' && reply.at !== undefined && reply.results[0]?.verdict === 'value')
    await node.closeSnapshot(reply.at)
    return itemOf(reply.results[0].record)?.['v']
  }
  await put(node, plain, plainItem('a', { v: number(1) }))
  assert.deepEqual(await seenByNew(), number(1), 'from here on somebody opens snapshots')
  await put(node, plain, plainItem('b', { v: number(1) }))

  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  disk.fault = (step) => (step === 'sync' ? released : undefined)
  const second = put(node, plain, plainItem('a', { v: number(2) }))
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  const third = put(node, plain, plainItem('a', { v: number(3) }))
  assert.deepEqual(await seenByNew(), number(1), 'answered while the disk is at work')
  const { timestamp: before } = await node.openSnapshot({})

  // Whoever has locked the item must see what was decided before.
  const until = (before + 60_000_000) as Timestamp
  await node.lockItems({ unit: { id: 'u', began: before }, items, until })
  let answered = false
  const locked = seenByNew().then((seen) => {
    answered = true
    return seen
  })
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(answered, false)

  disk.fault = () => undefined
  release()
  await second
  assert.notDeepEqual(await seenByNew(), number(1), 'in the turn in which the write is acknowledged')
  await third
  assert.deepEqual(await seenByNew(), number(3))
  assert.deepEqual(await locked, number(3))
  assert.deepEqual(await seenAt(before), number(1), 'and the snapshot stays where it is')
  await node.closeSnapshot(before)
  assert.deepEqual(node.unitsHeld, { snapshots: 0, historyBytes: 0, locks: 1 })
  await node.close()
})
