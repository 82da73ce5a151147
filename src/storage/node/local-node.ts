// A storage node in this process: with a journal and LMDB, or in memory. See storage-node.ts for what it promises.
//
// It carries state to the rules and their answer back; it decides nothing about items itself.
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import { BatchBoundaries } from '../snapshots/batch-boundaries.js'
import { expiryPrefix } from '../../model/key-bytes.js'
import { type Knobs, knobs as defaultKnobs } from '../../model/knobs.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { ItemRef } from '../../ledger/ledger.js'
import { LocalLedger } from '../../ledger/local-ledger.js'
import { allRules, type TransactionRules } from '../../rules/item/section-4.js'
import type { Runtime } from '../../runtime/runtime.js'
import { Partitions, ReadMarks, SpaceFloors, storedCeiling } from '../items/marks.js'
import { damageIn } from '../items/damage.js'
import { ItemPending, TableGone } from '../../line/errors.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import { ItemSteps } from '../items/item-steps.js'
import type { Line } from '../../line/line.js'
import { readMeta, writeMeta, writeMetaIf } from './line-meta.js'
import { LineShelf } from './line-shelf.js'
import { backfillItems, loadItems } from './table-work.js'
import { itemsReady, rangeReady } from '../items/load-item.js'
import { PendingItems } from '../items/pending-items.js'
import { OpenSnapshots, type SnapshotLimits } from '../snapshots/snapshots.js'
import { type LockLimits, UnitLocks } from '../snapshots/unit-locks.js'
import type {
  LockReply,
  LockRequest,
  NodeContention,
  OpenSnapshotReply,
  OpenSnapshotRequest,
  RangeAtReply,
  RangeAtRequest,
  ReadSnapshotReply,
  ReadSnapshotRequest,
  UnitNode,
  UnitsHeld,
} from '../contract/units.js'
import { asBuffer, decodeItemRecord } from '../../line/record.js'
import { boundsOf, inSpace, itemKeyAt, spaceOfKey, withoutSpace, type SpaceCount } from '../../line/spaces.js'
import type {
  ItemRecord,
  LoadedPut,
  MetaEntry,
  RangeEntry,
  RangePage,
  RangeRequest,
  StorageNode,
  ItemWatch,
  WriteOutcome,
  WriteRequest,
} from '../contract/storage-node.js'
import { type RangeText, type RangeTextRequest, TextCollector } from '../contract/range-text.js'
import type { RuleFunctions } from '../transactions/rule-functions.js'
import { TransactionPart, type TransactionPartOptions } from '../transactions/transaction-part.js'
import type {
  Action,
  CommitReply,
  CommitRequest,
  FinishRequest,
  PrepareReply,
  PrepareRequest,
  ReadAtReply,
  ReadAtRequest,
  ReadLatestReply,
  ReadLatestRequest,
  TransactReply,
  TransactRequest,
} from '../contract/transactions.js'

export interface LocalNodeParts {
  readonly line: Line
  readonly clock: HybridClock
  readonly runtime: Runtime
  readonly rules?: TransactionRules
  readonly functions?: RuleFunctions
  readonly transactions?: Pick<TransactionPartOptions, 'waitMs' | 'stalledMs'>
  readonly units?: UnitLimits
  readonly knobs?: Knobs
  /** Its position among the nodes of the store; the first unless told otherwise. */
  readonly position?: number
  readonly onClose: () => Promise<void>
}

/** What units of work may take of a node's memory and time. */
export interface UnitLimits extends SnapshotLimits, LockLimits {}

export class LocalNode implements StorageNode {
  readonly ledger: LocalLedger
  readonly shelf: LineShelf
  readonly #line: Line
  readonly #clock: HybridClock
  readonly #rules: TransactionRules
  readonly #steps: ItemSteps
  readonly #pendings: PendingItems
  readonly #transactions: TransactionPart
  readonly #snapshots: OpenSnapshots
  readonly #floors: SpaceFloors
  readonly #locks: UnitLocks
  readonly #texts: TextCollector
  readonly #onClose: () => Promise<void>
  #onStalled: (tx: TxId) => void = () => undefined
  #closed: Promise<void> | undefined

