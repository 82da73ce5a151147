import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonsOf } from '../../src/coordinator/reasons.js'
import { type Timestamp, type TxId, timestamp } from '../../src/model/brand.js'
import { allRules, noRules } from '../../src/rules/item/section-4.js'
import { DurabilityUnknown } from '../../src/line/errors.js'
import type { PrepareRequest } from '../../src/storage/contract/transactions.js'
import type { Placement } from '../../src/coordinator/placement.js'
import { slotNode } from '../support/coordination.js'
import {
  answerLost,
  check,
  idOn,
  lost,
  nodeOf,
  NODES,
  openCluster,
  put,
  refOf,
  remove,
  update,
} from './support.js'

const [a, b, c] = [0, 1, 2].map((node) => idOn(node, 'item')) as [string, string, string]
const NEW = { v: { S: 'new' } }
const timed = { tuning: { callTimeoutMs: 100, callTriesMax: 3 } }
const tooOld =
  (above: number) =>
  (_: unknown, request: unknown): Promise<unknown> =>
    Promise.resolve({
      clock: timestamp(above),
      verdicts: (request as PrepareRequest).actions.map(() => ({ verdict: 'too-old', above })),
    })

test('§3.3 a write transaction over three nodes is done on all of them before it is answered', async () => {
  for (const rules of [allRules, noRules]) {
    const cluster = await openCluster()
    await cluster.seed(b, c)
    const coordinator = cluster.coordinator({ rules })
    const outcome = await coordinator.write({
      actions: [put(a, NEW), update(b, 'SET v = :v', { ':v': { S: 'new' } }), remove(c)],
    })
    assert.equal(outcome.outcome, 'committed')
    assert.deepEqual(
      [(await cluster.get(a))?.['v'], (await cluster.get(b))?.['v'], await cluster.get(c)],
      [{ S: 'new' }, { S: 'new' }, undefined],
    )
    await coordinator.idle()
    assert.equal(await cluster.unfinished(), 0)
  }
})

test('§3.3 a refusal of one node cancels the transaction on all, with reasons in the order of the request', async () => {
  const cluster = await openCluster()
  await cluster.seed(b)
  const coordinator = cluster.coordinator()
  const outcome = await coordinator.write({
    actions: [put(a, NEW), put(b, NEW, 'attribute_not_exists(id)'), put(c, NEW)],
  })
  assert.ok(outcome.outcome === 'cancelled')
  assert.deepEqual(
    reasonsOf(outcome.verdicts).map(({ Code }) => Code),
    ['None', 'ConditionalCheckFailed', 'None'],
  )
  assert.deepEqual([await cluster.get(a), await cluster.get(c)], [undefined, undefined])
  await coordinator.idle()
  assert.equal(await cluster.unfinished(), 0)
  // Nothing is left on the items: the next one goes through.
  assert.equal((await coordinator.write({ actions: [put(a, NEW), put(c, NEW)] })).outcome, 'committed')
})

/** Steps of these nodes span one partition key, as those of a store with a compare-and-set on one partition. */
const onePartition: Placement = {
  nodeOf,
  ledgerNodeOf: slotNode(NODES),
  isOneStep: ([first, ...others], slot) =>
    slot === undefined && others.every(({ key }) => key.hash === first?.key.hash),
}

test('§4 items on one node go through both phases if no step spans them', async () => {
  const cluster = await openCluster()
  const coordinator = cluster.coordinator({ placement: onePartition })
  const [x, y] = [idOn(1, 'x'), idOn(1, 'y')]
  const methods = (): string[] => cluster.calls.splice(0).map(({ method }) => method)
  const both = await coordinator.write({ actions: [put(x, NEW), put(y, NEW)] })
  assert.equal(both.outcome, 'committed')
  assert.deepEqual([(await cluster.get(x))?.['v'], (await cluster.get(y))?.['v']], [NEW.v, NEW.v])
  await coordinator.idle()
  const called = methods()
  assert.ok(called.includes('prepare') && called.includes('ledger.decide') && !called.includes('transact'))

  const refused = await coordinator.write({ actions: [remove(x), put(y, NEW, 'attribute_not_exists(id)')] })
  assert.equal(refused.outcome, 'cancelled')
  assert.deepEqual((await cluster.get(x))?.['v'], NEW.v, 'all or nothing')
  await coordinator.idle()
  assert.equal(await cluster.unfinished(), 0)

  methods()
  assert.equal((await coordinator.write({ actions: [remove(x)] })).outcome, 'committed')
  assert.deepEqual(methods(), ['transact'], 'one partition key')
  const token = { text: 'token', payloadHash: 'hash' }
  assert.equal((await coordinator.write({ actions: [put(x, NEW)], token })).outcome, 'committed')
  assert.ok(!methods().includes('transact'), 'the token is not in that step')
  assert.equal((await coordinator.write({ actions: [put(x, NEW)], token })).outcome, 'repeated')
})

