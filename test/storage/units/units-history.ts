// A node and a naive model side by side: the model keeps every committed write for good, and an image at a timestamp is
// what the writes up to there leave, one after another. Whatever was read at a snapshot is compared twice: at once, and
// again at the end, because nothing may be written below what somebody has seen.
import assert from 'node:assert/strict'
import { type KeyBytes, type Timestamp, type TxId, ledgerSlot, txId } from '../../../src/model/brand.js'
import { indexEntryKey, itemKey } from '../../../src/model/key-bytes.js'
import { indexRange, itemRange, type KeyRange } from '../../../src/model/key-range.js'
import type { IndexShape, ItemKey } from '../../../src/model/table.js'
import type { AttributeValue, Item } from '../../../src/model/value.js'
import type { ManualClock } from '../../../src/runtime/manual-clock.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import type { Action } from '../../../src/storage/contract/transactions.js'
import type { PredicateCheck } from '../../../src/storage/contract/units.js'
import { openExpressions } from '../../../src/expression/expression.js'
import { deleteRequest, itemOf, number, putRequest, rich, updateRequest } from '../../suites/tables.js'

const byColor = rich.indexes[0] as IndexShape
const WAIT_MS = 60

export interface Draw {
  readonly what: (typeof OPERATIONS)[number]
  readonly a: number
  readonly b: number
  readonly c: number
}

export const OPERATIONS = [
  'put',
  'put',
  'delete',
  'add',
  'transact',
  'prepare',
  'prepare',
  'commit',
  'commit',
  'cancel',
  'open',
  'open',
  'close',
  'read',
  'read',
  'range',
  'range',
  'index-range',
  'index-range',
  'predicate',
  'predicate',
  'late',
  'uncommitted',
] as const

interface Write {
  readonly at: Timestamp
  readonly key: KeyBytes
  readonly image: (old: Item | undefined) => Item | undefined
}

interface Prepared {
  readonly tx: TxId
  readonly at: Timestamp
  readonly writes: readonly Write[]
  readonly keys: readonly ItemKey[]
  /** Told to the node, which may still wait for others with it. */
  committed: boolean
}

type Listed = readonly (readonly [KeyBytes, Item])[]

export class UnitsHistory {
  readonly #node: StorageNode
  readonly #clock: ManualClock
  readonly #committed: Write[] = []
  readonly #prepared = new Map<TxId, Prepared>()
  readonly #open: Timestamp[] = []
  /** Compared with the model once more when all is over. */
  readonly #later: (() => void)[] = []
  /** When somebody observed something. */
  readonly #observed: Timestamp[] = []
  /** The highest timestamp of a write that readers see; a decided transaction may have to wait for others. */
  #acknowledged = 0
  #latest: Timestamp
  #number = 0
  readonly seen = { values: 0, pending: 0, pages: 0, changed: 0, holds: 0 }

  constructor(node: StorageNode, clock: ManualClock) {
    this.#node = node
    this.#clock = clock
    this.#latest = clock.nowMicros() as Timestamp
  }

  async take({ what, a, b, c }: Draw): Promise<void> {
    switch (what) {
      case 'put':
        return this.#single(putRequest(rich, itemOfDraw(a, b)))
      case 'delete':
        return this.#single(deleteRequest(rich, keyOfDraw(a)))
      case 'add':
        return this.#single(add(keyOfDraw(a), b))
      case 'transact':
        return this.#transact(actionsOf(a, b, c))
      case 'prepare':
        return this.#prepare(actionsOf(a, b, c), (this.#latest + (c % 41) - 20) as Timestamp)
      case 'commit':
        return this.#finish('commit', a)
      case 'cancel':
        return this.#finish('cancel', a)
      case 'open':
        return this.#openSnapshot(a)
      case 'close':
        return this.#closeSnapshot(a)
      case 'read':
        return this.#read(a, b)
      case 'range':
        return this.#range(a, b, c, undefined)
      case 'index-range':
        return this.#range(a, b, c, byColor)
      case 'predicate':
        return this.#predicate(a, b, c)
      case 'late':
        return this.#late(a, b, c)
      case 'uncommitted':
        return this.#uncommitted(a, b)
    }
  }

