// The expression language: conditions, filters, key conditions, updates and projections, and the older parameters they
// replaced. This file and types.ts are all that other boxes import.
//
//   request --openExpressions--> names and values, validated
//           --condition, update, ...--> text parsed (cached) --> checked under this request's names and values --> bound
//           --finish--> every name and value was used
//   bound tree + item --evaluateCondition, applyUpdate, project--> answer
//
// Order of validation. DynamoDB first looks at the parameters as such (`checkExpressionParameters`), then at the names
// and values (`openExpressions`), then at the expressions one after the other: UpdateExpression before
// ConditionExpression, KeyConditionExpression before FilterExpression before ProjectionExpression, each to its end; then
// at names and values left over (`finish`); and only with the table's schema at what concerns keys. Of one expression it
// reports, before all else, syntax errors and redundant parentheses as they are met; then, in the order of the text,
// reserved words, functions out of place and list indexes; then what the names and values make wrong.
//
// May import: model.
import { bindCondition } from './bind/bind-condition.js'
import { bindProjection, bindUpdate } from './bind/bind-update.js'
import { keyConditionFor, keyConditionsOf, type BoundKeyCondition } from './bind/key-condition.js'
import { Placeholders } from './bind/placeholders.js'
import { TextCache } from './parse/cache.js'
import { parseCondition } from './parse/parse-condition.js'
import { parseProjection, parseUpdate } from './parse/parse-update.js'
import type { ConditionNode, Parsed, ProjectionNode, UpdateNode } from './parse/tree.js'
import type { BoundCondition, BoundProjection, BoundUpdate } from './parse/types.js'
import { RewordedError, validationError } from '../model/errors.js'
import type { KeySchema } from '../model/table.js'

export { applyUpdate, onlyTakesAway, updatedAttributes } from './evaluate/apply-update.js'
export { updateCharge } from './evaluate/update-charge.js'
export { comparisonsOf, evaluateCondition } from './evaluate/evaluate.js'
export {
  conditionAttributes,
  projectionPaths,
  refuseKeyFilter,
  refuseKeyUpdate,
  refuseNestedKeys,
  refuseSetsInIndexKeys,
  updateOperands,
  updateTargets,
} from './bind/key-attributes.js'
export {
  keyConditionFor,
  keyConditionsOf,
  type BoundKeyCondition,
  type BoundSortCondition,
  type SortOperator,
} from './bind/key-condition.js'
export {
  conditionOfExpected,
  conditionOfFilter,
  keyConditionsOfOlder,
  projectionOfAttributesToGet,
  updateOfAttributeUpdates,
} from './legacy/legacy.js'
export { comparisonOperators } from './legacy/legacy-validation.js'
export { resolvePath, type Path } from './parse/paths.js'
export { plainUpdate, type PlainAction } from './evaluate/plain-update.js'
export { project, projector } from './evaluate/project.js'
export { afterAdd } from './evaluate/sets.js'
export type { ConditionNode, OperandNode, PathNode, SetValueNode, UpdateAction } from './parse/tree.js'

/**
 * The expressions of one request, or of one action of a transaction. Every method throws DynamoDB's
 * ValidationException.
 *
 * @example
 * const expressions = openExpressions({
 *   ExpressionAttributeNames: { '#s': 'status' },
 *   ExpressionAttributeValues: { ':open': { S: 'open' } },
 * })
 * const condition = expressions.condition('#s = :open', 'ConditionExpression')
 * expressions.finish()
 * evaluateCondition(condition, { status: { S: 'open' } }) // true
 */
export function openExpressions(
  input: { readonly ExpressionAttributeNames?: unknown; readonly ExpressionAttributeValues?: unknown },
  /** By which a value may be nested deeper than an item. */
  levelsMore?: number,
): RequestExpressions {
  const placeholders = Placeholders.of(
    input.ExpressionAttributeNames,
    input.ExpressionAttributeValues,
    levelsMore,
  )
  const condition = (text: string, kind: ConditionKind): BoundCondition =>
    bindCondition(
      conditions[kind].get(text, () => parseCondition(text, kind)),
      placeholders,
      kind,
    )
  return {
    condition,
    update: (text) => bindUpdate(updates.get(text, parseUpdate), placeholders),
    projection: (text) => bindProjection(projections.get(text, parseProjection), placeholders),
    keyCondition: (text, schema) =>
      keyConditionFor(keyConditionsOf(condition(text, 'KeyConditionExpression')), schema),
    finish: () => placeholders.refuseUnused(),
  }
}

