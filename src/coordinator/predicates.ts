// The predicates of a unit of work, taken apart by node: each node that may hold entries of a range validates its part.
// A node with predicates and no actions prepares nothing: it only answers, and leaves a floor below which nothing that
// matches can be written any more.
import type { Action, PredicateVerdict, PrepareReply } from '../storage/contract/transactions.js'
import type { PredicateCheck } from '../storage/contract/units.js'
import type { LocatedPredicate } from './coordinator.js'
import type { Group } from './groups.js'

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
