// Text to tokens, one pass over them, and DynamoDB's words for where they stop making sense.
//
// The words of every kind of expression are keywords in all of them: `set` is no attribute name in a filter either.
import { validationError, type DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { ExpressionKind, FunctionNode, OperandNode, PathNode, PathStep } from './tree.js'

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

// One pass over the tokens of an expression, with what all grammars share: paths, operands and parentheses.
//
//   path     := name ( '.' name | '[' integer ']' )*         name := word | #name
//   operand  := path | :value | function | '(' operand ')'
//   function := word '(' operand ( ',' operand )* ')'

/**
 * No valid expression nests deeper: of two levels of parentheses at least one holds an operator. Keeps the recursion
 * of the parser, and of all that walks its trees, far from the end of the stack.
 */
const NESTING_MAX = 2 * limits.expressionOperatorsMax + 2

export class TokenReader {
  readonly kind: ExpressionKind
  readonly #text: string
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  #operators = 0
  /** Where the pair of parentheses that was closed last begins and ends. */
  #lastGroup = { open: -1, close: -1 }

  constructor(text: string, kind: ExpressionKind) {
    this.kind = kind
    this.#text = text
    this.#tokens = tokensOf(text, kind)
  }

  /** Operators and functions read so far. */
  get operators(): number {
    return this.#operators
  }

  get token(): Token {
    return this.#tokens[this.#at]!
  }

  get following(): Token | undefined {
    return this.#tokens[this.#at + 1]
  }

  is(symbol: string): boolean {
    return this.token.symbol === symbol
  }

  /** Takes the token if it is that symbol or keyword. */
  take(symbol: string): boolean {
    if (!this.is(symbol)) return false
    this.#at++
    return true
  }

  takeOperator(symbol: string): boolean {
    if (!this.take(symbol)) return false
    this.countOperator()
    return true
  }

  countOperator(): void {
    this.#operators++
  }

  expect(symbol: string): void {
    if (!this.take(symbol)) throw this.unexpected()
  }

  next(): Token {
    return this.#tokens[this.#at++]!
  }

  expectEnd(): void {
    if (this.token.type !== 'end') throw this.unexpected()
  }

  unexpected(): DynamoError {
    return syntaxError(this.#text, this.#tokens, this.#at, this.kind)
  }

  /** Parses one level deeper. */
  nested<Result>(parse: () => Result): Result {
    if (++this.#depth > NESTING_MAX) throw tooManyOperators(this.kind)
    const result = parse()
    this.#depth--
    return result
  }

  /** Parses what stands in parentheses, and refuses them if it is just another pair of parentheses. */
  group<Result>(parse: () => Result): Result {
    const open = this.#at
    this.expect('(')
    const result = this.nested(parse)
    const close = this.#at
    this.expect(')')
    if (this.#lastGroup.open === open + 1 && this.#lastGroup.close === close - 1)
      throw expressionError(this.kind, 'The expression has redundant parentheses;')
    this.#lastGroup = { open, close }
    return result
  }

  path(): PathNode {
    const { type } = this.token
    if (type !== 'word' && type !== 'name') throw this.unexpected()
    const steps: PathStep[] = [this.next().text]
    for (;;) {
      if (this.take('.')) steps.push(this.#memberName())
      else if (this.take('[')) steps.push(this.#index())
      else return { type: 'path', steps }
    }
  }

  operand(): OperandNode {
    if (this.is('(')) return this.group(() => this.operand())
    const { token } = this
    if (token.type === 'value') {
      this.next()
      return { type: 'value', name: token.text }
    }
    if (token.type === 'word' && this.following?.symbol === '(') return this.#call()
    return this.path()
  }

  list<Element>(parse: () => Element): Element[] {
    const elements = [parse()]
    while (this.take(',')) elements.push(parse())
    return elements
  }

  #call(): FunctionNode {
    const name = this.next().text
    this.countOperator()
    this.expect('(')
    const args = this.nested(() => this.list(() => this.operand()))
    this.expect(')')
    return { type: 'function', name, args }
  }

  /** DynamoDB reads `a.:b` as the name of a member, which is then never defined. */
  #memberName(): string {
    const { type } = this.token
    if (type !== 'word' && type !== 'name' && type !== 'value') throw this.unexpected()
    return this.next().text
  }

  #index(): number {
    if (this.token.type !== 'integer') throw this.unexpected()
    const { text } = this.next()
    this.expect(']')
    return Number(text)
  }
}
