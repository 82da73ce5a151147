// The port between the toolkit and a store in the same process: what is on the wire elsewhere (docs/reference/wire.md, "Units of work")
// is handed over as it is, so that nothing is put into JSON and nothing is looked up twice.
//
//   toolkit/ (native-attempt.ts) --layout----> router/units/direct.ts     once a table
//                                --getItems-->                            where each item is (`place`) comes back with
//                                --commit---->                            the commit
//
// Declared once, for both sides; neither knows the other. Items and keys are in the wire's form. Refusals are thrown, as
// errors whose `name` is that on the wire. May import: model, expression (types).
import type { BoundUpdate } from '../expression/parse/types.js'
import type { Isolation } from '../model/isolation.js'
import type { TableShape } from '../model/table.js'
import type { Item } from '../model/value.js'

export interface DirectUnits {
  layout(table: string): Promise<TableLayout>
  getItems(request: DirectGets): Promise<DirectItems>
  /** The commit timestamp; undefined if there was nothing to do. */
  commit(request: DirectCommit): Promise<number | undefined>
}

/** What is known of a table: its key, and its indexes with what they project. */
export type TableLayout = Omit<TableShape, 'space' | 'indexes' | 'expiry'> & {
  readonly indexes: readonly Omit<TableShape['indexes'][number], 'space'>[]
}

/** A snapshot or an age as the store has given it: plain timestamps in this process, texts over the wire. */
export type UnitPass = number | string

/** As the member `Unit` on the wire. */
export interface DirectUnit {
  readonly id: string
  readonly isolation: Isolation
  readonly timeoutMs: number
  readonly readTimestamp: UnitPass | undefined
  readonly began: UnitPass | undefined
  readonly attemptBegan: number | undefined
}

export interface DirectGets {
  readonly unit: DirectUnit
  readonly addresses: readonly ItemAddress[]
  readonly lock: boolean
  readonly released: readonly UnitPass[] | undefined
}

export interface DirectItems {
  readonly readTimestamp: number | undefined
  readonly clock: number
  /** In the order of the addresses. */
  readonly items: readonly ReadItem[]
}

export interface DirectCommit {
  readonly unit: DirectUnit
  /** What the commit names of what was read (`namesReads`): all of it, or nothing. */
  readonly reads: readonly ReadEntry[]
  readonly actions: readonly UnitAction[]
  readonly locks: readonly ItemAddress[]
  /** As on the wire. */
  readonly predicates: readonly object[]
  /** The actions as on the wire, if the store asks for them. */
  wireActions(): readonly object[]
}

export interface ItemAddress {
  readonly table: string
  /** The key attributes and nothing else. */
  readonly key: Item
}

/** Names one state of an item: a timestamp, or the id of its writer. Equal versions are the same state. */
export type Version = string | number

/** An item as it was read; neither `item` nor `version` if there is none. */
export interface ReadItem {
  readonly item?: Item
  readonly version?: Version
  /** The size of the item, where the endpoint tells. */
  readonly bytes?: number
  /** Where a store in this process has found it, or would have: of use to that store alone. */
  readonly place?: unknown
}

/** A single item that was read, or found absent. */
export interface ReadEntry extends ItemAddress {
  readonly version?: Version
  /** The item itself, where an endpoint has no versions to compare. */
  readonly item?: Item
  /** As in ReadItem. */
  readonly place?: unknown
  /** The position of the action on the same item, if there is one; only where there is a `place`. */
  readonly write?: number
}

/** What is to be done with one item; a unit has at most one action for an item. */
export interface UnitAction extends ItemAddress {
  readonly kind: 'put' | 'update' | 'delete' | 'check'
  /** The new item, of a put. */
  readonly item?: Item
  readonly expressions: ActionExpressions
  /** The update of `expressions`, ready to be applied; absent where the caller wrote a text. */
  readonly bound?: BoundUpdate
  /** As in ReadItem, if the item was read. */
  readonly place?: unknown
  /**
   * The condition is not the caller's: it holds if the item is still as it was when several steps were folded into
   * this action. Where it fails, that is a conflict.
   */
  readonly pinned: boolean
  /** By which the unit came to it: for the block of a ledger table. */
  readonly statements?: readonly UnitStatement[]
}

/** A statement of a unit of work. */
export interface UnitStatement {
  /** Its text with `?` for all that may be data. */
  readonly shape: string
  readonly text: string
  /** In the wire's form. */
  readonly parameters?: readonly unknown[]
}

/** Expressions of one action, with names and values that do not clash. */
export interface ActionExpressions {
  readonly update?: string
  readonly condition?: string
  readonly names?: Readonly<Record<string, string>>
  readonly values?: Item
}
