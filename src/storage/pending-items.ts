// The transactions pending on the items of a node, and the tombstones of deleted items that have some.
//
// The truth is in the line, as one small record an item; what is kept here is which items have one, so that a write to
// any other item costs one look at a set.
import type { Bindings } from '../expression/types.js'
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../model/brand.js'
import type { Pending } from '../rules/pending.js'
import type { Line, Put } from './line.js'
import { asBuffer } from './record.js'
import { inSpace, pendingBounds, pendingItem, pendingKey } from './spaces.js'

/** The last write of an item that is deleted while transactions are pending on it. */
export interface Tombstone {
  readonly timestamp: Timestamp
  readonly blind: boolean
}

export interface PendingItem {
  readonly pending: readonly Pending[]
  readonly tombstone?: Tombstone
}

const NOTHING: PendingItem = { pending: [] }

export class PendingItems {
  readonly #line: Line
  readonly #keys = new Set<KeyBytes>()
  readonly #byTransaction = new Map<TxId, Set<KeyBytes>>()
  /** What is still in memory as it was encoded need not be decoded. */
  readonly #decoded = new WeakMap<Uint8Array, PendingItem>()

  constructor(line: Line) {
    this.#line = line
    this.#load()
    line.onRollback(() => this.#load())
  }

  get size(): number {
    return this.#keys.size
  }

  of(item: KeyBytes): PendingItem {
    if (!this.#keys.has(item)) return NOTHING
    const stored = this.#line.decided.get(pendingKey(item))
    return stored === undefined ? NOTHING : this.#decode(stored)
  }

  has(item: KeyBytes): boolean {
    return this.#keys.has(item)
  }

  /** As a part of the step that is being decided. `visible`: readers may rely on it before it is durable. */
  set(item: KeyBytes, next: PendingItem, put: Put): void {
    for (const { tx } of this.of(item).pending) this.#forget(tx, item)
    const empty = next.pending.length === 0
    const stored = empty ? undefined : encodePending(next)
    if (stored !== undefined) this.#decoded.set(stored, next)
    this.#line[put](pendingKey(item), stored)
    if (empty) this.#keys.delete(item)
    else this.#remember(item, next)
  }

  /** Those of one table. */
  inSpace(space: SpaceId): readonly KeyBytes[] {
    const prefix = inSpace(space, '' as KeyBytes)
    return [...this.#keys].filter((item) => item.startsWith(prefix))
  }

  items(): Iterable<KeyBytes> {
    return this.#keys
  }

  /** The items of a transaction that are pending here. */
  itemsOf(tx: TxId): readonly KeyBytes[] {
    return [...(this.#byTransaction.get(tx) ?? [])]
  }

  /** Transactions with an action older than that. */
  stalled(olderThan: Timestamp, entriesMax: number): readonly TxId[] {
    const stalled = new Set<TxId>()
    for (const item of this.#keys) {
      for (const { tx, timestamp } of this.of(item).pending) if (timestamp < olderThan) stalled.add(tx)
      if (stalled.size >= entriesMax) break
    }
    return [...stalled].slice(0, entriesMax)
  }

  #decode(stored: Uint8Array): PendingItem {
    let item = this.#decoded.get(stored)
    if (item === undefined) this.#decoded.set(stored, (item = decodePending(stored)))
    return item
  }

  #load(): void {
    this.#keys.clear()
    this.#byTransaction.clear()
    for (const [key, stored] of this.#line.decided.range({ ...pendingBounds, reverse: false })) {
      this.#remember(pendingItem(key), decodePending(stored))
    }
  }

  #remember(item: KeyBytes, { pending }: PendingItem): void {
    this.#keys.add(item)
    for (const { tx } of pending) {
      const items = this.#byTransaction.get(tx)
      if (items === undefined) this.#byTransaction.set(tx, new Set([item]))
      else items.add(item)
    }
  }

  #forget(tx: TxId, item: KeyBytes): void {
    const items = this.#byTransaction.get(tx)
    items?.delete(item)
    if (items?.size === 0) this.#byTransaction.delete(tx)
  }
}

// Bound expressions hold maps, which JSON has not. No attribute value is an array, so the mark cannot be mistaken.
const MAP = '$map'

function encodePending({ pending, tombstone }: PendingItem): Uint8Array {
  return Buffer.from(JSON.stringify({ pending: pending.map(encodable), tombstone }))
}

/** With the maps as lists. A replacer would do it too, but is called for every value there is. */
function encodable(pending: Pending): object {
  const { mutation, condition } = pending.action
  if (mutation.kind !== 'update' && condition === undefined) return pending
  const action = {
    ...pending.action,
    ...(condition && { condition: unbound(condition) }),
    ...(mutation.kind === 'update' && { mutation: { ...mutation, update: unbound(mutation.update) } }),
  }
  return { ...pending, action }
}

const unbound = (bound: { readonly tree: unknown; readonly bindings: Bindings }): object => ({
  ...bound,
  bindings: { names: { [MAP]: [...bound.bindings.names] }, values: { [MAP]: [...bound.bindings.values] } },
})

function decodePending(stored: Uint8Array): PendingItem {
  return JSON.parse(asBuffer(stored).toString(), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, MAP)) return value
    const entries = (value as Record<string, unknown>)[MAP]
    return Array.isArray(entries) ? new Map(entries as [unknown, unknown][]) : value
  }) as PendingItem
}
