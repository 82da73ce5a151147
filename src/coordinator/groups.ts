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

const SLOT_DRAWS_MAX = 200
/** Odd, and about 2^32 divided by the golden ratio: a few steps reach every part of the range and every remainder. */
const SLOT_STEP = 0x9e3779b1

/** A slot for a transaction without token, if possible one for which that holds. */
export function randomSlot(runtime: Runtime, isWanted: (slot: LedgerSlot) => boolean): LedgerSlot {
  // A slot's first digits say where it lives; the others make it unique.
  const digits = hex(runtime, 16)
  const rest = digits.slice(8)
  let slot = digits as LedgerSlot
  let first = Number.parseInt(digits.slice(0, 8), 16)
  for (let draws = 1; draws < SLOT_DRAWS_MAX && !isWanted(slot); draws++) {
    first = (first + SLOT_STEP) >>> 0
    slot = (first.toString(16).padStart(8, '0') + rest) as LedgerSlot
  }
  return slot
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
