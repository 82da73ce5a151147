// Expressions, by precedence: an operator binds what stands before it if it binds tighter than the operator before that.
//
//   or 10 < and 20 < not 30 < = <> is in 40 < < <= > >= between like 50 < + - || 60 < * / % 70
//
// DynamoDB's parser reads all of PartiQL, and what it has no use for is refused afterwards. So does this one, with the same
// words for what it cannot read. Statements within expressions are read by the function that the reader of statements gives.
import { FUNCTION_KEYWORDS, TYPE_NAMES } from './keywords.js'
import { notWellFormed, type StatementToken } from './tokens.js'
import type { StatementReader } from './reader.js'
import type { ExpressionNode, StatementNode, StepNode } from './tree.js'

/** Reads a statement whose first keyword is the current token; undefined where no statement begins with it. */
export type ReadStatement = (reader: StatementReader) => StatementNode | undefined

export function readExpression(
  reader: StatementReader,
  statement: ReadStatement,
  above = -1,
): ExpressionNode {
  return reader.nested(() => {
    let left = readUnary(reader, statement)
    for (;;) {
      const operator = infixAt(reader)
      if (operator === undefined || operator.precedence <= above) return left
      left = readInfix(reader, statement, left, operator)
    }
  })
}

interface Infix {
  /** In lower case. */
  readonly word: string
  readonly precedence: number
  readonly isNegated: boolean
}

const EQUALITY = 40
const COMPARISON = 50
const NOT = 30

const PRECEDENCES: ReadonlyMap<string, number> = new Map([
  ['union', 5],
  ['except', 5],
  ['intersect', 5],
  ['or', 10],
  ['and', 20],
  ['=', EQUALITY],
  ['<>', EQUALITY],
  ['is', EQUALITY],
  ['in', EQUALITY],
  ['<', COMPARISON],
  ['<=', COMPARISON],
  ['>', COMPARISON],
  ['>=', COMPARISON],
  ['between', COMPARISON],
  ['like', COMPARISON],
  ['+', 60],
  ['-', 60],
  ['||', 60],
  ['*', 70],
  ['/', 70],
  ['%', 70],
])

const NEGATABLE: ReadonlySet<string> = new Set(['in', 'between', 'like'])

function infixAt(reader: StatementReader): Infix | undefined {
  const { token } = reader
  if (token.type !== 'symbol' && token.type !== 'keyword') return undefined
  if (token.word === 'not') {
    const { word } = reader.following
    return NEGATABLE.has(word) ? { word, precedence: PRECEDENCES.get(word)!, isNegated: true } : undefined
  }
  const precedence = PRECEDENCES.get(token.word)
  return precedence === undefined ? undefined : { word: token.word, precedence, isNegated: false }
}

function readInfix(
  reader: StatementReader,
  statement: ReadStatement,
  left: ExpressionNode,
  { word, precedence, isNegated }: Infix,
): ExpressionNode {
  reader.countOperator()
  if (isNegated) reader.next()
  const at = reader.token
  const right = (): ExpressionNode => {
    // DynamoDB counts the operator, what follows it, and the end.
    if (reader.left < 3) throw notWellFormed('Missing right-hand side expression of infix operator')
    reader.next()
    return readExpression(reader, statement, precedence)
  }
  switch (word) {
    case 'is':
      reader.next()
      return { type: 'is', isNegated: reader.take('not'), operand: left, typeName: readType(reader), at }
    case 'between': {
      const lower = right()
      reader.expect('and', 'Expected AND keyword')
      if (reader.token.type === 'end' || reader.is(';')) throw notWellFormed('Expected expression after AND')
      return {
        type: 'between',
        operand: left,
        lower,
        upper: readExpression(reader, statement, precedence),
        isNegated,
        at,
      }
    }
    case 'in': {
      const list =
        reader.following.word === '(' ? (reader.next(), readParenthesised(reader, statement)) : right()
      return negated({ type: 'binary', operator: 'in', left, right: list, at }, isNegated)
    }
    case 'like': {
      const pattern = right()
      if (reader.take('escape')) readExpression(reader, statement, precedence)
      return negated({ type: 'binary', operator: 'like', left, right: pattern, at }, isNegated)
    }
    default:
      return { type: 'binary', operator: word, left, right: right(), at }
  }
}

