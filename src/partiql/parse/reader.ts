// The tokens of a statement, one after the other, and how deep the parser stands in it.
import { validationError, type DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { notWellFormed, statementTokens, type StatementToken } from './tokens.js'

/** Brackets within brackets, and signs and negations one after the other. Deeper texts have too many operators anyway. */
const NESTING_MAX = 300

export const tooManyStatementOperators = (): DynamoError =>
  validationError(
    `The expression contains too many operators; operator count: ${limits.expressionOperatorsMax + 1}`,
  )

export class StatementReader {
  readonly #tokens: readonly StatementToken[]
  #at = 0
  #depth = 0
  #operators = 0
  #parameters = 0

  constructor(text: string) {
    this.#tokens = statementTokens(text)
  }

  get token(): StatementToken {
    return this.#tokens[this.#at]!
  }

  /** The one after the current one; at the end the end again. */
  get following(): StatementToken {
    return this.#tokens[this.#at + 1] ?? this.token
  }

  /** Tokens that are left, with the end. */
  get left(): number {
    return this.#tokens.length - this.#at
  }

  get parameters(): number {
    return this.#parameters
  }

  next(): StatementToken {
    const { token } = this
    if (token.type !== 'end') this.#at++
    return token
  }

  /** Whether the current token is this keyword or symbol. */
  is(word: string): boolean {
    const { token } = this
    return token.word === word && (token.type === 'keyword' || token.type === 'symbol')
  }

  take(word: string): boolean {
    if (!this.is(word)) return false
    this.#at++
    return true
  }

  expect(word: string, why: string): StatementToken {
    const { token } = this
    if (!this.take(word)) throw notWellFormed(why)
    return token
  }

  takeParameter(): number {
    this.#at++
    return this.#parameters++
  }

  /** Every operator but the brackets: so no tree is deeper than that. */
  countOperator(): void {
    if (++this.#operators > limits.expressionOperatorsMax) throw tooManyStatementOperators()
  }

  /** Parses one level deeper. */
  nested<Result>(parse: () => Result): Result {
    if (++this.#depth > NESTING_MAX) throw tooManyStatementOperators()
    const result = parse()
    this.#depth--
    return result
  }

  list<Element>(parse: () => Element): Element[] {
    const elements = [parse()]
    while (this.take(',')) elements.push(parse())
    return elements
  }
}
