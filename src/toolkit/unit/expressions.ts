// Expressions within the toolkit: text with its names, and values in the wire's form; made from what a caller writes,
// put together with others without their placeholders clashing, and bound for evaluation here.
import { openExpressions, plainUpdate, type PlainAction } from '../../expression/expression.js'
import type { BoundCondition, BoundUpdate } from '../../expression/parse/types.js'
import { setAttribute, type AttributeValue, type Item, type MutableItem } from '../../model/value.js'
import type { ActionExpressions } from './protocol.js'
import type { Condition, Update } from './transactor.js'
import { marshall } from '../values/values.js'
import { isReservedWord } from '../../expression/parse/check.js'

export interface Expression {
  readonly text: string
  readonly names?: Readonly<Record<string, string>>
  readonly values?: Item
  /** An update that needs no parsing. */
  readonly bound?: BoundUpdate
}

export function conditionExpression(condition: Condition): Expression {
  return expression(condition.expression, condition.names, condition.values)
}

export const conditionOf = (condition: Condition | undefined): { condition?: Expression } =>
  condition === undefined ? {} : { condition: conditionExpression(condition) }

/** An update as the caller wrote it: an expression, or what to set, add and remove by attribute. */
export function updateExpression(update: Update<Readonly<Record<string, unknown>>>): Expression {
  if ('expression' in update && update.expression !== undefined)
    return expression(update.expression, update.names, update.values, 'update')
  const { set, add, remove } = update
  const actions: PlainAction[] = []
  if (set !== undefined) addActions(actions, 'set', set)
  if (add !== undefined) addActions(actions, 'add', add)
  if (remove !== undefined) for (const name of remove) actions.push({ type: 'remove', name })
  if (actions.length === 0)
    throw new TypeError('an update needs something to set, add or remove, or an expression')
  return plainUpdate(actions)
}

function addActions(
  actions: PlainAction[],
  type: 'set' | 'add',
  values: Readonly<Record<string, unknown>>,
): void {
  for (const name of Object.keys(values)) actions.push({ type, name, value: marshallAt(name, values[name]) })
}

export function boundCondition({ text, names, values }: Expression): BoundCondition {
  return opened(names, values).condition(text, 'ConditionExpression')
}

export function boundUpdate({ text, names, values, bound }: Expression): BoundUpdate {
  return bound ?? opened(names, values).update(text)
}

/** One action's expressions: the conditions hold all together. */
export function combined(
  update: Expression | undefined,
  ...optional: readonly (Expression | undefined)[]
): ActionExpressions {
  const conditions = optional.filter((one) => one !== undefined)
  const [first] = conditions
  if (first === undefined) return update === undefined ? {} : alone(update, 'update')
  if (update === undefined && conditions.length === 1) return alone(first, 'condition')

  const names: Record<string, string> = {}
  const values: MutableItem = {}
  const renamed = (one: Expression, prefix: string): string =>
    one.text.replaceAll(PLACEHOLDER, (_, sign: string, rest: string) => {
      const old = sign + rest
      const fresh = `${sign}${prefix}${rest}`
      // What is missing is refused by the endpoint, which says so.
      if (sign === '#' && one.names !== undefined && Object.hasOwn(one.names, old))
        names[fresh] = one.names[old]!
      if (sign === ':' && one.values !== undefined && Object.hasOwn(one.values, old))
        values[fresh] = one.values[old]!
      return fresh
    })
  const texts = conditions.map((one, at) => {
    const text = renamed(one, `c${at}_`)
    return conditions.length > 1 && hasOuterOr(text) ? `(${text})` : text
  })
  return {
    ...(update !== undefined && { update: renamed(update, 'u_') }),
    condition: texts.join(' AND '),
    ...(Object.keys(names).length > 0 && { names }),
    ...(Object.keys(values).length > 0 && { values }),
  }
}

