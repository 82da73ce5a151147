// Statements, in the order in which DynamoDB reads their clauses:
//
//   select := SELECT ( * | expression,... ) FROM source,... [ WHERE expression ] [ ORDER BY ( expression [ASC | DESC] ),... ]
//   insert := INSERT INTO path VALUE expression
//   update := UPDATE path change+ [ WHERE expression ] [ returning ]  |  FROM source [ WHERE expression ] change+ [ returning ]
//   change := SET ( path = expression ),... | REMOVE path
//   delete := DELETE FROM path [ WHERE expression ] [ returning ]
//   exists := EXISTS ( select )
//   returning := RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) *
import { limits } from '../../model/limits.js'
import { readExpression, readSimplePath, type ReadStatement } from './expressions.js'
import { StatementReader } from './reader.js'
import { notWellFormed } from './tokens.js'
import type {
  Assignment,
  ExpressionNode,
  OrderTerm,
  OtherStatement,
  ParsedStatement,
  ReturningNode,
  SelectStatement,
  SourceNode,
  StatementMode,
  StatementNode,
  UnsupportedClause,
} from './tree.js'

export function parseStatement(text: string): ParsedStatement {
  if (text.length > limits.statementCharactersMax) throw notWellFormed('Statement is too long')
  const reader = new StatementReader(text)
  const mode = modeOf(reader)
  const node = readTopLevel(reader)
  if (reader.take(';') && reader.token.type !== 'end')
    throw notWellFormed('Unexpected token after semicolon. (Only one query is allowed.)')
  if (reader.token.type !== 'end') throw notWellFormed('Unexpected token after expression')
  return { text, node, parameters: reader.parameters, ...(mode && { mode }) }
}

const STATEMENTS: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'delete', 'from'])

/** A word before a statement, which DynamoDB would not read. */
function modeOf(reader: StatementReader): StatementMode | undefined {
  const { word } = reader.token
  if ((word !== 'explain' && word !== 'strict') || !STATEMENTS.has(reader.following.word)) return undefined
  reader.next()
  return word
}

/** A statement is an expression to DynamoDB's parser, and so is all that it then refuses. */
function readTopLevel(reader: StatementReader): StatementNode {
  const expression = readExpression(reader, readStatement)
  if (expression.type === 'statement') return expression.statement
  if (expression.type === 'call' && expression.name.toLowerCase() === 'exists') {
    const [inner, ...more] = expression.args
    if (inner?.type === 'statement' && inner.statement.type === 'select' && more.length === 0)
      return { type: 'exists', select: inner.statement }
  }
  return other(`Unsupported operation: ${OPERATION_NAMES[expression.type] ?? expression.type}`)
}

const OPERATION_NAMES: Readonly<Partial<Record<ExpressionNode['type'], string>>> = {
  name: 'Id',
  path: 'Path',
  number: 'Lit',
  string: 'Lit',
  boolean: 'Lit',
  null: 'Lit',
  missing: 'Missing',
  ion: 'Lit',
  parameter: 'Parameter',
  list: 'List',
  bag: 'Bag',
  struct: 'Struct',
  call: 'Call',
  is: 'IsType',
  between: 'Between',
  unary: 'Not',
  binary: 'Operator',
  unsupported: 'Cast',
}

const other = (refusal: string): OtherStatement => ({ type: 'other', refusal })

const readStatement: ReadStatement = (reader) => {
  switch (reader.token.word) {
    case 'select':
      reader.next()
      return readSelect(reader)
    case 'insert':
      if (reader.following.word !== 'into') return undefined
      return readInsert(reader)
    case 'update':
      reader.next()
      return readUpdate(reader)
    case 'delete':
      reader.next()
      return readDelete(reader)
    case 'from':
      reader.next()
      return readFromFirst(reader)
    case 'set':
    case 'remove':
      readChanges(reader)
      return other('Unsupported operation: Dml')
    case 'create':
    case 'drop':
      return readDefinition(reader)
    case 'exec':
      reader.next()
      if (!isName(reader)) throw notWellFormed('No stored procedure provided')
      skipToEnd(reader)
      return other('Unsupported operation: Exec')
    default:
      return undefined
  }
}