test('§4 a read of items that no step spans is given its timestamp', async () => {
  const cluster = await openCluster()
  const [x, y] = [idOn(1, 'x'), idOn(1, 'y')]
  await cluster.seed(x, y)
  for (const [placement, isGiven] of [
    [undefined, false],
    [onePartition, true],
  ] as const) {
    const coordinator = cluster.coordinator(placement && { placement })
    cluster.calls.splice(0)
    const outcome = await coordinator.read({ items: [refOf(x), refOf(y)] })
    assert.ok(outcome.outcome === 'read')
    assert.equal(outcome.records.length, 2)
    const [call] = cluster.calls
    assert.ok(call)
    assert.equal('timestamp' in (call.request as object), isGiven)
    assert.equal(typeof outcome.timestamp, 'number')
  }
})

test('§4 where one node has all the items one round does', async () => {
  const cluster = await openCluster()
  const [x, y] = [idOn(1, 'x'), idOn(1, 'y')]
  const outcome = await cluster
    .coordinator()
    .write({ actions: [put(x, NEW), check(y, 'attribute_not_exists(id)')] })
  assert.equal(outcome.outcome, 'committed')
  assert.deepEqual(
    cluster.calls.map(({ method }) => method),
    ['transact'],
  )
})

test('restamping: too old a timestamp is tried again, higher, as another transaction, and nobody notices', async () => {
  const cluster = await openCluster()
  const above = cluster.runtime.clock.nowMicros() + 5_000_000
  cluster.on(1, 'prepare', tooOld(above))
  const coordinator = cluster.coordinator()
  const outcome = await coordinator.write({ actions: [put(a, NEW), put(b, NEW)] })
  assert.ok(outcome.outcome === 'committed' && outcome.timestamp !== undefined)
  assert.ok(outcome.timestamp > above)
  const prepares = cluster.calls.filter(({ method }) => method === 'prepare')
  const ids = new Set(prepares.map(({ request }) => (request as PrepareRequest).tx))
  assert.equal(ids.size, 2)
  // A prepare of the first attempt that arrives only now finds the fence.
  const late = await cluster.nodes[0]?.prepare(prepares[0]?.request as PrepareRequest)
  assert.deepEqual(late?.verdicts, [{ verdict: 'ended' }])
  await coordinator.idle()
  assert.equal(await cluster.unfinished(), 0)
})

test('restamping is bounded: after that it is a conflict', async () => {
  const cluster = await openCluster()
  cluster.on(
    1,
    'prepare',
    ...Array.from({ length: 3 }, (_, n) => tooOld(cluster.runtime.clock.nowMicros() + n)),
  )
  const coordinator = cluster.coordinator({ tuning: { attemptsMax: 3 } })
  const outcome = await coordinator.write({ actions: [put(a, NEW), put(b, NEW)] })
  assert.ok(outcome.outcome === 'cancelled')
  assert.deepEqual(
    reasonsOf(outcome.verdicts).map(({ Code }) => Code),
    ['None', 'TransactionConflict'],
  )
  await coordinator.idle()
  assert.equal(await cluster.unfinished(), 0)
  assert.equal(await cluster.get(a), undefined)
})

