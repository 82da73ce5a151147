// The parameters that expressions replaced: Expected, QueryFilter, ScanFilter and KeyConditions, AttributeUpdates and
// AttributesToGet. All become the trees that expressions become.
//
// They know attributes, not paths: `a.b` is the name of an attribute here.
import { validationError } from '../../model/errors.js'
import { checkAttributeName, parseAttributeValue } from '../../model/parse-value.js'
import { typeOf, type AttributeType, type AttributeValue } from '../../model/value.js'
import type { BoundSortCondition, KeyConditions, SortOperator } from '../bind/key-condition.js'
import {
  checkOperands,
  enumError,
  INVALID,
  operatorOf,
  valueListOf,
  type ComparisonOperator,
} from './legacy-validation.js'
import type {
  Comparator,
  ConditionNode,
  FunctionNode,
  PathNode,
  UpdateAction,
  ValueNode,
} from '../parse/tree.js'
import type { Bindings, BoundCondition, BoundProjection, BoundUpdate } from '../parse/types.js'

/** `Expected` with `ConditionalOperator`; undefined if there is nothing to check. */
export function conditionOfExpected(
  expected: unknown,
  conditionalOperator: unknown,
): BoundCondition | undefined {
  if (expected === undefined && conditionalOperator === undefined) return undefined
  const draft = new Draft()
  const terms = entriesOf(expected).map(([name, json]) => {
    const { operator, values } = expectationOf(name, json)
    return draft.condition(name, operator, values)
  })
  return draft.junction(terms, conditionalOperator)
}

/** `QueryFilter` or `ScanFilter` with `ConditionalOperator`. */
export function conditionOfFilter(
  filter: unknown,
  conditionalOperator: unknown,
  parameter: 'QueryFilter' | 'ScanFilter',
): BoundCondition | undefined {
  const draft = new Draft()
  const terms = entriesOf(filter).map(([name, json]) => {
    const { operator, values } = filterOf(name, json, parameter)
    return draft.condition(name, operator, values)
  })
  return draft.junction(terms, conditionalOperator)
}

/** What KeyConditions say, whatever the key of the table is. */
export function keyConditionsOfOlder(keyConditions: unknown): KeyConditions {
  const conditions = new Map<string, BoundSortCondition | 'not indexable'>()
  for (const [name, json] of entriesOf(keyConditions)) {
    const { operator, values } = filterOf(name, json, 'KeyConditions')
    const op = KEY_OPERATORS.get(operator)
    conditions.set(name, op === undefined ? 'not indexable' : { op, values })
  }
  if (conditions.size === 0) throw validationError('Conditions can be of length 1 or 2 only')
  return conditions
}

export function updateOfAttributeUpdates(attributeUpdates: unknown): BoundUpdate {
  const draft = new Draft()
  const actions = entriesOf(attributeUpdates).map(([name, json]): UpdateAction => {
    const given = json.Value !== undefined && json.Value !== null
    const value = given ? parseAttributeValue(json.Value) : undefined
    const action = actionOf(name, json, value)
    const path = draft.path(name)
    if (value === undefined) return { type: 'remove', path }
    return { type: action, path, value: draft.value(value) }
  })
  return { tree: { dialect: 'AttributeUpdates', actions }, bindings: draft.bindings }
}

export function projectionOfAttributesToGet(attributesToGet: readonly string[]): BoundProjection {
  const draft = new Draft()
  const seen = new Set<string>()
  const paths = attributesToGet.map((name) => {
    checkAttributeName(name)
    if (seen.has(name)) throw validationError(`${INVALID}Duplicate value in attribute name: ${name}`)
    seen.add(name)
    return draft.path(name)
  })
  return { tree: { paths }, bindings: draft.bindings }
}

type Json = Readonly<Record<string, unknown>>

