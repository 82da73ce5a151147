// What PutItem, UpdateItem and DeleteItem share: the parameters around the write, and the answer.
import {
  checkExpressionParameters,
  comparisonOperators,
  conditionOfExpected,
  openExpressions,
  updateOfAttributeUpdates,
} from '../../expression/expression.js'
import type { BoundCondition, BoundUpdate } from '../../expression/parse/types.js'
import {
  CONDITION_FAILED_MESSAGE,
  DynamoError,
  ItemText,
  transactionConflict,
  validationError,
} from '../../model/errors.js'
import { attribute, type Item } from '../../model/value.js'
import {
  consumedByOutcome,
  consumedCapacity,
  isCapacityWanted,
  returnConsumedCapacityShape,
} from '../request/capacity.js'
import type { Input, RouterContext, Table } from '../request/context.js'
import { furtherMembers, joinReply } from '../request/reply.js'
import type { Reply } from '../request/router.js'
import { tableNameShape, type RequestShape } from '../shapes/shape.js'
import type { ItemRecord, WriteOutcome, WriteRequest } from '../../storage/contract/storage-node.js'

const any: RequestShape = { kind: 'any' }

export const conditionalOperatorShape: RequestShape = {
  kind: 'string',
  values: ['OR', 'AND'],
  // With the slip of the service.
  newerConstraint: 'Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]',
}

export const comparisonOperatorShape: RequestShape = { kind: 'string', values: comparisonOperators }

const expectedShape: RequestShape = {
  kind: 'map',
  member: {
    kind: 'struct',
    className: 'com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue',
    members: {
      AttributeValueList: { kind: 'list', member: any },
      ComparisonOperator: comparisonOperatorShape,
      Exists: { kind: 'boolean' },
      Value: any,
    },
  },
}

/** Members that every single-item write has. */
export const writeMembers: Readonly<Record<string, RequestShape>> = {
  ReturnConsumedCapacity: returnConsumedCapacityShape,
  TableName: tableNameShape,
  ConditionalOperator: conditionalOperatorShape,
  Expected: expectedShape,
  ReturnValues: {
    kind: 'string',
    values: ['ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW'],
    // With the slip of the service.
    newerConstraint:
      'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]',
  },
  ReturnItemCollectionMetrics: { kind: 'string', values: ['SIZE', 'NONE'] },
  ReturnValuesOnConditionCheckFailure: { kind: 'string', values: ['ALL_OLD', 'NONE'] },
  ConditionExpression: { kind: 'string' },
  ExpressionAttributeValues: { kind: 'map', member: any },
  ExpressionAttributeNames: { kind: 'map', member: { kind: 'string' } },
}

export function refuseUpdateReturnValues(input: Input): void {
  const wanted = input['ReturnValues']
  if (wanted !== undefined && wanted !== null && wanted !== 'ALL_OLD' && wanted !== 'NONE') {
    throw validationError('ReturnValues can only be ALL_OLD or NONE')
  }
}

/** Sends the write to its node and makes the answer; `attributesOf` gives the returned image as JSON text. */
export async function runWrite(
  context: RouterContext,
  table: Table,
  input: Input,
  request: WriteRequest,
  attributesOf: (outcome: WriteOutcome & { verdict: 'done' }) => Uint8Array | string | undefined,
): Promise<Reply> {
  const wanted = input['ReturnValues'] ?? 'NONE'
  const outcome = await doWrite(
    context,
    input,
    wanted === 'NONE' ? request : { ...request, answersImage: true },
  )
  const attributes = attributesOf(outcome)
  const further = furtherMembers({
    ConsumedCapacity: writeCapacity(table, input, request, outcome),
    ItemCollectionMetrics: collectionMetrics(table, input, request.keyAttributes),
  })
  if (attributes === undefined) return further === '' ? EMPTY : Buffer.from(`{${further.slice(1)}}`)
  return joinReply(['{"Attributes":', attributes, further, '}'])
}

