// Where items and ledger slots live, what one atomic step spans, and slots that are to live somewhere.
//
// A node in this process carries out a step on all of its items at once. A node on a foreign store may have many partitions
// and a compare-and-set on one: the items of a transaction then share a node, but no step. So the coordinator asks both.
import type { CoordinatedNode, LocatedPredicate } from './coordinator.js'
import type { ItemRef, Participant } from '../ledger/ledger.js'
import { type LedgerSlot, type SpaceId, type TxId, ledgerSlot, txId } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'
import type { Action, PredicateVerdict, PrepareReply } from '../storage/contract/transactions.js'
import type { PredicateCheck } from '../storage/contract/units.js'
import { createHash } from 'node:crypto'
import type { Runtime } from '../runtime/runtime.js'

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

// Slots of the ledger, and the ids of transactions in them.
//
//   32 digits: where it lives (8) | the time (14) | chance (10)      without a token
//   32 digits of a digest of the token                               with one
//   a transaction's id: its slot, and 16 digits that make the attempt unique

/** Where the ledger keeps the transactions of a client token. */
export const tokenSlot = (token: string): LedgerSlot =>
  ledgerSlot(createHash('sha256').update(token).digest('hex').slice(0, 32))

const PLACE_DIGITS = 8
const TIME_DIGITS = 14
const DRAWS_MAX = 200
/** Odd, and about 2^32 divided by the golden ratio: a few steps reach every part of the range and every remainder. */
const STEP = 0x9e3779b1

/**
 * Slots for transactions without a token. Those of one coordinator at one node follow each other, and so do their records
 * in the node's index: many share a page.
 */
export class Slots {
  readonly #runtime: Runtime
  readonly #placement: Pick<Placement, 'ledgerNodeOf'>
  /** The digits that lead to each node. */
  readonly #places = new Map<number, string>()

  constructor(runtime: Runtime, placement: Pick<Placement, 'ledgerNodeOf'>) {
    this.#runtime = runtime
    this.#placement = placement
  }

  /** A new slot, if possible one whose record that node keeps. */
  at(node: number): LedgerSlot {
    const micros = Math.max(0, Math.floor(this.#runtime.clock.nowMicros()))
    const time = micros.toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS)
    return (this.#placeOf(node) + time + hex(this.#runtime, 5)) as LedgerSlot
  }

  #placeOf(node: number): string {
    const known = this.#places.get(node)
    if (known !== undefined) return known
    let place = hex(this.#runtime, PLACE_DIGITS / 2)
    const rest = '0'.repeat(32 - PLACE_DIGITS)
    const leadsThere = (): boolean => this.#placement.ledgerNodeOf((place + rest) as LedgerSlot) === node
    for (let draws = 1; draws < DRAWS_MAX && !leadsThere(); draws++) {
      const next = (Number.parseInt(place, 16) + STEP) >>> 0
      place = next.toString(16).padStart(PLACE_DIGITS, '0')
    }
    this.#places.set(node, place)
    return place
  }
}

/** A transaction that nobody will ever look for. */
export function passingAttempt(runtime: Runtime): TxId {
  const digits = hex(runtime, 24)
  return txId(digits.slice(0, 32) as LedgerSlot, digits.slice(32))
}

/** One more attempt in a slot: unique for ever. */
export const newAttempt = (runtime: Runtime, slot: LedgerSlot): TxId => txId(slot, hex(runtime, 8))

function hex(runtime: Runtime, count: number): string {
  const { buffer, byteOffset } = runtime.randomBytes(count)
  return Buffer.from(buffer, byteOffset, count).toString('hex')
}
