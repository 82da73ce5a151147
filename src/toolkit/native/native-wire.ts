// What a unit has done, in the members of Seriatim's own operations (docs/reference/wire.md).
import type { UnitAction, ItemAddress, UnitRangeEntry, UnitRange, CommitWork } from '../unit/protocol.js'

export type Wire = Record<string, unknown>

export const addressInput = ({ table, key }: ItemAddress): Wire => ({ TableName: table, Key: key })

export function readInput({ table, key, version }: CommitWork['reads'][number]): Wire {
  return version === undefined
    ? { TableName: table, Key: key }
    : { TableName: table, Key: key, Version: version }
}

export function rangeInput({ table, index, keyCondition, filter, names, values, reverse }: UnitRange): Wire {
  const input: Wire = { TableName: table }
  if (index !== undefined) input['IndexName'] = index
  if (keyCondition !== undefined) input['KeyConditionExpression'] = keyCondition
  if (filter !== undefined) input['FilterExpression'] = filter
  if (names !== undefined) input['ExpressionAttributeNames'] = names
  if (values !== undefined) input['ExpressionAttributeValues'] = values
  if (keyCondition !== undefined) input['ScanIndexForward'] = !reverse
  return input
}

export function predicateInput(range: UnitRangeEntry): Wire {
  const input = rangeInput(range)
  if (range.end !== undefined) input['LastEvaluatedKey'] = range.end
  return input
}

export function actionInput(action: UnitAction): Wire {
  const element = elementOf(action)
  if (action.statements !== undefined)
    element['Statements'] = action.statements.map(({ shape, text, parameters }) => ({
      Shape: shape,
      Text: text,
      ...(parameters && { Parameters: parameters }),
    }))
  return element
}

function elementOf({ kind, table, key, item, expressions, pinned }: UnitAction): Wire {
  const { update, condition, names, values } = expressions
  const input: Wire = kind === 'put' ? { TableName: table, Item: item } : { TableName: table, Key: key }
  if (update !== undefined) input['UpdateExpression'] = update
  if (condition !== undefined) {
    input['ConditionExpression'] = condition
    // What it failed on is told with the failure, so that nobody has to read it again.
    if (!pinned) input['ReturnValuesOnConditionCheckFailure'] = 'ALL_OLD'
  }
  if (names !== undefined) input['ExpressionAttributeNames'] = names
  if (values !== undefined) input['ExpressionAttributeValues'] = values
  switch (kind) {
    case 'put':
      return { Put: input }
    case 'update':
      return { Update: input }
    case 'delete':
      return { Delete: input }
    case 'check':
      return { ConditionCheck: input }
  }
}
