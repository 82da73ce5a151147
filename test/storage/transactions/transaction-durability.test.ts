// Commits that readers see before they are durable, on a disk that hesitates, runs full, or comes back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Timestamp, type TxId, ledgerSlot, txId } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import type { ManualClock } from '../../../src/runtime/manual-clock.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import type { Action } from '../../../src/storage/contract/transactions.js'
import { FaultyDisk, outOfSpace } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import {
  deleteRequest,
  getItem,
  number,
  plain,
  plainItem,
  put,
  putRequest,
  updateRequest,
} from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

interface Machine {
  readonly node: StorageNode
  readonly disk: FaultyDisk
  readonly clock: ManualClock
  readonly reopen: () => Promise<StorageNode>
}

async function start(): Promise<Machine> {
  const [runtime, path, files] = [testRuntime(1), testFolder(), new FaultyDisk()]
  const open = (): Promise<StorageNode> =>
    openLocalNode({ runtime, path, files, tuning: { reserveBytes: 0 } })
  const node = await open()
  return {
    node,
    disk: files,
    clock: runtime.clock,
    reopen: async () => {
      await node.close()
      return open()
    },
  }
}

const tx = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const ref = (id: string) => ({ space: plain.space, key: itemKey(plain.key, plainItem(id)) })
const set = (id: string, attribute: string, value: number): Action =>
  updateRequest(plain, plainItem(id), `SET ${attribute} = :v`, { values: { ':v': number(value) } })
const check = (id: string): Action => ({
  ...deleteRequest(plain, plainItem(id), { condition: 'attribute_exists(id)' }),
  mutation: { kind: 'check' },
})
const turns = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))))
const later = ({ clock }: Machine, ms: number): Timestamp => (clock.nowMicros() + ms * 1000) as Timestamp

async function prepare(node: StorageNode, number: number, timestamp: Timestamp, ...actions: Action[]) {
  const { verdicts } = await node.prepare({ tx: tx(number), timestamp, actions })
  for (const each of verdicts) assert.deepEqual(each, { verdict: 'accepted' })
}

/** Syncs do not return until they are released. */
function hold(disk: FaultyDisk): () => void {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  disk.fault = (step) => (step === 'sync' ? released : undefined)
  return () => {
    disk.fault = () => undefined
    release()
  }
}

/** Whether the promise has settled by now. */
function watched(promise: Promise<unknown>): { readonly whenDurable: () => boolean } {
  let whenDurable = false
  const end = (): void => {
    whenDurable = true
  }
  promise.then(end, end)
  return { whenDurable: () => whenDurable }
}

test('an update that waited behind a transaction is finished only when its own write is durable', async () => {
  const machine = await start()
  const { node, disk } = machine
  await prepare(node, 1, later(machine, 1), putRequest(plain, plainItem('a')))
  await prepare(node, 2, later(machine, 2), set('a', 'v', 2))
  const waiting = node.commit({ tx: tx(2), timestamp: later(machine, 2), items: [ref('a')] })
  await turns()

  const release = hold(disk)
  await node.commit({ tx: tx(1), timestamp: later(machine, 1), items: [ref('a')] })
  await waiting
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(2) }))
  const finished = node.finished([tx(2)])
  const watch = watched(finished)
  await turns()
  assert.equal(watch.whenDurable(), false)
  release()
  await finished
  await node.close()
})

test('the commit of an update that waited is answered only when readers see it', async () => {
  const machine = await start()
  const { node, disk } = machine
  await prepare(node, 1, later(machine, 1), putRequest(plain, plainItem('a')))
  await prepare(node, 2, later(machine, 2), set('a', 'v', 2))
  const waiting = node.commit({ tx: tx(2), timestamp: later(machine, 2), items: [ref('a')] })
  const watch = watched(waiting)
  await turns()

  const release = hold(disk)
  // What is pending on the item is not durable now, so the commits upon it are not to be seen yet.
  const checked = node.prepare({ tx: tx(3), timestamp: later(machine, 3), actions: [check('a')] })
  const first = node.commit({ tx: tx(1), timestamp: later(machine, 1), items: [ref('a')] })
  await turns()
  assert.equal(await getItem(node, plain, plainItem('a')), undefined)
  assert.equal(watch.whenDurable(), false)
  release()
  await Promise.all([checked, first, waiting])
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(2) }))
  await node.close()
})

test('an item is in doubt until what was pending at the start is decided, and readers see it', async () => {
  const machine = await start()
  const { disk, clock } = machine
  await put(machine.node, plain, plainItem('a', { v: number(1) }))
  const at = later(machine, 1)
  await prepare(machine.node, 1, at, putRequest(plain, plainItem('a', { v: number(2) })))
  const node = await machine.reopen()
  clock.advance(2000)

  const release = hold(disk)
  const checked = node.prepare({ tx: tx(3), timestamp: later(machine, 1), actions: [check('a')] })
  const committed = node.commit({ tx: tx(1), timestamp: at, items: [ref('a')] })
  const read = getItem(node, plain, plainItem('a'))
  const watch = watched(read)
  await turns()
  // It may have been seen before the start, so nobody is shown what was there before it.
  assert.equal(watch.whenDurable(), false)
  release()
  assert.deepEqual(await read, plainItem('a', { v: number(2) }))
  await Promise.all([checked, committed])
  await node.close()
})

