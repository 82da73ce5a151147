// What every storage node promises to units of work, run for each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExpressions } from '../../src/expression/expression.js'
import { ledgerSlot, txId, type KeyBytes, type Timestamp, type TxId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { indexRange } from '../../src/model/key-range.js'
import type { IndexShape } from '../../src/model/table.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { Action, PrepareReply } from '../../src/storage/contract/transactions.js'
import type { PredicateCheck, UnitIdentity } from '../../src/storage/contract/units.js'
import {
  deleteRequest,
  getItem,
  itemOf,
  number,
  plain,
  plainItem,
  put,
  putRequest,
  remove,
  rich,
  updateRequest,
} from './tables.js'
import type { OpenedNode } from './transaction-node.js'

const tx = (number: number): TxId => txId(ledgerSlot(String(number).padStart(32, '0')), 'n')
const ref = (item: Item) => ({ space: plain.space, key: itemKey(plain.key, item) })
const check = (item: Item): Action => ({ ...deleteRequest(plain, item), mutation: { kind: 'check' } })
const v = (value: number, id = 'a'): Item => plainItem(id, { v: number(value) })
const unit = (id: string, began: number): UnitIdentity => ({ id, began: began as Timestamp })
const byColor = rich.indexes[0] as IndexShape
const MANY = { reverse: false, entriesMax: 100, bytesMax: 1 << 20, from: '' as KeyBytes } as const

export function unitNodeSuite(name: string, open: () => Promise<OpenedNode>): void {
  const scenario = (title: string, run: (opened: OpenedNode) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      const opened = await open()
      try {
        await run(opened)
      } finally {
        await opened.node.close()
      }
    })
  }
  const snapshotOf = async (node: StorageNode): Promise<Timestamp> => (await node.openSnapshot({})).timestamp
  /** The longest wait is over. */
  const waited = <T>({ advanceMs }: OpenedNode, answer: Promise<T>): Promise<T> => {
    advanceMs(60)
    return answer
  }

  scenario(
    'a snapshot sees what was current when it was opened, a later one what came since',
    async ({ node }) => {
      await put(node, plain, v(1))
      const first = await snapshotOf(node)
      await put(node, plain, v(2))
      const second = await snapshotOf(node)
      await remove(node, plain, plainItem('a'))
      await put(node, plain, v(4))
      assert.deepEqual(await read(node, first), v(1))
      assert.deepEqual(await read(node, second), v(2))
      assert.deepEqual(await read(node, await snapshotOf(node)), v(4))
    },
  )

  scenario(
    'an item that is created, deleted and created again is absent at a snapshot before',
    async ({ node }) => {
      const before = await snapshotOf(node)
      await put(node, plain, v(1))
      await remove(node, plain, plainItem('a'))
      const between = await snapshotOf(node)
      await put(node, plain, v(2))
      assert.equal(await read(node, before), undefined)
      assert.equal(await read(node, between), undefined)
      assert.deepEqual(await read(node, await snapshotOf(node)), v(2))
    },
  )

  scenario('a snapshot that was never opened here, or is closed, is too old', async ({ node }) => {
    const opened = await snapshotOf(node)
    await node.closeSnapshot(opened)
    for (const at of [opened, 5 as Timestamp]) {
      const request = { at, table: plain, space: plain.space, ...MANY }
      assert.deepEqual(await node.readSnapshot({ at, items: [ref(v(1))] }), { verdict: 'snapshot-too-old' })
      assert.deepEqual(await node.rangeAt(request), { verdict: 'snapshot-too-old' })
    }
  })

  scenario('a snapshot opened twice stays open until it is closed twice', async ({ node, now }) => {
    const timestamp = (now() + 1000) as Timestamp
    await node.openSnapshot({ timestamp })
    await node.openSnapshot({ timestamp })
    await node.closeSnapshot(timestamp)
    assert.equal(await read(node, timestamp), undefined)
    await node.closeSnapshot(timestamp)
    assert.equal(node.unitsHeld.snapshots, 0)
  })

  scenario('a snapshot below a write that was acknowledged is not opened', async ({ node }) => {
    const outcome = await put(node, plain, v(1))
    assert.ok(outcome.verdict === 'done')
    const low = (outcome.timestamp - 1) as Timestamp
    const reply = await node.openSnapshot({ timestamp: low })
    assert.ok(reply.clock > reply.timestamp)
    assert.deepEqual(await node.readSnapshot({ at: low, items: [ref(v(1))] }), {
      verdict: 'snapshot-too-old',
    })
  })

  scenario('what is written after a snapshot was opened is stamped above it', async ({ node, now }) => {
    const ahead = (now() + 5_000_000) as Timestamp
    await node.openSnapshot({ timestamp: ahead })
    const outcome = await put(node, plain, v(1))
    assert.ok(outcome.verdict === 'done' && outcome.timestamp > ahead)
    assert.equal(await read(node, ahead), undefined)
  })

  scenario('a snapshot older than the age limit is too old, and nothing is kept for it', async (opened) => {
    const { node, advanceMs } = opened
    await put(node, plain, v(1))
    const at = await snapshotOf(node)
    await put(node, plain, v(2))
    assert.ok(node.unitsHeld.historyBytes > 0)
    advanceMs(29_000)
    assert.deepEqual(await read(node, at), v(1))
    advanceMs(1_500)
    assert.deepEqual(node.unitsHeld, { snapshots: 0, historyBytes: 0, locks: 0 })
    assert.deepEqual(await node.readSnapshot({ at, items: [ref(v(1))] }), { verdict: 'snapshot-too-old' })
  })

  scenario('without an open snapshot nothing is kept', async ({ node }) => {
    for (let value = 0; value < 10; value++) await put(node, plain, v(value))
    assert.deepEqual(node.unitsHeld, { snapshots: 0, historyBytes: 0, locks: 0 })
  })

  scenario('a snapshot waits for a write prepared at or below it, not for one above', async (opened) => {
    const { node, now } = opened
    await put(node, plain, v(1))
    const timestamp = (now() + 1000) as Timestamp
    await node.prepare({ tx: tx(1), timestamp, actions: [putRequest(plain, v(2))] })
    const [below, above] = [(timestamp - 1) as Timestamp, timestamp]
    await node.openSnapshot({ timestamp: below })
    await node.openSnapshot({ timestamp: above })
    assert.deepEqual(await read(node, below), v(1))
    const refused = await waited(opened, node.readSnapshot({ at: above, items: [ref(v(1))] }))
    assert.deepEqual(refused, { verdict: 'read', results: [{ verdict: 'pending', tx: tx(1) }] })
    const waiting = read(node, above)
    await node.commit({ tx: tx(1), timestamp, items: [ref(v(1))] })
    assert.deepEqual(await waiting, v(2))
    assert.deepEqual(await read(node, below), v(1))
  })

  scenario(
    'after a read at a snapshot no prepare at or below it is accepted on the item',
    async ({ node }) => {
      await put(node, plain, v(1))
      const at = await snapshotOf(node)
      await read(node, at)
      const late = await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, v(2))] })
      assert.deepEqual(late.verdicts, [{ verdict: 'too-old', above: at }])
    },
  )

  scenario(
    'after a range was read no prepare at or below the snapshot is accepted in the table',
    async ({ node }) => {
      const at = await snapshotOf(node)
      await node.rangeAt({ at, table: plain, space: plain.space, ...MANY })
      const late = await node.prepare({ tx: tx(1), timestamp: at, actions: [putRequest(plain, v(1, 'new'))] })
      assert.deepEqual(late.verdicts, [{ verdict: 'too-old', above: at }])
    },
  )

  scenario('read-uncommitted sees what is prepared, in items, ranges and indexes', async ({ node, now }) => {
    await put(node, rich, colored(1, 'red'))
    const timestamp = (now() + 1000) as Timestamp
    const actions = [
      putRequest(rich, colored(1, 'green')),
      putRequest(rich, colored(2, 'green')),
      updateRequest(rich, keyOf(3), 'SET color = :c, weight = :w', {
        values: { ':c': { S: 'green' }, ':w': number(9) },
      }),
    ]
    await node.prepare({ tx: tx(1), timestamp, actions })
    const items = [1, 2, 3].map((n) => ({ space: rich.space, key: itemKey(rich.key, keyOf(n)) }))
    const reply = await node.readSnapshot({ at: 'uncommitted', items })
    assert.ok(reply.verdict === 'read')
    const colors = reply.results.map((each) => each.verdict === 'value' && itemOf(each.record)?.['color'])
    assert.deepEqual(colors, [{ S: 'green' }, { S: 'green' }, { S: 'green' }])
    assert.deepEqual(await numbersOf(node, 'uncommitted', 'green'), ['1', '2', '3'])
    assert.deepEqual(await numbersOf(node, 'uncommitted', 'red'), [])
    await node.cancel({ tx: tx(1), items })
    assert.deepEqual(await numbersOf(node, 'uncommitted', 'red'), ['1'])
  })

  scenario(
    'a new shape of a table closes all snapshots: of a new index the past is not known',
    async ({ node }) => {
      const at = await snapshotOf(node)
      await node.setShape(rich)
      assert.deepEqual(await node.readSnapshot({ at, items: [ref(v(1))] }), { verdict: 'snapshot-too-old' })
    },
  )

  scenario('an expectation on what was read holds until somebody writes the item', async ({ node }) => {
    const first = await put(node, plain, v(1))
    assert.ok(first.verdict === 'done')
    const expected = { kind: 'version', written: first.timestamp } as const
    const one = await node.transact({ tx: tx(1), actions: [{ ...putRequest(plain, v(2)), expected }] })
    assert.equal(one.outcome, 'committed')
    const two = await node.transact({ tx: tx(2), actions: [{ ...putRequest(plain, v(3)), expected }] })
    assert.ok(two.outcome === 'refused')
    assert.deepEqual(two.verdicts, [{ verdict: 'changed' }])
    assert.deepEqual(await getItem(node, plain, v(1)), v(2))
  })

  scenario('who has changed an item is told, while a snapshot is open', async ({ node }) => {
    const first = await put(node, plain, v(1))
    assert.ok(first.verdict === 'done')
    const since = await snapshotOf(node)
    await node.transact({ tx: tx(1), actions: [putRequest(plain, v(2))] })
    const expectations = [
      { kind: 'version', written: first.timestamp },
      { kind: 'unwritten-since', timestamp: since },
    ] as const
    for (const expected of expectations) {
      const reply = await node.transact({ tx: tx(2), actions: [{ ...check(v(1)), expected }] })
      assert.ok(reply.outcome === 'refused')
      assert.deepEqual(reply.verdicts, [{ verdict: 'changed', by: tx(1) }])
    }
  })

  scenario(
    'an absent item is unwritten since a snapshot, though others of its table were deleted',
    async ({ node }) => {
      for (let n = 0; n < 50; n++) await put(node, plain, v(1, `other${n}`))
      const timestamp = await snapshotOf(node)
      for (let n = 0; n < 50; n++) await remove(node, plain, plainItem(`other${n}`))
      const expected = { kind: 'unwritten-since', timestamp } as const
      const actions = [{ ...putRequest(plain, v(1, 'new')), expected }]
      assert.equal((await node.transact({ tx: tx(1), actions })).outcome, 'committed')
      await remove(node, plain, plainItem('new'))
      const again = await node.transact({ tx: tx(2), actions })
      assert.ok(again.outcome === 'refused')
      assert.deepEqual(again.verdicts, [{ verdict: 'changed', by: tx(1) }])
    },
  )

  scenario('a prepare with an expectation that fails leaves nothing behind', async (opened) => {
    const { node, now } = opened
    await put(node, plain, v(1))
    const actions = [
      putRequest(plain, v(1, 'b')),
      { ...check(v(1)), expected: { kind: 'version', written: undefined } as const },
    ]
    const timestamp = (now() + 1000) as Timestamp
    const { verdicts } = await node.prepare({ tx: tx(1), timestamp, actions })
    assert.deepEqual(verdicts, [{ verdict: 'accepted' }, { verdict: 'changed' }])
    assert.deepEqual(await node.stalled((timestamp + 1) as Timestamp, 10), [])
  })

  scenario(
    'a predicate holds against writes that it does not match, and not against one that it does',
    async ({ node }) => {
      await put(node, rich, colored(1, 'red'))
      const since = await snapshotOf(node)
      await put(node, rich, colored(2, 'green'))
      await put(node, rich, colored(1, 'red'))
      const commit = (number: number, predicate: PredicateCheck) =>
        node.transact({ tx: tx(number), actions: [putRequest(plain, v(number))], predicates: [predicate] })
      assert.equal((await commit(1, ofColor('red', since))).outcome, 'committed', 'written again as it was')
      await put(node, rich, colored(3, 'red'))
      const reply = await commit(2, ofColor('red', since))
      assert.ok(reply.outcome === 'refused')
      assert.deepEqual(reply.verdicts, [{ verdict: 'accepted' }])
      const item = { space: rich.space, key: itemKey(rich.key, keyOf(3)) }
      assert.deepEqual(reply.predicateVerdicts, [{ verdict: 'changed', item }])
      assert.deepEqual(await getItem(node, plain, v(1)), v(1))
    },
  )

  scenario('a predicate names the transaction that changed what it reads', async ({ node }) => {
    const since = await snapshotOf(node)
    await node.transact({ tx: tx(1), actions: [putRequest(rich, colored(3, 'red'))] })
    const reply = await node.transact({ tx: tx(2), actions: [], predicates: [ofColor('red', since)] })
    assert.ok(reply.outcome === 'refused')
    const [verdict] = reply.predicateVerdicts ?? []
    assert.ok(verdict?.verdict === 'changed')
    assert.equal(verdict.by, tx(1))
  })

  scenario('a predicate waits for a pending write that it would match, and for no other', async (opened) => {
    const { node, now } = opened
    const since = await snapshotOf(node)
    const timestamp = (now() + 1000) as Timestamp
    const actions = [putRequest(rich, colored(1, 'red'))]
    await node.prepare({ tx: tx(1), timestamp, actions })
    const validate = (number: number, color: string): Promise<PrepareReply> =>
      node.prepare({
        tx: tx(number),
        timestamp: (timestamp + number) as Timestamp,
        actions: [],
        predicates: [ofColor(color, since)],
      })
    assert.deepEqual((await validate(2, 'green')).predicateVerdicts, [{ verdict: 'holds' }])
    const pending = await waited(opened, validate(3, 'red'))
    assert.deepEqual(pending.predicateVerdicts, [{ verdict: 'pending', tx: tx(1) }])
    await node.cancel({ tx: tx(1), items: [{ space: rich.space, key: itemKey(rich.key, keyOf(1)) }] })
    assert.deepEqual((await validate(4, 'red')).predicateVerdicts, [{ verdict: 'holds' }])
  })

  scenario(
    'after a predicate was validated nobody writes to the table at or below that timestamp',
    async (opened) => {
      const { node, now } = opened
      const since = await snapshotOf(node)
      const timestamp = (now() + 1000) as Timestamp
      const predicates = [ofColor('red', since)]
      const { predicateVerdicts } = await node.prepare({ tx: tx(1), timestamp, actions: [], predicates })
      assert.deepEqual(predicateVerdicts, [{ verdict: 'holds' }])
      assert.deepEqual(await node.stalled((timestamp + 1) as Timestamp, 10), [], 'nothing is pending')
      const late = await node.prepare({
        tx: tx(2),
        timestamp,
        actions: [putRequest(rich, colored(1, 'blue'))],
      })
      assert.deepEqual(late.verdicts, [{ verdict: 'too-old', above: timestamp }])
      const other = await node.prepare({ tx: tx(3), timestamp, actions: [putRequest(plain, v(1))] })
      assert.deepEqual(other.verdicts, [{ verdict: 'accepted' }])
    },
  )

  scenario('a predicate of a snapshot that is not open any more cannot be validated', async ({ node }) => {
    const since = await snapshotOf(node)
    await node.closeSnapshot(since)
    const reply = await node.transact({
      tx: tx(1),
      actions: [putRequest(plain, v(1))],
      predicates: [ofColor('red', since)],
    })
    assert.ok(reply.outcome === 'refused')
    assert.deepEqual(reply.predicateVerdicts, [{ verdict: 'snapshot-too-old' }])
    assert.equal(await getItem(node, plain, v(1)), undefined)
  })

  scenario('a lock keeps other writers out until it is given back; readers pass', async (opened) => {
    const { node, now } = opened
    await put(node, plain, v(1))
    const until = (now() + 30_000_000) as Timestamp
    const locked = await node.lockItems({ unit: unit('u1', 100), items: [ref(v(1))], until })
    assert.deepEqual(locked, { verdict: 'locked' })
    assert.deepEqual(await getItem(node, plain, v(1)), v(1))
    assert.deepEqual(await read(node, await snapshotOf(node)), v(1))
    const single = await waited(opened, put(node, plain, v(2)))
    assert.deepEqual(single, { verdict: 'conflict', others: [], holder: 'u1' })
    const actions = [putRequest(plain, v(2))]
    const transact = await waited(opened, node.transact({ tx: tx(1), actions }))
    assert.ok(transact.outcome === 'refused')
    assert.deepEqual(transact.verdicts, [{ verdict: 'conflict', others: [], holder: 'u1' }])
    const timestamp = (now() + 1000) as Timestamp
    const prepared = await waited(opened, node.prepare({ tx: tx(2), timestamp, actions }))
    assert.deepEqual(prepared.verdicts, [{ verdict: 'conflict', others: [], holder: 'u1' }])
    const waiting = put(node, plain, v(3))
    await node.unlockItems({ unit: 'u1', items: [ref(v(1))] })
    assert.equal((await waiting).verdict, 'done')
  })

  scenario('the commit of the owner needs its locks, and gives them back', async (opened) => {
    const { node, now } = opened
    const until = (now() + 30_000_000) as Timestamp
    const action: Action = { ...putRequest(plain, v(2)), locked: true }
    const lock = (id: string, began: number) =>
      node.lockItems({ unit: unit(id, began), items: [ref(v(1))], until })
    await lock('u1', 100)
    const one = await node.transact({ tx: tx(1), unit: 'u1', actions: [action] })
    assert.equal(one.outcome, 'committed')
    assert.equal(node.unitsHeld.locks, 0)
    const without = await node.transact({ tx: tx(2), unit: 'u1', actions: [action] })
    assert.ok(without.outcome === 'refused')
    assert.deepEqual(without.verdicts, [{ verdict: 'changed' }])
    await lock('u1', 100)
    const timestamp = (now() + 60_000_000) as Timestamp
    const prepared = await node.prepare({ tx: tx(3), timestamp, unit: 'u1', actions: [action] })
    assert.deepEqual(prepared.verdicts, [{ verdict: 'accepted' }])
    assert.equal(node.unitsHeld.locks, 1, 'held until it is decided')
    await node.commit({ tx: tx(3), timestamp, items: [ref(v(1))] })
    assert.equal(node.unitsHeld.locks, 0)
  })

  scenario('an older unit takes a lock away, a younger one waits: never in a circle', async (opened) => {
    const { node, now } = opened
    const until = (now() + 30_000_000) as Timestamp
    const lock = (id: string, began: number, ...items: string[]) =>
      node.lockItems({ unit: unit(id, began), items: items.map((each) => ref(plainItem(each))), until })
    await lock('young', 200, 'a')
    await lock('old', 100, 'b')
    assert.deepEqual(await waited(opened, lock('young', 200, 'b')), {
      verdict: 'conflict',
      item: ref(plainItem('b')),
      holder: 'old',
    })
    assert.deepEqual(await lock('old', 100, 'a'), { verdict: 'locked' })
    const action: Action = { ...putRequest(plain, v(1)), locked: true }
    const wounded = await node.transact({ tx: tx(1), unit: 'young', actions: [action] })
    assert.ok(wounded.outcome === 'refused')
    assert.deepEqual(wounded.verdicts, [{ verdict: 'changed' }])
    const waiting = lock('young', 200, 'a')
    await node.unlockItems({ unit: 'old', items: [ref(plainItem('a'))] })
    assert.deepEqual(await waiting, { verdict: 'locked' })
    assert.deepEqual(await lock('same-age-earlier-name', 200, 'a'), { verdict: 'locked' })
  })

  scenario('a lock ends at its deadline', async (opened) => {
    const { node, now, advanceMs } = opened
    const until = (now() + 1_000_000) as Timestamp
    await node.lockItems({ unit: unit('u1', 100), items: [ref(v(1))], until })
    advanceMs(1_001)
    assert.equal((await put(node, plain, v(2))).verdict, 'done')
    assert.equal(node.unitsHeld.locks, 0)
  })

  scenario('a clock that is set back makes no lock last longer', async (opened) => {
    const { node, now, advanceMs, setBackMs } = opened
    const until = (now() + 1_000_000) as Timestamp
    await node.lockItems({ unit: unit('u1', 100), items: [ref(v(1))], until })
    setBackMs(3_600_000)
    advanceMs(1001)
    assert.equal((await put(node, plain, v(2))).verdict, 'done')
  })

  scenario('a lock waits for a transaction that is about to write the item', async (opened) => {
    const { node, now } = opened
    const until = (now() + 30_000_000) as Timestamp
    const timestamp = (now() + 1000) as Timestamp
    await node.prepare({ tx: tx(1), timestamp, actions: [putRequest(plain, v(1))] })
    const lock = () => node.lockItems({ unit: unit('u1', 100), items: [ref(v(1))], until })
    assert.deepEqual(await waited(opened, lock()), { verdict: 'conflict', item: ref(v(1)), holder: tx(1) })
    const waiting = lock()
    await node.commit({ tx: tx(1), timestamp, items: [ref(v(1))] })
    assert.deepEqual(await waiting, { verdict: 'locked' })
  })

  scenario(
    'after a restart snapshots are too old, locks are lost, and nothing is written below what was read',
    async (opened) => {
      const { node, now, reopen } = opened
      if (reopen === undefined) return
      await put(node, plain, v(1))
      const at = (now() + 300_000) as Timestamp
      await node.openSnapshot({ timestamp: at })
      await node.rangeAt({ at, table: plain, space: plain.space, ...MANY })
      await node.lockItems({
        unit: unit('u1', 100),
        items: [ref(v(1))],
        until: (at + 30_000_000) as Timestamp,
      })
      const again = await reopen()
      try {
        assert.deepEqual(await again.readSnapshot({ at, items: [ref(v(1))] }), {
          verdict: 'snapshot-too-old',
        })
        const late = await again.prepare({
          tx: tx(1),
          timestamp: at,
          actions: [putRequest(plain, v(1, 'new'))],
        })
        assert.equal(late.verdicts[0]?.verdict, 'too-old')
        const action: Action = { ...putRequest(plain, v(2)), locked: true }
        const reply = await again.transact({ tx: tx(2), unit: 'u1', actions: [action] })
        assert.ok(reply.outcome === 'refused')
        assert.deepEqual(reply.verdicts, [{ verdict: 'changed' }])
      } finally {
        await again.close()
      }
    },
  )

  scenario('a prepared expectation is what it was after a restart', async (opened) => {
    const { node, now, reopen } = opened
    if (reopen === undefined) return
    const first = await put(node, plain, v(1))
    assert.ok(first.verdict === 'done')
    const timestamp = (now() + 300_000) as Timestamp
    const actions: Action[] = [
      { ...putRequest(plain, v(2)), expected: { kind: 'version', written: first.timestamp } },
      { ...putRequest(plain, v(2, 'b')), expected: { kind: 'version', written: undefined } },
    ]
    await node.prepare({ tx: tx(1), timestamp, unit: 'u1', actions })
    const again = await reopen()
    try {
      // A blind write would be accepted below another blind one; it must not be blind.
      await again.commit({ tx: tx(1), timestamp, items: [ref(v(1)), ref(v(1, 'b'))] })
      for (const id of ['a', 'b']) {
        const low = (timestamp - 1) as Timestamp
        const late = await again.prepare({
          tx: tx(2),
          timestamp: low,
          actions: [putRequest(plain, v(3, id))],
        })
        assert.deepEqual(late.verdicts, [{ verdict: 'too-old', above: timestamp }])
      }
    } finally {
      await again.close()
    }
  })
}

