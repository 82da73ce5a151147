// Key conditions: which partition a query reads, and which range of its sort keys.
import { validationError, type DynamoError } from '../../model/errors.js'
import type { FurtherConditions } from '../../model/key-range.js'
import {
  hasSeveralParts,
  keyParts,
  partitionParts,
  sortParts,
  type KeyAttribute,
  type KeySchema,
} from '../../model/table.js'
import { typeOf, type AttributeValue } from '../../model/value.js'
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
  /** Only where the key has several HASH or RANGE attributes. */
  readonly further?: FurtherConditions
  readonly sort?: BoundSortCondition
}

/** One condition by attribute name; the older KeyConditions may name an operator that no key is ordered by. */
export type KeyConditions = ReadonlyMap<string, BoundSortCondition | 'not indexable'>

/** Takes a bound KeyConditionExpression apart, refusing what no key condition may be, whatever the table is. */
export function keyConditionsOf(bound: BoundCondition): KeyConditions {
  const conditions = new Map<string, BoundSortCondition>()
  collect(bound.tree, bound, conditions)
  return conditions
}

/** Matches conditions with the key of a table or index. Key elements are checked in the order of the schema. */
export function keyConditionFor(conditions: KeyConditions, schema: KeySchema): BoundKeyCondition {
  const parts = keyParts(schema)
  if (conditions.size > parts.length)
    throw validationError(
      `The number of query conditions (${conditions.size}) exceeds the number of key attributes defined in the schema (${parts.length})`,
    )
  if (hasSeveralParts(schema)) return conditionOnSeveral(conditions, schema)
  const { partition: partitionKey, sort: sortKey } = schema
  const partition = conditionOn(partitionKey, conditions)
  if (partition === undefined) throw missing(partitionKey)
  if (partition.op !== '=') throw notSupported()
  const sort = sortKey === undefined ? undefined : conditionOn(sortKey, conditions)
  if (sort !== undefined) return { partition: partition.values[0]!, sort }
  if (sortKey !== undefined && conditions.size > 1) throw missing(sortKey)
  return { partition: partition.values[0]! }
}

/** An equality on every HASH attribute, and on every RANGE attribute before the last that has a condition. */
function conditionOnSeveral(conditions: KeyConditions, schema: KeySchema): BoundKeyCondition {
  const hash = partitionParts(schema)
  const range = sortParts(schema)
  const found = new Map([...hash, ...range].map((part) => [part, conditionOn(part, conditions)]))
  const notEqual = (parts: readonly KeyAttribute[]): string[] =>
    parts.filter((part) => found.get(part)?.op !== '=').map(({ name }) => name)
  const unequalHash = notEqual(hash)
  if (unequalHash.length > 0)
    throw validationError(
      `HASH key attributes ${unequalHash.join(', ')} must have equality conditions specified in the query`,
    )
  const at = range.findLastIndex((part) => found.get(part) !== undefined)
  const unequal = notEqual(range.slice(0, Math.max(at, 0)))
  if (unequal.length > 0)
    throw validationError(
      `RANGE key attributes ${unequal.join(', ')} must have equality conditions specified in the query ` +
        `because a condition is present on key attribute ${range[at]!.name}`,
    )
  if (conditions.size > hash.length + at + 1) throw notSupported()
  const valueOf = (part: KeyAttribute): AttributeValue => found.get(part)!.values[0]!
  const sort = at < 0 ? undefined : found.get(range[at]!)
  return {
    partition: valueOf(hash[0]!),
    further: {
      partition: hash.slice(1).map(valueOf),
      sortPrefix: range.slice(0, Math.max(at, 0)).map(valueOf),
    },
    ...(sort && { sort }),
  }
}

const MIRRORED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

const missing = (key: KeyAttribute): DynamoError =>
  validationError(`Query condition missed key schema element: ${key.name}`)
const notSupported = (): DynamoError => validationError('Query key condition not supported')
const invalid = (why: string): DynamoError => validationError(`Invalid KeyConditionExpression: ${why}`)
const invalidOperator = (operator: string): DynamoError =>
  invalid(`Invalid operator used in KeyConditionExpression: ${operator}`)
const invalidCondition = (why: string): DynamoError =>
  invalid(`Invalid condition in KeyConditionExpression: ${why}`)

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
    throw invalid('KeyConditionExpressions cannot contain nested operations')
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
  if (path!.length > 1) throw invalid('KeyConditionExpressions cannot have conditions on nested attributes')
  if (conditions.has(name)) throw invalid('KeyConditionExpressions must only contain one condition per key')
  // `:v < sk` is `sk > :v`; only comparisons may have the attribute second.
  const op = at === 0 ? operator : MIRRORED[operator as keyof typeof MIRRORED]
  conditions.set(name, { op, values })
}
