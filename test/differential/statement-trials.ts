// Runs random statements beside requests that mean the same, and says where the answers differ.
import type { AttributeValue, Item } from '../../src/model/value.js'
import { randomFrom } from './random.js'
import { EXPRESSION_TABLE, randomStatement, STATEMENT_TABLE, tableInput } from './statements.js'

/** The answer, or the refusal. */
export interface Outcome {
  readonly error?: { readonly name: string; readonly message: string }
  readonly answer?: Readonly<Record<string, unknown>>
}

export type Ask = (operation: string, input: object) => Promise<Outcome>

export async function compareWithExpressions(
  ask: Ask,
  seed: number,
  count: number,
): Promise<readonly string[]> {
  for (const name of [STATEMENT_TABLE, EXPRESSION_TABLE]) await ask('CreateTable', tableInput(name))
  const random = randomFrom(seed)
  return trials(count, async () => {
    const { input, same } = randomStatement(random, 'with <>')
    const statement = shown(await ask('ExecuteStatement', input))
    const expression = shown(await ask(same.operation, same.input))
    return { text: input.Statement, one: statement, other: expression }
  })
}

/** What DynamoDB Local words otherwise is compared without its words. */
export async function comparePeers(
  ours: Ask,
  theirs: Ask,
  seed: number,
  count: number,
): Promise<readonly string[]> {
  for (const ask of [ours, theirs]) await ask('CreateTable', tableInput(STATEMENT_TABLE))
  const random = randomFrom(seed)
  return trials(count, async () => {
    const { input } = randomStatement(random, 'without <>')
    const [one, other] = await Promise.all([
      ours('ExecuteStatement', input),
      theirs('ExecuteStatement', input),
    ])
    // DynamoDB Local fails over some conditions in parentheses beside ORDER BY.
    const failed = other.error?.name === 'InternalFailure'
    return { text: input.Statement, one: shown(one), other: shown(failed ? one : other) }
  })
}

const DIFFERENCES_MAX = 20

async function trials(
  count: number,
  trial: () => Promise<{ readonly text: string; readonly one: string; readonly other: string }>,
): Promise<readonly string[]> {
  const differences: string[] = []
  for (let at = 0; at < count && differences.length < DIFFERENCES_MAX; at++) {
    const { text, one, other } = await trial()
    if (one !== other) differences.push(`${text}\n    ${one}\n    ${other}`)
  }
  return differences
}

const DUPLICATE = new Set(['DuplicateItemException', 'DuplicateItem'])

function shown({ error, answer }: Outcome): string {
  if (error !== undefined) {
    if (DUPLICATE.has(error.name)) return 'ConditionalCheckFailedException'
    // Expressions say which parameter they are about.
    const message = error.message.replace(
      /^(?:1 validation error detected: )?(?:Invalid \w+Expression: )?/,
      '',
    )
    return error.name === 'ValidationException' ? `ValidationException: ${message}` : error.name
  }
  const { Items, Item, Attributes } = answer as { Items?: Item[]; Item?: Item; Attributes?: Item }
  const items = Items ?? [Item ?? Attributes].filter((one) => one !== undefined)
  return items
    .map((item) => canonical({ M: item }))
    .toSorted()
    .join('\n')
}

function canonical(value: AttributeValue): string {
  if ('M' in value)
    return `{${Object.keys(value.M)
      .toSorted()
      .map((name) => `${name}:${canonical(value.M[name]!)}`)
      .join()}}`
  if ('L' in value) return `[${value.L.map(canonical).join()}]`
  if ('SS' in value) return `<<${value.SS.toSorted().join()}>>`
  return JSON.stringify(value)
}
