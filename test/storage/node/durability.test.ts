import assert from 'node:assert/strict'
import { cpSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { JournalDamaged } from '../../../src/journal/errors.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import type { Item } from '../../../src/model/value.js'
import { FolderRefused, DurabilityUnknown, WriteFailed } from '../../../src/line/errors.js'
import { type LocalNodeTuning, openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { FaultyDisk, ioError, outOfSpace, somePages, tornAt } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import { page } from '../../suites/storage-node.js'
import {
  deleteRequest,
  getItem,
  itemOf,
  number,
  plain,
  plainItem,
  put,
  putRequest,
  remove,
} from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'
import { sized } from '../../support/sizes.js'

/** The clock stands still, so nothing is applied to the index unless the overlay is full or the node is closed. */
interface Machine {
  readonly path: string
  readonly disk: FaultyDisk
  readonly node: StorageNode
}

const SMALL: LocalNodeTuning = { segmentBytesMax: 500, reserveBytes: 0 }

async function start(disk = new FaultyDisk(), path = testFolder(), tuning = SMALL): Promise<Machine> {
  const node = await openLocalNode({ runtime: testRuntime(1), path, files: disk, tuning })
  return { path, disk, node }
}

/** The machine after a power cut: its index as it was synced last, its journal as the disk gives it back. */
async function afterCut(machine: Machine, indexFrom?: string, disk = machine.disk): Promise<Machine> {
  const path = testFolder()
  const index = indexFrom ?? join(machine.path, 'node-0', 'index')
  if (existsSync(join(index, 'data.mdb'))) {
    await copyBetweenCommits(join(index, 'data.mdb'), join(path, 'node-0', 'index', 'data.mdb'))
  }
  const format = join(machine.path, 'seriatim.json')
  if (existsSync(format)) cpSync(format, join(path, 'seriatim.json'))
  return start(disk.moved(machine.path, path), path)
}

/** LMDB commits in a thread of its own; a copy counts only if the file was left alone meanwhile. */
async function copyBetweenCommits(from: string, to: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const before = statSync(from)
    cpSync(from, to)
    await new Promise((resolve) => setTimeout(resolve, 2))
    const after = statSync(from)
    if (before.mtimeMs === after.mtimeMs && before.size === after.size) return
  }
  throw new Error('the index never rests')
}

const value = (n: number): Item => plainItem(`i${n % 4}`, { v: number(n) })
const turns = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))))

async function contents(node: StorageNode): Promise<Record<string, unknown>> {
  const { entries } = await node.range(page(plain.space))
  return Object.fromEntries(
    entries.map((entry) => [JSON.stringify(itemOf(entry.record)?.['id']), itemOf(entry.record)]),
  )
}

/** What the first n writes leave. */
function model(n: number): Record<string, unknown> {
  const items: Record<string, unknown> = {}
  for (let i = 1; i <= n; i++) items[JSON.stringify(value(i)['id'])] = value(i)
  return items
}

test('durability: nothing is seen, and no refusal is answered, before what it rests upon is synced', async () => {
  const { disk, node } = await start()
  await put(node, plain, plainItem('a', { v: number(1) }))
  let release = (): void => undefined
  disk.fault = (step) => (step === 'sync' ? new Promise((resolve) => (release = resolve)) : undefined)

  const answered: string[] = []
  const track = (name: string, promise: Promise<unknown>): Promise<unknown> =>
    promise.then(() => answered.push(name))
  const all = [track('put', put(node, plain, plainItem('a', { v: number(2) })))]
  await turns()
  // In the next batch, decided upon the one in flight.
  all.push(
    track(
      'refused',
      put(node, plain, plainItem('a'), { condition: 'v = :one', values: { ':one': number(1) } }),
    ),
  )
  all.push(track('next', put(node, plain, plainItem('b'))))
  all.push(
    track(
      'absent',
      node.write(deleteRequest(plain, plainItem('b'), { condition: 'attribute_not_exists(id)' })),
    ),
  )
  await turns()
  assert.deepEqual(answered, [])
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(1) }))
  assert.equal(await getItem(node, plain, plainItem('b')), undefined)
  assert.equal((await node.range(page(plain.space))).entries.length, 1)

  release()
  await turns()
  assert.deepEqual(answered, ['put', 'refused'])
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(2) }))
  assert.equal(await getItem(node, plain, plainItem('b')), undefined)
  // A refusal upon what is durable already does not wait for what is not.
  assert.equal(
    (await put(node, plain, plainItem('a'), { condition: 'attribute_not_exists(id)' })).verdict,
    'condition-failed',
  )

  disk.fault = () => undefined
  release()
  await Promise.all(all)
  assert.deepEqual(answered, ['put', 'refused', 'next', 'absent'])
  await node.close()
})