test('a lost prepare, or a lost answer to one, is repeated and done once', async () => {
  for (const fate of [lost, answerLost]) {
    const cluster = await openCluster()
    await cluster.seed(a)
    cluster.on(0, 'prepare', fate)
    cluster.on(1, 'prepare', fate, fate)
    const writing = cluster.coordinator(timed).write({
      actions: [
        update(a, 'SET n = if_not_exists(n, :z) + :o', { ':z': { N: '0' }, ':o': { N: '1' } }),
        put(b),
      ],
    })
    await cluster.pass(400)
    assert.equal((await writing).outcome, 'committed')
    assert.deepEqual((await cluster.get(a))?.['n'], { N: '1' })
  }
})

test('a lost answer to the decision is asked for again, not reported as a failure', async () => {
  const cluster = await openCluster()
  for (let node = 0; node < NODES; node++) cluster.on(node, 'ledger.decide', answerLost, answerLost)
  const writing = cluster.coordinator(timed).write({ actions: [put(a, NEW), put(b, NEW)] })
  await cluster.pass(400)
  assert.equal((await writing).outcome, 'committed')
  assert.deepEqual((await cluster.get(b))?.['v'], { S: 'new' })
})

test('a decision that is never heard of is an unknown outcome', async () => {
  const cluster = await openCluster()
  for (let node = 0; node < NODES; node++) cluster.on(node, 'ledger.decide', lost, answerLost, lost)
  const token = { text: 'token', payloadHash: 'h' }
  const coordinator = cluster.coordinator(timed)
  const writing = coordinator.write({ actions: [put(a, NEW), put(b, NEW)], token })
  await cluster.pass(500)
  assert.equal((await writing).outcome, 'unknown')
  // The ledger had heard of it, though: whoever comes with the same token carries it out.
  assert.equal(await cluster.get(a), undefined)
  const again = await coordinator.write({ actions: [put(a, NEW), put(b, NEW)], token })
  assert.equal(again.outcome, 'repeated')
  assert.deepEqual((await cluster.get(a))?.['v'], NEW['v'])
  assert.deepEqual((await cluster.get(b))?.['v'], NEW['v'])
  assert.equal(
    (await coordinator.write({ actions: [put(a, NEW)], token: { ...token, payloadHash: 'other' } })).outcome,
    'token-mismatch',
  )
})

test('a request with the token of a transaction that is decided and cannot be carried out is told to wait', async () => {
  const cluster = await openCluster()
  cluster.on(1, 'commit', lost, lost, lost, lost, lost, lost)
  const token = { text: 'token', payloadHash: 'h' }
  const coordinator = cluster.coordinator(timed)
  for (const outcome of ['unknown', 'token-in-progress']) {
    const writing = coordinator.write({ actions: [put(a, NEW), put(b, NEW)], token })
    await cluster.pass(500)
    assert.equal((await writing).outcome, outcome)
  }
})

test('a node that does not take the commit makes the outcome unknown, since not everybody would see it', async () => {
  const cluster = await openCluster()
  cluster.on(1, 'commit', lost, lost, lost)
  const writing = cluster.coordinator(timed).write({ actions: [put(a, NEW), put(b, NEW)] })
  await cluster.pass(500)
  assert.equal((await writing).outcome, 'unknown')
  assert.equal(await cluster.unfinished(), 1)
})

test('a node that never prepares makes nothing happen at all', async () => {
  const cluster = await openCluster()
  cluster.on(1, 'prepare', lost, lost, lost)
  const writing = cluster.coordinator(timed).write({ actions: [put(a, NEW), put(b, NEW)] })
  await cluster.pass(500)
  assert.equal((await writing).outcome, 'unavailable')
  assert.equal(await cluster.get(a), undefined)
  assert.equal((await cluster.nodes[0]?.stalled(Number.MAX_SAFE_INTEGER as Timestamp, 10))?.length, 0)
})

test('under a token, a ledger that cannot tell of another request leaves the outcome open', async () => {
  const cluster = await openCluster()
  const token = { text: 'token', payloadHash: 'h' }
  for (const position of cluster.nodes.keys())
    cluster.on(position, 'ledger.begin', () => Promise.reject(new DurabilityUnknown('the sync failed')))
  const actions = [put(a, NEW), put(b, NEW)]
  assert.equal((await cluster.coordinator().write({ actions, token })).outcome, 'unknown')
  for (const position of cluster.nodes.keys())
    cluster.on(position, 'ledger.begin', () => Promise.reject(new DurabilityUnknown('the sync failed')))
  assert.equal((await cluster.coordinator().write({ actions })).outcome, 'unavailable')
})

