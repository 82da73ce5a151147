// What every storage node promises to coordinators, run for each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, spaceId, txId, type Timestamp, type TxId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { Item } from '../../src/model/value.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { Action } from '../../src/storage/contract/transactions.js'
import {
  deleteRequest,
  getItem,
  itemOf,
  number,
  orGone,
  plain,
  plainItem,
  put,
  putRequest,
  rich,
  updateRequest,
} from './tables.js'

export interface OpenedNode {
  readonly node: StorageNode
  /** Now, as its clock says. */
  readonly now: () => number
  readonly advanceMs: (ms: number) => void
  /** Sets its clock back, as an operator would. */
  readonly setBackMs: (ms: number) => void
  /** Closes it as it is and opens it anew; absent for nodes that keep nothing. */
  readonly reopen?: () => Promise<StorageNode>
}

/** Of all nodes that the suite opens. */
export interface NodeTraits {
  /** It has one owner, who remembers read marks and fences: scenarios that need them are skipped if not (true). */
  readonly hasOwner?: boolean
  /** What one step of it spans ('node'). */
  readonly oneStep?: 'node' | 'partition'
}

const tx = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const ref = (item: Item) => ({ space: plain.space, key: itemKey(plain.key, item) })
const check = (item: Item, condition: string): Action => ({
  ...deleteRequest(plain, item, { condition }),
  mutation: { kind: 'check' },
})
const ACCEPTED = [{ verdict: 'accepted' }]

