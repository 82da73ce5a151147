import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultyDisk, outOfSpace } from '../faults/faulty-files.js'
import { tokenSlot } from '../../src/coordinator/placement.js'
import type { Ledger } from '../../src/ledger/ledger.js'
import { type TxId, timestamp, txId } from '../../src/model/brand.js'
import { slotNode } from '../support/coordination.js'
import { NODES, check, idOn, openCluster, put, remove } from './support.js'

const [a, b, c] = [0, 1, 2].map((node) => idOn(node, 'item')) as [string, string, string]

/** Resolves when the nodes know that the next write has failed. */
function nextWriteIsLost(disk: FaultyDisk): Promise<void> {
  return new Promise((resolve) => {
    disk.fault = (step) => {
      if (step !== 'write') return
      disk.fault = () => undefined
      setImmediate(() => setImmediate(resolve))
      throw outOfSpace()
    }
  })
}

/** A token whose slot is at the third node. */
function tokenThere(): string {
  for (let n = 0; ; n++) if (slotNode(NODES)(tokenSlot(`token ${n}`)) === 2) return `token ${n}`
}

test('§3.3 nodes that share a journal: intents and decision take one write instead of two', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  const coordinator = cluster.coordinator()
  await coordinator.write({ actions: [a, b, c].map((id) => put(id)) })
  let writes = 0
  disk.fault = (step) => void (step === 'write' && writes++)
  cluster.runtime.clock.advance(1)
  const { outcome } = await coordinator.write({ actions: [a, b, c].map((id) => put(id, { n: { N: '2' } })) })
  assert.equal(outcome, 'committed')
  assert.equal(writes, 1)
  for (const id of [a, b, c]) assert.deepEqual((await cluster.get(id))?.['n'], { N: '2' })
})

test('§3.3 nodes that share a journal: intents that are lost before the decision are not committed', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(c)
  // The ledger is at a node that has none of the items and lost nothing itself; it is asked when the intents are lost.
  const losing = nextWriteIsLost(disk)
  cluster.on(2, 'ledger.decide', async (go) => {
    await losing
    return go()
  })
  const token = { text: tokenThere(), payloadHash: 'x' }
  const { outcome } = await cluster.coordinator().write({ actions: [put(a), put(b)], token })
  const decided = cluster.calls.filter(({ method }) => method === 'ledger.decide')
  assert.equal(decided.length, 2, 'the first attempt is given up, and another one is made')
  assert.equal(outcome, 'committed')
  for (const id of [a, b]) assert.deepEqual(await cluster.get(id), { id: { S: id } })
})

test('a write that fails takes with it what other nodes of the journal have decided since', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(c)
  const [first, second] = cluster.nodes
  let beside: Promise<unknown> | undefined
  disk.fault = (step) => {
    if (step !== 'write') return
    disk.fault = () => undefined
    // The group is on its way, and the second node has no part in it.
    beside = second?.write(put(b) as never)
    beside?.catch(() => undefined)
    throw outOfSpace()
  }
  await assert.rejects(first?.write(put(a) as never) as Promise<unknown>, /no room/)
  await assert.rejects(beside as Promise<unknown>, /no room/)
  assert.equal(await cluster.get(b), undefined)
  let writes = 0
  disk.fault = (step) => void (step === 'write' && writes++)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(writes, 0, 'what is lost is not asked for again')
  await second?.write(put(b) as never)
  assert.deepEqual(await cluster.get(b), { id: { S: b } })
})

test('tokens: while its decision is being written a transaction is pending, whatever became of attempts before it', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(a, b, c)
  const text = tokenThere()
  const coordinator = cluster.coordinator()
  // The first attempt was given up, and that is durable.
  const ledger = cluster.nodes[2]?.ledger as Ledger
  const begun = { timestamp: timestamp(cluster.runtime.clock.nowMicros()), participants: [] }
  const [first, second] = ['1', '2'].map((nonce) => txId(tokenSlot(text), nonce)) as [TxId, TxId]
  await ledger.begin({ tx: first, ...begun })
  await ledger.decide(first, 'cancel', begun)
  await ledger.complete(first)
  assert.equal(await coordinator.outcome(text), 'cancelled')
  await ledger.begin({ tx: second, ...begun })
  assert.equal(await coordinator.outcome(text), 'pending')
  let during: Promise<string> | undefined
  disk.fault = (step) => {
    if (step === 'write') during ??= coordinator.outcome(text)
  }
  await ledger.decide(second, 'commit', begun)
  assert.equal(await during, 'pending')
  assert.equal(await coordinator.outcome(text), 'committed')
})

