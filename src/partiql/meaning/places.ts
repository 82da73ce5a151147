// Where something stands in a statement, as messages say it.
import { validationError, type DynamoError } from '../../model/errors.js'
import type { StatementToken } from '../parse/tokens.js'

/** Refuses a statement of that text. */
export class Refusals {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** `message at 1:27:2`: line, column and length. */
  at(token: StatementToken, message: string): DynamoError {
    const before = this.#text.slice(0, token.start)
    const line = before.split('\n').length
    const column = token.start - (before.lastIndexOf('\n') + 1) + 1
    return validationError(`${message} at ${line}:${column}:${token.length}`)
  }
}