  /** Decides all that is left, and looks at everything that was read once more. */
  async end(): Promise<void> {
    for (const { tx } of [...this.#prepared.values()].toSorted((one, other) => one.at - other.at))
      await this.#finishOne(tx, 'commit')
    for (const check of this.#later) check()
    for (const timestamp of this.#open) await this.#node.closeSnapshot(timestamp)
    const { snapshots, historyBytes } = this.#node.unitsHeld
    assert.deepEqual({ snapshots, historyBytes }, { snapshots: 0, historyBytes: 0 }, 'nothing is kept')
    for (const key of KEYS) {
      const { key: place, bytes } = key
      const record = await this.#node.get(rich.space, place, true)
      assert.deepEqual(itemOf(record), this.#imageAt(bytes, Infinity), 'the last state')
    }
  }

  async #single(request: Parameters<StorageNode['write']>[0]): Promise<void> {
    const outcome = await this.#waiting(this.#node.write(request))
    if (outcome.verdict !== 'done') return
    this.#witness(outcome.timestamp)
    this.#commit(outcome.timestamp, [request])
  }

  async #transact(actions: readonly Action[]): Promise<void> {
    const tx = this.#newTx()
    const reply = await this.#waiting(this.#node.transact({ tx, actions }))
    this.#witness(reply.clock)
    if (reply.outcome === 'committed') this.#commit(reply.timestamp, actions)
  }

  async #prepare(actions: readonly Action[], at: Timestamp): Promise<void> {
    const tx = this.#newTx()
    const reply = await this.#waiting(this.#node.prepare({ tx, timestamp: at, actions }))
    this.#witness(reply.clock)
    if (!reply.verdicts.every(({ verdict }) => verdict === 'accepted')) return
    const writes = actions.map((action) => writeOf(action, at))
    const keys = actions.map(({ key }) => key)
    this.#prepared.set(tx, { tx, at, writes, keys, committed: false })
  }

  /** A write at or just below what somebody has observed. */
  async #late(a: number, b: number, c: number): Promise<void> {
    const observed = this.#observed.at(-1 - (a % 3))
    if (observed === undefined) return
    const tx = this.#newTx()
    const at = (observed - (c % 3)) as Timestamp
    const action = putRequest(rich, itemOfDraw(a, b))
    const { verdicts } = await this.#waiting(this.#node.prepare({ tx, timestamp: at, actions: [action] }))
    if (verdicts[0]?.verdict !== 'accepted') return
    const writes = [writeOf(action, at)]
    this.#prepared.set(tx, { tx, at, writes, keys: [action.key], committed: false })
    await this.#finishOne(tx, 'commit')
  }

  async #finish(decision: 'commit' | 'cancel', which: number): Promise<void> {
    const undecided = [...this.#prepared.values()].filter(({ committed }) => !committed)
    const one = undecided[which % undecided.length]
    if (one !== undefined) await this.#finishOne(one.tx, decision)
  }

  async #finishOne(tx: TxId, decision: 'commit' | 'cancel'): Promise<void> {
    const prepared = this.#prepared.get(tx) as Prepared
    const items = prepared.keys.map((key) => ({ space: rich.space, key }))
    if (decision === 'cancel') {
      await this.#node.cancel({ tx, items })
      this.#prepared.delete(tx)
      return
    }
    await this.#node.commit({ tx, items, timestamp: prepared.at, until: 'known' })
    if (!prepared.committed) this.#committed.push(...prepared.writes)
    prepared.committed = true
  }

  async #openSnapshot(a: number): Promise<void> {
    const wanted = a % 3 === 0 ? {} : { timestamp: (this.#latest + (a % 40) - 20) as Timestamp }
    const { timestamp, clock } = await this.#node.openSnapshot(wanted)
    this.#witness(clock)
    if (clock > timestamp) return
    // Otherwise an acknowledged write would be missing from what is read.
    assert.ok(this.#acknowledged <= timestamp, 'a snapshot is above everything that was acknowledged')
    this.#open.push(timestamp)
  }

  async #closeSnapshot(which: number): Promise<void> {
    const [timestamp] = this.#open.splice(which % Math.max(1, this.#open.length), 1)
    if (timestamp !== undefined) await this.#node.closeSnapshot(timestamp)
  }

  async #read(a: number, b: number): Promise<void> {
    const at = this.#open[a % this.#open.length]
    if (at === undefined) return
    const { key, bytes } = KEYS[b % KEYS.length]!
    const items = [{ space: rich.space, key }]
    const reply = await this.#waiting(this.#node.readSnapshot({ at, items }))
    assert.ok(reply.verdict === 'read', 'it is open')
    const [result] = reply.results
    if (result?.verdict === 'pending') return this.#assertPending(result.tx, at, bytes)
    const image = itemOf(result?.verdict === 'value' ? result.record : undefined)
    this.seen.values++
    this.#observed.push(at)
    this.#check(() => assert.deepEqual(image, this.#imageAt(bytes, at), `the image at ${at}`))
  }