const PLACEHOLDER = /([#:])([A-Za-z0-9_]+)/g

const opened = (
  names: Readonly<Record<string, string>> | undefined,
  values: Item | undefined,
): ReturnType<typeof openExpressions> =>
  openExpressions({
    ...(names !== undefined && { ExpressionAttributeNames: names }),
    ...(values !== undefined && { ExpressionAttributeValues: values }),
  })

export function expression(
  text: string,
  names: Readonly<Record<string, string>> | undefined,
  values: Readonly<Record<string, unknown>> | undefined,
  kind: 'condition' | 'update' = 'condition',
): Expression {
  if (typeof text !== 'string')
    throw new TypeError('an expression is a string: a condition, say, is { expression, values, names }')
  const named = withReservedNames(text, names, kind)
  return {
    text: named.text,
    ...(named.names !== undefined && Object.keys(named.names).length > 0 && { names: named.names }),
    ...(values !== undefined && Object.keys(values).length > 0 && { values: marshalledValues(values) }),
  }
}

function marshalledValues(values: Readonly<Record<string, unknown>>): Item {
  const marshalled: MutableItem = {}
  for (const name of Object.keys(values)) setAttribute(marshalled, name, marshallAt(name, values[name]))
  return marshalled
}

function marshallAt(name: string, value: unknown): AttributeValue {
  try {
    return marshall(value)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError)
      error.message = error.message.replace(/^the (value|attribute)/, (word) => `${name}: ${word}`)
    throw error
  }
}

/** As it was written. */
function alone({ text, names, values }: Expression, as: 'update' | 'condition'): ActionExpressions {
  const expressions: { -readonly [Member in keyof ActionExpressions]: ActionExpressions[Member] } = {}
  expressions[as] = text
  if (names !== undefined) expressions.names = names
  if (values !== undefined) expressions.values = values
  return expressions
}

/** An OR outside of parentheses, which binds weaker than the AND that conditions are joined by. */
function hasOuterOr(text: string): boolean {
  let depth = 0
  for (const [token] of text.matchAll(/[()]|[A-Za-z0-9_#:]+/g)) {
    if (token === '(') depth++
    else if (token === ')') depth--
    else if (depth === 0 && token.toUpperCase() === 'OR') return true
  }
  return false
}

// DynamoDB refuses its 573 reserved words (status, name, date, ...) as attribute names in an expression unless they stand
// behind a placeholder. A caller of the toolkit writes them as they are; here they get their placeholders.
//
//   'status = :s AND #total > :t'  -->  '#seriatim_status = :s AND #total > :t', { '#seriatim_status': 'status' }
//
// Words of the grammar are left alone where they are grammar: AND between two operands, SET at the head of a clause, a
// function before its parenthesis. Whatever is not an expression stays as wrong as it was, for the endpoint to refuse.

export interface NamedText {
  readonly text: string
  readonly names: Readonly<Record<string, string>> | undefined
}

const PREFIX = '#seriatim_'
const TOKEN = /[#:]\w+|\w+|<>|<=|>=|[^\s\w]/g
const OPERATORS = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN'])
const CLAUSES = new Set(['SET', 'REMOVE', 'ADD', 'DELETE'])
/** After one of these comes an operand, or the name of what is written. */
const OPENING = new Set(['(', ',', '=', '<>', '<', '<=', '>', '>=', '+', '-', '.'])

/** The text with placeholders for its reserved words, and the names with those placeholders. */
export function withReservedNames(
  text: string,
  names: Readonly<Record<string, string>> | undefined,
  kind: 'condition' | 'update',
): NamedText {
  const keywords = kind === 'update' ? CLAUSES : OPERATORS
  const aliases: Record<string, string> = {}
  let isOperandNext = kind === 'condition'
  let before = ''
  const aliased = text.replaceAll(TOKEN, (token, at: number) => {
    const upper = token.toUpperCase()
    const isKeyword =
      before !== '.' &&
      keywords.has(upper) &&
      (upper === 'NOT' ? !isAttribute(text.slice(at + token.length), before) : !isOperandNext)
    const isName =
      !isKeyword && /^[A-Za-z_]/.test(token) && (before === '.' || !isFunction(text, at + token.length))
    isOperandNext = isKeyword || OPENING.has(token)
    before = upper
    if (!isName || !(isReservedWord(token) || OPERATORS.has(upper) || CLAUSES.has(upper))) return token
    const placeholder = placeholderOf(token, { ...names, ...aliases })
    aliases[placeholder] = token
    return placeholder
  })
  return Object.keys(aliases).length === 0
    ? { text, names }
    : { text: aliased, names: { ...names, ...aliases } }
}

/** The text as its author wrote it, for people. */
export const withoutPlaceholders = (text: string): string =>
  text.replaceAll(/#(?:c\d+_|u_)?seriatim_(\w*[A-Za-z0-9])_*/g, '$1')

const isFunction = (text: string, end: number): boolean => /^\s*\(/.test(text.slice(end, end + 32))

/** `NOT = :x` and `a = not`: what NOT would negate begins with none of these, and NOT never follows a comparison. */
const AFTER_ATTRIBUTE = /^\s*(?:[=<>,.[)]|$|in\s*\(|between\s+(?!(?:between|in)\b|[=<>]))/i
const BEFORE_ATTRIBUTE = new Set(['=', '<>', '<', '<=', '>', '>=', ',', 'BETWEEN'])

const isAttribute = (rest: string, before: string): boolean =>
  AFTER_ATTRIBUTE.test(rest) || BEFORE_ATTRIBUTE.has(before)

/** Free, or used for the same name. */
function placeholderOf(name: string, names: Readonly<Record<string, string>>): string {
  let placeholder = PREFIX + name
  while (Object.hasOwn(names, placeholder) && names[placeholder] !== name) placeholder += '_'
  return placeholder
}
