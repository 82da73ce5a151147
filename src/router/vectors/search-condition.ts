// SearchConditionExpression: equalities on attributes of the search schema, joined by AND.
import { evaluateCondition, resolvePath } from '../../expression/expression.js'
import type { ConditionNode } from '../../expression/parse/tree.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { validationError } from '../../model/errors.js'
import type { VectorShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'

export type SearchCondition = (item: Item) => boolean

/** The condition as the index can be searched by it. */
export function searchConditionOf(
  bound: BoundCondition | undefined,
  { search }: VectorShape,
): SearchCondition | undefined {
  const hash = search.find(({ kind }) => kind === 'hash')
  if (bound === undefined) {
    if (hash !== undefined) throw hashMissing()
    return undefined
  }
  const names = equalities(bound)
  for (const name of names) {
    if (search.some((each) => each.name === name)) continue
    throw validationError(
      `SearchConditionExpression must not contain any attributes that is not in SearchSchema. Invalid attribute: ${name}`,
    )
  }
  if (hash !== undefined && !names.includes(hash.name)) throw hashMissing()
  return (item) => evaluateCondition(bound, item)
}

const hashMissing = (): Error =>
  validationError('SearchConditionExpression must be provided when SearchSchema has a HASH key')

const invalidComparator = (): Error =>
  validationError('Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression')

/** The names that it compares; throws for everything but equalities. */
function equalities({ tree, bindings }: BoundCondition): readonly string[] {
  const terms: ConditionNode[] = [tree]
  const names: string[] = []
  for (let term = terms.pop(); term !== undefined; term = terms.pop()) {
    if (term.type === 'and') {
      terms.push(...term.terms.toReversed())
      continue
    }
    if (term.type !== 'compare' || term.operator !== '=') throw invalidComparator()
    const path = [term.left, term.right].find((operand) => operand.type === 'path')
    const value = [term.left, term.right].find((operand) => operand.type === 'value')
    if (path?.type !== 'path' || value === undefined) throw invalidComparator()
    const [name, ...deeper] = resolvePath(path, bindings.names)
    if (deeper.length > 0) throw invalidComparator()
    names.push(String(name))
  }
  return names
}
