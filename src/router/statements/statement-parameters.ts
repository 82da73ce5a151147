// Parameters of statements. DynamoDB reads their numbers as Java does: one whose exponent has more than 32 bits is no number.
import { DynamoError } from '../../model/errors.js'
import { parseAttributeValue } from '../../model/parse-value.js'
import { toldInOlderWords } from '../request/wording.js'
import { valueBytes, type AttributeValue } from '../../model/value.js'
import type { Input, RouterContext } from '../request/context.js'
import { TurnBudget } from '../request/turns.js'

/** Each is validated before the next, and all before the statement is read. */
export function parseParameters(json: unknown): readonly AttributeValue[] {
  if (!Array.isArray(json)) return NONE
  return json.map(parseParameter)
}

/** Those of several statements, in several turns if they are many bytes; what is wrong with one is handed over, not thrown. */
export async function parseAllParameters(
  { runtime }: Pick<RouterContext, 'runtime'>,
  members: readonly Input[],
): Promise<readonly (readonly AttributeValue[] | DynamoError)[]> {
  const turns = new TurnBudget(runtime)
  const parsed: (readonly AttributeValue[] | DynamoError)[] = []
  for (const member of members) {
    const parameters = orRefusal(() => parseParameters(member['Parameters']))
    parsed.push(parameters)
    if (parameters instanceof DynamoError) continue
    const bytes = parameters.reduce((sum, value) => sum + valueBytes(value), 0)
    if (turns.isDue(bytes)) await turns.next()
  }
  return parsed
}

function orRefusal<Result>(step: () => Result): Result | DynamoError {
  try {
    return step()
  } catch (error) {
    if (error instanceof DynamoError) return error
    throw error
  }
}

const NONE: readonly AttributeValue[] = []

function parseParameter(json: unknown): AttributeValue {
  return toldInOlderWords(() => parseAttributeValue(json))
}
