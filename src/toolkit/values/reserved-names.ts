// DynamoDB refuses its 573 reserved words (status, name, date, ...) as attribute names in an expression unless they stand
// behind a placeholder. A caller of the toolkit writes them as they are; here they get their placeholders.
//
//   'status = :s AND #total > :t'  -->  '#seriatim_status = :s AND #total > :t', { '#seriatim_status': 'status' }
//
// Words of the grammar are left alone where they are grammar: AND between two operands, SET at the head of a clause, a
// function before its parenthesis. Whatever is not an expression stays as wrong as it was, for the endpoint to refuse.
import { isReservedWord } from '../../expression/parse/reserved-words.js'

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
