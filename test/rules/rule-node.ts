// A storage node reduced to its decisions: items as plain data, and around the pure rules only what a node has to do
// with their answers. It has no journal, no index and no messages; requests that have to wait are told so.
import { timestamp as stamp, type Timestamp, type TxId } from '../../src/model/brand.js'
import {
  decideSingleWrite,
  decideWriteStep,
  type SingleWriteVerdict,
  type WriteStepPlace,
  type WriteStepVerdict,
} from '../../src/rules/write-step.js'
import { decideFinish, type FinishVerdict } from '../../src/rules/finish.js'
import {
  observes,
  writes,
  type Action,
  type ContendedItem,
  type Image,
  type Pending,
} from '../../src/rules/item/contended-item.js'
import { decidePrepare, type PrepareVerdict } from '../../src/rules/prepare.js'
import {
  commonReadTimestamp,
  decideReadAt,
  decideReadLatest,
  type ReadAtVerdict,
} from '../../src/rules/read.js'
import type { NextImage } from '../../src/rules/item/single-write.js'
import { allRules, type TransactionRules } from '../../src/rules/item/section-4.js'

/** What is stored of one item. */
export interface StoredItem {
  image: Image
  /** Of the image, if there is one. */
  last: { timestamp: Timestamp; blind: boolean }
  /** Of the delete, while transactions are pending on an absent item. */
  tombstone: { timestamp: Timestamp; blind: boolean } | undefined
  read: Timestamp
  pending: readonly Pending[]
  lockedBy: string | undefined
}

/** One write of a step, on the item of that name. */
export interface NamedAction {
  readonly name: string
  readonly action: Action
  /** Of a single write. */
  readonly answersImage?: boolean
}

const ZERO = stamp(0)

export class RuleNode {
  rules: TransactionRules = allRules
  /** The last timestamp given out or seen. */
  clock: Timestamp = ZERO
  /** All items are of one partition. */
  maxDelete: Timestamp = ZERO
  /** OpenSnapshots are open. */
  ordered = false
  readonly #items = new Map<string, StoredItem>()

