// What a Query, Scan or BatchGetItem asks of items: expressions, or the older parameters that mean the same, and Select.
//
// What is wrong whatever the table is, is refused when they are opened; what needs the table's key, afterwards.
import {
  checkExpressionParameters,
  conditionOfFilter,
  conditionAttributes,
  evaluateCondition,
  keyConditionFor,
  keyConditionsOf,
  keyConditionsOfOlder,
  openExpressions,
  projectionOfAttributesToGet,
  projectionPaths,
  projector,
  refuseKeyFilter,
  refuseNestedKeys,
  type BoundKeyCondition as ExpressedKeyCondition,
  type Path,
  type RequestExpressions,
} from '../../expression/expression.js'
import type { BoundCondition, BoundProjection } from '../../expression/parse/types.js'
import { validationError, RewordedError } from '../../model/errors.js'
import type { FurtherConditions, SortCondition } from '../../model/key-range.js'
import { sortParts, type KeyAttribute, type KeySchema } from '../../model/table.js'
import type { AttributeValue, Item } from '../../model/value.js'
import type { Input } from '../request/context.js'
import { checkKeyValue, type KeyRole } from '../request/keys.js'
import type { ReadTarget } from './read-target.js'
import type { StringShape } from '../shapes/shape.js'

export interface RequestedFilter {
  readonly parameter: 'FilterExpression' | 'QueryFilter' | 'ScanFilter'
  readonly bound: BoundCondition
  readonly matches: (item: Item) => boolean
}

/** ProjectionExpression or AttributesToGet, bound. */
export interface RequestedProjection {
  readonly project: (item: Item) => Item
  readonly paths: readonly Path[]
}

export interface ReadExpressions {
  readonly filter: RequestedFilter | undefined
  readonly projection: RequestedProjection | undefined
}

export interface KeyCondition {
  readonly partition: AttributeValue
  readonly further?: FurtherConditions
  readonly sort?: SortCondition
}

export interface QueryExpressions extends ReadExpressions {
  /** The condition on the key of the table or index that is queried. */
  keyCondition(key: KeySchema): KeyCondition
}

/**
 * What is wrong is told in the order of the service: parameters that must not be combined, the older filter and projection, the start
 * key, the expressions one by one, what a key condition may be, and the older key conditions.
 */
export function openQueryExpressions(input: Input, readStart?: () => void): QueryExpressions {
  checkExpressionParameters(input, {
    expressions: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
    others: ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
  })
  const older = openOlder(input, 'QueryFilter')
  readStart?.()
  const text = input['KeyConditionExpression']
  if (text == null && input['KeyConditions'] == null) {
    throw validationError(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    )
  }
  const expressions = openExpressions(input)
  const bound = typeof text === 'string' ? expressions.condition(text, 'KeyConditionExpression') : undefined
  const opened = open(input, expressions, older)
  // Taken apart before the table is known, so that its own faults are told first.
  const conditions =
    bound === undefined ? keyConditionsOfOlder(input['KeyConditions']) : keyConditionsOf(bound)
  return { ...opened, keyCondition: (key) => checkedKeyCondition(key, keyConditionFor(conditions, key)) }
}

export function openScanExpressions(input: Input, readStart?: () => void): ReadExpressions {
  checkExpressionParameters(input, {
    expressions: ['ProjectionExpression', 'FilterExpression'],
    others: ['AttributesToGet', 'ScanFilter', 'ConditionalOperator'],
  })
  const older = openOlder(input, 'ScanFilter')
  readStart?.()
  return open(input, openExpressions(input), older)
}

const PROJECTION_PARAMETERS = ['ProjectionExpression', 'AttributesToGet', 'ExpressionAttributeNames']

/** The projection of a read of single items, whose keys are read in between. */
export function openProjection(input: Input, readKeys?: () => void): RequestedProjection | undefined {
  if (PROJECTION_PARAMETERS.every((name) => (input[name] ?? undefined) === undefined)) {
    readKeys?.()
    return undefined
  }
  // Reads of single items have no ExpressionAttributeValues: what a client sends under that name is not looked at.
  const { ExpressionAttributeValues: _, ...known } = input
  checkExpressionParameters(known, { expressions: ['ProjectionExpression'], others: ['AttributesToGet'] })
  readKeys?.()
  const older = olderProjection(input)
  const expressions = openExpressions(known)
  const projection = projectionOf(input, expressions) ?? older
  expressions.finish()
  return projection
}

function openOlder(input: Input, parameter: 'QueryFilter' | 'ScanFilter'): ReadExpressions {
  // A Scan is told of its projection first.
  const projection = parameter === 'ScanFilter' ? olderProjection(input) : undefined
  const { [parameter]: given, ConditionalOperator: operator } = input
  const isGiven = given !== undefined || operator !== undefined
  const bound = isGiven ? conditionOfFilter(given, operator, parameter) : undefined
  return {
    filter: bound && requestedFilter(parameter, bound),
    projection: projection ?? olderProjection(input),
  }
}

function olderProjection(input: Input): RequestedProjection | undefined {
  const names = input['AttributesToGet']
  return Array.isArray(names) ? requested(projectionOfAttributesToGet(names as string[])) : undefined
}

/** The expressions, or what the older parameters have said. */
function open(input: Input, expressions: RequestExpressions, older: ReadExpressions): ReadExpressions {
  const text = input['FilterExpression']
  const filter =
    typeof text === 'string'
      ? requestedFilter('FilterExpression', expressions.condition(text, 'FilterExpression'))
      : older.filter
  const projection = projectionOf(input, expressions) ?? older.projection
  expressions.finish()
  return { filter, projection }
}