const negated = (expression: ExpressionNode, isNegated: boolean): ExpressionNode =>
  isNegated ? { type: 'unary', operator: 'not', operand: expression, at: expression.at } : expression

/** What stands behind IN in parentheses is a list, of one element too. */
function readParenthesised(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  const at = reader.next()
  const items = reader.list(() => readExpression(reader, statement))
  reader.expect(')', 'Expected RIGHT_PAREN')
  return { type: 'list', items, at }
}

function readType(reader: StatementReader): string {
  const { word, type } = reader.token
  const isKeyword = type === 'keyword'
  const two = `${word} ${reader.following.word}`
  if (isKeyword && TYPE_NAMES.has(two)) {
    reader.next()
    reader.next()
    return TYPE_NAMES.get(two)!
  }
  const name = isKeyword ? TYPE_NAMES.get(word) : undefined
  if (name === undefined) throw notWellFormed('Expected type name')
  reader.next()
  if (reader.take('(')) {
    reader.list(() => {
      if (reader.token.type !== 'number')
        throw notWellFormed('Type parameter must be an unsigned integer literal')
      return reader.next()
    })
    reader.expect(')', 'Expected RIGHT_PAREN')
  }
  return name
}

function readUnary(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  const at = reader.token
  if (reader.is('not')) {
    reader.countOperator()
    reader.next()
    return { type: 'unary', operator: 'not', operand: readExpression(reader, statement, NOT), at }
  }
  if (!reader.is('+') && !reader.is('-')) return readPath(reader, statement)
  reader.next()
  const operand = reader.nested(() => readUnary(reader, statement))
  // A sign belongs to the number behind it.
  if (operand.type !== 'number') return { type: 'unary', operator: at.word, operand, at }
  if (at.word === '+') return operand
  const text = operand.text.startsWith('-') ? operand.text.slice(1) : `-${operand.text}`
  return { ...operand, text }
}

function readPath(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  return withSteps(reader, statement, readTerm(reader, statement), 'full')
}

/** A path of names and constant elements: the target of a write, or of an assignment. */
export function readSimplePath(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  const { token } = reader
  if (token.type !== 'name' && token.type !== 'quoted')
    throw notWellFormed('Expected identifier for simple path')
  reader.next()
  return withSteps(reader, statement, { type: 'name', name: token.text, at: token }, 'simple')
}

function withSteps(
  reader: StatementReader,
  statement: ReadStatement,
  root: ExpressionNode,
  mode: 'full' | 'simple',
): ExpressionNode {
  const steps: StepNode[] = []
  for (;;) {
    if (reader.take('.')) steps.push(readMember(reader, mode))
    else if (reader.take('[')) steps.push(readIndex(reader, statement, mode))
    else return steps.length === 0 ? root : { type: 'path', root, steps, at: root.at }
  }
}

function readMember(reader: StatementReader, mode: 'full' | 'simple'): StepNode {
  const at = reader.token
  if (at.type === 'name' || at.type === 'quoted') {
    reader.next()
    return { type: 'member', name: at.text, at }
  }
  if (!reader.is('*')) throw notWellFormed('Invalid path dot component')
  if (mode === 'simple') throw notWellFormed('Invalid path dot component for simple path')
  reader.next()
  return { type: 'unpivot', at }
}

function readIndex(reader: StatementReader, statement: ReadStatement, mode: 'full' | 'simple'): StepNode {
  const at = reader.token
  if (reader.is('*') && reader.following.word === ']') {
    reader.next()
    reader.next()
    return { type: 'wildcard', at }
  }
  const index = readExpression(reader, statement)
  reader.expect(']', 'Expected RIGHT_BRACKET')
  const isConstant = index.type === 'number' || index.type === 'string'
  if (mode === 'simple' && !isConstant) throw notWellFormed('Invalid path component for simple path')
  return { type: 'index', index, at }
}

function readTerm(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  const at = reader.token
  switch (at.type) {
    case 'name':
    case 'quoted':
      reader.next()
      return reader.is('(') ? readCall(reader, statement, at) : { type: 'name', name: at.text, at }
    case 'string':
      reader.next()
      return { type: 'string', text: at.text, at }
    case 'number':
      reader.next()
      return { type: 'number', text: at.text, at }
    case 'ion':
      reader.next()
      return { type: 'ion', text: at.text, at }
    case 'parameter':
      return { type: 'parameter', position: reader.takeParameter(), at }
    case 'keyword':
      return readKeyword(reader, statement, at)
    case 'symbol':
      return readBracketed(reader, statement, at)
    case 'end':
      throw notWellFormed('Unexpected term')
  }
}