/** Sends the write to its node; throws what refuses it. */
export async function doWrite(
  context: RouterContext,
  input: Input,
  request: WriteRequest,
): Promise<WriteOutcome & { verdict: 'done' }> {
  const looksAtImages = request.answersImage === true || wantsImages(input)
  const node = context.nodeOf(request.key.hash)
  const outcome = await node.write(request, looksAtImages ? 'images' : 'verdict')
  switch (outcome.verdict) {
    case 'invalid':
      throw validationError(outcome.message)
    case 'conflict':
      throw transactionConflict()
    case 'condition-failed':
      throw conditionFailed(input, outcome.current)
    case 'done':
      context.coordinator.clock.witness(outcome.timestamp)
      return outcome
  }
}

const EMPTY = Buffer.from('{}')

/** For what the write cost, or for what it was refused upon. */
const wantsImages = (input: Input): boolean =>
  isCapacityWanted(input['ReturnConsumedCapacity']) ||
  input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD'

function conditionFailed(input: Input, current: ItemRecord | undefined): DynamoError {
  const wanted = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' && current !== undefined
  return new DynamoError(
    'ConditionalCheckFailedException',
    CONDITION_FAILED_MESSAGE,
    wanted ? { Item: new ItemText(current.json) } : {},
  )
}

export function writeCapacity(
  table: Table,
  input: Input,
  request: WriteRequest,
  outcome: WriteOutcome & { verdict: 'done' },
): object | undefined {
  const detail = input['ReturnConsumedCapacity']
  if (!isCapacityWanted(detail)) return undefined
  return consumedCapacity(detail, table.name, consumedByOutcome(request.table, outcome))
}

/** Only tables with local indexes have item collections; sizes are estimates, as they are in DynamoDB. */
export function collectionMetrics(table: Table, input: Input, keyAttributes: Item): object | undefined {
  if (input['ReturnItemCollectionMetrics'] !== 'SIZE') return undefined
  if (!table.shape.indexes.some((index) => index.kind === 'local')) return undefined
  const name = table.shape.key.partition.name
  return { ItemCollectionKey: { [name]: attribute(keyAttributes, name) }, SizeEstimateRangeGB: [0, 1] }
}

// The expressions of a single-item write, or the older parameters that mean the same. What is wrong whatever the table
// is, is refused here.

/** Refuses parameters that do not go together; DynamoDB looks at this before anything else. */
export function checkConditionParameters(input: Input): void {
  checkExpressionParameters(input, {
    expressions: ['ConditionExpression'],
    others: ['Expected', 'ConditionalOperator'],
  })
}

/** The condition of a PutItem or DeleteItem. */
export function openCondition(input: Input, levelsMore?: number): BoundCondition | undefined {
  const text = input['ConditionExpression']
  if (typeof text !== 'string') return conditionOfExpected(input['Expected'], input['ConditionalOperator'])
  const expressions = openExpressions(input, levelsMore)
  const condition = expressions.condition(text, 'ConditionExpression')
  expressions.finish()
  return condition
}

export function checkUpdateParameters(input: Input): void {
  checkExpressionParameters(input, {
    expressions: ['UpdateExpression', 'ConditionExpression'],
    others: ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
  })
}

export interface UpdateExpressions {
  readonly update: BoundUpdate
  readonly condition: BoundCondition | undefined
}

/** An update without either parameter only makes sure that the item is there. */
export function openUpdate(input: Input, levelsMore?: number): UpdateExpressions {
  const updateText = input['UpdateExpression']
  const conditionText = input['ConditionExpression']
  const expressions =
    typeof updateText === 'string' || typeof conditionText === 'string'
      ? openExpressions(input, levelsMore)
      : undefined
  const update =
    typeof updateText === 'string' && expressions !== undefined
      ? expressions.update(updateText)
      : updateOfAttributeUpdates(input['AttributeUpdates'] ?? {})
  const condition =
    typeof conditionText === 'string' && expressions !== undefined
      ? expressions.condition(conditionText, 'ConditionExpression')
      : conditionOfExpected(input['Expected'], input['ConditionalOperator'])
  expressions?.finish()
  return { update, condition }
}
