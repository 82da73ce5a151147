// Text to tokens. A statement has at most 8,192 characters, so all of its tokens are made at once.
//
// Line and column count from 1, in characters of the text, as DynamoDB's messages have them: `at 1:27:2` is two characters long.
import { validationError, type DynamoError } from '../../model/errors.js'
import { commentEnd, isSpace } from './first-word.js'
import { KEYWORDS } from './keywords.js'

export type StatementTokenType =
  /** A name without quotes that is no keyword. */
  | 'name'
  /** A name in double quotes. */
  | 'quoted'
  | 'keyword'
  /** In single quotes. */
  | 'string'
  | 'number'
  /** `?` */
  | 'parameter'
  /** An Ion literal in back quotes. */
  | 'ion'
  /** Operators and brackets. */
  | 'symbol'
  | 'end'

export interface StatementToken {
  readonly type: StatementTokenType
  /** What a string or a name says, the digits of a number, or a symbol as it is written. */
  readonly text: string
  /** Of a keyword or a name without quotes, in lower case; of a symbol as it is written; else empty. */
  readonly word: string
  /** Where it begins in the text of the statement, and how long it is there. */
  readonly start: number
  readonly length: number
}

/** The one error of the parser: a text that is no statement. */
export const notWellFormed = (why = ''): DynamoError =>
  validationError(`Statement wasn't well formed, can't be processed: ${why}`)

/** All tokens, with one of type `end` last. */
export function statementTokens(text: string): readonly StatementToken[] {
  const tokens: StatementToken[] = []
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) {
      at++
      continue
    }
    const comment = commentEnd(text, at, code)
    if (comment !== undefined) {
      if (comment < 0) throw notWellFormed()
      at = comment
      continue
    }
    const token = tokenAt(text, at, code)
    tokens.push(token)
    at += token.length
  }
  tokens.push({ type: 'end', text: '', word: '', start: text.length, length: 0 })
  return tokens
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isNameStart = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x24

const DOT = 0x2e

function tokenAt(text: string, at: number, code: number): StatementToken {
  if (isNameStart(code)) return wordAt(text, at)
  if (isDigit(code) || (code === DOT && isDigit(text.charCodeAt(at + 1)))) return numberAt(text, at)
  const one = text[at]!
  if (one === "'") return quotedAt(text, at, one, 'string')
  if (one === '"') return quotedAt(text, at, one, 'quoted')
  if (one === '?') return token('parameter', one, at, 1)
  if (one === '`') {
    const end = text.indexOf(one, at + 1)
    if (end < 0) throw notWellFormed()
    return token('ion', text.slice(at + 1, end), at, end + 1 - at)
  }
  const two = text.slice(at, at + 2)
  if (TWO_CHARACTERS.has(two)) return symbol(two, at)
  if (ONE_CHARACTER.has(one)) return symbol(one, at)
  throw notWellFormed()
}

const TWO_CHARACTERS: ReadonlySet<string> = new Set(['<=', '>=', '<>', '!=', '||', '<<', '>>'])
const ONE_CHARACTER: ReadonlySet<string> = new Set('=<>+-*/%.,:;()[]{}@')

const token = (type: StatementTokenType, text: string, start: number, length: number): StatementToken => ({
  type,
  text,
  word: '',
  start,
  length,
})

const symbol = (text: string, start: number): StatementToken => ({
  type: 'symbol',
  text,
  // `!=` is another way to write `<>`.
  word: text === '!=' ? '<>' : text,
  start,
  length: text.length,
})

function wordAt(text: string, start: number): StatementToken {
  let end = start + 1
  for (let code = text.charCodeAt(end); isNameStart(code) || isDigit(code); code = text.charCodeAt(end)) end++
  const written = text.slice(start, end)
  const word = written.toLowerCase()
  return { type: KEYWORDS.has(word) ? 'keyword' : 'name', text: written, word, start, length: end - start }
}

const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const INT_MAX = 2 ** 31 - 1

function numberAt(text: string, start: number): StatementToken {
  NUMBER.lastIndex = start
  const [written] = NUMBER.exec(text)!
  const end = start + written.length
  // `1e`, `12abc` and `1.2.3` are neither numbers nor anything else.
  const next = text.charCodeAt(end)
  if (isNameStart(next) || isDigit(next) || next === DOT) throw notWellFormed()
  if (!isReadable(written)) throw notWellFormed()
  return token('number', written, start, written.length)
}

/** Java's decimals have an exponent, and a scale, of 32 bits. */
function isReadable(written: string): boolean {
  const [mantissa, exponent] = written.toLowerCase().split('e') as [string, string | undefined]
  if (exponent === undefined) return true
  const point = mantissa.indexOf('.')
  const fraction = point < 0 ? 0 : mantissa.length - point - 1
  const value = Number(exponent)
  return Math.abs(value) <= INT_MAX && Math.abs(fraction - value) <= INT_MAX
}

/** A quote inside is written twice. */
function quotedAt(text: string, start: number, quote: string, type: StatementTokenType): StatementToken {
  let content = ''
  let from = start + 1
  for (;;) {
    const end = text.indexOf(quote, from)
    if (end < 0) throw notWellFormed()
    content += text.slice(from, end)
    if (text[end + 1] !== quote) return token(type, content, start, end + 1 - start)
    content += quote
    from = end + 2
  }
}
