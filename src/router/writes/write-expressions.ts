// The expressions of a single-item write, or the older parameters that mean the same. What is wrong whatever the table
// is, is refused here.
import {
  checkExpressionParameters,
  conditionOfExpected,
  openExpressions,
  updateOfAttributeUpdates,
} from '../../expression/expression.js'
import type { BoundCondition, BoundUpdate } from '../../expression/parse/types.js'
import type { Input } from '../request/context.js'

/** Refuses parameters that do not go together; DynamoDB looks at this before anything else. */
export function checkConditionParameters(input: Input): void {
  checkExpressionParameters(input, {
    expressions: ['ConditionExpression'],
    others: ['Expected', 'ConditionalOperator'],
  })
}

/** The condition of a PutItem or DeleteItem. */
export function openCondition(input: Input): BoundCondition | undefined {
  const text = input['ConditionExpression']
  if (typeof text !== 'string') return conditionOfExpected(input['Expected'], input['ConditionalOperator'])
  const expressions = openExpressions(input)
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
export function openUpdate(input: Input): UpdateExpressions {
  const updateText = input['UpdateExpression']
  const conditionText = input['ConditionExpression']
  const expressions =
    typeof updateText === 'string' || typeof conditionText === 'string' ? openExpressions(input) : undefined
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
