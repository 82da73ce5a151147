// Parameters of statements. DynamoDB reads their numbers as Java does: one whose exponent has more than 32 bits is no number.
import { DynamoError, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { parseNumber } from '../../model/number.js'
import { parseAttributeValue } from '../../model/parse-value.js'
import { inOlderWords } from '../request/wording.js'
import { valueBytes } from '../../model/item-size.js'
import type { AttributeValue } from '../../model/value.js'
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
  try {
    return inOlderWords(() => parseAttributeValue(json))
  } catch (error) {
    if (!(error instanceof DynamoError) || !error.message.startsWith('Number ')) throw error
    throw exponentRefusal(json) ?? error
  }
}

const INT_MAX = 2 ** 31 - 1
/** Beyond it Java's difference of precision and scale wraps around, and a number that is too large looks too small. */
const WRAPPING_EXPONENT_MIN = INT_MAX - 40

/** Of the first number that does not fit, which is the one that was refused. */
function exponentRefusal(json: unknown): DynamoError | undefined {
  const text = firstMisfit(json, 0)
  const exponent = Number(/e([+-]?\d+)$/i.exec(text ?? '')?.[1] ?? 0)
  if (Math.abs(exponent) > INT_MAX)
    return validationError(`The parameter cannot be converted to a numeric value: ${text}`)
  if (exponent < WRAPPING_EXPONENT_MIN) return undefined
  return validationError(
    'Number underflow. Attempting to store a number with magnitude smaller than supported range',
  )
}

function firstMisfit(json: unknown, level: number): string | undefined {
  if (typeof json !== 'object' || json === null || level > limits.nestingDepthMax) return undefined
  const { N, NS, L, M } = json as Readonly<Record<string, unknown>>
  const texts = typeof N === 'string' ? [N] : Array.isArray(NS) ? (NS as readonly string[]) : []
  const misfit = texts.find((text) => !isNumber(text))
  if (misfit !== undefined) return misfit
  const inner: readonly unknown[] = Array.isArray(L)
    ? L
    : typeof M === 'object' && M !== null
      ? Object.values(M)
      : []
  for (const value of inner) {
    const found = firstMisfit(value, level + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function isNumber(text: string): boolean {
  try {
    parseNumber(text)
    return true
  } catch {
    return false
  }
}