test('a coordinator that was taken for dead tries again under another id', async () => {
  const cluster = await openCluster()
  for (const node of cluster.nodes) {
    const position = cluster.nodes.indexOf(node)
    cluster.on(position, 'ledger.decide', async (go, request) => {
      await node.ledger.decide(request as TxId, 'cancel', { timestamp: timestamp(1) })
      return go()
    })
  }
  const outcome = await cluster.coordinator().write({ actions: [put(a, NEW), put(b, NEW)] })
  assert.equal(outcome.outcome, 'committed')
  assert.deepEqual((await cluster.get(a))?.['v'], { S: 'new' })
})

test('nobody commits past his own deadline', async () => {
  const cluster = await openCluster()
  cluster.on(1, 'prepare', (go) => {
    cluster.runtime.clock.jump(60_000)
    return go()
  })
  const outcome = await cluster.coordinator().write({ actions: [put(a, NEW), put(b, NEW)] })
  assert.equal(outcome.outcome, 'cancelled')
  assert.equal(await cluster.get(a), undefined)
})

test('tokens: two coordinators know of each other through the ledger, in one round or two phases', async () => {
  for (const actions of [[put(a, NEW), put(b, NEW)], [put(a, NEW)], [put(b, NEW)], [put(c, NEW)]]) {
    const cluster = await openCluster()
    const token = { text: 'once', payloadHash: 'h' }
    const first = cluster.coordinator()
    assert.equal((await first.write({ actions, token })).outcome, 'committed')
    await first.idle()
    const second = cluster.coordinator()
    assert.equal((await second.write({ actions, token })).outcome, 'repeated')
    const other = { text: 'once', payloadHash: 'other' }
    assert.equal((await second.write({ actions: [put(c, NEW)], token: other })).outcome, 'token-mismatch')
    assert.equal((await second.write({ actions: [put(a), put(c)], token: other })).outcome, 'token-mismatch')
    for (const node of cluster.nodes) {
      assert.deepEqual(await node.stalled(Number.MAX_SAFE_INTEGER as Timestamp, 10), [])
    }
  }
})

test('tokens: a cancelled request may run again under its token', async () => {
  const cluster = await openCluster()
  await cluster.seed(b)
  const token = { text: 'again', payloadHash: 'h' }
  const coordinator = cluster.coordinator()
  const actions = [put(a, NEW), put(b, NEW, 'attribute_not_exists(id)')]
  assert.equal((await coordinator.write({ actions, token })).outcome, 'cancelled')
  assert.equal((await coordinator.write({ actions: [remove(b)] })).outcome, 'committed')
  assert.equal((await coordinator.write({ actions, token })).outcome, 'committed')
  assert.equal((await coordinator.write({ actions, token })).outcome !== 'cancelled', true)
})

test('many transactions at once on the same items keep the sum', async () => {
  const cluster = await openCluster()
  const ids = Array.from({ length: 6 }, (_, n) => idOn(n % NODES, `account${n}-`))
  const [one, two] = [cluster.coordinator(), cluster.coordinator()]
  for (const id of ids) await one.write({ actions: [put(id, { n: { N: '100' } })] })
  const move = (from: number, to: number) => ({
    actions: [
      update(ids[from] as string, 'ADD n :m', { ':m': { N: '-1' } }),
      update(ids[to] as string, 'ADD n :m', { ':m': { N: '1' } }),
    ],
  })
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 2 ? one : two).write(move(n % 6, (n * 5 + 1) % 6 === n % 6 ? (n + 1) % 6 : (n * 5 + 1) % 6)),
    ),
  )
  assert.ok(outcomes.every(({ outcome }) => outcome === 'committed' || outcome === 'cancelled'))
  assert.ok(outcomes.some(({ outcome }) => outcome === 'committed'))
  let sum = 0
  for (const id of ids) {
    const item = await cluster.get(id)
    sum += Number((item as { n: { N: string } }).n.N)
  }
  assert.equal(sum, 600)
})