type ConditionKind =
  'ConditionExpression' | 'FilterExpression' | 'KeyConditionExpression' | 'SearchConditionExpression'

export interface RequestExpressions {
  condition(text: string, kind: ConditionKind): BoundCondition
  update(text: string): BoundUpdate
  projection(text: string): BoundProjection
  /** For the key of the table, or of the index that is queried. */
  keyCondition(text: string, schema: KeySchema): BoundKeyCondition
  /** Refuses names and values that no expression has used. Call it after the last expression. */
  finish(): void
}

// Trees depend on nothing but their text, so that the whole process shares them.
const CACHE_BOUNDS = { entriesMax: 1000, charactersMax: 512 * 1024 }
const conditions: Readonly<Record<ConditionKind, TextCache<Parsed<ConditionNode>>>> = {
  ConditionExpression: new TextCache(CACHE_BOUNDS),
  FilterExpression: new TextCache(CACHE_BOUNDS),
  KeyConditionExpression: new TextCache(CACHE_BOUNDS),
  SearchConditionExpression: new TextCache(CACHE_BOUNDS),
}
const updates = new TextCache<Parsed<UpdateNode>>(CACHE_BOUNDS)
const projections = new TextCache<Parsed<ProjectionNode>>(CACHE_BOUNDS)

// Which parameters a request may combine: expressions or the older parameters, and names and values only with
// expressions. DynamoDB looks at this before it looks at any expression.

/**
 * @example
 * // UpdateItem
 * checkExpressionParameters(request, {
 *   expressions: ['UpdateExpression', 'ConditionExpression'],
 *   others: ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
 * })
 * // Query; for Scan without the key conditions, and ScanFilter for QueryFilter
 * checkExpressionParameters(request, {
 *   expressions: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
 *   others: ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
 * })
 */
export function checkExpressionParameters(
  request: Readonly<Record<string, unknown>>,
  parameters: { readonly expressions: readonly string[]; readonly others: readonly string[] },
): void {
  const given = (name: string): boolean => !isAbsent(request[name])
  const hasOthers = parameters.others.some(given)
  // As nearly all requests are: an expression that may have names and values, or neither of these; and nothing of the older way.
  if (!hasOthers && parameters.expressions.some((name) => name !== 'ProjectionExpression' && given(name)))
    return
  if (!NAMES_AND_VALUES.some(given) && !(hasOthers && parameters.expressions.some(given))) return
  const expressions = parameters.expressions.filter(given)
  // KeyConditions go with a FilterExpression or a ProjectionExpression, only not with a KeyConditionExpression.
  const others = parameters.others
    .filter(given)
    .filter((name) => name !== 'KeyConditions' || given('KeyConditionExpression'))
  if (expressions.length > 0 && others.length > 0)
    throw validationError(
      'Can not use both expression and non-expression parameters in the same request: ' +
        `Non-expression parameters: {${others.join(', ')}} Expression parameters: {${expressions.join(', ')}}`,
    )
  if (given('ExpressionAttributeNames') && expressions.length === 0)
    throw validationError('ExpressionAttributeNames can only be specified when using expressions')
  const withValues = parameters.expressions.filter((name) => name !== 'ProjectionExpression')
  if (given('ExpressionAttributeValues') && !withValues.some(given))
    throw new RewordedError(
      WITHOUT_EXPRESSION,
      `${WITHOUT_EXPRESSION}: ${withValues.join(' and ')} ${withValues.length > 1 ? 'are' : 'is'} null`,
    )
}

const WITHOUT_EXPRESSION = 'ExpressionAttributeValues can only be specified when using expressions'
const NAMES_AND_VALUES = ['ExpressionAttributeNames', 'ExpressionAttributeValues']

const isAbsent = (value: unknown): boolean => value === undefined || value === null
