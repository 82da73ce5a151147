// A transaction taken apart by node, and put together again.
import { createHash } from 'node:crypto'
import type { ItemRef, Participant } from '../ledger/ledger.js'
import { type LedgerSlot, type TxId, ledgerSlot, txId } from '../model/brand.js'
import type { Runtime } from '../runtime/runtime.js'

/** What one node has of a transaction. */
export interface Group<T> {
  readonly node: number
  readonly parts: readonly T[]
  /** Where each part stands in the request. */
  readonly positions: readonly number[]
}

export function groupsOf<T>(parts: readonly T[], nodeOf: (part: T) => number): readonly Group<T>[] {
  const byNode = new Map<number, { node: number; parts: T[]; positions: number[] }>()
  for (const [position, part] of parts.entries()) {
    const node = nodeOf(part)
    let group = byNode.get(node)
    if (group === undefined) byNode.set(node, (group = { node, parts: [], positions: [] }))
    group.parts.push(part)
    group.positions.push(position)
  }
  return [...byNode.values()]
}

/** The answers of the nodes in the order of the request. */
export function inOrder<T, A>(groups: readonly Group<T>[], answers: readonly (readonly A[])[]): readonly A[] {
  const ordered: A[] = []
  for (const [at, group] of groups.entries()) {
    for (const [index, position] of group.positions.entries()) {
      ordered[position] = answers[at]?.[index] as A
    }
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

/** Where the ledger keeps the transactions of a client token. */
export const tokenSlot = (token: string): LedgerSlot =>
  ledgerSlot(createHash('sha256').update(token).digest('hex').slice(0, 32))

export const randomSlot = (runtime: Runtime): LedgerSlot => ledgerSlot(hex(runtime, 16))

/** One more attempt in a slot: unique for ever. */
export const newAttempt = (runtime: Runtime, slot: LedgerSlot): TxId => txId(slot, hex(runtime, 8))

const hex = (runtime: Runtime, bytes: number): string =>
  Buffer.from(runtime.randomBytes(bytes)).toString('hex')