const requestedFilter = (
  parameter: RequestedFilter['parameter'],
  bound: BoundCondition,
): RequestedFilter => ({
  parameter,
  bound,
  matches: (item) => evaluateCondition(bound, item),
})

function projectionOf(input: Input, expressions: RequestExpressions): RequestedProjection | undefined {
  const text = input['ProjectionExpression']
  return typeof text === 'string' ? requested(expressions.projection(text)) : undefined
}

const requested = (bound: BoundProjection): RequestedProjection => ({
  project: projector(bound),
  paths: projectionPaths(bound),
})

function checkedKeyCondition(
  key: KeySchema,
  { partition, further, sort }: ExpressedKeyCondition,
): KeyCondition {
  checkValues(key.partition, 'partition', [partition])
  const common = further === undefined ? { partition } : { partition, further }
  if (sort === undefined) return common
  const part = sortParts(key)[further?.sortPrefix.length ?? 0]
  if (part !== undefined) checkValues(part, 'sort', sort.values)
  return { ...common, sort: sort as SortCondition }
}

function checkValues(part: KeyAttribute, role: KeyRole, values: readonly AttributeValue[]): void {
  for (const value of values) checkKeyValue(part.name, role, value)
}

/** Refuses a path into a key attribute of the table or of any of its indexes. */
export function refuseNestedKeyPaths(
  target: ReadTarget,
  { filter, projection }: Partial<ReadExpressions>,
): void {
  if (filter === undefined && projection === undefined) return
  const paths = [
    ...(projection?.paths ?? []),
    ...(filter === undefined ? [] : conditionAttributes(filter.bound)),
  ]
  refuseNestedKeys(paths, target.table.shape.key, target.table.shape.indexes)
}

/** Refuses a query's filter on the key that it reads by. */
export function refuseKeysInFilter(target: ReadTarget, { filter }: ReadExpressions): void {
  if (filter !== undefined && filter.parameter !== 'ScanFilter')
    refuseKeyFilter(filter.bound, target.key, filter.parameter)
}

/** Refuses a query's filter on what the index does not hold. */
export function refuseUnheldFilter({ index, heldNames }: ReadTarget, { filter }: ReadExpressions): void {
  if (filter === undefined || index === undefined || heldNames === undefined) return
  const names = new Set(conditionAttributes(filter.bound).map(([name]) => String(name)))
  const missing = [...names].filter((name) => !heldNames.has(name))
  if (missing.length > 0) {
    throw validationError(
      `One or more parameter values were invalid: Secondary index ${index.name} does not project one or more filter attributes: [${missing.join(', ')}]`,
    )
  }
}

// What of each item a Query or Scan answers: Select, and what it may be combined with.

export const selectShape: StringShape = {
  kind: 'string',
  values: ['SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES'],
}

export type Selection =
  | { readonly kind: 'count' }
  /** All that the table or the index holds of an item. */
  | { readonly kind: 'held' }
  /** The whole item, where a local index holds only a part of it. */
  | { readonly kind: 'fetched' }
  | { readonly kind: 'specific'; readonly project: (item: Item) => Item; readonly from: 'held' | 'fetched' }

/** Refuses combinations of parameters that are wrong whatever the table is. */
export function checkSelect(input: Input, operation: 'Query' | 'Scan'): void {
  const wrong = wrongSelect(input)
  if (wrong === undefined) return
  const counted = `1 validation error detected: ${wrong}`
  throw operation === 'Query' ? new RewordedError(counted, wrong) : new RewordedError(wrong, wrong, counted)
}

function wrongSelect(input: Input): string | undefined {
  const select = (input['Select'] ?? undefined) as string | undefined
  const projecting = ['ProjectionExpression', 'AttributesToGet'].find((name) => input[name] != null)
  if (select === 'SPECIFIC_ATTRIBUTES' && projecting === undefined)
    return 'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES'
  if (projecting !== undefined && select !== undefined && select !== 'SPECIFIC_ATTRIBUTES') {
    const wanted = select === 'COUNT' ? 'only the Count' : select
    return `Cannot specify the ${projecting} when choosing to get ${wanted}`
  }
  if (select === 'ALL_PROJECTED_ATTRIBUTES' && input['IndexName'] == null)
    return 'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName'
  return undefined
}

export function selectionOf(
  input: Input,
  target: ReadTarget,
  projection: RequestedProjection | undefined,
): Selection {
  const { index, heldNames } = target
  if (projection !== undefined) {
    const names = new Set(projection.paths.map(([name]) => String(name)))
    const missing = heldNames === undefined ? [] : [...names].filter((name) => !heldNames.has(name))
    if (missing.length > 0 && index?.kind === 'global') {
      throw validationError(
        `One or more parameter values were invalid: Global secondary index ${index.name} does not project [${missing.join(', ')}]`,
      )
    }
    return {
      kind: 'specific',
      project: projection.project,
      from: missing.length === 0 ? 'held' : 'fetched',
    }
  }
  if (input['Select'] === 'COUNT') return { kind: 'count' }
  if (input['Select'] !== 'ALL_ATTRIBUTES' || heldNames === undefined) return { kind: 'held' }
  if (index?.kind === 'global') {
    throw validationError(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ' +
        `${index.name} because its projection type is not ALL`,
    )
  }
  return { kind: 'fetched' }
}
