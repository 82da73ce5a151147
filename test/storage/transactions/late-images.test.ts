// A transaction that is carried out ahead of its sync, and in the same step one that had waited for it: a snapshot between
// the two sees the first only as an image of the past.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, txId, type Timestamp, type TxId } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import type { Item } from '../../../src/model/value.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { FaultyDisk } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import { deleteRequest, itemOf, number, plain, plainItem, put, putRequest } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const tx = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const v = (n: number): Item => plainItem('a', { v: number(n) })
const items = [{ space: plain.space, key: itemKey(plain.key, plainItem('a')) }]

const cases = [
  { title: 'a put behind a put', before: v(0), second: putRequest(plain, v(2)) },
  {
    title: 'a delete behind the put of an item that was not there',
    second: deleteRequest(plain, plainItem('a')),
  },
]
for (const { title, before, second } of cases) {
  for (const way of ['one item', 'a range'] as const) {
    test(`units: an image that was past at once is not shown before it is durable: ${title}, ${way}`, async () => {
      const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
      const tuning = { reserveBytes: 0 }
      const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning })
      if (before !== undefined) await put(node, plain, before)
      await put(node, plain, plainItem('beside'))
      const later = (ms: number): Timestamp => (runtime.clock.nowMicros() + ms * 1000) as Timestamp
      const [first, at, last] = [later(1), later(2), later(3)]
      await node.openSnapshot({ timestamp: at })
      const prepared = await node.prepare({
        tx: tx(1),
        timestamp: first,
        actions: [putRequest(plain, v(1))],
        ahead: true,
      })
      await node.prepare({ tx: tx(2), timestamp: last, actions: [second] })
      await node.commit({ tx: tx(2), timestamp: last, items, until: 'known' })
      let release = (): void => undefined
      const released = new Promise<void>((resolve) => (release = resolve))
      disk.fault = (step) => (step === 'sync' ? released : undefined)

      const committed = await node.commit({ tx: tx(1), timestamp: first, items, run: prepared.run })
      assert.equal(committed.run, prepared.run)
      let isAnswered = false
      const read = async (): Promise<Item | undefined> => {
        if (way === 'one item') {
          const reply = await node.readSnapshot({ at, items })
          assert.ok(reply.verdict === 'read' && reply.results[0]?.verdict === 'value')
          return itemOf(reply.results[0].record)
        }
        const range = { from: '' as never, reverse: false, entriesMax: 9, bytesMax: 999 }
        const reply = await node.rangeAt({ at, table: plain, space: plain.space, ...range })
        assert.ok(reply.verdict === 'read')
        return reply.page.entries
          .map(({ record }) => itemOf(record))
          .find((item) => item?.['v'] !== undefined)
      }
      const reading = read().finally(() => (isAnswered = true))
      await turns()
      assert.equal(isAnswered, false)
      disk.fault = () => undefined
      release()
      assert.deepEqual(await reading, v(1))
      await node.close()
    })
  }
}

test('units: a snapshot that is opened behind such an image waits for what is decided by then, too', async () => {
  const [runtime, disk] = [testRuntime(1), new FaultyDisk()]
  const node = await openLocalNode({ runtime, path: testFolder(), files: disk, tuning: { reserveBytes: 0 } })
  const later = (ms: number): Timestamp => (runtime.clock.nowMicros() + ms * 1000) as Timestamp
  await node.openSnapshot({ timestamp: later(2) })
  const timestamp = later(1)
  const actions = [putRequest(plain, v(1))]
  const { run } = await node.prepare({ tx: tx(1), timestamp, actions, ahead: true })
  await put(node, plain, plainItem('b'))
  const releases: (() => void)[] = []
  disk.fault = (step) =>
    step === 'sync' ? new Promise<void>((resolve) => releases.push(resolve)) : undefined

  await node.commit({ tx: tx(1), timestamp, items, run })
  await turns()
  assert.equal(releases.length, 1, 'the image is being written')
  const written = put(node, plain, plainItem('c', { v: number(3) }))
  const at = later(9)
  await node.openSnapshot({ timestamp: at })
  const range = { from: '' as never, reverse: false, entriesMax: 9, bytesMax: 999 }
  let isAnswered = false
  const reading = node.rangeAt({ at, table: plain, space: plain.space, ...range })
  void reading.finally(() => (isAnswered = true))
  releases[0]?.()
  await turns()
  assert.equal(releases.length, 2, 'what was put behind it is being written')
  assert.equal(isAnswered, false)
  disk.fault = () => undefined
  releases[1]?.()
  await written
  const reply = await reading
  assert.ok(reply.verdict === 'read')
  assert.equal(reply.page.entries.length, 3)
  await node.close()
})