test('nodes that share a journal: when a transaction is answered it is completed, and nothing is left to write', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  const coordinator = cluster.coordinator()
  await cluster.seed(a, b, c)
  let writes = 0
  disk.fault = (step) => void (step === 'write' && writes++)
  const actions = [put(a), remove(b), check(c, 'attribute_exists(id)')]
  assert.equal((await coordinator.write({ actions })).outcome, 'committed')
  assert.equal(await cluster.unfinished(), 0)
  await coordinator.idle()
  await cluster.pass(1000)
  assert.equal(writes, 1)
  assert.deepEqual([await cluster.get(a), await cluster.get(b)], [{ id: { S: a } }, undefined])
  const records = await Promise.all(cluster.nodes.map((node) => node.ledger.recent(10)))
  assert.deepEqual(
    records.flat().map(({ state, decision, participants }) => [state, decision, participants.length]),
    [['completed', 'commit', 3]],
  )
})

test('nodes that share a journal: while a completed transaction is being written, its token is pending', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(a, b, c)
  const token = { text: tokenThere(), payloadHash: 'x' }
  const coordinator = cluster.coordinator()
  let during: Promise<string> | undefined
  let again: Promise<unknown> | undefined
  disk.fault = (step) => {
    if (step !== 'write') return
    during ??= coordinator.outcome(token.text)
    again ??= coordinator.write({ actions: [put(a), put(b)], token })
  }
  assert.equal((await coordinator.write({ actions: [put(a), put(b)], token })).outcome, 'committed')
  assert.equal(await during, 'pending')
  assert.deepEqual(await again, { outcome: 'repeated' })
  assert.equal(await coordinator.outcome(token.text), 'committed')
})

for (const method of ['commit', 'ledger.complete'] as const)
  test(`nodes that share a journal: a ${method} that comes after its decision was lost does nothing, and it is tried again`, async () => {
    const disk = new FaultyDisk()
    const cluster = await openCluster(1, disk)
    await cluster.seed(a, b, c)
    const losing = nextWriteIsLost(disk)
    const refusals: unknown[] = []
    cluster.on(method === 'commit' ? 1 : 2, method, async (go) => {
      await losing
      return go().catch((error: unknown) => {
        refusals.push((error as Error).name)
        throw error
      })
    })
    const token = { text: tokenThere(), payloadHash: 'x' }
    const actions = [a, b, c].map((id) => put(id, { v: { S: 'new' } }))
    const { outcome } = await cluster.coordinator().write({ actions, token })
    assert.deepEqual(refusals, ['RunOver'])
    assert.equal(outcome, 'committed')
    for (const id of [a, b, c]) assert.deepEqual((await cluster.get(id))?.['v'], { S: 'new' })
  })

test('nodes that share a journal: a decision that was written is carried out, though what came behind it was lost', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(a, b, c)
  // The decision is written while the first commit is on its way; the write after that fails.
  let failing = false
  cluster.on(0, 'commit', async (go) => {
    await cluster.pass(50)
    disk.fault = (step) => {
      if (step !== 'write' || failing) return
      failing = true
      throw outOfSpace()
    }
    return go()
  })
  const actions = [a, b, c].map((id) => put(id, { v: { S: 'new' } }))
  const coordinator = cluster.coordinator()
  const { outcome } = await coordinator.write({ actions })
  assert.ok(failing)
  assert.equal(outcome, 'committed')
  for (const id of [a, b, c]) assert.deepEqual((await cluster.get(id))?.['v'], { S: 'new' })
  await cluster.pass(100)
  await coordinator.idle()
  assert.equal(await cluster.unfinished(), 0)
})

test('nodes that share a journal: with a full disk nothing is done, and the caller knows', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(a, b, c)
  disk.fault = (step) => {
    if (step === 'write') throw outOfSpace()
  }
  const coordinator = cluster.coordinator()
  const actions = [a, b, c].map((id) => put(id, { v: { S: 'new' } }))
  assert.equal((await coordinator.write({ actions })).outcome, 'unavailable')
  disk.fault = () => undefined
  for (const id of [a, b, c]) assert.deepEqual((await cluster.get(id))?.['v'], { S: 'old' })
  assert.equal((await coordinator.write({ actions })).outcome, 'committed')
  for (const id of [a, b, c]) assert.deepEqual((await cluster.get(id))?.['v'], { S: 'new' })
})

test('tokens: after a sync that failed nobody knows before the restart, and nobody says otherwise', async () => {
  const disk = new FaultyDisk()
  const cluster = await openCluster(1, disk)
  await cluster.seed(a, b, c)
  const token = { text: tokenThere(), payloadHash: 'x' }
  disk.fault = (step) => {
    if (step === 'write') throw new Error('EIO')
  }
  const coordinator = cluster.coordinator()
  assert.equal((await coordinator.write({ actions: [put(a), put(b)], token })).outcome, 'unknown')
  assert.equal(await coordinator.outcome(token.text), 'pending')
})
