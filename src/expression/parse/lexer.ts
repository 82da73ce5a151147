// Text to tokens, and DynamoDB's words for where they stop making sense.
//
// The words of every kind of expression are keywords in all of them: `set` is no attribute name in a filter either.
import { validationError, type DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { ExpressionKind } from './tree.js'

export type TokenType =
  /** Attribute name or function name. */
  | 'word'
  /** AND, OR, NOT, BETWEEN, IN, SET, REMOVE, ADD, DELETE; `symbol` has it in upper case. */
  | 'keyword'
  /** `#name` */
  | 'name'
  /** `:value` */
  | 'value'
  | 'integer'
  | 'symbol'
  | 'end'
  /** A character that no token begins with. */
  | 'unknown'

export interface Token {
  readonly type: TokenType
  /** As written. */
  readonly text: string
  /** What to compare with: the keyword in upper case, or the text. */
  readonly symbol: string
  readonly start: number
  readonly end: number
}

export const expressionError = (kind: ExpressionKind, message: string): DynamoError =>
  validationError(kind === 'Statement' ? message : `Invalid ${kind}: ${message}`)

export const tooManyOperators = (kind: ExpressionKind): DynamoError =>
  // DynamoDB stops counting at the first one too many.
  expressionError(
    kind,
    `The expression contains too many operators; operator count: ${limits.expressionOperatorsMax + 1}`,
  )

/** The tokens of a text, with a token of type `end` last. */
export function tokensOf(text: string, kind: ExpressionKind): readonly Token[] {
  if (text.length === 0) throw expressionError(kind, 'The expression can not be empty;')
  // All that is not ASCII is a syntax error anyway, so characters are bytes here.
  if (text.length > limits.expressionBytesMax) throw tooLarge(text.length, kind)
  const tokens: Token[] = []
  for (const match of text.matchAll(TOKEN)) {
    if (match.groups!['space'] !== undefined) continue
    tokens.push(tokenOf(match[0], match.groups!, match.index))
  }
  tokens.push({ type: 'end', text: '<EOF>', symbol: '', start: text.length, end: text.length })
  return tokens
}

/** Names the token at that place, with its neighbours and all that stands between them. */
export function syntaxError(
  text: string,
  tokens: readonly Token[],
  at: number,
  kind: ExpressionKind,
): DynamoError {
  const token = tokens[at]!
  const start = at > 0 ? tokens[at - 1]!.start : 0
  const end = (tokens[at + 1] ?? token).end
  return expressionError(kind, `Syntax error; token: "${token.text}", near: "${text.slice(start, end)}"`)
}

const TOKEN =
  /(?<space>[ \t\r\n]+)|(?<word>[A-Za-z][A-Za-z0-9_]*)|(?<name>#[A-Za-z0-9_]+)|(?<value>:[A-Za-z0-9_]+)|(?<integer>0|[1-9][0-9]*)|(?<symbol><=|<>|>=|[=<>()[\],.+-])|(?<unknown>[^])/gu

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN', 'SET', 'REMOVE', 'ADD', 'DELETE'])
const TYPES = ['word', 'name', 'value', 'integer', 'symbol', 'unknown'] as const

function tokenOf(text: string, groups: Record<string, string | undefined>, start: number): Token {
  const end = start + text.length
  const type = TYPES.find((candidate) => groups[candidate] !== undefined)!
  const upper = type === 'word' ? text.toUpperCase() : ''
  return KEYWORDS.has(upper)
    ? { type: 'keyword', text, symbol: upper, start, end }
    : { type, text, symbol: type === 'symbol' ? text : '', start, end }
}

function tooLarge(size: number, kind: ExpressionKind): DynamoError {
  const message = 'Expression size has exceeded the maximum allowed size;'
  const saysSize = kind !== 'UpdateExpression' && kind !== 'ProjectionExpression'
  return expressionError(kind, saysSize ? `${message} expression size: ${size}` : message)
}
