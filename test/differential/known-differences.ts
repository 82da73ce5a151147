// Where DynamoDB Local is not the service, or where a difference means nothing. Everything else is a finding.
//
// docs/reference/known-differences.md lists the same; a test compares the two.
import { isDeepStrictEqual } from 'node:util'
import { plainNumbers, plainNumbersInText } from './numbers.js'
import type { Outcome } from './outcome.js'
import type { Request } from './requests.js'
import { type Json, isObject } from './values.js'

export interface Difference {
  readonly request: Request
  readonly seriatim: Outcome
  readonly local: Outcome
}

export interface KnownDifference {
  /** The heading in docs/reference/known-differences.md. */
  readonly title: string
  readonly reason: string
  matches(difference: Difference): boolean
}

const isValidation = ({ name }: Outcome): boolean => name === 'ValidationException'
const says = ({ message = '' }: Outcome, text: string): boolean => message.includes(text)
const sameRule = (one: Outcome, other: Outcome): boolean =>
  generalized(one.message ?? '') === generalized(other.message ?? '')

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    title: 'Malformed requests',
    reason:
      'DynamoDB Local answers some malformed requests with InternalFailure and status 500. The service, and Seriatim, refuse them with status 400.',
    matches: ({ seriatim, local }) => seriatim.status === 400 && local.name === 'InternalFailure',
  },
  {
    title: 'Wrong JSON types',
    reason:
      'The service answers SerializationException before it looks at anything else. DynamoDB Local converts many wrong types (the number 1 where a string is due), or checks other rules first.',
    matches: ({ seriatim }) => seriatim.name === 'SerializationException',
  },
  {
    title: 'Wording of a ValidationException',
    reason:
      'DynamoDB Local words many refusals in its own way, and reports another one where several rules are broken. Seriatim follows the texts and the order of the service. Where both state the same rule, the details are compared.',
    matches: ({ seriatim, local }) =>
      isValidation(seriatim) && isValidation(local) && !sameRule(seriatim, local),
  },
  {
    title: 'Wording where a table is missing or exists',
    reason: 'DynamoDB Local has its own sentences for ResourceNotFoundException and ResourceInUseException.',
    matches: ({ seriatim, local }) =>
      seriatim.name === local.name && (seriatim.name?.startsWith('Resource') ?? false),
  },
  {
    title: 'Rules before state',
    reason:
      'The service refuses what is wrong in the request itself before it looks for the table or evaluates the condition. DynamoDB Local sometimes answers ResourceNotFoundException, ResourceInUseException or ConditionalCheckFailedException first.',
    matches: ({ seriatim, local }) =>
      isValidation(seriatim) &&
      ['ResourceNotFoundException', 'ResourceInUseException', 'ConditionalCheckFailedException'].includes(
        local.name ?? '',
      ),
  },
  {
    title: 'Short table names in requests for items',
    reason:
      'For requests that name a table of one or two characters the service answers ResourceNotFoundException; the limit of three characters holds for the requests that administer tables.',
    matches: ({ seriatim, local }) =>
      seriatim.name === 'ResourceNotFoundException' && says(local, 'Invalid table/index name'),
  },
  {
    title: 'Constraints on members',
    reason:
      'The service checks lengths, ranges and enumerations of every member (an empty AttributesToGet, an unknown ReturnValues). DynamoDB Local accepts some that break them.',
    matches: ({ seriatim, local }) =>
      (says(seriatim, 'detected: Value') || says(seriatim, 'Member must satisfy enum value set')) &&
      local.status === 200,
  },
  {
    title: 'Names and values without an expression',
    reason:
      'The service refuses ExpressionAttributeNames and ExpressionAttributeValues, even empty ones, where no expression could use them. DynamoDB Local accepts empty ones.',
    matches: ({ seriatim, local }) =>
      says(seriatim, 'can only be specified when using expressions') && local.status === 200,
  },
  {
    title: 'Empty older parameters beside expressions',
    reason:
      'The service counts an older parameter that is there but empty (`AttributeUpdates: {}`) as one that must not be mixed with expressions. DynamoDB Local counts it as absent.',
    matches: ({ seriatim, local }) =>
      says(seriatim, 'Can not use both expression and non-expression') && local.status === 200,
  },
  {
    title: 'The same number key in two spellings',
    reason:
      'Keys that are the same number (1 and 1.0, 0 and -0) are the same key twice in a batch. DynamoDB Local compares their texts.',
    matches: ({ seriatim, local }) => says(seriatim, 'contains duplicates') && local.status === 200,
  },
  {
    title: 'The reserved word `size`',
    reason: 'The service reserves it. DynamoDB Local takes it for a name of an attribute.',
    matches: ({ seriatim, local }) => says(seriatim, 'reserved keyword: size') && local.status !== 500,
  },
  {
    title: 'Which of several names is named',
    reason:
      'Where several paths overlap or conflict, several attributes are not projected, several names are not defined, several types would be valid, or several parameters contradict each other, DynamoDB Local lists them in another order, or names another one.',
    matches: ({ seriatim, local }) =>
      isValidation(seriatim) &&
      sameRule(seriatim, local) &&
      [
        'Two document paths',
        'does not project',
        'is not defined',
        'unused in expressions',
        'must be scalars',
        'Can not use both',
        'valid types',
      ].some((rule) => says(seriatim, rule)),
  },
  {
    title: 'Spelling of numbers',
    reason:
      'The service returns a number without exponent, leading or trailing zeros. DynamoDB Local returns it as it was sent where it is not part of a key.',
    matches: ({ seriatim, local }) =>
      seriatim.status === local.status &&
      isDeepStrictEqual(plainNumbers(seriatim.body), plainNumbers(local.body)) &&
      plainNumbersInText(seriatim.message) === plainNumbersInText(local.message),
  },
  {
    title: 'Nested attributes in UPDATED_OLD and UPDATED_NEW',
    reason:
      'For a path such as `a.b` the service returns only that part of the attribute. DynamoDB Local returns the whole attribute.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'UpdateItem' &&
      request.body.includes('"ReturnValues":"UPDATED_') &&
      seriatim.status === 200 &&
      isPartOf(plainNumbers(seriatim.body), plainNumbers(local.body)),
  },
  {
    title: 'Updates that only take away from an item that is not there',
    reason:
      'REMOVE and DELETE alone, and AttributeUpdates that only delete, do nothing where there is no item, wherever their paths lead. DynamoDB Local creates the item, or refuses a path into it. The documentation of the older DELETE action says that nothing happens, and tests of ScyllaDB against the service find no record of such an update in a stream.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'UpdateItem' &&
      seriatim.status === 200 &&
      !JSON.stringify(seriatim.body).includes('Attributes') &&
      (local.status === 200 || says(local, 'document path provided in the update expression')),
  },
  {
    title: 'The page after the last item',
    reason:
      'A Query or Scan that stops at its Limit returns a LastEvaluatedKey, and the next page may be empty. DynamoDB Local leaves it out where the key condition shows that nothing can follow. Only a Query of a table without a sort key returns none, and takes no ExclusiveStartKey.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'Query' &&
      isDeepStrictEqual(withoutPages(plainNumbers(seriatim.body)), withoutPages(plainNumbers(local.body))),
  },
  {
    title: 'Start keys in segments',
    reason: 'Which segment a key belongs to follows from a hash that the service does not publish.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'Scan' &&
      request.body.includes('"TotalSegments"') &&
      [seriatim, local].some(
        (one) => says(one, 'with correct Segment') || says(one, 'must lie within the segment'),
      ),
  },
  {
    title: 'Start keys on the bound of a key condition',
    reason:
      'A Query may start behind an item that meets its key condition. DynamoDB Local refuses that where the item is the last one that could meet it.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'Query' &&
      seriatim.status === 200 &&
      says(local, 'does not match the range key predicate'),
  },
  {
    title: 'Filters of a Scan on what an index does not hold',
    reason:
      'A Scan of an index that does not hold all attributes sees only those it holds. DynamoDB Local evaluates the filter on the whole item.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'Scan' &&
      /"IndexName":"(localKeys|globalSome)"/.test(request.body) &&
      /"(FilterExpression|ScanFilter)"/.test(request.body) &&
      seriatim.status === 200 &&
      local.status === 200,
  },
  {
    title: 'Definitions of tables that contradict themselves',
    reason:
      'The service refuses throughput for a table or an index that is paid per request, and empty lists of indexes. DynamoDB Local ignores them.',
    matches: ({ request, seriatim, local }) =>
      request.operation === 'CreateTable' &&
      isValidation(seriatim) &&
      local.status === 200 &&
      [
        'Neither ReadCapacityUnits nor WriteCapacityUnits',
        'should not be specified',
        'SecondaryIndexes is empty',
      ].some((rule) => says(seriatim, rule)),
  },
  {
    title: 'Throughput of indexes that are paid per request',
    reason: 'The service describes it as zero. DynamoDB Local leaves it out.',
    matches: ({ request, seriatim, local }) =>
      request.operation.endsWith('Table') &&
      seriatim.status === 200 &&
      isDeepStrictEqual(withoutZeroThroughput(seriatim.body), withoutZeroThroughput(local.body)),
  },
]