async function read(node: StorageNode, at: Timestamp): Promise<Item | undefined> {
  const reply = await node.readSnapshot({ at, items: [ref(plainItem('a'))] })
  assert.ok(reply.verdict === 'read' && reply.results[0]?.verdict === 'value')
  return itemOf(reply.results[0].record)
}

const keyOf = (n: number): Item => ({ id: { S: 'p' }, n: number(n) })
const colored = (n: number, color: string): Item => ({ ...keyOf(n), color: { S: color }, weight: number(n) })

const ofColor = (color: string, since: Timestamp): PredicateCheck => ({
  table: rich,
  index: byColor,
  since,
  range: indexRange(byColor.key, { S: color }),
  filter: openExpressions({ ExpressionAttributeValues: { ':w': number(100) } }).condition(
    'weight < :w',
    'FilterExpression',
  ),
})

async function numbersOf(
  node: StorageNode,
  at: Timestamp | 'uncommitted',
  color: string,
): Promise<(string | undefined)[]> {
  const reply = await node.rangeAt({
    at,
    table: rich,
    space: byColor.space,
    itemSpace: rich.space,
    ...MANY,
    ...indexRange(byColor.key, { S: color }),
  })
  assert.ok(reply.verdict === 'read', reply.verdict)
  return reply.page.entries.map(({ record }) => text(itemOf(record)?.['n']))
}

const text = (value: AttributeValue | undefined): string | undefined =>
  value !== undefined && 'N' in value ? value.N : undefined
