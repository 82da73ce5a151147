// Key attributes in expressions: they are scalars, they are not updated, and a filter does not look at them.
import { validationError } from '../../model/errors.js'
import { isKeyName, keyParts, type IndexShape, type KeySchema } from '../../model/table.js'
import { typeOf } from '../../model/value.js'
import { resolvePath, type Path } from '../parse/paths.js'
import type { ConditionNode, OperandNode, SetValueNode } from '../parse/tree.js'
import type { BoundCondition, BoundProjection, BoundUpdate } from '../parse/types.js'

/** The full paths that a condition reads, in the order of its text. */
export function conditionAttributes(condition: BoundCondition): readonly Path[] {
  const paths: Path[] = []
  const visit = (node: ConditionNode | OperandNode): void => {
    for (const child of childrenOf(node)) visit(child)
    if (node.type === 'path') paths.push(resolvePath(node, condition.bindings.names))
  }
  visit(condition.tree)
  return paths
}

/** The full paths that an update writes, in the order of its text. */
export function updateTargets(update: BoundUpdate): readonly Path[] {
  return update.tree.actions.map((action) => resolvePath(action.path, update.bindings.names))
}

/** The full paths that the values of an update read. */
export function updateOperands(update: BoundUpdate): readonly Path[] {
  const paths: Path[] = []
  const visit = (node: SetValueNode): void => {
    if (node.type === 'path') paths.push(resolvePath(node, update.bindings.names))
    else if (node.type === 'arithmetic') [node.left, node.right].forEach(visit)
    else if (node.type === 'function') node.args.forEach(visit)
    else if (node.type === 'truth')
      paths.push(...conditionAttributes({ tree: node.term, bindings: update.bindings }))
  }
  for (const action of update.tree.actions) if (action.type === 'set') visit(action.value)
  return paths
}

export function projectionPaths(projection: BoundProjection): readonly Path[] {
  return projection.tree.paths.map((path) => resolvePath(path, projection.bindings.names))
}

/**
 * Refuses a path into a key attribute of the table or of one of its indexes, such as `pk.a`; asked of every expression
 * that may name one.
 */
export function refuseNestedKeys(
  paths: readonly Path[],
  key: KeySchema,
  indexes: readonly IndexShape[] = [],
): void {
  const nested = paths.filter((path) => path.length > 1)
  const ofTable = nested.find((path) => isKey(path, key))
  if (ofTable !== undefined) throw nestedKey('Key', ofTable)
  const ofIndex = nested.find((path) => indexes.some((index) => isKey(path, index.key)))
  if (ofIndex !== undefined) throw nestedKey('IndexKey', ofIndex)
}

const nestedKey = (role: 'Key' | 'IndexKey', [name]: Path): Error =>
  validationError(
    `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${role}: ${name}`,
  )

/** Refuses an update of the item's own key. */
export function refuseKeyUpdate(update: BoundUpdate, key: KeySchema): void {
  const target = updateTargets(update).find((path) => isKey(path, key))
  if (target !== undefined)
    throw validationError(
      `One or more parameter values were invalid: Cannot update attribute ${target[0]}. ` +
        'This attribute is part of the key',
    )
}

/**
 * Refuses AttributeUpdates that take elements of a set away from a key attribute of an index, which is never a set. An
 * UpdateExpression may, where the attribute is absent.
 */
export function refuseSetsInIndexKeys({ tree, bindings }: BoundUpdate, indexes: readonly IndexShape[]): void {
  if (tree.dialect !== 'AttributeUpdates') return
  for (const action of tree.actions) {
    if (action.type !== 'delete') continue
    const path = resolvePath(action.path, bindings.names)
    const value = bindings.values.get(action.value.name)
    const index = indexes.find(({ key }) => isKey(path, key))
    if (path.length > 1 || value === undefined || index === undefined) continue
    const part = keyParts(index.key).find(({ name }) => name === path[0])
    throw validationError(
      `One or more parameter values were invalid: Type mismatch for Index Key ${path[0]} ` +
        `Expected: ${part?.type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
    )
  }
}

/** Refuses a query's filter on the key that the query reads by. */
export function refuseKeyFilter(
  filter: BoundCondition,
  key: KeySchema,
  parameter: 'FilterExpression' | 'QueryFilter',
): void {
  const paths = conditionAttributes(filter)
  if (parameter === 'FilterExpression') refuseNestedKeys(paths, key)
  const path = paths.find((candidate) => isKey(candidate, key))
  if (path !== undefined)
    throw validationError(
      `${parameter === 'FilterExpression' ? 'Filter Expression' : parameter} can only contain ` +
        `non-primary key attributes: Primary key attribute: ${path[0]}`,
    )
}

const isKey = ([name]: Path, key: KeySchema): boolean => isKeyName(key, name)

function childrenOf(node: ConditionNode | OperandNode): readonly (ConditionNode | OperandNode)[] {
  switch (node.type) {
    case 'and':
    case 'or':
      return node.terms
    case 'not':
    case 'truth':
      return [node.term]
    case 'compare':
      return [node.left, node.right]
    case 'between':
      return [node.operand, node.lower, node.upper]
    case 'in':
      return [node.operand, ...node.list]
    case 'function':
      return node.args
    case 'path':
    case 'value':
      return []
  }
}