export function knownDifference(difference: Difference): KnownDifference | undefined {
  return KNOWN_DIFFERENCES.find((known) => known.matches(difference))
}

/** The rule that a message states, without what it states it of. */
export function generalized(message: string): string {
  return message
    .replaceAll(/"[^"]*"|'[^']*'|\{[^}]*\}|[#:][\w-]+|-?\d+/g, '*')
    .replaceAll(/path one: .*, path two: .*|\[.*\]/g, '*')
    .replaceAll(/((operator|operand type|function|attribute|Key|actual|table): ?)[^,;]+/gi, '$1*')
}

/** The value, or less of it: fewer members of a map, fewer elements of a list. */
function isPartOf(part: Json, whole: Json | undefined): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) && part.every((one) => whole.some((other) => isPartOf(one as Json, other as Json)))
    )
  }
  if (!isObject(part)) return part === whole
  return isObject(whole) && Object.entries(part).every(([name, one]) => isPartOf(one, whole[name]))
}

function withoutPages(body: Json): Json {
  if (!isObject(body)) return body
  const { pages: _, ...rest } = body
  return rest
}

function withoutZeroThroughput(value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => withoutZeroThroughput(one as Json))
  if (!isObject(value)) return value
  const { ProvisionedThroughput, ...rest } = value
  const zero = isObject(ProvisionedThroughput) && ProvisionedThroughput['ReadCapacityUnits'] === 0
  const entries = Object.entries(zero ? rest : value)
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutZeroThroughput(one)]))
}
