// The state of one item, and a write to it, as the rules see them.
//
// README.md in this folder is the place to begin: where each paragraph of the paper lives, where its section 4 is unsafe as
// written, and a worked example. `§3.3` is a section of the paper, `§4 rule 5` one of the seven rules of section 4 in its
// order (section-4.ts), `point 8` one of docs/design.md.
//
// May import: model, expression. Rules are pure: they read no clock and change nothing.
import type { BoundCondition, BoundUpdate } from '../../expression/parse/types.js'
import type { Lsn, Timestamp } from '../../model/brand.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'

/** How an item was last written. Only blind writes may be ordered freely among each other (§4 rule 4, point 8). */
export interface LastWrite {
  readonly kind: 'put' | 'update'
  /** It observed nothing of what was there before. */
  readonly blind: boolean
}

/** One item as stored: its bytes are the wire form, ready for the socket. */
export interface ItemRecord {
  /** When it was last written, in the serial order (§3.2). Every write sets it, single or of a transaction (§3.3). */
  readonly timestamp: Timestamp
  /** By which the second phase of a read transaction knows that nothing has changed (§3.4). */
  readonly lsn: Lsn
  readonly lastWrite: LastWrite
  /** Size as DynamoDB counts it, for capacity and page limits. */
  readonly itemBytes: number
  /** The item as JSON text in UTF-8, `{"id":{"S":"a"}}`. Never mutated. */
  readonly json: Uint8Array
}

/** What a decision sees of an item. */
export interface ItemState {
  readonly record: ItemRecord | undefined
  /** The attributes, parsed on the first call; undefined if there is no item. */
  readonly item: () => Item | undefined
}

export type Mutation =
  /** With its size, and with its JSON text in UTF-8, where that is known already. */
  | { readonly kind: 'put'; readonly item: Item; readonly itemBytes?: number; readonly json?: Uint8Array }
  | { readonly kind: 'update'; readonly update: BoundUpdate }
  | { readonly kind: 'delete' }

/** One single-item write (§2.2). */
export interface WriteRequest {
  readonly table: TableShape
  readonly key: ItemKey
  /** The key attributes, for an update that creates the item. */
  readonly keyAttributes: Item
  readonly mutation: Mutation
  readonly condition?: BoundCondition
  /** The caller is told an image of the item, so that even a put or delete without condition has observed it (point 10). */
  readonly answersImage?: boolean
  /** Its time to live has passed; absent: a request. Only the log of commits tells. */
  readonly cause?: 'expiry'
  /** As in Action. */
  readonly about?: string
}
