// Runs alone: it collects the garbage of its process.
// Steps that would take long: what they can, they do ahead, in turns (storage/work-ahead.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  ledgerSlot,
  spaceId,
  txId,
  type KeyBytes,
  type Lsn,
  type Timestamp,
  type TxId,
} from '../../../src/model/brand.js'
import { knobs } from '../../../src/model/knobs.js'
import type { IndexShape } from '../../../src/model/table.js'
import type { ItemRecord } from '../../../src/rules/item/item.js'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import type { Action } from '../../../src/storage/contract/transactions.js'
import { AheadPlace, WorkAhead } from '../../../src/storage/transactions/work-ahead.js'
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

const txOf = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const tx = txOf(1)
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
  return { node, clock: runtime.clock, now: () => runtime.clock.nowMicros(), turns: () => turns }
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

test('an update that was decided ahead is decided again if its table has got an index meanwhile', async () => {
  const { node } = await openNode()
  const transacted = node.transact({ tx, actions: [add('a'), add('b')] })
  // By now the first is decided, and the step not taken.
  await new Promise((resolve) => setImmediate(resolve))
  const index: IndexShape = {
    name: 'by-v',
    kind: 'global',
    space: spaceId(1000),
    key: { partition: { name: 'v', type: 'S' } },
    projection: { type: 'ALL' },
  }
  await node.setShape({ ...plain, indexes: [index], version: 2 })
  const reply = await transacted
  assert.equal(reply.outcome, 'refused')
  assert.match(JSON.stringify(reply.verdicts), /Type mismatch for Index Key v/)
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

test('a prepare that is repeated is accepted again, though its items have grown beyond what is looked at', async () => {
  const { node, now } = await openNode()
  const ids = Array.from({ length: 42 }, (_, at) => `item ${at}`)
  for (const id of ids) await put(node, plain, plainItem(id, { v: number(1) }))
  const request = { tx, timestamp: (now() + 1_000_000) as Timestamp, actions: ids.map(isOne) }
  const verdictsOf = async () => (await node.prepare(request)).verdicts.map(({ verdict }) => verdict)
  const accepted = ids.map(() => 'accepted')
  assert.deepEqual(await verdictsOf(), accepted)
  // The checks still hold, so that these writes go before them.
  for (const id of ids) await put(node, plain, plainItem(id, { v: number(1), t: { S: 'x'.repeat(400_000) } }))
  assert.deepEqual(await verdictsOf(), accepted)
  await node.close()
})

/** Until the event loop has gone round that often, in which nothing is left to do but what waits for a clock. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) await new Promise((resolve) => setImmediate(resolve))
}

/** A request that has the place and keeps it while another transaction is pending on one of its items. */
async function placeTaken() {
  const opened = await openNode()
  const { node, now } = opened
  const timestamp = (now() + 1_000_000) as Timestamp
  await node.prepare({ tx, timestamp, actions: [isOne('a')] })
  const holder = node.transact({ tx: txOf(2), actions: [add('a'), add('b')] })
  await rounds(20)
  const free = async (): Promise<void> => {
    await node.commit({ tx, timestamp, items: [{ space: plain.space, key: add('a').key }] })
    assert.equal((await holder).outcome, 'committed')
  }
  return { ...opened, free }
}

const CONFLICT = { verdict: 'conflict', others: [] }

test('work ahead: 64 requests wait for the place, and a further one is a conflict at once', async () => {
  const { node, free } = await placeTaken()
  const waiting = Array.from({ length: 64 }, (_, at) =>
    node.transact({ tx: txOf(100 + at), actions: [isOne('b'), isOne('c')] }),
  )
  const refused = await node.transact({ tx: txOf(99), actions: [isOne('b'), add('a')] })
  assert.deepEqual(refused.outcome === 'refused' && refused.verdicts, [CONFLICT, { verdict: 'accepted' }])
  await free()
  for (const reply of await Promise.all(waiting)) {
    assert.equal(reply.outcome, 'refused')
    assert.deepEqual(
      reply.verdicts?.map(({ verdict }) => verdict),
      ['condition-failed', 'condition-failed'],
      'it was taken in its turn',
    )
  }
  await node.close()
})

test('work ahead: a request that has waited for 500 ms is a conflict, and the next ones are served', async () => {
  const { node, clock, free } = await placeTaken()
  let isAnswered = false
  const late = node.transact({ tx: txOf(3), actions: [isOne('b'), add('a')] }).finally(() => {
    isAnswered = true
  })
  clock.advance(49)
  await rounds(5)
  assert.equal(isAnswered, false)
  await free()
  await late
  await node.close()

  const place = new AheadPlace()
  const line = manualClock(0)
  assert.equal(await place.take(line), true)
  const [early, last] = [place.take(line), place.take(line)]
  line.advance(499)
  place.leave()
  assert.equal(await early, true)
  line.advance(1)
  assert.equal(await last, false)
  // The one that gave up is not called any more: the place is free once it is left.
  place.leave()
  assert.equal(await place.take(line), true)
})

test('work ahead: how many wait for the place, and for how long, are knobs', async () => {
  const place = new AheadPlace({ aheadLineMax: 2, aheadLineMsMax: 10 })
  const clock = manualClock(0)
  assert.equal(await place.take(clock), true)
  const waiting = [place.take(clock), place.take(clock)]
  assert.equal(await place.take(clock), false, 'two wait already')
  clock.advance(10)
  assert.deepEqual(await Promise.all(waiting), [false, false])
  place.leave()
  assert.equal(await place.take(clock), true)
})

test('work ahead: single writes and small transactions do not wait for the place', async () => {
  const { node, free } = await placeTaken()
  const waiting = [3, 4, 5].map((at) => node.transact({ tx: txOf(at), actions: [add('a'), add('b')] }))
  assert.equal((await put(node, plain, plainItem('c', { v: number(1) }))).verdict, 'done')
  const small = putRequest(plain, plainItem('d'))
  assert.equal((await node.transact({ tx: txOf(6), actions: [small] })).outcome, 'committed')
  assert.deepEqual(await getItem(node, plain, plainItem('b')), plainItem('b', { v: number(1) }))
  await free()
  for (const { outcome } of await Promise.all(waiting)) assert.equal(outcome, 'committed')
  await node.close()
})

/** Whether a large transaction is taken, and so the place was left. */
async function isFree(node: Awaited<ReturnType<typeof openNode>>['node'], at: number): Promise<boolean> {
  const reply = await node.transact({ tx: txOf(at), actions: [isOne('a'), isOne('b')] })
  return reply.outcome === 'committed'
}

test('work ahead: the place is left after a refusal, a conflict and an error', async () => {
  const { node, clock, now } = await openNode()
  const never = (id: string): Action => ({
    ...deleteRequest(plain, plainItem(id), { condition: 'v > :one', values: { ':one': number(1) } }),
    mutation: { kind: 'check' },
  })
  assert.equal((await node.transact({ tx: txOf(10), actions: [never('a'), isOne('b')] })).outcome, 'refused')
  assert.ok(await isFree(node, 11), 'after a refusal')

  const timestamp = (now() + 1_000_000) as Timestamp
  await node.prepare({ tx, timestamp, actions: [isOne('a')] })
  const conflict = node.transact({ tx: txOf(12), actions: [add('a'), add('b')] })
  await rounds(20)
  clock.advance(50)
  assert.equal((await conflict).outcome, 'refused')
  await node.cancel({ tx, items: [{ space: plain.space, key: add('a').key }] })
  assert.ok(await isFree(node, 13), 'after a conflict')

  const broken: Action = { ...isOne('a'), condition: {} as NonNullable<Action['condition']> }
  await assert.rejects(node.transact({ tx: txOf(14), actions: [broken, isOne('b')] }), TypeError)
  assert.ok(await isFree(node, 15), 'after an error')
  await node.close()
})

test('work ahead: when its node is closed, every request that has the place or waits for it is answered', async () => {
  const { node, clock } = await placeTaken()
  const waiting = [3, 4, 5].map((at) => node.transact({ tx: txOf(at), actions: [add('a'), add('b')] }))
  const settled = Promise.allSettled(waiting)
  await node.close()
  clock.advance(600)
  assert.equal((await settled).length, 3)
})

test('work ahead: a request that waits for the place keeps nothing of what it has loaded', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const runtime = testRuntime(1)
  const place = new AheadPlace()
  assert.equal(await place.take(runtime.clock), true)
  const ahead = new WorkAhead({ runtime, place, knobs: { ...knobs, stepBytesMax: 1 } }, 'made')
  const { due, state } = ((): { due: unknown; state: WeakRef<object> } => {
    const { action, item } = largeStep()
    return { due: ahead.due([{ action, item }]), state: new WeakRef(item.state) }
  })()
  assert.ok(due instanceof Promise, 'it waits')
  await rounds(2)
  collect()
  assert.equal(state.deref(), undefined)
  ahead.end()
})

function largeStep() {
  const item = plainItem('a', { v: number(1) })
  const record: ItemRecord = {
    timestamp: 1 as Timestamp,
    lsn: 1 as Lsn,
    lastWrite: { kind: 'put', blind: true },
    itemBytes: 100,
    json: Buffer.from(JSON.stringify(item)),
  }
  return { action: add('a'), item: { address: 'a' as KeyBytes, state: { record, item: () => item } } }
}