function readKeyword(reader: StatementReader, statement: ReadStatement, at: StatementToken): ExpressionNode {
  switch (at.word) {
    case 'true':
    case 'false':
      reader.next()
      return { type: 'boolean', value: at.word === 'true', at }
    case 'null':
    case 'missing':
      reader.next()
      return { type: at.word, at }
    case 'cast':
      return readCast(reader, statement)
    case 'case':
      while (reader.token.type !== 'end' && !reader.is('end')) reader.next()
      reader.expect('end', 'Expected END keyword')
      return { type: 'unsupported', word: 'CASE', at }
    case 'and':
    case 'or':
    case 'is':
    case 'in':
    case 'like':
    case 'between':
    case 'union':
    case 'except':
    case 'intersect':
      throw notWellFormed('Unexpected operator')
  }
  const within = statement(reader)
  if (within !== undefined) return { type: 'statement', statement: within, at }
  if (!FUNCTION_KEYWORDS.has(at.word) || reader.following.word !== '(')
    throw notWellFormed('Unexpected keyword')
  reader.next()
  return readCall(reader, statement, at)
}

function readCall(reader: StatementReader, statement: ReadStatement, at: StatementToken): ExpressionNode {
  reader.next()
  if (reader.take(')')) return { type: 'call', name: at.text, args: [], at }
  if (reader.is('*')) {
    if (at.word !== 'count') throw notWellFormed(`${at.text}(*) is not allowed`)
    const star = reader.next()
    reader.expect(')', 'Expected RIGHT_PAREN')
    return { type: 'call', name: at.text, args: [{ type: 'star', at: star }], at }
  }
  const args = reader.list(() => readExpression(reader, statement))
  reader.expect(')', 'Expected RIGHT_PAREN')
  reader.countOperator()
  return { type: 'call', name: at.text, args, at }
}

function readCast(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  reader.next()
  const at = reader.expect('(', 'Missing left parenthesis after CAST')
  readExpression(reader, statement)
  reader.expect('as', 'Expected AS')
  readType(reader)
  reader.expect(')', 'Expected RIGHT_PAREN')
  return { type: 'unsupported', word: 'cast', at }
}

function readBracketed(
  reader: StatementReader,
  statement: ReadStatement,
  at: StatementToken,
): ExpressionNode {
  switch (at.word) {
    case '(': {
      reader.next()
      const items = reader.list(() => readExpression(reader, statement))
      reader.expect(')', 'Expected RIGHT_PAREN')
      return items.length === 1 ? items[0]! : { type: 'list', items, at }
    }
    case '[':
      return readItems(reader, statement, 'list', ']', 'RIGHT_BRACKET')
    case '<<':
      return readItems(reader, statement, 'bag', '>>', 'RIGHT_DOUBLE_ANGLE_BRACKET')
    case '{':
      return readStruct(reader, statement)
    case '@': {
      reader.next()
      const { token } = reader
      if (token.type !== 'name' && token.type !== 'quoted')
        throw notWellFormed('Identifier must follow @-operator')
      reader.next()
      return { type: 'name', name: token.text, at: token }
    }
    case ')':
    case ']':
    case '}':
    case '>>':
    case ',':
    case ':':
    case ';':
    case '.':
    case '*':
      throw notWellFormed('Unexpected term')
    default:
      throw notWellFormed('Unexpected operator')
  }
}

function readItems(
  reader: StatementReader,
  statement: ReadStatement,
  type: 'list' | 'bag',
  close: string,
  closeName: string,
): ExpressionNode {
  const at = reader.next()
  if (reader.take(close)) return { type, items: [], at }
  const items = reader.list(() => readExpression(reader, statement))
  reader.expect(close, `Expected ${closeName}`)
  return { type, items, at }
}

function readStruct(reader: StatementReader, statement: ReadStatement): ExpressionNode {
  const at = reader.next()
  if (reader.take('}')) return { type: 'struct', fields: [], at }
  const fields = reader.list(() => {
    const key = readExpression(reader, statement)
    reader.expect(':', 'Expected COLON')
    return { key, value: readExpression(reader, statement) }
  })
  reader.expect('}', 'Expected RIGHT_CURLY')
  return { type: 'struct', fields, at }
}
