import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestamp, txId, ledgerSlot } from '../../src/model/brand.js'
import { allRules, noRules } from '../../src/rules/item/section-4.js'
import type { ReadAtRequest } from '../../src/storage/contract/transactions.js'
import { itemOf } from '../suites/tables.js'
import { type Cluster, idOn, openCluster, put, refOf, update } from './support.js'

const [a, b] = [idOn(0, 'item'), idOn(1, 'item')] as [string, string]
const NEW = { v: { S: 'new' } }
const items = [refOf(a), refOf(b)]
const TX = txId(ledgerSlot('5'.repeat(32)), 'n')

/** Leaves a transaction prepared on an item, at a time relative to now. */
async function prepareOn(cluster: Cluster, id: string, offsetMicros: number): Promise<void> {
  const at = timestamp(cluster.runtime.clock.nowMicros() + offsetMicros)
  const [action] = [update(id, 'SET v = :v', { ':v': { S: 'pending' } })]
  const node = cluster.nodes[id === a ? 0 : 1]
  const reply = await node?.prepare({ tx: TX, timestamp: at, actions: [action] })
  assert.deepEqual(reply?.verdicts, [{ verdict: 'accepted' }])
}

test('§3.4 and §4 a read transaction over nodes sees what was committed, absent items included', async () => {
  for (const rules of [allRules, noRules]) {
    const cluster = await openCluster()
    const coordinator = cluster.coordinator({ rules })
    await coordinator.write({ actions: [put(a, NEW)] })
    const outcome = await coordinator.read({ items })
    assert.ok(outcome.outcome === 'read')
    assert.deepEqual(itemOf(outcome.records[0])?.['v'], { S: 'new' })
    assert.equal(outcome.records[1], undefined)
  }
})

test('§4 a read whose timestamp is too old is driven again, higher', async () => {
  const cluster = await openCluster()
  await cluster.seed(a, b)
  cluster.on(1, 'readAt', (_, request) => {
    const above = timestamp((request as ReadAtRequest & { timestamp: number }).timestamp + 1_000_000)
    return Promise.resolve({ clock: above, timestamp: above, results: [{ verdict: 'too-old', above }] })
  })
  const outcome = await cluster.coordinator().read({ items })
  assert.equal(outcome.outcome, 'read')
  const [first, , third] = cluster.calls.map(({ request }) => (request as { timestamp: number }).timestamp)
  assert.ok((third as number) > (first as number) + 1_000_000)
})

test('§4 a read goes before a transaction that is prepared, if nothing was written since', async () => {
  const cluster = await openCluster()
  await cluster.seed(a, b)
  cluster.runtime.clock.advance(1000)
  await prepareOn(cluster, b, 0)
  const reading = cluster.coordinator().read({ items })
  await cluster.pass(1500)
  const outcome = await reading
  assert.ok(outcome.outcome === 'read')
  assert.deepEqual(itemOf(outcome.records[1])?.['v'], { S: 'old' })
  // And the transaction can still be committed behind it.
  await cluster.nodes[1]?.commit({
    tx: TX,
    items: [refOf(b)],
    timestamp: timestamp(cluster.runtime.clock.nowMicros()),
  })
  assert.deepEqual((await cluster.get(b))?.['v'], { S: 'pending' })
})

test('§3.4 a read that meets a prepared transaction every time is a conflict on that item', async () => {
  const cluster = await openCluster()
  await cluster.seed(a, b)
  await prepareOn(cluster, b, 1)
  const reading = cluster.coordinator({ rules: noRules }).read({ items })
  await cluster.pass(10_000)
  const outcome = await reading
  assert.deepEqual(outcome, { outcome: 'conflict', conflicts: [undefined, TX] })
})

test('§3.4 an item that changes between the phases is read again, and never mixed', async () => {
  const cluster = await openCluster()
  await cluster.seed(a, b)
  const writer = cluster.coordinator()
  const between = (value: string) => async (go: () => Promise<unknown>) => {
    const answer = await go()
    await writer.write({ actions: [put(a, { v: { S: value } }), put(b, { v: { S: value } })] })
    return answer
  }
  cluster.on(0, 'readLatest', between('1'), between('2'))
  const outcome = await cluster.coordinator({ rules: noRules }).read({ items })
  assert.ok(outcome.outcome === 'read')
  const values = outcome.records.map((record) => itemOf(record)?.['v'])
  assert.deepEqual(values, [{ S: '2' }, { S: '2' }])
})

test('§3.4 writes that come between every time are a conflict, in bounded rounds', async () => {
  const cluster = await openCluster()
  await cluster.seed(a, b)
  const writer = cluster.coordinator()
  const between = async (go: () => Promise<unknown>): Promise<unknown> => {
    const answer = await go()
    await writer.write({ actions: [put(a, NEW), put(b, NEW)] })
    return answer
  }
  cluster.on(0, 'readLatest', ...Array.from({ length: 20 }, () => between))
  const outcome = await cluster.coordinator({ rules: noRules, tuning: { readRoundsMax: 4 } }).read({ items })
  assert.ok(outcome.outcome === 'conflict')
  assert.equal(cluster.calls.filter(({ method, node }) => method === 'readLatest' && node === 0).length, 5)
})
