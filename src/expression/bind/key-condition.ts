// Key conditions: which partition a query reads, and which range of its sort keys.
import { validationError, type DynamoError } from '../../model/errors.js'
import type { KeyAttribute, KeySchema } from '../../model/table.js'
import { typeOf, type AttributeValue } from '../../model/value.js'
import { conditionAttributes, refuseNestedKeys } from './key-attributes.js'
import { resolvePath, type Path } from '../parse/paths.js'
import type { ConditionNode, OperandNode } from '../parse/tree.js'
import type { BoundCondition } from '../parse/types.js'

export type SortOperator = '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with'

export interface BoundSortCondition {
  readonly op: SortOperator
  /** Two for BETWEEN, the lower first; one for every other operator. */
  readonly values: readonly AttributeValue[]
}

export interface BoundKeyCondition {
  readonly partition: AttributeValue
  readonly sort?: BoundSortCondition
}

/** One condition by attribute name; the older KeyConditions may name an operator that no key is ordered by. */
export type KeyConditions = ReadonlyMap<string, BoundSortCondition | 'not indexable'>

/** Takes a bound KeyConditionExpression apart, refusing what no key condition may be. */
export function keyConditionsOf(bound: BoundCondition, schema: KeySchema): KeyConditions {
  refuseNestedKeys(conditionAttributes(bound), schema)
  const conditions = new Map<string, BoundSortCondition>()
  collect(bound.tree, bound, conditions)
  return conditions
}

/** Matches conditions with the key of a table or index. Key elements are checked in the order of the schema. */
export function keyConditionFor(conditions: KeyConditions, schema: KeySchema): BoundKeyCondition {
  if (conditions.size > 2) throw validationError('Conditions can be of length 1 or 2 only')
  const { partition: partitionKey, sort: sortKey } = schema
  if (sortKey === undefined && conditions.size > 1) throw notSupported()
  const partition = conditionOn(partitionKey, conditions)
  if (partition === undefined) throw missing(partitionKey)
  if (partition.op !== '=') throw notSupported()
  const sort = sortKey === undefined ? undefined : conditionOn(sortKey, conditions)
  if (sort !== undefined) return { partition: partition.values[0]!, sort }
  if (sortKey !== undefined && conditions.size > 1) throw missing(sortKey)
  return { partition: partition.values[0]! }
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

const missing = (key: KeyAttribute): DynamoError =>
  validationError(`Query condition missed key schema element: ${key.name}`)
const notSupported = (): DynamoError => validationError('Query key condition not supported')
const invalidOperator = (operator: string): DynamoError =>
  validationError(`Invalid operator used in KeyConditionExpression: ${operator}`)
const invalidCondition = (why: string): DynamoError =>
  validationError(`Invalid condition in KeyConditionExpression: ${why}`)

function conditionOn(key: KeyAttribute, conditions: KeyConditions): BoundSortCondition | undefined {
  const condition = conditions.get(key.name)
  if (condition === 'not indexable')
    throw validationError('Attempted conditional constraint is not an indexable operation')
  if (condition !== undefined) checkValues(condition, key)
  return condition
}

function checkValues(condition: BoundSortCondition, key: KeyAttribute): void {
  for (const value of condition.values) {
    if (typeOf(value) !== key.type)
      throw validationError(
        'One or more parameter values were invalid: Condition parameter type does not match schema type',
      )
    const empty = 'S' in value ? value.S === '' : 'B' in value && value.B === ''
    if (empty)
      throw validationError(
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an ' +
          `empty ${key.type === 'S' ? 'string' : 'binary'} value. Key: ${key.name}`,
      )
  }
}

function collect(
  node: ConditionNode,
  bound: BoundCondition,
  conditions: Map<string, BoundSortCondition>,
): void {
  const leaf = (operator: SortOperator, operands: readonly OperandNode[]): void =>
    addLeaf(operator, operands, bound, conditions)
  switch (node.type) {
    case 'and':
      for (const term of node.terms) collect(term, bound, conditions)
      return
    case 'compare':
      if (node.operator === '<>') throw invalidOperator('<>')
      return leaf(node.operator, [node.left, node.right])
    case 'between':
      return leaf('BETWEEN', [node.operand, node.lower, node.upper])
    case 'function':
      if (node.name !== 'begins_with') throw invalidOperator(node.name)
      return leaf('begins_with', node.args)
    case 'or':
    case 'not':
    case 'in':
      throw invalidOperator(node.type.toUpperCase())
  }
}

function addLeaf(
  operator: SortOperator,
  operands: readonly OperandNode[],
  bound: BoundCondition,
  conditions: Map<string, BoundSortCondition>,
): void {
  if (operands.some((operand) => operand.type === 'function'))
    throw validationError('KeyConditionExpressions cannot contain nested operations')
  if ((operator === 'BETWEEN' || operator === 'begins_with') && operands[0]!.type !== 'path')
    throw invalidCondition(`${operator} operator must have the key attribute as its first operand`)
  const at = operands.findIndex((operand) => operand.type === 'path')
  if (at < 0) throw invalidCondition('No key attribute specified')
  const values: AttributeValue[] = []
  let path: Path | undefined
  for (const operand of operands) {
    if (operand.type === 'value') values.push(bound.bindings.values.get(operand.name)!)
    if (operand.type !== 'path') continue
    if (path !== undefined) throw invalidCondition('Multiple attribute names used in one condition')
    path = resolvePath(operand, bound.bindings.names)
  }
  const name = path![0] as string
  if (path!.length > 1)
    throw validationError('KeyConditionExpressions cannot have conditions on nested attributes')
  if (conditions.has(name))
    throw validationError('KeyConditionExpressions must only contain one condition per key')
  // `:v < sk` is `sk > :v`; only comparisons may have the attribute second.
  const op = at === 0 ? operator : MIRRORED[operator as keyof typeof MIRRORED]
  conditions.set(name, { op, values })
}