  names(): readonly string[] {
    return [...this.#items.keys()]
  }

  stored(name: string): StoredItem {
    let item = this.#items.get(name)
    if (item === undefined) {
      const last = { timestamp: ZERO, blind: false }
      item = { image: undefined, last, tombstone: undefined, read: ZERO, pending: [], lockedBy: undefined }
      this.#items.set(name, item)
    }
    return item
  }

  load(name: string): ContendedItem {
    const { image, last, tombstone, read, pending, lockedBy } = this.stored(name)
    const write = image !== undefined ? last : (tombstone ?? { timestamp: this.maxDelete, blind: false })
    return {
      item: () => image,
      written: write.timestamp,
      writtenBlindly: write.blind,
      read,
      pending,
      version: image && last.timestamp,
      ...(this.ordered && { ordered: true }),
      ...(lockedBy !== undefined && { lockedBy }),
    }
  }

  prepare(tx: TxId, timestamp: Timestamp, name: string, action: Action, unit?: string): PrepareVerdict {
    this.#witness(timestamp)
    const item = this.load(name)
    const verdict = decidePrepare(item, action, { tx, timestamp, ...(unit && { unit }) }, this.rules)
    if (verdict.verdict !== 'accepted') return verdict
    const stored = this.stored(name)
    stored.pending = verdict.pending
    if (stored.image === undefined) stored.tombstone ??= { timestamp: item.written, blind: false }
    return verdict
  }

  finish(tx: TxId, name: string, decision: 'commit' | 'cancel'): FinishVerdict {
    const verdict = decideFinish(this.load(name), tx, decision)
    if (verdict.verdict === 'unknown') return verdict
    const stored = this.stored(name)
    stored.pending = verdict.pending
    for (const each of verdict.written) this.#apply(name, each.next, each)
    stored.read = Math.max(stored.read, verdict.read) as Timestamp
    this.#dropTombstone(stored)
    return verdict
  }

  /** A write to one item outside a transaction. */
  single({ name, action, answersImage = false }: NamedAction): SingleWriteVerdict {
    const request = { ...action, mutation: mutationOf(action), answersImage }
    const verdict = decideSingleWrite(this.load(name), request, this.#next(), this.rules)
    if (verdict.verdict !== 'done') return verdict
    this.#witness(verdict.timestamp)
    this.#applyStep({ name, action: request }, verdict.next, verdict.timestamp)
    return verdict
  }

  /** A transaction in one round. */
  step(actions: readonly NamedAction[], place: WriteStepPlace = {}): WriteStepVerdict {
    const steps = actions.map(({ name, action }) => ({ item: this.load(name), action }))
    const verdict = decideWriteStep(steps, this.#next(), this.rules, place)
    if (verdict.verdict !== 'done') return verdict
    this.#witness(verdict.timestamp)
    for (const [at, named] of actions.entries()) this.#applyStep(named, verdict.next[at], verdict.timestamp)
    return verdict
  }

  readAt(name: string, timestamp: Timestamp): ReadAtVerdict {
    this.#witness(timestamp)
    const verdict = decideReadAt(this.load(name), timestamp)
    if (verdict.verdict === 'value') this.#mark(name, timestamp)
    return verdict
  }

  /** All at a timestamp that suits them. */
  readTogether(names: readonly string[]): Timestamp | undefined {
    const items = names.map((name) => this.load(name))
    const timestamp = commonReadTimestamp(items, this.#next())
    if (timestamp === undefined) return undefined
    for (const item of items) {
      const { verdict } = decideReadAt(item, timestamp)
      if (verdict !== 'value') throw new Error(`not readable at the common timestamp: ${verdict}`)
    }
    this.#witness(timestamp)
    for (const name of names) this.#mark(name, timestamp)
    return timestamp
  }

  /** The second phase of a two-phase read; its coordinator has seen all timestamps of the first. */
  readLatest(name: string, mark?: Timestamp): ReturnType<typeof decideReadLatest> {
    const verdict = decideReadLatest(this.load(name))
    if (mark !== undefined) {
      this.#witness(mark)
      if (verdict.verdict === 'value') this.#mark(name, mark)
    }
    return verdict
  }

  #applyStep(named: NamedAction, next: NextImage | undefined, timestamp: Timestamp): void {
    const { name, action } = named
    if (writes(action)) this.#apply(name, next, { timestamp, blind: !observes(action) })
    else this.#mark(name, timestamp)
  }

  #apply(name: string, next: NextImage | undefined, write: { timestamp: Timestamp; blind: boolean }): void {
    const stored = this.stored(name)
    const { timestamp, blind } = write
    // A write that observed the item is its own read mark, until a blind one takes its place.
    if (blind && stored.image !== undefined && !stored.last.blind) this.#mark(name, stored.last.timestamp)
    stored.image = next?.item
    if (next === undefined) {
      // It leaves no image that could be its mark.
      if (!blind) this.#mark(name, timestamp)
      this.maxDelete = Math.max(this.maxDelete, timestamp) as Timestamp
      stored.tombstone = { timestamp, blind }
    } else {
      stored.last = { timestamp, blind: next.lastWrite.blind }
    }
    this.#dropTombstone(stored)
  }

  #dropTombstone(stored: StoredItem): void {
    if (stored.pending.length === 0 || stored.image !== undefined) stored.tombstone = undefined
  }

  #mark(name: string, timestamp: Timestamp): void {
    const stored = this.stored(name)
    stored.read = Math.max(stored.read, timestamp) as Timestamp
  }

  #next(): Timestamp {
    this.clock = stamp(this.clock + 1)
    return this.clock
  }

  #witness(timestamp: Timestamp): void {
    if (timestamp > this.clock) this.clock = timestamp
  }
}

function mutationOf({ mutation }: Action): Exclude<Action['mutation'], { kind: 'check' }> {
  if (mutation.kind === 'check') throw new TypeError('a check is no single write')
  return mutation
}