function skipToEnd(reader: StatementReader): void {
  while (reader.token.type !== 'end' && !reader.is(';')) reader.next()
}

const expression = (reader: StatementReader): ExpressionNode => readExpression(reader, readStatement)
const simplePath = (reader: StatementReader): ExpressionNode => readSimplePath(reader, readStatement)

function readSelect(reader: StatementReader): SelectStatement {
  const modifier = modifierOf(reader)
  let isProjectionAliased = false
  const items = reader.list((): ExpressionNode => {
    const at = reader.token
    if (reader.take('*')) return { type: 'star', at }
    const item = expression(reader)
    if (takeAlias(reader)) isProjectionAliased = true
    return item
  })
  const isStar = items.some(({ type }) => type === 'star')
  if (isStar && items.length > 1)
    throw notWellFormed(
      "Other expressions may not be present in the select list when '*' is used without dot notation.",
    )
  reader.expect('from', 'Expected FROM after SELECT list')
  const sources = readSources(reader)
  const where = optionalWhere(reader)
  const unsupportedClause = readUnsupportedClauses(reader)
  const order = readOrder(reader)
  const later = readUnsupportedClauses(reader)
  const refusal = unsupportedClause ?? later
  return {
    type: 'select',
    projection: isStar ? 'all' : items,
    ...(modifier && { modifier }),
    isProjectionAliased,
    sources,
    where,
    order,
    ...(refusal && { unsupportedClause: refusal }),
  }
}

function modifierOf(reader: StatementReader): 'DISTINCT' | 'VALUE' | undefined {
  if (reader.take('distinct')) return 'DISTINCT'
  if (reader.take('value')) return 'VALUE'
  reader.take('all')
  return undefined
}

/** `AS name`, or only the name. */
function takeAlias(reader: StatementReader): boolean {
  if (reader.take('as')) {
    if (!isName(reader)) throw notWellFormed('Expected identifier for AS-alias')
    reader.next()
    return true
  }
  if (!isName(reader)) return false
  reader.next()
  return true
}

const isName = ({ token }: StatementReader): boolean => token.type === 'name' || token.type === 'quoted'

const JOINS: ReadonlySet<string> = new Set(['join', 'inner', 'left', 'right', 'outer', 'full', 'cross'])

function readSources(reader: StatementReader): readonly SourceNode[] {
  const sources = [readSource(reader)]
  for (;;) {
    if (reader.take(',')) {
      sources.push(readSource(reader))
      continue
    }
    if (!JOINS.has(reader.token.word) || reader.token.type !== 'keyword') return sources
    while (JOINS.has(reader.token.word)) reader.next()
    sources.push(readSource(reader))
    if (reader.take('on')) expression(reader)
  }
}

function readSource(reader: StatementReader): SourceNode {
  reader.take('unpivot')
  const source = expression(reader)
  let isAliased = takeAlias(reader)
  for (const word of ['at', 'by']) {
    if (!reader.take(word)) continue
    if (!isName(reader)) throw notWellFormed(`Expected identifier for ${word.toUpperCase()}-alias`)
    reader.next()
    isAliased = true
  }
  return { expression: source, isAliased }
}

function readTarget(reader: StatementReader): SourceNode {
  return { expression: simplePath(reader), isAliased: takeAlias(reader) }
}

function optionalWhere(reader: StatementReader): ExpressionNode | undefined {
  return reader.take('where') ? expression(reader) : undefined
}

/** The first that DynamoDB does not have; undefined where there is none. */
function readUnsupportedClauses(reader: StatementReader): UnsupportedClause | undefined {
  let found: UnsupportedClause | undefined
  for (;;) {
    const { word, type } = reader.token
    if (type !== 'keyword') return found
    if (word === 'group') {
      reader.next()
      reader.expect('by', 'Expected BY keyword')
      reader.list(() => [expression(reader), takeAlias(reader)])
      found ??= { name: 'GROUP BY' }
    } else if (word === 'having' || word === 'limit' || word === 'offset') {
      reader.next()
      const { at } = expression(reader)
      found ??= { name: word.toUpperCase(), at }
    } else {
      return found
    }
  }
}

