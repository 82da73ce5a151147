// A transaction taken apart by node, and put together again.
import type { ItemRef, Participant } from '../ledger/ledger.js'

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
