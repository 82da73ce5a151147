// The transactions pending on the items of a node, and the tombstones of deleted items that have some.
//
// The truth is in the line, as one record an item. The same is kept here in memory, for as many items as transactions that
// are under way have: a write to any other item costs one look at a map.
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import type { TableShape } from '../../model/table.js'
import type { ItemState } from '../../rules/item/item.js'
import type { Pending } from '../../rules/item/contended-item.js'
import type { Line, Put } from '../../line/line.js'
import {
  type PendingEntry,
  type PendingItem,
  decodePending,
  encodeAlone,
  encodeEntry,
  encodePending,
} from './pending-bytes.js'
import { inSpace, pendingBounds, pendingItem, pendingKey } from '../../line/spaces.js'

export type { PendingItem } from './pending-bytes.js'

const NOTHING: PendingItem = { pending: [] }
const NOTHING_HELD = { item: NOTHING, state: undefined }

interface Held {
  /** Where it stands in the line. */
  readonly key: KeyBytes
  readonly item: PendingItem
  /** As it stands in the line, one for each pending transaction; none before somebody wanted it. */
  readonly entries: readonly PendingEntry[]
  /** The item itself, if it was at hand. Whoever writes it sets anew what is pending on it, and this is gone. */
  readonly state?: ItemState | undefined
}

export class PendingItems {
  readonly #line: Line
  readonly #held = new Map<KeyBytes, Held>()
  readonly #byTransaction = new Map<TxId, Set<KeyBytes>>()
  /** As JSON; there are as many as tables have had shapes. */
  readonly #shapes = new WeakMap<TableShape, Buffer>()

  constructor(line: Line) {
    this.#line = line
    this.#load()
    line.onRollback(() => this.#load())
  }

  get size(): number {
    return this.#held.size
  }

  of(item: KeyBytes): PendingItem {
    return this.#held.get(item)?.item ?? NOTHING
  }

  /** What is pending on an item, and the item itself, if it is known without looking. */
  with(item: KeyBytes): Pick<Held, 'item' | 'state'> {
    return this.#held.size === 0 ? NOTHING_HELD : (this.#held.get(item) ?? NOTHING_HELD)
  }

  has(item: KeyBytes): boolean {
    return this.#held.has(item)
  }

  /** The item that a put of this transaction intends, as JSON text in UTF-8. */
  intendedJson(item: KeyBytes, tx: TxId): Uint8Array | undefined {
    const held = this.#held.get(item)
    const at = held?.item.pending.findIndex((pending) => pending.tx === tx) ?? -1
    const entry = held?.entries[at]
    if (entry !== undefined)
      return entry.itemAt === entry.bytes.length ? undefined : entry.bytes.subarray(entry.itemAt)
    const mutation = held?.item.pending[at]?.action.mutation
    return mutation?.kind === 'put' ? mutation.json : undefined
  }

  /** As a part of the step that is being decided, which leaves the item in that state, if it says so. */
  set(item: KeyBytes, next: PendingItem, put: Put, state?: ItemState): void {
    const before = this.#held.get(item)
    if (before !== undefined) for (const { tx } of before.item.pending) this.#forget(tx, item)
    if (next.pending.length === 0) {
      this.#line[put](before?.key ?? pendingKey(item), undefined)
      this.#held.delete(item)
      return
    }
    const key = before?.key ?? pendingKey(item)
    const [first] = next.pending
    if (first !== undefined && next.pending.length === 1 && before === undefined) {
      const held = { key, item: next, entries: [] as PendingEntry[], state }
      const encode = (): Uint8Array => {
        const { stored, entry } = encodeAlone(first, next.tombstone, this.#shapeOf(first.action.table))
        held.entries = [entry]
        return stored
      }
      this.#line.putNew(key, encode, bytesAbout(first))
      this.#remember(item, held)
      return
    }
    const entries = next.pending.map((pending) => {
      const at = before?.item.pending.indexOf(pending) ?? -1
      return before?.entries[at] ?? encodeEntry(pending, this.#shapeOf(pending.action.table))
    })
    this.#line[put](key, encodePending(next, entries))
    this.#remember(item, { key, item: next, entries, state })
  }

  /** Those of one table. */
  inSpace(space: SpaceId): readonly KeyBytes[] {
    const prefix = inSpace(space, '' as KeyBytes)
    return [...this.#held.keys()].filter((item) => item.startsWith(prefix))
  }

  items(): Iterable<KeyBytes> {
    return this.#held.keys()
  }

  /** The items of a transaction that are pending here. */
  itemsOf(tx: TxId): readonly KeyBytes[] {
    return [...(this.#byTransaction.get(tx) ?? [])]
  }

  hasItemsOf(tx: TxId): boolean {
    return this.#byTransaction.has(tx)
  }

  /** Transactions with an action older than that: all of them, or, if there are more, the first behind that id. */
  stalled(olderThan: Timestamp, entriesMax: number, after?: TxId): readonly TxId[] {
    const found: TxId[] = []
    for (const [tx, items] of this.#byTransaction) {
      if ((after === undefined || tx > after) && this.#isOld(tx, items, olderThan)) found.push(tx)
    }
    return found.length < entriesMax ? found : found.toSorted().slice(0, entriesMax)
  }

  #isOld(tx: TxId, items: Iterable<KeyBytes>, than: Timestamp): boolean {
    for (const item of items)
      if (this.of(item).pending.some((pending) => pending.tx === tx && pending.timestamp < than)) return true
    return false
  }

  #load(): void {
    this.#held.clear()
    this.#byTransaction.clear()
    for (const [key, stored] of this.#line.decided.range({ ...pendingBounds, reverse: false })) {
      const item = pendingItem(key)
      this.#remember(item, { key, ...decodePending(item, stored) })
    }
  }

  #shapeOf(table: TableShape): Buffer {
    let shape = this.#shapes.get(table)
    if (shape === undefined) this.#shapes.set(table, (shape = Buffer.from(JSON.stringify(table))))
    return shape
  }

  #remember(item: KeyBytes, held: Held): void {
    this.#held.set(item, held)
    for (const { tx } of held.item.pending) {
      const items = this.#byTransaction.get(tx)
      if (items === undefined) this.#byTransaction.set(tx, new Set([item]))
      else items.add(item)
    }
  }

  #forget(tx: TxId, item: KeyBytes): void {
    const items = this.#byTransaction.get(tx)
    if (items?.delete(item) === true && items.size === 0) this.#byTransaction.delete(tx)
  }
}

const ENTRY_BYTES_ABOUT = 400

const bytesAbout = ({ action: { mutation } }: Pending): number =>
  ENTRY_BYTES_ABOUT + (mutation.kind === 'put' ? (mutation.itemBytes ?? 0) : 0)