function readOrder(reader: StatementReader): readonly OrderTerm[] {
  if (!reader.take('order')) return []
  reader.expect('by', 'Expected BY keyword')
  return reader.list(() => {
    const by = expression(reader)
    const isDescending = reader.take('desc')
    if (!isDescending) reader.take('asc')
    return { by, isDescending }
  })
}

function readInsert(reader: StatementReader): StatementNode {
  reader.next()
  reader.next()
  const target: SourceNode = { expression: simplePath(reader), isAliased: false }
  if (!reader.take('value')) {
    const value = expression(reader)
    return { type: 'insert', target, value, refusal: MULTIPLE_ITEMS, returning: [] }
  }
  const value = expression(reader)
  let refusal: string | undefined
  if (reader.take('at')) {
    expression(reader)
    refusal = 'AT is not supported in insert statements.'
  }
  if (reader.take('on')) {
    reader.expect('conflict', 'Expected CONFLICT keyword')
    optionalWhere(reader)
    reader.expect('do', 'Expected DO keyword')
    reader.expect('nothing', 'Expected NOTHING keyword')
    refusal ??= 'Unsupported clause: ON CONFLICT'
  }
  return { type: 'insert', target, value, ...(refusal && { refusal }), returning: readReturning(reader) }
}

const MULTIPLE_ITEMS =
  'Unsupported operation: Inserting multiple items in a single statement is not supported, use ' +
  '"INSERT INTO tableName VALUE item" instead'

function readUpdate(reader: StatementReader): StatementNode {
  const target = readTarget(reader)
  const assignments = readChanges(reader)
  const where = optionalWhere(reader)
  return { type: 'update', target, assignments, where, returning: readReturning(reader) }
}

function readFromFirst(reader: StatementReader): StatementNode {
  const [source, ...more] = readSources(reader)
  const where = optionalWhere(reader)
  const assignments = readChanges(reader)
  const returning = readReturning(reader)
  if (more.length > 0)
    return other('FROM clause may only contain a single table name in data manipulation statements')
  return { type: 'update', target: source!, assignments, where, returning }
}

function readChanges(reader: StatementReader): readonly Assignment[] {
  const changes: Assignment[] = []
  for (;;) {
    if (reader.take('set')) changes.push(...reader.list(() => readAssignment(reader)))
    else if (reader.take('remove')) changes.push({ type: 'remove', target: simplePath(reader) })
    else if (changes.length === 0) throw notWellFormed('Expected data manipulation')
    else return changes
  }
}

function readAssignment(reader: StatementReader): Assignment {
  const target = simplePath(reader)
  reader.expect('=', "Expected '='")
  return { type: 'set', target, value: expression(reader) }
}

function readDelete(reader: StatementReader): StatementNode {
  reader.expect('from', 'Expected FROM after DELETE')
  const target = readTarget(reader)
  return { type: 'delete', target, where: optionalWhere(reader), returning: readReturning(reader) }
}

function readReturning(reader: StatementReader): readonly ReturningNode[] {
  if (!reader.take('returning')) return []
  return reader.list(() => {
    const which = reader.take('all') ? 'ALL' : reader.take('modified') ? 'MODIFIED' : undefined
    const image = reader.take('old') ? 'OLD' : reader.take('new') ? 'NEW' : undefined
    if (which === undefined || image === undefined)
      throw notWellFormed('Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.')
    const isStar = reader.take('*')
    if (!isStar) expression(reader)
    return { which, image, isStar }
  })
}

function readDefinition(reader: StatementReader): StatementNode {
  const verb = reader.next().word === 'create' ? 'Create' : 'Drop'
  const isTable = reader.take('table')
  if (!isTable && !reader.take('index'))
    throw notWellFormed(`Unexpected token following ${verb.toUpperCase()}`)
  skipToEnd(reader)
  return other(`Unsupported operation: ${verb}${isTable ? 'Table' : 'Index'}`)
}
