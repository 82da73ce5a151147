// What a statement of PartiQL would do, by the parser of the store and not by its first word.
import { readStatement, type Statement } from '../../partiql/partiql.js'
import { WrongToolCall } from './tool.js'

/** A SELECT that reads; everything else is refused. */
export function readingStatement(text: string): string {
  const { type, mode } = read(text)
  if (type !== 'select' || mode === 'explain')
    throw new WrongToolCall(`This tool runs SELECT only, and this is ${wordFor(type, mode)}`)
  return text
}

/** An INSERT, UPDATE or DELETE on one of the tables. */
export function writingStatement(text: string, tables: ReadonlySet<string>): string {
  const { type, mode, source } = read(text)
  if ((type !== 'insert' && type !== 'update' && type !== 'delete') || mode !== undefined)
    throw new WrongToolCall(
      `This tool runs INSERT, UPDATE and DELETE only, and this is ${wordFor(type, mode)}`,
    )
  writableTable(source.table, tables)
  return text
}

/**
 * The statement with EXPLAIN before it, which runs nothing on Seriatim. Other endpoints do not know the word, and one might run
 * what follows it: so what writes is explained only where it may be run.
 */
export function explainedStatement(text: string, tables: ReadonlySet<string>): string {
  const explained = `EXPLAIN ${text}`
  const { type, mode, source } = read(explained)
  if (mode !== 'explain' || type === 'exists')
    throw new WrongToolCall('Give one statement, without a word such as EXPLAIN or STRICT before it')
  if (type !== 'select') writableTable(source.table, tables)
  return explained
}

export function writableTable(table: unknown, tables: ReadonlySet<string>): void {
  if (typeof table === 'string' && tables.has(table)) return
  const named = tables.size === 0 ? 'none' : [...tables].join(', ')
  throw new WrongToolCall(
    `${typeof table === 'string' ? `'${table.slice(0, 300)}'` : 'No table'} may not be written to. Tables that may be, by their names: ${named}`,
  )
}

function read(text: string): Statement {
  try {
    return readStatement(text)
  } catch (error) {
    throw new WrongToolCall((error as Error).message)
  }
}

const wordFor = (type: Statement['type'], mode: Statement['mode']): string =>
  mode === undefined ? type.toUpperCase() : `${mode.toUpperCase()} ${type.toUpperCase()}`