/** Builds a tree together with the names and values that it refers to. */
class Draft {
  readonly #names = new Map<string, string>()
  readonly #values = new Map<string, AttributeValue>()
  readonly bindings: Bindings = { names: this.#names, values: this.#values }

  path(name: string): PathNode {
    const placeholder = `#${this.#names.size}`
    this.#names.set(placeholder, name)
    return { type: 'path', steps: [placeholder] }
  }

  value(value: AttributeValue): ValueNode {
    const name = `:${this.#values.size}`
    this.#values.set(name, value)
    return { type: 'value', name }
  }

  condition(name: string, operator: ComparisonOperator, list: readonly AttributeValue[]): ConditionNode {
    const path = this.path(name)
    const values = list.map((value) => this.value(value))
    const call = (functionName: string): FunctionNode => ({
      type: 'function',
      name: functionName,
      args: [path, ...values],
    })
    switch (operator) {
      case 'NULL':
        return call('attribute_not_exists')
      case 'NOT_NULL':
        return call('attribute_exists')
      case 'BEGINS_WITH':
        return call('begins_with')
      case 'CONTAINS':
        return call('contains')
      case 'NOT_CONTAINS': {
        // Unlike NOT contains(a, b): false if there is no such attribute.
        const exists: FunctionNode = { type: 'function', name: 'attribute_exists', args: [path] }
        return { type: 'and', terms: [exists, { type: 'not', term: call('contains') }] }
      }
      case 'IN':
        return { type: 'in', operand: path, list: values }
      case 'BETWEEN':
        return { type: 'between', operand: path, lower: values[0]!, upper: values[1]! }
      case 'EQ':
      case 'NE':
      case 'LT':
      case 'LE':
      case 'GT':
      case 'GE':
        return { type: 'compare', operator: COMPARATORS[operator], left: path, right: values[0]! }
    }
  }

  junction(terms: readonly ConditionNode[], conditionalOperator: unknown): BoundCondition | undefined {
    if (conditionalOperator !== undefined && conditionalOperator !== null) {
      if (conditionalOperator !== 'AND' && conditionalOperator !== 'OR')
        throw enumError('conditionalOperator', conditionalOperator, ['OR', 'AND'])
      if (terms.length === 0)
        throw validationError('ConditionalOperator cannot be used without Filter or Expected')
      if (terms.length === 1)
        throw validationError(
          'ConditionalOperator can only be used when Filter or Expected has two or more elements',
        )
    }
    if (terms.length === 0) return undefined
    const type = conditionalOperator === 'OR' ? 'or' : 'and'
    return { tree: terms.length === 1 ? terms[0]! : { type, terms }, bindings: this.bindings }
  }
}

const COMPARATORS: Readonly<Record<'EQ' | 'NE' | 'LT' | 'LE' | 'GT' | 'GE', Comparator>> = {
  EQ: '=',
  NE: '<>',
  LT: '<',
  LE: '<=',
  GT: '>',
  GE: '>=',
}
const KEY_OPERATORS: ReadonlyMap<ComparisonOperator, SortOperator> = new Map([
  ['EQ', '='],
  ['LT', '<'],
  ['LE', '<='],
  ['GT', '>'],
  ['GE', '>='],
  ['BETWEEN', 'BETWEEN'],
  ['BEGINS_WITH', 'begins_with'],
])

interface Expectation {
  readonly operator: ComparisonOperator
  readonly values: readonly AttributeValue[]
}

function entriesOf(json: unknown): readonly (readonly [string, Json])[] {
  const entries =
    json === undefined || json === null ? [] : Object.entries(json as Readonly<Record<string, Json>>)
  for (const [name] of entries) checkAttributeName(name)
  return entries.map(([name, value]) => [name, value ?? {}] as const)
}

function filterOf(
  name: string,
  json: Json,
  parameter: 'QueryFilter' | 'ScanFilter' | 'KeyConditions',
): Expectation {
  const field = `${parameter.charAt(0).toLowerCase()}${parameter.slice(1)}.${name}.member.comparisonOperator`
  const operator = operatorOf(json.ComparisonOperator, field)
  const values = valueListOf(json.AttributeValueList)
  checkOperands(operator, values)
  return { operator, values }
}

function expectationOf(name: string, json: Json): Expectation {
  const has = (member: string): boolean => json[member] !== undefined && json[member] !== null
  const refuse = (why: string): Error => validationError(`${INVALID}${why} for Attribute: ${name}`)
  if (has('AttributeValueList') && has('Value'))
    throw refuse('Value and AttributeValueList cannot be used together')
  const values = has('Value') ? [parseAttributeValue(json.Value)] : valueListOf(json.AttributeValueList)
  if (has('ComparisonOperator')) {
    const operator = operatorOf(json.ComparisonOperator, `expected.${name}.member.comparisonOperator`)
    if (has('Exists')) throw refuse('Exists and ComparisonOperator cannot be used together')
    const needsNone = operator === 'NULL' || operator === 'NOT_NULL'
    if (!needsNone && !has('AttributeValueList') && !has('Value'))
      throw refuse(`Value or AttributeValueList must be used with ComparisonOperator: ${operator}`)
    checkOperands(operator, values)
    return { operator, values }
  }
  if (has('AttributeValueList')) throw refuse('AttributeValueList can only be used with a ComparisonOperator')
  if (json.Exists === false) {
    if (has('Value')) throw refuse('Value cannot be used when Exists is false')
    return { operator: 'NULL', values }
  }
  if (!has('Value')) throw refuse(`Value must be provided when Exists is ${has('Exists') ? 'true' : 'null'}`)
  return { operator: 'EQ', values }
}

const ADDED: readonly AttributeType[] = ['N', 'SS', 'NS', 'BS', 'L']
const DELETED: readonly AttributeType[] = ['SS', 'NS', 'BS']

function actionOf(name: string, json: Json, value: AttributeValue | undefined): 'set' | 'add' | 'delete' {
  const action = json.Action ?? 'PUT'
  if (action !== 'PUT' && action !== 'ADD' && action !== 'DELETE')
    throw enumError(`attributeUpdates.${name}.member.action`, action, ['ADD', 'PUT', 'DELETE'])
  if (value === undefined) {
    if (action === 'DELETE') return 'delete'
    throw validationError(`${INVALID}Only DELETE action is allowed when no attribute value is specified`)
  }
  const type = typeOf(value)
  if (action === 'DELETE' && !DELETED.includes(type))
    throw validationError(`${INVALID}DELETE action with value is not supported for the type ${type}`)
  if (action === 'ADD' && !ADDED.includes(type))
    throw validationError(`${INVALID}ADD action is not supported for the type ${type}`)
  return action === 'PUT' ? 'set' : action === 'ADD' ? 'add' : 'delete'
}
