// Where items and ledger slots live, and what one atomic step spans.
//
// A node in this process carries out a step on all of its items at once. A node on a foreign store may have many partitions
// and a compare-and-set on one: the items of a transaction then share a node, but no step. So the coordinator asks both.
import type { LedgerSlot, SpaceId } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'

/** An item of a transaction: an action, or what refers to one. */
export interface LocatedItem {
  readonly key: ItemKey
  readonly space?: SpaceId
  readonly table?: { readonly space: SpaceId }
}

export interface Placement {
  /** Position of the node that has the items whose partition key has this hash. */
  nodeOf(hash: number): number
  /** Position of the node whose part of the ledger has this slot. */
  ledgerNodeOf(slot: LedgerSlot): number
  /**
   * Whether one atomic step spans these items, which are on one node. With a slot: and its record, so that a client token is
   * claimed in the step that carries out what was asked for.
   */
  isOneStep(items: readonly LocatedItem[], slot?: LedgerSlot): boolean
}

const HASHES = 2 ** 32

/**
 * That of nodes which carry out a step on all they have. Each has a contiguous part of the ring.
 *
 * @example
 * localPlacement(4).nodeOf(2 ** 31) // 2
 */
export function localPlacement(nodes: number): Placement {
  const nodeOf = (hash: number): number => Math.floor((hash / HASHES) * nodes)
  return wholeNodes(nodeOf, (slot) => nodeOf(Number.parseInt(slot.slice(0, 8), 16)))
}

/** The same for nodes that share the ring in another way. */
export function wholeNodes(nodeOf: Placement['nodeOf'], ledgerNodeOf: Placement['ledgerNodeOf']): Placement {
  return {
    nodeOf,
    ledgerNodeOf,
    isOneStep: ([first], slot) =>
      slot === undefined || (first !== undefined && ledgerNodeOf(slot) === nodeOf(first.key.hash)),
  }
}
