// Where items and ledger slots live, and what one atomic step spans.
//
// A node in this process carries out a step on all of its items at once. A node on a foreign store may have many partitions
// and a compare-and-set on one: the items of a transaction then share a node, but no step. So the coordinator asks both.
import type { CoordinatedNode, LocatedPredicate } from './coordinator.js'
import type { ItemRef, Participant } from '../ledger/ledger.js'
import type { LedgerSlot, SpaceId } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'
import type { Action, PredicateVerdict, PrepareReply } from '../storage/contract/transactions.js'
import type { PredicateCheck } from '../storage/contract/units.js'

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

/** The node that has the items whose partition key has this hash. */
export const nodeByHash =
  <Node>(nodes: readonly Node[], placement: Pick<Placement, 'nodeOf'>) =>
  (hash: number): Node =>
    nodes[placement.nodeOf(hash)] as Node

// A transaction taken apart by node, and put together again.

/** What one node has of a transaction. */
export interface Group<T> {
  readonly node: number
  readonly parts: readonly T[]
  /** Where each part stands in the request. */
  readonly positions: readonly number[]
}

export function groupsOf<T>(parts: readonly T[], nodeOf: (part: T) => number): readonly Group<T>[] {
  const groups: { node: number; parts: T[]; positions: number[] }[] = []
  for (let position = 0; position < parts.length; position++) {
    const part = parts[position] as T
    const node = nodeOf(part)
    let group = groups.find((each) => each.node === node)
    if (group === undefined) groups.push((group = { node, parts: [], positions: [] }))
    group.parts.push(part)
    group.positions.push(position)
  }
  return groups
}

/** The answers of the nodes in the order of the request. */
export function inOrder<T, A>(groups: readonly Group<T>[], answers: readonly (readonly A[])[]): readonly A[] {
  if (groups.length === 1) return answers[0] as readonly A[]
  const ordered: A[] = []
  for (let at = 0; at < groups.length; at++) {
    const { positions } = groups[at] as Group<T>
    for (let index = 0; index < positions.length; index++)
      ordered[positions[index] as number] = answers[at]?.[index] as A
  }
  return ordered
}

export const participantOf = (group: Group<Located>): Participant => ({
  node: group.node,
  items: group.parts.map(itemOf),
})

interface Located {
  readonly table: { readonly space: ItemRef['space'] }
  readonly key: ItemRef['key']
}

const itemOf = ({ table, key }: Located): ItemRef => ({ space: table.space, key })

// The predicates of a unit of work, taken apart by node: each node that may hold entries of a range validates its part.
// A node with predicates and no actions prepares nothing: it only answers, and leaves a floor below which nothing that
// matches can be written any more.

type Predicates = readonly LocatedPredicate[] | undefined

/** With a group, empty perhaps, for every node that is asked. */
export function withPredicateNodes(
  groups: readonly Group<Action>[],
  predicates: Predicates,
): readonly Group<Action>[] {
  if (predicates === undefined || predicates.length === 0) return groups
  const asked = new Set(predicates.flatMap(({ nodes }) => nodes))
  for (const { node } of groups) asked.delete(node)
  return [...groups, ...[...asked].map((node) => ({ node, parts: [], positions: [] }))]
}

/** What a node is asked about, if anything. */
export function predicatesOn(node: number, predicates: Predicates): readonly PredicateCheck[] | undefined {
  const own = predicates?.filter(({ nodes }) => nodes.includes(node)).map(({ check }) => check)
  return own === undefined || own.length === 0 ? undefined : own
}

/** One verdict for each predicate: the first that is not in its favour, whichever node gave it. */
export function predicateVerdicts(
  groups: readonly Group<Action>[],
  replies: readonly (Pick<PrepareReply, 'predicateVerdicts'> | undefined)[],
  predicates: Predicates,
): readonly PredicateVerdict[] {
  return (predicates ?? []).map((predicate, at) => {
    for (const [position, { node }] of groups.entries()) {
      if (!predicate.nodes.includes(node)) continue
      const before = predicates?.slice(0, at).filter(({ nodes }) => nodes.includes(node)).length ?? 0
      const verdict = replies[position]?.predicateVerdicts?.[before]
      if (verdict !== undefined && !predicateHolds(verdict)) return verdict
    }
    return HOLDS
  })
}

export const predicateHolds = ({ verdict }: PredicateVerdict): boolean => verdict === 'holds'

const HOLDS: PredicateVerdict = { verdict: 'holds' }

export function nodeAt(nodes: readonly CoordinatedNode[], position: number): CoordinatedNode {
  const node = nodes[position]
  if (node === undefined) throw new RangeError(`there is no node ${position}`)
  return node
}