  constructor(parts: LocalNodeParts) {
    const { line, clock, runtime, rules = allRules, functions, transactions, onClose } = parts
    const { knobs = defaultKnobs } = parts
    const units = { ...knobs, ...parts.units }
    this.#texts = new TextCollector(knobs)
    this.#line = line
    this.#clock = clock
    this.shelf = new LineShelf(line)
    this.#rules = rules
    this.#onClose = onClose
    // Whatever was read or deleted before the node was opened was so below these.
    clock.witness(storedCeiling(line))
    const start = { timestamp: clock.timestamp, lsn: clock.lsn }
    const partitions = new Partitions(start)
    const marks = new ReadMarks(start.timestamp, knobs)
    const snapshots = new OpenSnapshots(runtime.clock, units)
    this.#snapshots = snapshots
    this.#locks = new UnitLocks(runtime.clock, units)
    this.#floors = new SpaceFloors()
    const boundaries = new BatchBoundaries(line, snapshots, knobs)
    this.#steps = new ItemSteps({ line, clock, partitions, marks, snapshots, boundaries })
    this.#pendings = new PendingItems(line)
    this.ledger = new LocalLedger({
      line,
      now: () => clock.now(),
      knobs,
      pause: () => new Promise((resolve) => runtime.defer(resolve)),
    })
    this.#transactions = new TransactionPart({
      ...transactions,
      knobs,
      line,
      clock,
      runtime,
      rules,
      partitions,
      marks,
      snapshots,
      boundaries,
      floors: this.#floors,
      locks: this.#locks,
      steps: this.#steps,
      pendings: this.#pendings,
      tokens: this.ledger,
      node: parts.position ?? 0,
      onStalled: (tx) => this.#onStalled(tx),
      ...(functions && { functions }),
    })
  }

  /** Calls back with transactions that requests meet and that look stalled (§3.5). */
  onStalled(callback: (tx: TxId) => void): void {
    this.#onStalled = callback
  }

  prepare(request: PrepareRequest): Promise<PrepareReply> {
    const prepare = (): Promise<PrepareReply> => this.#transactions.prepare(request)
    return itemsReady(this.#line.durable, request.actions.map(actionRef))?.then(prepare) ?? prepare()
  }

  commit(request: CommitRequest): Promise<CommitReply> {
    return this.#transactions.commit(request)
  }

  cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    return this.#transactions.cancel(request)
  }

  finished(transactions: readonly TxId[]): Promise<readonly TxId[]> {
    return this.#transactions.finished(transactions)
  }

  transact(request: TransactRequest): Promise<TransactReply> {
    const transact = (): Promise<TransactReply> => this.#transactions.transact(request)
    const begin = (): Promise<TransactReply> => this.#transactions.anyDoubt()?.then(transact) ?? transact()
    return itemsReady(this.#line.durable, request.actions.map(actionRef))?.then(begin) ?? begin()
  }

  readAt(request: ReadAtRequest): Promise<ReadAtReply> {
    const read = (): Promise<ReadAtReply> => this.#gone(request.items) ?? this.#transactions.readAt(request)
    const begin = (): Promise<ReadAtReply> => this.#transactions.anyDoubt()?.then(read) ?? read()
    return itemsReady(this.#line.durable, request.items)?.then(begin) ?? begin()
  }

  readLatest(request: ReadLatestRequest): Promise<ReadLatestReply> {
    const read = (): Promise<ReadLatestReply> =>
      this.#gone(request.items) ?? this.#transactions.readLatest(request)
    const begin = (): Promise<ReadLatestReply> => this.#transactions.anyDoubt()?.then(read) ?? read()
    return itemsReady(this.#line.durable, request.items)?.then(begin) ?? begin()
  }

  stalled(olderThan: Timestamp, entriesMax: number, after?: TxId): Promise<readonly TxId[]> {
    return this.#transactions.stalled(olderThan, entriesMax, after)
  }

  openSnapshot(request: OpenSnapshotRequest): Promise<OpenSnapshotReply> {
    return this.#transactions.units.openSnapshot(request)
  }

  closeSnapshot(timestamp: Timestamp): Promise<void> {
    return this.#transactions.units.closeSnapshot(timestamp)
  }

  readSnapshot(request: ReadSnapshotRequest): Promise<ReadSnapshotReply> {
    const { units } = this.#transactions
    return (
      this.#transactions.anyDoubt()?.then(() => units.readSnapshot(request)) ?? units.readSnapshot(request)
    )
  }

  async rangeAt(request: RangeAtRequest): Promise<RangeAtReply> {
    const doubt = this.#transactions.anyDoubt()
    if (doubt !== undefined) await doubt
    return this.#transactions.units.rangeAt(request)
  }

  lockItems(request: LockRequest): Promise<LockReply> {
    return this.#transactions.units.lockItems(request)
  }

  unlockItems(request: Parameters<UnitNode['unlockItems']>[0]): Promise<void> {
    return this.#transactions.units.unlockItems(request)
  }

  contention(entriesMax: number): Promise<NodeContention> {
    return Promise.resolve({
      waits: this.#transactions.waits(entriesMax).map((each) => ({ ...each, item: refOf(each.item) })),
      locks: this.#locks.held(entriesMax).map((each) => ({ ...each, item: refOf(each.item) })),
    })
  }

  /** What is kept for units of work, for metrics and tests. */
  get unitsHeld(): UnitsHeld {
    return {
      snapshots: this.#snapshots.size,
      historyBytes: this.#snapshots.history.bytes,
      locks: this.#locks.size,
    }
  }

  setShape(table: TableShape): Promise<void> {
    this.#steps.setShape(table)
    return Promise.resolve()
  }

  dropTable(space: SpaceId): Promise<void> {
    this.#steps.drop(space)
    this.#floors.forget(space)
    return Promise.resolve()
  }

  async get(space: SpaceId, key: ItemKey): Promise<ItemRecord | undefined> {
    const address = inSpace(space, key.bytes)
    const ready = this.#line.durable.ready?.(address)
    if (ready !== undefined) await ready
    const doubt = this.#transactions.doubt(address)
    if (doubt !== undefined) await doubt
    if (!this.#rules.readsPassPrepared && this.#pendings.has(address)) {
      throw new ItemPending()
    }
    this.#refuseGone(space)
    return this.#record(address)
  }

  /** A table that was dropped is emptied item by item: what is left of it says nothing of what it had. */
  #refuseGone(space: SpaceId): void {
    if (this.#steps.isDropped(space)) throw new TableGone()
  }

  #gone(items: readonly ItemRef[]): Promise<never> | undefined {
    const isGone = items.some(({ space }) => this.#steps.isDropped(space))
    return isGone ? Promise.reject(new TableGone()) : undefined
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    const ready = this.#line.decided.ready?.(inSpace(request.table.space, request.key.bytes))
    return (
      ready?.then(() => this.#transactions.singles.write(request)) ??
      this.#transactions.singles.write(request)
    )
  }

  async load(given: TableShape, items: readonly LoadedPut[]): Promise<void> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    loadItems({ line: this.#line, clock: this.#clock, steps: this.#steps }, given, items)
    await this.#line.whenDurable()
  }

  async range(request: RangeRequest): Promise<RangePage> {
    const { itemSpace, reverse, entriesMax, bytesMax, onDamage } = request
    const { from, to } = boundsOf(request.space, request.from, request.to)
    const range = { from, to, reverse }
    const ready = rangeReady(this.#line.durable, range, request)
    if (ready !== undefined) await ready
    const doubt = this.#transactions.anyDoubt()
    if (doubt !== undefined) await doubt
    this.#refuseGone(request.space)
    const entries: RangeEntry[] = []
    let bytes = 0
    if (from >= to) return { entries, more: false }
    for (const [key, value] of this.#line.durable.range(range)) {
      if (entries.length >= entriesMax || bytes >= bytesMax) return { entries, more: true }
      const record =
        itemSpace === undefined ? decodeItemRecord(value) : this.#pointedTo(itemSpace, value, onDamage)
      // Without its item the entry belongs to a table that is being removed.
      if (record === undefined) continue
      entries.push({ key: withoutSpace(key), record })
      bytes += record.itemBytes
    }
    return { entries, more: false }
  }

  async rangeText(request: RangeTextRequest): Promise<RangeText> {
    const { from, to } = boundsOf(request.space, request.from, request.to)
    const range = { from, to, reverse: request.reverse }
    const ready = rangeReady(this.#line.durable, range, request)
    if (ready !== undefined) await ready
    const doubt = this.#transactions.anyDoubt()
    if (doubt !== undefined) await doubt
    this.#refuseGone(request.space)
    this.#texts.begin(request)
    if (from < to) this.#line.durable.scan(range, this.#texts.take)
    return this.#texts.finish()
  }

  watch(space: SpaceId, key: ItemKey, callback: () => void): ItemWatch {
    return { end: this.#line.watches.add(inSpace(space, key.bytes), callback) }
  }

  writeMeta(entries: readonly MetaEntry[]): Promise<void> {
    return writeMeta(this.#line, entries)
  }

  writeMetaIf(seen: MetaEntry, entries: readonly MetaEntry[]): Promise<boolean> {
    return writeMetaIf(this.#line, seen, entries)
  }

  async readMeta(prefix: string): Promise<readonly Required<MetaEntry>[]> {
    return readMeta(this.#line, prefix)
  }

  async backfill(request: Parameters<StorageNode['backfill']>[0]): Promise<KeyBytes | undefined> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    const next = backfillItems({ line: this.#line, steps: this.#steps }, request)
    await this.#line.whenDurable()
    return next
  }

  async sweep(space: SpaceId, entriesMax: number): Promise<boolean> {
    // What was prepared before the table was dropped may be committed after a restart, when the space is forgotten: it
    // would come back for good. It must be decided first; the sweep then waits until that is durable.
    const unrest = this.#transactions.unrest(space)
    if (unrest !== undefined) {
      await unrest
      return false
    }
    return this.#line.sweep(space, entriesMax)
  }

  async expired(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    nowSeconds: number,
    entriesMax: number,
  ): Promise<readonly RangeEntry[]> {
    const page = await this.range({
      space: expirySpace,
      itemSpace,
      from: '' as KeyBytes,
      to: expiryPrefix(Math.floor(nowSeconds) + 1),
      reverse: false,
      entriesMax,
      bytesMax: Infinity,
    })
    return page.entries
  }

  count(space: SpaceId): Promise<SpaceCount> {
    return Promise.resolve(this.#line.count(space))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    try {
      await this.#line.close()
    } finally {
      await this.#onClose()
    }
  }

  #pointedTo(
    itemSpace: SpaceId,
    entry: Uint8Array,
    onDamage: RangeRequest['onDamage'],
  ): ItemRecord | undefined {
    try {
      return this.#record(inSpace(itemSpace, asBuffer(entry).toString('latin1') as KeyBytes))
    } catch (error) {
      if (onDamage === undefined || damageIn(error) === undefined) throw error
      onDamage(error)
      return undefined
    }
  }

  #record(key: KeyBytes): ItemRecord | undefined {
    const stored = this.#line.durable.get(key)
    return stored === undefined ? undefined : decodeItemRecord(stored)
  }
}

const actionRef = ({ table, key }: Action): ItemRef => ({ space: table.space, key })

const refOf = (address: KeyBytes): ItemRef => ({ space: spaceOfKey(address), key: itemKeyAt(address) })
