// Steps that would take long: what they can, they do ahead, in turns (storage/work-ahead.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, txId, type Timestamp } from '../../src/model/brand.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import type { Action } from '../../src/storage/contract/transactions.js'
import { deleteRequest, getItem, number, plain, plainItem, put, updateRequest } from '../suites/tables.js'
import { testRuntime } from '../suites/test-runtime.js'

const tx = txId(ledgerSlot('1'.padStart(32, '0')), 'n')
const add = (id: string): Action =>
  updateRequest(plain, plainItem(id), 'ADD v :one', { values: { ':one': number(1) } })
const isOne = (id: string): Action => ({
  ...deleteRequest(plain, plainItem(id), { condition: 'v = :one', values: { ':one': number(1) } }),
  mutation: { kind: 'check' },
})

/** Two items, of which a step may parse none; and how often it let others pass. */
async function openNode() {
  const runtime = testRuntime(1)
  let turns = 0
  const counted = {
    ...runtime,
    defer: (callback: () => void) => {
      turns++
      runtime.defer(callback)
    },
  }
  const node = await openLocalNode({ runtime: counted, memory: true, tuning: { stepBytesMax: 1 } })
  for (const id of ['a', 'b']) await put(node, plain, plainItem(id, { v: number(1) }))
  turns = 0
  return { node, now: () => runtime.clock.nowMicros(), turns: () => turns }
}

test('a step on more than it may parse at once parses its items in turns before it', async () => {
  const { node, turns } = await openNode()
  const reply = await node.transact({ tx, actions: [add('a'), isOne('b')] })
  assert.equal(reply.outcome, 'committed')
  assert.ok(turns() >= 4, `${turns()} turns`)
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(2) }))
  await node.close()
})

test('what was worked out ahead counts only for the version of the item that it was made of', async () => {
  const { node } = await openNode()
  const transacted = node.transact({ tx, actions: [add('a'), add('b')] })
  await put(node, plain, plainItem('a', { v: number(10) }))
  assert.equal((await transacted).outcome, 'committed')
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(11) }))
  assert.deepEqual(await getItem(node, plain, plainItem('b')), plainItem('b', { v: number(2) }))
  await node.close()
})

test('a condition that held when it was looked at ahead is decided by what the item is in the step', async () => {
  const { node } = await openNode()
  const transacted = node.transact({ tx, actions: [isOne('a'), isOne('b')] })
  await put(node, plain, plainItem('a', { v: number(2) }))
  const reply = await transacted
  assert.equal(reply.outcome, 'refused')
  assert.deepEqual(
    reply.verdicts?.map(({ verdict }) => verdict),
    ['condition-failed', 'accepted'],
  )
  await node.close()
})

test('a step that waits for pending transactions finds them decided after its work ahead', async () => {
  const { node, now } = await openNode()
  const timestamp = (now() + 1_000_000) as Timestamp
  await node.prepare({ tx, timestamp, actions: [add('a')] })
  const other = txId(ledgerSlot('2'.padStart(32, '0')), 'n')
  const transacted = node.transact({ tx: other, actions: [add('a'), add('b')] })
  await node.commit({ tx, timestamp, items: [{ space: plain.space, key: add('a').key }] })
  assert.equal((await transacted).outcome, 'committed')
  assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { v: number(3) }))
  await node.close()
})

test('a transaction that looks at more stored bytes than a node parses for one request is refused', async () => {
  const { node } = await openNode()
  const ids = Array.from({ length: 42 }, (_, at) => `large ${at}`)
  for (const id of ids) await put(node, plain, plainItem(id, { v: number(1), t: { S: 'x'.repeat(400_000) } }))
  const refused = await node.transact({ tx, actions: ids.map(isOne) })
  assert.equal(refused.outcome, 'refused')
  assert.deepEqual(refused.verdicts?.[0], {
    verdict: 'invalid',
    message: 'The items that the conditions and updates of the transaction look at exceed 16777216 bytes',
  })
  assert.equal((await node.transact({ tx, actions: ids.slice(0, 40).map(isOne) })).outcome, 'committed')
  await node.close()
})

test('while one request works ahead another one waits, and both are done', async () => {
  const { node } = await openNode()
  const both = await Promise.all(
    ['1', '2', '3'].map((number) =>
      node.transact({ tx: txId(ledgerSlot(number.padStart(32, '0')), 'n'), actions: [add('a'), add('b')] }),
    ),
  )
  assert.deepEqual(
    both.map(({ outcome }) => outcome),
    ['committed', 'committed', 'committed'],
  )
  assert.deepEqual(await getItem(node, plain, plainItem('b')), plainItem('b', { v: number(4) }))
  await node.close()
})
