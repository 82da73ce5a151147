// Which parameters a request may combine: expressions or the older parameters, and names and values only with
// expressions. DynamoDB looks at this before it looks at any expression.
import { RewordedError, validationError } from '../../model/errors.js'

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
  if (NAMES_AND_VALUES.every((name) => isAbsent(request[name]))) {
    const anyOf = (names: readonly string[]): boolean => names.some((name) => !isAbsent(request[name]))
    if (!anyOf(parameters.expressions) || !anyOf(parameters.others)) return
  }
  const given = (name: string): boolean => !isAbsent(request[name])
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
