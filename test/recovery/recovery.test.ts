import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Timestamp, type TxId, ledgerSlot, slotOf, timestamp, txId } from '../../src/model/brand.js'
import { type RecoveryOptions, startRecovery } from '../../src/recovery/recovery.js'
import { type Cluster, idOn, NODES, openCluster, put, refOf } from '../coordinator/support.js'
import { slotNode } from '../support/coordination.js'

const [a, b] = [idOn(0, 'item'), idOn(1, 'item')] as [string, string]
const NEW = { v: { S: 'new' } }
const ids = [a, b] as const
const participants = ids.map((id, node) => ({ node, items: [refOf(id)] }))

/** A coordinator by hand, which may stop after any step. */
class Steps {
  readonly tx: TxId
  readonly #cluster: Cluster
  readonly #at: Timestamp

  constructor(cluster: Cluster, slotLetter = '3') {
    this.#cluster = cluster
    this.tx = txId(ledgerSlot(slotLetter.repeat(32)), 'n')
    this.#at = timestamp(cluster.runtime.clock.nowMicros() + 10)
  }

  get ledger() {
    const node = this.#cluster.nodes[slotNode(NODES)(slotOf(this.tx))]
    assert.ok(node)
    return node.ledger
  }

  async begin(): Promise<void> {
    await this.ledger.begin({ tx: this.tx, timestamp: this.#at, participants })
  }
  async prepare(node: number): Promise<void> {
    const reply = await this.#cluster.nodes[node]?.prepare({
      tx: this.tx,
      timestamp: this.#at,
      actions: [put(ids[node] as string, NEW)],
    })
    assert.deepEqual(reply?.verdicts, [{ verdict: 'accepted' }])
  }
  async decide(decision: 'commit' | 'cancel'): Promise<void> {
    await this.ledger.decide(this.tx, decision, { timestamp: this.#at })
  }
  async commit(node: number): Promise<void> {
    const items = [refOf(ids[node] as string)]
    await this.#cluster.nodes[node]?.commit({ tx: this.tx, items, timestamp: this.#at })
  }
}

const recover = (cluster: Cluster, options: Partial<RecoveryOptions> = {}) =>
  startRecovery({
    runtime: cluster.runtime,
    nodes: cluster.seen,
    placement: { ledgerNodeOf: slotNode(NODES) },
    onError: (error) => {
      throw error
    },
    ...options,
  })

async function pending(cluster: Cluster): Promise<number> {
  const lists = await Promise.all(
    cluster.nodes.map((node) => node.stalled(Number.MAX_SAFE_INTEGER as Timestamp, 100)),
  )
  return lists.flat().length
}

const VANISHED: readonly (readonly [string, boolean, (steps: Steps) => Promise<void>])[] = [
  ['after the ledger heard of it', false, (steps) => steps.begin()],
  ['after one node prepared, before the ledger heard of it', false, (steps) => steps.prepare(0)],
  [
    'after one node of two prepared',
    false,
    async (steps) => {
      await steps.begin()
      await steps.prepare(1)
    },
  ],
  [
    'after all nodes prepared',
    false,
    async (steps) => {
      await steps.begin()
      await steps.prepare(0)
      await steps.prepare(1)
    },
  ],
  [
    'after it decided to cancel',
    false,
    async (steps) => {
      await steps.begin()
      await steps.prepare(0)
      await steps.decide('cancel')
    },
  ],
  [
    'after it decided to commit',
    true,
    async (steps) => {
      await steps.begin()
      await steps.prepare(0)
      await steps.prepare(1)
      await steps.decide('commit')
    },
  ],
  [
    'after one node of two had committed',
    true,
    async (steps) => {
      await steps.begin()
      await steps.prepare(0)
      await steps.prepare(1)
      await steps.decide('commit')
      await steps.commit(1)
    },
  ],
  [
    'before it told the ledger that all is done',
    true,
    async (steps) => {
      await steps.begin()
      await steps.prepare(0)
      await steps.prepare(1)
      await steps.decide('commit')
      await steps.commit(0)
      await steps.commit(1)
    },
  ],
]

for (const [where, committed, run] of VANISHED) {
  test(`§3.5 a coordinator that vanished ${where}: finished within five seconds, all or nothing`, async () => {
    for (const managers of [1, 3]) {
      const cluster = await openCluster()
      const recoveries = Array.from({ length: managers }, () => recover(cluster))
      await cluster.pass(700)
      await run(new Steps(cluster))
      await cluster.pass(5000)
      const values = await Promise.all(ids.map(async (id) => (await cluster.get(id))?.['v']))
      assert.deepEqual(values, committed ? [{ S: 'new' }, { S: 'new' }] : [undefined, undefined])
      assert.equal(await pending(cluster), 0)
      assert.equal(await cluster.unfinished(), 0)
      if (managers === 1) {
        const [done] = recoveries[0]?.recent() ?? []
        assert.equal(done?.did, committed ? 'committed' : 'cancelled')
      }
      await Promise.all(recoveries.map((recovery) => recovery.stop()))
    }
  })
}

test('§3.5 a clock that is set back by an hour keeps nobody from finishing what was seen before', async () => {
  const cluster = await openCluster()
  const recovery = recover(cluster)
  const steps = new Steps(cluster)
  await steps.begin()
  await steps.prepare(0)
  await cluster.pass(1500)
  cluster.runtime.clock.jump(-3_600_000)
  await cluster.pass(5000)
  assert.equal(await pending(cluster), 0)
  assert.equal(await cluster.unfinished(), 0)
  await recovery.stop()
})

test('§3.5 a commit that comes after recovery has cancelled finds that out', async () => {
  const cluster = await openCluster()
  const steps = new Steps(cluster)
  const recovery = recover(cluster)
  await steps.prepare(0)
  await cluster.pass(5000)
  assert.equal(
    (await steps.ledger.decide(steps.tx, 'commit', { timestamp: timestamp(1) })).decision,
    'cancel',
  )
  await recovery.stop()
})

test('§3.5 a prepare that arrives long after its transaction was completed is cancelled, not committed again', async () => {
  const cluster = await openCluster()
  const steps = new Steps(cluster)
  await steps.begin()
  await steps.prepare(1)
  await steps.decide('commit')
  await steps.commit(1)
  await steps.ledger.complete(steps.tx)
  await steps.prepare(0)
  const recovery = recover(cluster)
  await cluster.pass(5000)
  assert.equal(await cluster.get(a), undefined)
  assert.equal(await pending(cluster), 0)
  assert.deepEqual(
    recovery.recent().map(({ did, itemCount }) => [did, itemCount]),
    [['swept', 0]],
  )
  await recovery.stop()
})

test('§3.5 a transaction in the hands of a living coordinator is left alone', async () => {
  const cluster = await openCluster()
  const recovery = recover(cluster)
  const coordinator = cluster.coordinator()
  for (let round = 0; round < 5; round++) {
    const steps = new Steps(cluster, String(round))
    await steps.begin()
    await cluster.pass(1500)
    assert.equal((await steps.ledger.read(slotOf(steps.tx)))?.state, 'preparing')
    await steps.decide('cancel')
    await steps.ledger.complete(steps.tx)
  }
  assert.equal((await coordinator.write({ actions: [put(a, NEW), put(b, NEW)] })).outcome, 'committed')
  await recovery.stop()
})

test('§3.5 at a start nobody waits: everything that is there is finished at once', async () => {
  const cluster = await openCluster()
  const steps = new Steps(cluster)
  await steps.begin()
  await steps.prepare(0)
  await steps.prepare(1)
  await steps.decide('commit')
  const recovery = recover(cluster)
  await recovery.takeOver()
  assert.deepEqual((await cluster.get(b))?.['v'], { S: 'new' })
  assert.equal(await cluster.unfinished(), 0)
  await recovery.stop()
})

test('§3.5 a node that does not answer holds nothing else up, and is tried again', async () => {
  const cluster = await openCluster()
  const steps = new Steps(cluster)
  await steps.begin()
  await steps.prepare(0)
  await steps.prepare(1)
  await steps.decide('commit')
  const errors: unknown[] = []
  cluster.on(1, 'commit', ...Array.from({ length: 4 }, () => () => new Promise(() => undefined)))
  const tuning = { callTimeoutMs: 100, callTriesMax: 2 }
  const recovery = recover(cluster, { tuning, onError: (error) => errors.push(error) })
  await cluster.pass(4000)
  assert.deepEqual((await cluster.get(a))?.['v'], { S: 'new' })
  await cluster.pass(6000)
  assert.deepEqual((await cluster.get(b))?.['v'], { S: 'new' })
  assert.equal(await cluster.unfinished(), 0)
  assert.ok(errors.length > 0)
  await recovery.stop()
})

/** More than a round looks at, all pending on items of node 0, none of which can be cancelled there. */
async function stuck(cluster: Cluster, count: number): Promise<ReadonlySet<TxId>> {
  const [node] = cluster.nodes
  assert.ok(node)
  const all = new Set<TxId>()
  for (let n = 0; n < count; n++) {
    const tx = txId(ledgerSlot(n.toString(16).padStart(32, '0')), 'n')
    const at = timestamp(cluster.runtime.clock.nowMicros() + 10 + n)
    const actions = [put(idOn(0, `stuck-${n}-`), NEW)]
    assert.deepEqual((await node.prepare({ tx, timestamp: at, actions })).verdicts, [{ verdict: 'accepted' }])
    all.add(tx)
  }
  return all
}

/** Node 0 as recovery sees it: of these transactions it cancels none. */
const refusing = (cluster: Cluster, stuckOnes: ReadonlySet<TxId>): Cluster['seen'] => {
  const [first, ...others] = cluster.seen
  assert.ok(first)
  const cancel: typeof first.cancel = (request) =>
    stuckOnes.has(request.tx) ? Promise.reject(new Error('no space left on device')) : first.cancel(request)
  return [{ ...first, cancel, ledger: first.ledger }, ...others]
}

for (const count of [1100, 2500]) {
  test(`§3.5 ${count} transactions that cannot be finished do not hide the one behind them`, async () => {
    const cluster = await openCluster()
    const stuckOnes = await stuck(cluster, count)
    const steps = new Steps(cluster, 'f')
    await steps.prepare(0)
    const tuning = { callTriesMax: 1 }
    const recovery = recover(cluster, {
      nodes: refusing(cluster, stuckOnes),
      tuning,
      onError: () => undefined,
    })
    const isPending = async (): Promise<boolean> =>
      (await cluster.nodes[0]?.stalled(Number.MAX_SAFE_INTEGER as Timestamp, 10_000))?.includes(steps.tx) ??
      false
    let rounds = 0
    for (; rounds < 40 && (await isPending()); rounds++) {
      cluster.runtime.clock.advance(1000)
      await recovery.round()
    }
    assert.equal(await isPending(), false, `still there after ${rounds} rounds`)
    assert.equal(await pendingOn(cluster, 0), count)
    await recovery.stop()
  })
}

test('§3.5 at a start those that cannot be finished do not hide the others either', async () => {
  const cluster = await openCluster()
  const stuckOnes = await stuck(cluster, 1500)
  await new Steps(cluster, 'f').prepare(0)
  const recovery = recover(cluster, {
    nodes: refusing(cluster, stuckOnes),
    tuning: { callTriesMax: 1 },
    onError: () => undefined,
  })
  await recovery.takeOver()
  assert.equal(await pendingOn(cluster, 0), 1500)
  await recovery.stop()
})

const pendingOn = async (cluster: Cluster, node: number): Promise<number> =>
  (await cluster.nodes[node]?.stalled(Number.MAX_SAFE_INTEGER as Timestamp, 100_000))?.length ?? 0

test('§3.5 transactions that come and go leave room to notice the one that stalls', async () => {
  const cluster = await openCluster()
  const recovery = recover(cluster)
  const [node] = cluster.nodes
  assert.ok(node)
  // 700 others are in flight whenever a round looks, and none of them for long: 14,000 in all.
  for (let round = 0; round < 20; round++) {
    const flying: TxId[] = []
    for (let n = 0; n < 700; n++) {
      const tx = txId(ledgerSlot((round * 700 + n + 1).toString(16).padStart(32, '0')), 'n')
      const at = timestamp(cluster.runtime.clock.nowMicros() + 10 + n)
      await node.prepare({ tx, timestamp: at, actions: [put(idOn(0, `item-${n}-`), NEW)] })
      flying.push(tx)
    }
    cluster.runtime.clock.advance(1000)
    await recovery.round()
    for (const tx of flying) await node.cancel({ tx, items: [] })
  }
  const steps = new Steps(cluster, 'f')
  await steps.prepare(0)
  for (let round = 0; round < 5; round++) {
    cluster.runtime.clock.advance(1000)
    await recovery.round()
  }
  assert.equal(await pendingOn(cluster, 0), 0)
  await recovery.stop()
})