test('a full disk: a commit that readers have seen stays, counts, and is written once there is room', async () => {
  const machine = await start()
  const { node, disk, clock } = machine
  await prepare(node, 1, later(machine, 1), putRequest(plain, plainItem('a')))
  let attempts = 0
  disk.fault = (step) => {
    if (step !== 'write') return
    attempts++
    throw outOfSpace()
  }
  const request = { tx: tx(1), timestamp: later(machine, 1), items: [ref('a')] }
  await node.commit(request)
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a'))
  assert.deepEqual(await node.finished([tx(1)]), [tx(1)])
  for (let n = 0; n < 10; n++) await turns()
  assert.equal(attempts, 1)
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a'))
  assert.equal((await node.count(plain.space)).items, 1)
  await assert.rejects(put(node, plain, plainItem('b')))
  assert.equal((await node.count(plain.space)).items, 1)

  disk.fault = () => undefined
  clock.advance(10_000)
  await node.commit(request)
  assert.deepEqual(await node.finished([tx(1)]), [])
  const again = await machine.reopen()
  assert.deepEqual(await getItem(again, plain, plainItem('a')), plainItem('a'))
  assert.equal((await again.count(plain.space)).items, 1)
  await again.close()
})

test('a full disk does not keep a node from closing, and what readers have seen comes back', async () => {
  const machine = await start()
  const { node, disk } = machine
  await prepare(node, 1, later(machine, 1), putRequest(plain, plainItem('a')))
  disk.fault = (step) => {
    if (step === 'write') throw outOfSpace()
  }
  const request = { tx: tx(1), timestamp: later(machine, 1), items: [ref('a')] }
  await node.commit(request)
  await turns()
  await node.close()
  disk.fault = () => undefined
  const again = await machine.reopen()
  await again.commit(request)
  assert.deepEqual(await getItem(again, plain, plainItem('a')), plainItem('a'))
  await again.close()
})

test('a fence stands by the clock of the node, however far that is ahead of the time', async () => {
  const machine = await start()
  const { node } = machine
  const hour = later(machine, 3_600_000)
  await prepare(node, 1, hour, putRequest(plain, plainItem('a')))
  await node.cancel({ tx: tx(1), items: [ref('a')] })
  await node.finished([tx(1)])
  await node.ledger.purge(100)
  const late = await node.prepare({
    tx: tx(1),
    timestamp: hour,
    actions: [putRequest(plain, plainItem('a'))],
  })
  assert.deepEqual(late.verdicts, [{ verdict: 'ended' }])
  await node.close()
})

/** Each sync returns when it is let go, one after the other. */
function oneByOne(disk: FaultyDisk): () => Promise<void> {
  const held: (() => void)[] = []
  disk.fault = (step) =>
    step === 'sync' ? new Promise<void>((resolve) => held.push(() => resolve())) : undefined
  return async () => {
    await turns()
    held.shift()?.()
    await turns()
  }
}

test('what was in doubt is read only when readers see its decision, not when they see another one', async () => {
  const machine = await start()
  await put(machine.node, plain, plainItem('a', { v: number(0) }))
  await prepare(machine.node, 1, later(machine, 1), set('a', 'v', 1))
  const node = await machine.reopen()
  const look = (): Promise<unknown> => getItem(node, plain, plainItem('a'))

  const letGo = oneByOne(machine.disk)
  const beside = node.prepare({ tx: tx(2), timestamp: later(machine, 2), actions: [set('a', 'w', 2)] })
  await turns()
  const cancelled = node.cancel({ tx: tx(2), items: [ref('a')] })
  await letGo()
  await beside
  // The cancel is on its way to the disk, and behind it comes the commit of what is in doubt.
  const committed = node.commit({ tx: tx(1), timestamp: later(machine, 1), items: [ref('a')] })
  const looking = look()
  const watch = watched(looking)
  await letGo()
  await cancelled
  await turns()
  assert.equal(watch.whenDurable(), false)
  await letGo()
  await committed
  assert.deepEqual(await looking, plainItem('a', { v: number(1) }))
  machine.disk.fault = () => undefined
  await node.close()
})

test('a disk that is full while a transaction is finished fails everybody who waits, and nobody unheard', async () => {
  const machine = await start()
  const { node, disk } = machine
  const at = later(machine, 1)
  await prepare(node, 1, at, putRequest(plain, plainItem('a')), putRequest(plain, plainItem('b')))
  machine.clock.advance(10)
  let release = (): void => undefined
  const full = new Promise<void>((resolve) => (release = resolve)).then(() => {
    throw outOfSpace()
  })
  full.catch(() => undefined)
  disk.fault = (step) => (step === 'write' ? full : undefined)
  // One item in the batch that is being written, the other one in the next: the commit builds upon both.
  const first = put(node, plain, plainItem('a', { w: number(1) }))
  await turns()
  const second = put(node, plain, plainItem('b', { w: number(1) }))
  const commit = node.commit({ tx: tx(1), timestamp: at, items: [ref('a'), ref('b')] })
  const outcomes = Promise.allSettled([first, second, commit])
  await turns()
  release()
  // A rejection that nobody handles would end the process, and fails this test.
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  await turns()
  disk.fault = () => undefined
  const again = await machine.reopen()
  await again.commit({ tx: tx(1), timestamp: at, items: [ref('a'), ref('b')] })
  assert.deepEqual(await getItem(again, plain, plainItem('a')), plainItem('a'))
  await again.close()
})
