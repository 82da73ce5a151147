// The operators of the older parameters, and what values each of them takes.
import { type DynamoError, validationError, serializationError } from '../../model/errors.js'
import { compareValues } from '../../model/compare.js'
import { parseAttributeValue } from '../../model/parse-value.js'
import { typeOf, type AttributeType, type AttributeValue } from '../../model/value.js'

export const INVALID = 'One or more parameter values were invalid: '

/** In the order in which DynamoDB lists them. */
export const comparisonOperators = [
  'IN',
  'NULL',
  'BETWEEN',
  'LT',
  'NOT_CONTAINS',
  'EQ',
  'GT',
  'NOT_NULL',
  'NE',
  'LE',
  'BEGINS_WITH',
  'GE',
  'CONTAINS',
] as const
export type ComparisonOperator = (typeof comparisonOperators)[number]

export function operatorOf(json: unknown, field: string): ComparisonOperator {
  if (json === undefined || json === null)
    throw validationError(
      `1 validation error detected: Value null at '${field}' failed to satisfy constraint: Member must not be null`,
    )
  const operator = comparisonOperators.find((candidate) => candidate === json)
  if (operator === undefined) throw enumError(field, json, comparisonOperators)
  return operator
}

export function valueListOf(json: unknown): readonly AttributeValue[] {
  if (json === undefined || json === null) return []
  if (!Array.isArray(json)) throw serializationError('Unexpected field type')
  return json.map((value: unknown) => parseAttributeValue(value))
}

/** Refuses a wrong number of values, values of several types, and types that the operator does not compare. */
export function checkOperands(operator: ComparisonOperator, values: readonly AttributeValue[]): void {
  const count = values.length
  const expected = COUNTS.get(operator) ?? 1
  if (operator === 'IN' ? count < 1 : count !== expected)
    throw validationError(`${INVALID}Invalid number of argument(s) for the ${operator} ComparisonOperator`)
  const types = values.map(typeOf)
  if (types.some((type) => type !== types[0]))
    throw validationError(`${INVALID}AttributeValues inside AttributeValueList must be of same type`)
  const allowed = TYPES.get(operator)
  const refused = allowed === undefined ? undefined : types.find((type) => !allowed.includes(type))
  if (refused !== undefined)
    throw validationError(
      `${INVALID}ComparisonOperator ${operator} is not valid for ${refused} AttributeValue type`,
    )
  if (operator === 'BETWEEN' && compareValues(values[0]!, values[1]!)! > 0)
    throw validationError(
      'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
    )
}

export const enumError = (field: string, value: unknown, allowed: readonly string[]): DynamoError =>
  validationError(
    `1 validation error detected: Value '${String(value)}' at '${field}' failed to satisfy constraint: ` +
      `Member must satisfy enum value set: [${allowed.join(', ')}]`,
  )

const COUNTS: ReadonlyMap<ComparisonOperator, number> = new Map([
  ['NULL', 0],
  ['NOT_NULL', 0],
  ['BETWEEN', 2],
])

const ORDERED: readonly AttributeType[] = ['S', 'N', 'B']
const TYPES: ReadonlyMap<ComparisonOperator, readonly AttributeType[]> = new Map([
  ['LT', ORDERED],
  ['LE', ORDERED],
  ['GT', ORDERED],
  ['GE', ORDERED],
  ['BETWEEN', ORDERED],
  ['IN', ORDERED],
  ['CONTAINS', [...ORDERED, 'BOOL', 'NULL']],
  ['NOT_CONTAINS', [...ORDERED, 'BOOL', 'NULL']],
  ['BEGINS_WITH', ['S', 'B']],
])