  async #range(a: number, b: number, c: number, index: IndexShape | undefined): Promise<void> {
    const at = this.#open[a % this.#open.length]
    if (at === undefined) return
    const reverse = c % 2 === 0
    const entriesMax = 1 + (c % 4)
    const range = rangeOfDraw(b, index)
    const listed: (readonly [KeyBytes, Item | undefined])[] = []
    let { from, to } = range
    for (;;) {
      const reply = await this.#waiting(
        this.#node.rangeAt({
          at,
          table: rich,
          space: index?.space ?? rich.space,
          ...(index && { itemSpace: rich.space }),
          from,
          ...(to !== undefined && { to }),
          reverse,
          entriesMax,
          bytesMax: 1 << 20,
        }),
      )
      if (reply.verdict === 'pending') return this.#assertPending(reply.tx, at, undefined)
      assert.ok(reply.verdict === 'read')
      const { entries, more } = reply.page
      assert.ok(entries.length <= entriesMax)
      for (const { key, record } of entries) listed.push([key, itemOf(record)])
      const last = entries.at(-1)
      if (!more || last === undefined) break
      if (reverse) to = last.key
      else from = `${last.key}\x00` as KeyBytes
    }
    this.seen.pages++
    this.#observed.push(at)
    this.#check(() => {
      const expected = this.#listAt(at, range, index)
      assert.deepEqual(listed, reverse ? expected.toReversed() : expected, `the range at ${at}`)
    })
  }

  async #predicate(a: number, b: number, c: number): Promise<void> {
    const since = this.#open[a % this.#open.length]
    if (since === undefined) return
    const index = b % 2 === 0 ? byColor : undefined
    const range = rangeOfDraw(b, index)
    const limit = c % 5
    const predicate: PredicateCheck = {
      table: rich,
      ...(index && { index }),
      since,
      range,
      filter: openExpressions({ ExpressionAttributeValues: { ':w': number(limit) } }).condition(
        'weight < :w',
        'FilterExpression',
      ),
    }
    const timestamp = (this.#latest + (c % 41) - 20) as Timestamp
    if (timestamp <= since) return
    const undecided = this.#prepared.size > 0
    const tx = this.#newTx()
    const reply = await this.#waiting(
      this.#node.prepare({ tx, timestamp, actions: [], predicates: [predicate] }),
    )
    this.#witness(reply.clock)
    const [verdict] = reply.predicateVerdicts ?? []
    const matching = (at: number): Listed =>
      this.#listAt(at, range, index).filter(([, item]) => weightOf(item) < limit)
    switch (verdict?.verdict) {
      case 'holds':
        this.seen.holds++
        this.#observed.push(timestamp)
        this.#check(() =>
          assert.deepEqual(
            matching(timestamp - 1),
            matching(since),
            `the predicate between ${since} and ${timestamp}`,
          ),
        )
        return
      case 'changed':
        this.seen.changed++
        if (!undecided) assert.notDeepEqual(matching(timestamp - 1), matching(since), 'it has changed')
        return
      case 'pending':
        return this.#assertPending(verdict.tx, timestamp, undefined)
      case 'too-old':
        assert.ok(verdict.above >= timestamp)
        return
      case 'snapshot-too-old':
      case undefined:
        assert.fail(`a predicate of an open snapshot: ${verdict?.verdict}`)
    }
  }

  async #uncommitted(a: number, b: number): Promise<void> {
    const prepared = [...this.#prepared.values()].flatMap(({ writes, committed }) =>
      committed ? [] : writes,
    )
    const all = [...this.#committed, ...prepared]
    const { key, bytes } = KEYS[a % KEYS.length]!
    const items = [{ space: rich.space, key }]
    const reply = await this.#node.readSnapshot({ at: 'uncommitted', items })
    assert.ok(reply.verdict === 'read' && reply.results[0]?.verdict === 'value')
    assert.deepEqual(itemOf(reply.results[0].record), imageIn(all, bytes, Infinity))
    const index = b % 2 === 0 ? byColor : undefined
    const range = rangeOfDraw(b, index)
    const page = await this.#node.rangeAt({
      at: 'uncommitted',
      table: rich,
      space: index?.space ?? rich.space,
      ...(index && { itemSpace: rich.space }),
      ...range,
      reverse: false,
      entriesMax: 100,
      bytesMax: 1 << 20,
    })
    assert.ok(page.verdict === 'read')
    const listed = page.page.entries.map(({ key: place, record }) => [place, itemOf(record)])
    assert.deepEqual(listed, listIn(all, Infinity, range, index))
  }

  /** Waits are bounded by a clock that stands still otherwise. */
  async #waiting<T>(promise: Promise<T>): Promise<T> {
    const answered = promise.then((value) => ({ value }))
    // More than once: a step that works ahead begins to wait in a later turn.
    for (;;) {
      this.#clock.advance(WAIT_MS)
      const answer = await Promise.race([answered, turn()])
      if (answer !== undefined) return answer.value
    }
  }

  #check(compare: () => void): void {
    compare()
    this.#later.push(compare)
  }

  /** Somebody is only sent away for a transaction that was prepared there, and is not all done. */
  #assertPending(tx: TxId, at: Timestamp, key: KeyBytes | undefined): void {
    this.seen.pending++
    const prepared = this.#prepared.get(tx)
    assert.ok(prepared !== undefined && prepared.at <= at, `${tx} is pending at or below ${at}`)
    if (key !== undefined) assert.ok(prepared.keys.some(({ bytes }) => bytes === key))
  }

  #commit(at: Timestamp, actions: readonly Action[]): void {
    this.#acknowledged = Math.max(this.#acknowledged, at)
    this.#committed.push(...actions.map((action) => writeOf(action, at)))
  }

  #imageAt(key: KeyBytes, at: number): Item | undefined {
    return imageIn(this.#committed, key, at)
  }

  #listAt(at: number, range: KeyRange, index: IndexShape | undefined): Listed {
    return listIn(this.#committed, at, range, index)
  }

  #newTx(): TxId {
    this.#number++
    return txId(ledgerSlot(String(this.#number).padStart(32, '0')), 'n')
  }

  #witness(timestamp: Timestamp): void {
    if (timestamp > this.#latest) this.#latest = timestamp
  }
}

function imageIn(writes: readonly Write[], key: KeyBytes, at: number): Item | undefined {
  return writes
    .filter((write) => write.key === key && write.at <= at)
    .toSorted((one, other) => one.at - other.at)
    .reduce<Item | undefined>((old, { image }) => image(old), undefined)
}

function listIn(
  writes: readonly Write[],
  at: number,
  { from, to }: KeyRange,
  index: IndexShape | undefined,
): Listed {
  return KEYS.flatMap(({ key, bytes }): [KeyBytes, Item][] => {
    const image = imageIn(writes, bytes, at)
    const place = image && (index === undefined ? bytes : indexEntryKey(index, image, key))
    if (image === undefined || place === undefined) return []
    return place >= from && (to === undefined || place < to) ? [[place, image]] : []
  }).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

const KEYS = Array.from({ length: 9 }, (_, draw) => {
  const key = itemKey(rich.key, keyOfDraw(draw))
  return { key, bytes: key.bytes }
})

function keyOfDraw(draw: number): Item {
  return { id: { S: `p${draw % 3}` }, n: number(Math.floor(draw / 3) % 3) }
}

const COLORS = ['red', 'green']

function itemOfDraw(a: number, b: number): Item {
  const color = COLORS[b % 3]
  return {
    ...keyOfDraw(a),
    ...(color !== undefined && { color: { S: color } }),
    weight: number(b % 5),
    stamp: number(b),
  }
}

function rangeOfDraw(draw: number, index: IndexShape | undefined): KeyRange {
  if (draw % 4 === 0) return { from: '' as KeyBytes }
  if (index !== undefined) return indexRange(index.key, { S: COLORS[draw % 2] as string })
  return itemRange(rich.key, { S: `p${draw % 3}` })
}

const add = (key: Item, amount: number): ReturnType<typeof updateRequest> =>
  updateRequest(rich, key, 'ADD weight :a', { values: { ':a': number(amount % 3) } })

function actionsOf(a: number, b: number, c: number): readonly Action[] {
  const keys = [a, a + 1 + (b % 8)].slice(0, 1 + (c % 2))
  return keys.map((draw) => {
    if (b % 4 === 0) return deleteRequest(rich, keyOfDraw(draw))
    return b % 4 === 1 ? add(keyOfDraw(draw), c) : putRequest(rich, itemOfDraw(draw, b + c))
  })
}

const weightOf = (item: Item): number => {
  const weight: AttributeValue | undefined = item['weight']
  return weight !== undefined && 'N' in weight ? Number(weight.N) : Infinity
}

function writeOf({ key, keyAttributes, mutation }: Action, at: Timestamp): Write {
  return {
    at,
    key: key.bytes,
    image: (old) => {
      switch (mutation.kind) {
        case 'put':
          return mutation.item
        case 'delete':
          return undefined
        case 'check':
          return old
        case 'update': {
          const [amount] = mutation.update.bindings.values.values()
          const weight = old === undefined ? 0 : weightOf(old)
          const added = (weight === Infinity ? 0 : weight) + Number((amount as { N: string }).N)
          return { ...(old ?? keyAttributes), weight: number(added) }
        }
      }
    },
  }
}

const turn = (): Promise<undefined> => new Promise((resolve) => setImmediate(() => resolve(undefined)))