test('durability: steps that arrive while a batch is being synced share the next one', async () => {
  const { disk, node } = await start()
  await put(node, plain, plainItem('first'))
  let syncs = 0
  let release = (): void => undefined
  disk.fault = (step) => {
    if (step !== 'sync') return undefined
    syncs++
    return syncs === 1 ? new Promise((resolve) => (release = resolve)) : undefined
  }
  const first = put(node, plain, plainItem('a'))
  await turns()
  const rest = Array.from({ length: 100 }, (_, i) => put(node, plain, plainItem(`b${i}`)))
  await turns()
  release()
  await Promise.all([first, ...rest])
  assert.equal(syncs, 2)
  await node.close()
})

test('durability: on a full disk writes fail and leave nothing behind, and go on when there is room', async () => {
  const { disk, node } = await start()
  await put(node, plain, plainItem('a', { v: number(1) }))
  const count = await node.count(plain.space)
  disk.partialBytes = 40
  disk.fault = (step) => {
    if (step === 'write') throw outOfSpace()
  }
  const failing = [put(node, plain, plainItem('a', { v: number(2) })), put(node, plain, plainItem('b'))]
  const upon = turns().then(() => put(node, plain, plainItem('c'), { condition: 'attribute_not_exists(id)' }))
  for (const write of [...failing, upon]) await assert.rejects(write, WriteFailed)
  assert.deepEqual(await node.count(plain.space), count)
  disk.fault = () => undefined
  const again = await put(node, plain, plainItem('a', { v: number(3) }), {
    condition: 'v = :v',
    values: { ':v': number(1) },
  })
  assert.equal(again.verdict, 'done')
  await node.close()
})

test('durability: what is decided upon a batch that fails, fails with it', async () => {
  const { disk, node } = await start()
  await put(node, plain, plainItem('a', { v: number(1) }))
  let fail = (): void => undefined
  disk.fault = (step) =>
    step === 'write' ? new Promise((_, reject) => (fail = () => reject(outOfSpace()))) : undefined
  const flying = assert.rejects(put(node, plain, plainItem('a', { v: number(2) })), WriteFailed)
  await turns()
  const upon = [
    put(node, plain, plainItem('a', { v: number(3) }), { condition: 'v = :v', values: { ':v': number(2) } }),
    put(node, plain, plainItem('a'), { condition: 'v = :v', values: { ':v': number(1) } }),
    put(node, plain, plainItem('other')),
  ].map((write) => assert.rejects(write, WriteFailed))
  await turns()
  disk.fault = () => undefined
  fail()
  await Promise.all([flying, ...upon])
  assert.deepEqual(await contents(node), { '{"S":"a"}': plainItem('a', { v: number(1) }) })
  assert.equal((await node.count(plain.space)).items, 1)
  assert.equal((await put(node, plain, plainItem('a', { v: number(4) }))).verdict, 'done')
  await node.close()
})

test('durability: after a failed sync the outcome is unknown, writes are refused until restart, reads go on', async () => {
  const machine = await start()
  const { disk, node } = machine
  await put(node, plain, plainItem('a', { v: number(1) }))
  disk.fault = (step) => {
    if (step === 'sync') throw ioError()
  }
  await assert.rejects(put(node, plain, plainItem('a', { v: number(2) })), DurabilityUnknown)
  disk.fault = () => undefined
  await assert.rejects(put(node, plain, plainItem('b')), WriteFailed)
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(1) }))
  const restarted = await afterCut(machine)
  const v = (await getItem(restarted.node, plain, plainItem('a')))?.['v']
  assert.deepEqual(v, number(2), 'the bytes were on the disk after all')
  assert.equal((await put(restarted.node, plain, plainItem('b'))).verdict, 'done')
  await restarted.node.close()
  await node.close()
})

