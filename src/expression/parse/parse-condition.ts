// Conditions, filters and key conditions share one grammar:
//
//   or         := and ( OR and )*
//   and        := not ( AND not )*
//   not        := NOT not | primary
//   primary    := '(' or ')' | function | comparison
//   comparison := operand comparator operand | operand BETWEEN operand AND operand | operand IN '(' operand,... ')'
//
// An opening parenthesis may begin a condition or an operand, `(a = b)` or `(a) = b`. The parser does not look ahead for
// that: what it reads inside is either, and the token after the closing parenthesis tells.
import { checkCondition } from './check.js'
import { TokenReader } from './lexer.js'
import type { Comparator, ConditionNode, ExpressionKind, OperandNode, Parsed } from './tree.js'

export function parseCondition(text: string, kind: ExpressionKind): Parsed<ConditionNode> {
  const reader = new TokenReader(text, kind)
  const tree = or(reader, 'condition')
  if (!isCondition(tree)) throw reader.unexpected()
  reader.expectEnd()
  checkCondition(tree, kind)
  return { tree, operators: reader.operators }
}

/** What may stand here: inside parentheses an operand too. */
type Wanted = 'condition' | 'either'
type Either = ConditionNode | OperandNode

const COMPARATORS: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>='])

const isCondition = (node: Either): node is ConditionNode => node.type !== 'path' && node.type !== 'value'
const isOperand = (node: Either): node is OperandNode =>
  node.type === 'path' || node.type === 'value' || node.type === 'function'

function or(reader: TokenReader, wanted: Wanted): Either {
  return junction(reader, wanted, 'or', and)
}

function and(reader: TokenReader, wanted: Wanted): Either {
  return junction(reader, wanted, 'and', not)
}

function junction(
  reader: TokenReader,
  wanted: Wanted,
  type: 'and' | 'or',
  term: (reader: TokenReader, wanted: Wanted) => Either,
): Either {
  const first = term(reader, wanted)
  if (!isCondition(first)) return first
  const terms = [first]
  const keyword = type.toUpperCase()
  while (reader.takeOperator(keyword)) terms.push(term(reader, 'condition') as ConditionNode)
  return terms.length === 1 ? first : { type, terms }
}

function not(reader: TokenReader, wanted: Wanted): Either {
  if (!reader.takeOperator('NOT')) return primary(reader, wanted)
  return { type: 'not', term: reader.nested(() => not(reader, 'condition')) as ConditionNode }
}

function primary(reader: TokenReader, wanted: Wanted): Either {
  const left = reader.is('(') ? reader.group(() => or(reader, 'either')) : reader.operand()
  if (!isOperand(left)) return left
  const comparison = comparisonWith(reader, left)
  if (comparison !== undefined) return comparison
  if (left.type === 'function' || (wanted === 'either' && reader.is(')'))) return left
  throw reader.unexpected()
}

function comparisonWith(reader: TokenReader, left: OperandNode): ConditionNode | undefined {
  const { symbol } = reader.token
  if (COMPARATORS.has(symbol)) {
    reader.takeOperator(symbol)
    return { type: 'compare', operator: symbol as Comparator, left, right: reader.operand() }
  }
  if (reader.takeOperator('BETWEEN')) {
    const lower = reader.operand()
    reader.expect('AND')
    return { type: 'between', operand: left, lower, upper: reader.operand() }
  }
  if (reader.takeOperator('IN')) {
    reader.expect('(')
    const list = reader.list(() => reader.operand())
    reader.expect(')')
    return { type: 'in', operand: left, list }
  }
  return undefined
}
