// Writes of which nothing is written: they were decided upon what may not be durable yet, and no batch of their own stands
// behind it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, txId, type Timestamp, type TxId } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import type { Action } from '../../../src/storage/contract/transactions.js'
import { FaultyDisk } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import { deleteRequest, number, plain, plainItem, put, putRequest } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const tx = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const goneA = deleteRequest(plain, plainItem('a'), { condition: 'attribute_not_exists(v)' })
const secondB: Action = {
  ...putRequest(plain, plainItem('b'), { condition: 'v = :two', values: { ':two': number(2) } }),
  mutation: { kind: 'check' },
}

/** What it answers must wait while the delete of `a` and the second version of `b` are being written. */
async function mustWait(
  title: string,
  work: (node: StorageNode, now: () => number) => Promise<unknown>,
): Promise<void> {
  const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
  const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning: { reserveBytes: 0 } })
  await put(node, plain, plainItem('a', { v: number(1) }))
  await put(node, plain, plainItem('b', { v: number(1) }))
  // The ceiling is durable from here on.
  await node.write(deleteRequest(plain, plainItem('never')))
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  disk.fault = (step) => (step === 'sync' ? released : undefined)
  const before = [
    node.write(deleteRequest(plain, plainItem('a'))),
    put(node, plain, plainItem('b', { v: number(2) })),
  ]
  await turns()
  let isAnswered = false
  const working = work(node, () => runtime.clock.nowMicros()).finally(() => (isAnswered = true))
  for (let times = 0; times < 4; times++) await turns()
  assert.equal(isAnswered, false, title)
  disk.fault = () => undefined
  release()
  await Promise.all([...before, working])
  await node.close()
}

const committed = async (node: StorageNode, ...actions: Action[]): Promise<void> => {
  const { outcome } = await node.transact({ tx: tx(1), once: true, actions })
  assert.equal(outcome, 'committed')
}

test('a transaction that deletes nothing is answered once it is certain that there was nothing', () =>
  mustWait('a delete', (node) => committed(node, goneA)))

test('a transaction that deletes nothing is answered once what it checked is durable', () =>
  mustWait('a check', (node) => committed(node, secondB, deleteRequest(plain, plainItem('never')))))

test('a delete of nothing that had to wait for a lock is answered once it is certain that there was nothing', () =>
  mustWait('behind a lock', async (node, now) => {
    const items = [{ space: plain.space, key: itemKey(plain.key, plainItem('a')) }]
    const until = (now() + 1e9) as Timestamp
    const locked = await node.lockItems({ unit: { id: 'u', began: 1 as Timestamp }, items, until })
    assert.deepEqual(locked, { verdict: 'locked' })
    const writing = node.write(goneA)
    await turns()
    await node.unlockItems({ unit: 'u', items })
    assert.equal((await writing).verdict, 'done')
  }))