test('durability: an older index is brought up by the journal, from any of its states', async () => {
  const machine = await start()
  const indexFolder = join(machine.path, 'node-0', 'index')
  const states: string[] = []
  let { node } = machine
  for (let n = 1; n <= 12; n++) {
    await node.write(putRequest(plain, value(n)))
    if (n % 3 !== 0) continue
    const state = testFolder()
    cpSync(join(indexFolder, 'data.mdb'), join(state, 'data.mdb'))
    states.push(state)
    if (n === 6) {
      // A clean stop applies everything; the journal keeps its last segment.
      await node.close()
      ;({ node } = await start(machine.disk, machine.path))
    }
  }
  const count = await node.count(plain.space)
  for (const state of states.slice(2)) {
    const restarted = await afterCut(machine, state)
    assert.deepEqual(await contents(restarted.node), model(12))
    assert.deepEqual(await restarted.node.count(plain.space), count)
    await restarted.node.close()
  }
  // The segments that the first states would need were removed: that is said, not passed over.
  await assert.rejects(afterCut(machine, states[0]), (error: Error) => {
    assert.ok(error instanceof FolderRefused && error.cause instanceof JournalDamaged)
    return true
  })
  await node.close()
})

test('durability: a power cut at every step leaves what was acknowledged, and nothing but a prefix of the history', async () => {
  const writes = 6
  const outcomes = [
    (safe: Buffer) => safe,
    (_: Buffer, seen: Buffer) => seen,
    tornAt(70),
    somePages((p) => p % 2 === 1),
  ]
  let steps = Infinity
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    const disk = new FaultyDisk()
    const path = testFolder()
    let reached = (): void => undefined
    const cut = new Promise<void>((resolve) => (reached = resolve))
    disk.fault = () => {
      if (disk.steps < cutAt) return undefined
      reached()
      return new Promise(() => undefined)
    }
    let acknowledged = 0
    const life = (async () => {
      // Room for a few writes only, so that the index is brought up in the middle of it.
      const { node } = await start(disk, path, { ...SMALL, overlayBytesMax: 1500, applyChangesMax: 4 })
      for (let n = 1; n <= writes; n++) {
        await node.write(putRequest(plain, value(n)))
        acknowledged = n
      }
      steps = disk.steps
    })()
    await Promise.race([life, cut])
    await turns()
    // In the quick size one outcome for each step, in turn.
    for (const outcome of sized([outcomes[cutAt % outcomes.length]!], outcomes)) {
      const machine = { path, disk, node: undefined as never }
      const restarted = await afterCut(machine, undefined, disk.afterPowerCut(outcome))
      const found = await contents(restarted.node)
      const expected = [acknowledged, acknowledged + 1].map(model)
      assert.ok(
        expected.some((items) => isDeepStrictEqual(items, found)),
        `step ${cutAt}: ${JSON.stringify(found)} after ${acknowledged}`,
      )
      await put(restarted.node, plain, plainItem('after'))
      await restarted.node.close()
    }
  }
})

test('durability: timestamps and LSNs do not go back over a restart, even if the clock does', async () => {
  const path = testFolder()
  const disk = new FaultyDisk()
  const first = await openLocalNode({ runtime: testRuntime(1), path, files: disk })
  const before = await put(first, plain, plainItem('a'))
  await remove(first, plain, plainItem('a'))
  await first.close()
  const runtime = testRuntime(1)
  runtime.clock.jump(-3_600_000)
  const second = await openLocalNode({ runtime, path, files: disk })
  const after = await put(second, plain, plainItem('a'))
  assert.ok(before.verdict === 'done' && before.new && after.verdict === 'done' && after.new)
  assert.ok(after.new.timestamp > before.new.timestamp)
  assert.ok(after.new.lsn > before.new.lsn)
  await second.close()
})

test('durability: a closed node refuses writes, and what it accepted before is there', async () => {
  const { disk, node, path } = await start()
  const accepted = Array.from({ length: 20 }, (_, i) => put(node, plain, plainItem(`i${i}`)))
  const closing = node.close()
  await assert.rejects(put(node, plain, plainItem('late')), WriteFailed)
  await Promise.all([closing, ...accepted])
  const again = await start(disk, path)
  assert.equal((await again.node.range(page(plain.space))).entries.length, 20)
  assert.ok(await again.node.get(plain.space, itemKey(plain.key, plainItem('i7')), true))
  await again.node.close()
})
