// One pass over the tokens of an expression, with what all grammars share: paths, operands and parentheses.
//
//   path     := name ( '.' name | '[' integer ']' )*         name := word | #name
//   operand  := path | :value | function | '(' operand ')'
//   function := word '(' operand ( ',' operand )* ')'
import type { DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { expressionError, syntaxError, tokensOf, tooManyOperators, type Token } from './lexer.js'
import type { ExpressionKind, FunctionNode, OperandNode, PathNode, PathStep } from './tree.js'

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