export function transactionNodeSuite(
  name: string,
  open: () => Promise<OpenedNode>,
  { hasOwner = true, oneStep = 'node' }: NodeTraits = {},
): void {
  const scenario = (
    title: string,
    run: (opened: OpenedNode) => Promise<void>,
    needs: 'an owner' | 'steps of a node' | 'nothing' = 'nothing',
  ): void => {
    const lacks =
      needs === 'an owner' && !hasOwner
        ? 'it has no owner, who would remember read marks and fences'
        : needs === 'steps of a node' && oneStep === 'partition' && 'one step of it spans a partition'
    test(`${name}: ${title}`, { skip: lacks }, async () => {
      const opened = await open()
      try {
        await run(opened)
      } finally {
        await opened.node.close()
      }
    })
  }
  /** A timestamp some milliseconds from now: above everything written so far. */
  const later = ({ now }: OpenedNode, ms: number): Timestamp => (now() + ms * 1000) as Timestamp
  const a = plainItem('a', { v: number(1) })

  scenario('§3.3 a prepared put is seen by nobody, a committed one by everybody', async (opened) => {
    const { node } = opened
    await put(node, plain, a)
    const at = later(opened, 1)
    const prepared = await node.prepare({
      tx: tx(1),
      timestamp: at,
      actions: [putRequest(plain, plainItem('a', { v: number(2) }))],
    })
    assert.deepEqual(prepared.verdicts, ACCEPTED)
    assert.deepEqual(await getItem(node, plain, a), a)
    await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
    assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(2) }))
    const record = await node.get(plain.space, itemKey(plain.key, a), true)
    assert.equal(record?.timestamp, at)
  })

  scenario('§3.3 an item created during prepare is gone after cancel', async (opened) => {
    const { node } = opened
    const at = later(opened, 1)
    await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
    await node.cancel({ tx: tx(1), items: [ref(a)] })
    assert.equal(await getItem(node, plain, a), undefined)
    assert.equal((await node.stalled(later(opened, 1000), 10)).length, 0)
  })

  scenario('§3.5 preparing, committing and cancelling again changes nothing', async (opened) => {
    const { node } = opened
    const at = later(opened, 1)
    const request = { tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] }
    await node.prepare(request)
    assert.deepEqual((await node.prepare(request)).verdicts, ACCEPTED)
    await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
    await put(node, plain, plainItem('a', { v: number(9) }))
    await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
    await node.cancel({ tx: tx(1), items: [ref(a)] })
    assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(9) }))
  })

  scenario('a prepare that arrives after the cancel does not lock the item again', async (opened) => {
    const { node } = opened
    const at = later(opened, 1)
    await node.cancel({ tx: tx(1), items: [ref(a)] })
    const late = await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
    assert.deepEqual(late.verdicts, [{ verdict: 'ended' }])
    assert.equal((await node.stalled(later(opened, 1000), 10)).length, 0)
  })

  scenario('§3.3 a timestamp at or below the last write is too old', async (opened) => {
    const { node } = opened
    const written = await put(node, plain, a)
    assert.ok(written.verdict === 'done' && written.new !== undefined)
    const request = updateRequest(plain, plainItem('a'), 'SET v = :v', { values: { ':v': number(2) } })
    const { verdicts } = await node.prepare({
      tx: tx(1),
      timestamp: written.new.timestamp,
      actions: [request],
    })
    assert.deepEqual(verdicts, [{ verdict: 'too-old', above: written.new.timestamp }])
  })

  scenario('all actions of a node are prepared, or none', async (opened) => {
    const { node } = opened
    await put(node, plain, a)
    const actions = [putRequest(plain, plainItem('b')), check(a, 'attribute_not_exists(id)')]
    const { verdicts } = await node.prepare({ tx: tx(1), timestamp: later(opened, 1), actions })
    assert.deepEqual(
      verdicts.map(({ verdict }) => verdict),
      ['accepted', 'condition-failed'],
    )
    assert.equal((await node.stalled(later(opened, 1000), 10)).length, 0)
  })

  scenario(
    '§4 a single write goes before a prepared transaction whose condition still holds',
    async (opened) => {
      const { node } = opened
      await put(node, plain, plainItem('a', { v: number(200) }))
      const at = later(opened, 1)
      const withdraw = (amount: number) =>
        updateRequest(plain, plainItem('a'), 'SET v = v - :x', {
          condition: 'v >= :x',
          values: { ':x': number(amount) },
        })
      await node.prepare({ tx: tx(1), timestamp: at, actions: [withdraw(100)] })
      const before = await node.write(withdraw(50))
      assert.equal(before.verdict, 'done')
      assert.ok(before.verdict === 'done' && (before.timestamp ?? Infinity) < at)
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(150) }))
      await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(50) }))
    },
    'an owner',
  )

  scenario(
    '§4 a single write that would break a prepared condition waits, and conflicts in the end',
    async (opened) => {
      const { node, advanceMs } = opened
      await put(node, plain, plainItem('a', { v: number(120) }))
      const at = later(opened, 1)
      const withdraw = (amount: number) =>
        updateRequest(plain, plainItem('a'), 'SET v = v - :x', {
          condition: 'v >= :x',
          values: { ':x': number(amount) },
        })
      await node.prepare({ tx: tx(1), timestamp: at, actions: [withdraw(100)] })
      const refused = node.write(withdraw(50))
      await turns()
      advanceMs(5000)
      assert.deepEqual(await refused, { verdict: 'conflict', others: [tx(1)] })
      const queued = node.write(withdraw(20))
      const blocked = node.write(withdraw(50))
      assert.equal((await queued).verdict, 'done')
      await turns()
      await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      assert.equal((await blocked).verdict, 'condition-failed')
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(0) }))
    },
    'an owner',
  )

  scenario(
    '§4 a blind put is stamped later than what is prepared, and done at once',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const at = later(opened, 1)
      await node.prepare({
        tx: tx(1),
        timestamp: at,
        actions: [updateRequest(plain, plainItem('a'), 'ADD v :x', { values: { ':x': number(1) } })],
      })
      const written = await put(node, plain, plainItem('a', { v: number(50) }))
      assert.ok(written.verdict === 'done' && (written.timestamp ?? 0) > at)
      await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { v: number(50) }))
    },
    'an owner',
  )

  scenario(
    'a blind put behind a prepared transaction goes on for those who wait for that one',
    async (opened) => {
      const { node } = opened
      const at = later(opened, 1)
      await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
      const read = node.readAt({ items: [ref(a)], timestamp: later(opened, 2) })
      await turns()
      const written = await put(node, plain, plainItem('a', { v: number(50) }))
      assert.ok(written.verdict === 'done' && written.new !== undefined)
      assert.deepEqual((await read).results, [{ verdict: 'too-old', above: written.new.timestamp }])
    },
    'an owner',
  )

  scenario(
    'where a timestamp is too old for one action, the others need not wait for anybody',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const at = later(opened, 1)
      const increase = updateRequest(plain, plainItem('a'), 'ADD v :x', { values: { ':x': number(1) } })
      await node.prepare({ tx: tx(1), timestamp: at, actions: [increase] })
      const b = plainItem('b')
      await node.readAt({ items: [ref(b)], timestamp: later(opened, 5) })
      const full = { condition: 'v < :max', values: { ':max': number(2) } }
      const { verdicts } = await node.prepare({
        tx: tx(2),
        timestamp: later(opened, 2),
        actions: [putRequest(plain, a, full), putRequest(plain, b)],
      })
      // Not a conflict, which would be final: with a later timestamp it can wait, and may be accepted.
      assert.deepEqual(verdicts, [{ verdict: 'accepted' }, { verdict: 'too-old', above: later(opened, 5) }])
      assert.equal((await node.stalled(later(opened, 1000), 10)).length, 1)
    },
    'an owner',
  )

  scenario(
    '§4 updates prepared together are done in timestamp order, whichever is committed first',
    async (opened) => {
      const { node } = opened
      await put(node, plain, plainItem('a', { l: { L: [] } }))
      const append = (value: number) =>
        updateRequest(plain, plainItem('a'), 'SET l = list_append(l, :x)', {
          values: { ':x': { L: [number(value)] } },
        })
      const [first, second] = [later(opened, 1), later(opened, 2)]
      await node.prepare({ tx: tx(1), timestamp: first, actions: [append(1)] })
      assert.deepEqual(
        (await node.prepare({ tx: tx(2), timestamp: second, actions: [append(2)] })).verdicts,
        ACCEPTED,
      )
      const late = node.commit({ tx: tx(2), timestamp: second, items: [ref(a)] })
      await turns()
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { l: { L: [] } }))
      await node.commit({ tx: tx(1), timestamp: first, items: [ref(a)] })
      await late
      assert.deepEqual(await getItem(node, plain, a), plainItem('a', { l: { L: [number(1), number(2)] } }))
    },
    'an owner',
  )

  scenario(
    '§4 a read at a timestamp leaves a mark that later writes stay above',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const at = later(opened, 5)
      const { results } = await node.readAt({ items: [ref(a), ref(plainItem('z'))], timestamp: at })
      assert.deepEqual(
        results.map((result) => result.verdict),
        ['value', 'value'],
      )
      for (const item of [a, plainItem('z')]) {
        const { verdicts } = await node.prepare({
          tx: tx(1),
          timestamp: (at - 1) as Timestamp,
          actions: [putRequest(plain, item)],
        })
        assert.deepEqual(verdicts, [{ verdict: 'too-old', above: at }])
      }
      const single = await put(node, plain, a)
      assert.ok(single.verdict === 'done' && (single.timestamp ?? 0) > at)
    },
    'an owner',
  )

  scenario(
    '§4 a read between a prepared write and its decision waits, or reads before it',
    async (opened) => {
      const { node, advanceMs } = opened
      await put(node, plain, a)
      const at = later(opened, 1)
      await node.prepare({
        tx: tx(1),
        timestamp: at,
        actions: [putRequest(plain, plainItem('a', { v: number(2) }))],
      })
      const free = await node.readAt({ items: [ref(a)] })
      assert.ok(free.timestamp < at)
      assert.deepEqual(itemOf(free.results[0]?.verdict === 'value' ? free.results[0].record : undefined), a)
      const above = node.readAt({ items: [ref(a)], timestamp: later(opened, 2) })
      await turns()
      await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      const [result] = (await above).results
      assert.deepEqual(
        itemOf(result?.verdict === 'value' ? result.record : undefined),
        plainItem('a', { v: number(2) }),
      )
      await node.prepare({ tx: tx(2), timestamp: later(opened, 3), actions: [putRequest(plain, a)] })
      const stuck = node.readAt({ items: [ref(a)], timestamp: later(opened, 4) })
      await turns()
      advanceMs(5000)
      assert.equal((await stuck).results[0]?.verdict, 'pending')
    },
    'an owner',
  )

  scenario(
    '§3.4 the LSN tells whether an item changed between the phases, an absent one too',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const lsns = async (): Promise<unknown[]> =>
        (await node.readLatest({ items: [ref(a), ref(plainItem('z'))] })).results.map(
          (each) => each.verdict === 'value' && each.lsn,
        )
      const first = await lsns()
      assert.deepEqual(await lsns(), first)
      await put(node, plain, a)
      await put(node, plain, plainItem('z'))
      await node.write(deleteRequest(plain, plainItem('z')))
      const second = await lsns()
      assert.notEqual(second[0], first[0])
      assert.notEqual(second[1], first[1])
    },
  )

  scenario(
    '§4 all items of a transaction on one node are written in one step',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const red = { id: { S: 'r' }, n: number(1), color: { S: 'red' }, weight: number(5) }
      const reply = await node.transact({
        tx: tx(1),
        actions: [putRequest(plain, plainItem('b')), check(a, 'attribute_exists(id)'), putRequest(rich, red)],
      })
      assert.equal(reply.outcome, 'committed')
      assert.deepEqual(await getItem(node, rich, red), red)
      const again = await node.transact({ tx: tx(1), actions: [putRequest(plain, plainItem('b'))] })
      assert.equal(again.outcome, 'repeated')
      const refused = await node.transact({
        tx: tx(2),
        actions: [putRequest(plain, plainItem('c')), check(a, 'attribute_not_exists(id)')],
      })
      assert.ok(refused.outcome === 'refused')
      assert.deepEqual(
        refused.verdicts.map(({ verdict }) => verdict),
        ['accepted', 'condition-failed'],
      )
      assert.equal(await getItem(node, plain, plainItem('c')), undefined)
    },
    'steps of a node',
  )

  scenario('a client token holds though the clock is set back, over a restart too', async (opened) => {
    const { node: first, now, setBackMs, reopen } = opened
    const slot = ledgerSlot('7'.repeat(32))
    const attempt = (ledger: StorageNode['ledger'], nonce: string) =>
      ledger.begin({
        tx: txId(slot, nonce),
        timestamp: now() as Timestamp,
        participants: [],
        payloadHash: 'hash',
      })
    await attempt(first.ledger, 'a')
    await first.ledger.decide(txId(slot, 'a'), 'commit', { timestamp: now() as Timestamp })
    await first.ledger.complete(txId(slot, 'a'))
    setBackMs(30 * 60_000)
    const again = await attempt(first.ledger, 'b')
    assert.ok(again.verdict === 'exists' && again.record.tx === txId(slot, 'a'))
    if (reopen === undefined) return
    const node = await reopen()
    try {
      const restarted = await attempt(node.ledger, 'c')
      assert.ok(restarted.verdict === 'exists' && restarted.record.tx === txId(slot, 'a'))
    } finally {
      await node.close()
    }
  })

  scenario(
    'a client token is mistaken for nothing else',
    async (opened) => {
      const { node } = opened
      const token = (payloadHash: string) => ({
        tx: tx(7),
        token: { payloadHash },
        actions: [putRequest(plain, a)],
      })
      assert.equal((await node.transact(token('one'))).outcome, 'committed')
      assert.equal((await node.transact(token('one'))).outcome, 'repeated')
      assert.equal((await node.transact(token('two'))).outcome, 'token-mismatch')
    },
    'steps of a node',
  )

  scenario('a commit after its table was dropped leaves nothing behind', async (opened) => {
    const { node } = opened
    const at = later(opened, 1)
    await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
    await node.dropTable(plain.space)
    await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
    assert.equal(await orGone(getItem(node, plain, a)), undefined)
    assert.deepEqual(await node.count(plain.space), { items: 0, bytes: 0 })
    assert.equal((await node.stalled(later(opened, 1000), 10)).length, 0)
  })

  scenario(
    'a transaction in one round on a table that was dropped meanwhile does nothing',
    async (opened) => {
      const { node } = opened
      const other = { ...plain, space: spaceId(1000) }
      await put(node, plain, a)
      await node.dropTable(plain.space)
      const b = plainItem('b')
      const actions = [putRequest(plain, a), putRequest(other, b)]
      const reply = await node.transact({ tx: tx(1), actions })
      assert.ok(reply.outcome === 'refused')
      assert.deepEqual(
        reply.verdicts.map(({ verdict }) => verdict),
        ['invalid', 'accepted'],
      )
      assert.equal(await getItem(node, other, b), undefined)
    },
    'steps of a node',
  )

  scenario(
    'deletes of other items do not hide a create that was accepted before them',
    async (opened) => {
      const { node } = opened
      const at = later(opened, 1)
      await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
      // Of every partition, and above the timestamp of the create.
      await node.readAt({ items: [ref(plainItem('q'))], timestamp: later(opened, 10) })
      for (let n = 0; n < 3000; n++) await node.write(deleteRequest(plain, plainItem(`x${n}`)))
      await node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      assert.deepEqual(await getItem(node, plain, a), a)
    },
    'an owner',
  )

  scenario(
    'a delete of nothing keeps its place in the serial order over a restart',
    async (opened) => {
      const { node: first, reopen } = opened
      if (reopen === undefined) return
      await put(first, plain, a)
      const deleted = await first.write(deleteRequest(plain, plainItem('b')))
      assert.ok(deleted.verdict === 'done' && deleted.timestamp !== undefined)
      const node = await reopen()
      try {
        const { verdicts } = await node.prepare({
          tx: tx(1),
          timestamp: deleted.timestamp,
          actions: [putRequest(plain, plainItem('b'))],
        })
        assert.equal(verdicts[0]?.verdict, 'too-old')
      } finally {
        await node.close()
      }
    },
    'an owner',
  )

  scenario('a delete that observed its item is not undercut once it is overwritten', async (opened) => {
    const { node } = opened
    await put(node, plain, a)
    const early = later(opened, 0)
    opened.advanceMs(5)
    await node.write(deleteRequest(plain, plainItem('a'), { condition: 'attribute_exists(v)' }))
    await put(node, plain, a)
    const { verdicts } = await node.prepare({
      tx: tx(1),
      timestamp: early,
      actions: [putRequest(plain, plainItem('a'))],
    })
    assert.equal(verdicts[0]?.verdict, 'too-old')
  })

  scenario(
    'a delete beside a transaction that answers the image is not blind',
    async (opened) => {
      const { node } = opened
      await put(node, plain, a)
      const early = later(opened, 1)
      await node.prepare({ tx: tx(1), timestamp: later(opened, 10), actions: [putRequest(plain, a)] })
      const request = deleteRequest(plain, plainItem('a'))
      const deleted = await node.write({ ...request, answersImage: true })
      assert.deepEqual(deleted.verdict === 'done' && itemOf(deleted.old), a)
      const { verdicts } = await node.prepare({
        tx: tx(2),
        timestamp: early,
        actions: [putRequest(plain, plainItem('a'))],
      })
      assert.equal(verdicts[0]?.verdict, 'too-old')
    },
    'an owner',
  )

  scenario(
    'a committed transaction is seen before and after a restart, an undecided one by nobody',
    async (opened) => {
      const { reopen } = opened
      if (reopen === undefined) return
      const at = later(opened, 1)
      await opened.node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
      await opened.node.prepare({
        tx: tx(2),
        timestamp: later(opened, 2),
        actions: [putRequest(plain, plainItem('b'))],
      })
      await opened.node.commit({ tx: tx(1), timestamp: at, items: [ref(a)] })
      await opened.node.finished([tx(1)])
      const node = await reopen()
      try {
        assert.deepEqual(await getItem(node, plain, a), a)
        // The other one may have been committed and seen: readers wait until it is decided again.
        const doubtful = getItem(node, plain, plainItem('b'))
        await turns()
        await node.commit({ tx: tx(2), timestamp: later(opened, 2), items: [ref(plainItem('b'))] })
        assert.deepEqual(await doubtful, plainItem('b'))
        const late = await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, a)] })
        assert.deepEqual(late.verdicts, [{ verdict: 'ended' }])
      } finally {
        await node.close()
      }
    },
    'an owner',
  )

  scenario(
    'after a restart an item is in doubt until all that was prepared on it is decided',
    async (opened) => {
      const { node: first, reopen } = opened
      if (reopen === undefined) return
      const times = [later(opened, 1), later(opened, 2)] as const
      const b = plainItem('a', { v: number(2) })
      await first.prepare({ tx: tx(1), timestamp: times[0], actions: [putRequest(plain, a)] })
      await first.prepare({ tx: tx(2), timestamp: times[1], actions: [putRequest(plain, b)] })
      const node = await reopen()
      try {
        await node.commit({ tx: tx(1), timestamp: times[0], items: [ref(a)] })
        const doubtful = getItem(node, plain, a)
        await turns()
        await node.commit({ tx: tx(2), timestamp: times[1], items: [ref(a)] })
        assert.deepEqual(await doubtful, b)
      } finally {
        await node.close()
      }
    },
    'an owner',
  )
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}
