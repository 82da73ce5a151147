// Updates and projections:
//
//   update     := ( SET set,... | REMOVE path,... | ADD path :value,... | DELETE path :value,... )+
//   set        := path '=' value
//   value      := operand | operand ( '+' | '-' ) operand | '(' value ')'
//   projection := path,...
import { checkProjection, checkUpdateExpression } from './check.js'
import { TokenReader } from './lexer.js'
import type {
  OperandNode,
  Parsed,
  PathNode,
  ProjectionNode,
  SetValueNode,
  UpdateAction,
  UpdateNode,
  ValueNode,
} from './tree.js'

export function parseUpdate(text: string): Parsed<UpdateNode> {
  const reader = new TokenReader(text, 'UpdateExpression')
  const actions: UpdateAction[] = []
  const sections: string[] = []
  do {
    const section = reader.token.symbol
    const parse = SECTIONS.get(section)
    if (parse === undefined) throw reader.unexpected()
    reader.next()
    sections.push(section)
    actions.push(...reader.list(() => parse(reader)))
  } while (reader.token.type !== 'end')
  const tree: UpdateNode = { dialect: 'UpdateExpression', actions }
  checkUpdateExpression(tree, sections)
  return { tree, operators: reader.operators }
}

export function parseProjection(text: string): Parsed<ProjectionNode> {
  const reader = new TokenReader(text, 'ProjectionExpression')
  const tree: ProjectionNode = { paths: reader.list(() => reader.path()) }
  reader.expectEnd()
  checkProjection(tree)
  return { tree, operators: 0 }
}

const SECTIONS: ReadonlyMap<string, (reader: TokenReader) => UpdateAction> = new Map([
  ['SET', setAction],
  ['REMOVE', (reader: TokenReader) => ({ type: 'remove', path: reader.path() }) as const],
  ['ADD', (reader: TokenReader) => ({ type: 'add', ...pathAndValue(reader) }) as const],
  ['DELETE', (reader: TokenReader) => ({ type: 'delete', ...pathAndValue(reader) }) as const],
])

function setAction(reader: TokenReader): UpdateAction {
  const path = reader.path()
  reader.expect('=')
  return { type: 'set', path, value: setValue(reader) }
}

function setValue(reader: TokenReader): SetValueNode {
  // As in a condition, `(` may begin the whole value or its first operand, and the end of the group tells.
  const left = reader.is('(') ? reader.group(() => setValue(reader)) : reader.operand()
  return left.type === 'arithmetic' ? left : arithmeticWith(reader, left)
}

function arithmeticWith(reader: TokenReader, left: OperandNode): SetValueNode {
  for (const operator of ['+', '-'] as const)
    if (reader.takeOperator(operator)) return { type: 'arithmetic', operator, left, right: reader.operand() }
  return left
}

function pathAndValue(reader: TokenReader): { readonly path: PathNode; readonly value: ValueNode } {
  const path = reader.path()
  if (reader.token.type !== 'value') throw reader.unexpected()
  return { path, value: { type: 'value', name: reader.next().text } }
}
