// PartiQL: statements as the trees of the expression language, so that conditions, updates and projections have one meaning.
//
//   text --parse--> what it says --meaning--> trees, literals --bind--> parameters' values, types checked --plan--> reads, keys
//        \____________ remembered by text ____________/
//
// Messages come in DynamoDB's order: first what is no statement, then the table (which the caller looks up), then what the
// statement means, then what its parameters make wrong, then what concerns the table's key (plan/). Nothing here knows a table's
// items, and nothing throws anything but DynamoError.
//
// May import: model, expression.
import { bindCondition } from '../expression/bind/bind-condition.js'
import { bindProjection, bindUpdate } from '../expression/bind/bind-update.js'
import { Placeholders } from '../expression/bind/placeholders.js'
import { TextCache } from '../expression/parse/cache.js'
import type { ConditionNode } from '../expression/parse/tree.js'
import type { BoundCondition, BoundProjection, BoundUpdate } from '../expression/parse/types.js'
import { validationError } from '../model/errors.js'
import { hasSeveralParts, type KeySchema } from '../model/table.js'
import { setAttribute, typeOf, type AttributeValue, type Item, type MutableItem } from '../model/value.js'
import { meaningOf, type Meaning, type OrderBy, type Returning } from './meaning/meaning.js'
import { parameterName } from './meaning/scope.js'
import { sourceOf, type StatementSource } from './meaning/sources.js'
import type { SelectKey, SelectPlan } from './plan/select-plan.js'
import { parseStatement } from './parse/statements.js'
import { statementTokens, type StatementTokenType } from './parse/tokens.js'
import type { ParsedStatement, StatementMode } from './parse/tree.js'

export type { OrderBy, Returning } from './meaning/meaning.js'
export type { StatementSource } from './meaning/sources.js'
export {
  onlyKey,
  planSelect,
  rangeOfRead,
  type KeyRead,
  type SelectKey,
  type SelectPlan,
} from './plan/select-plan.js'
export { writeTarget, type WriteTarget } from './plan/write-target.js'

export type StatementType = 'select' | 'insert' | 'update' | 'delete' | 'exists'

/** A statement that was read, about a table that is not known yet. */
export interface Statement {
  readonly type: StatementType
  readonly text: string
  readonly source: StatementSource
  /** How many parameters it has. */
  readonly parameters: number
  readonly mode?: StatementMode
  /** Refuses what DynamoDB does not do; the same for every request with this text. */
  readonly meaning: () => Meaning
}

/** A statement without what may be data in it: literals are `?`, as parameters are, and comments are left out. */
export const statementShape = (text: string): string => shapes.get(text, shapeOf)

const shapes = new TextCache<string>({ entriesMax: 1000, charactersMax: 512 * 1024 })

function shapeOf(text: string): string {
  let shape = ''
  let end = 0
  for (const { type, start, length } of statementTokens(text)) {
    const between = text.slice(end, start)
    shape += between.trim() === '' ? between : ' '
    shape += LITERALS.has(type) ? '?' : text.slice(start, start + length)
    end = start + length
  }
  return shape
}

const LITERALS: ReadonlySet<StatementTokenType> = new Set(['string', 'number', 'ion'])

/** Refuses a text that is no statement, or one about no table. */
export const readStatement = (text: string): Statement => statements.get(text, statementOf)

// Few different texts come, many times each. A text of 8,192 characters takes about a hundred times its size.
const statements = new TextCache<Statement>({ entriesMax: 1000, charactersMax: 512 * 1024 })

function statementOf(text: string): Statement {
  const { node, parameters, mode } = parseStatement(text)
  let state: Meaning | ParsedStatement['node'] = node
  return {
    type: node.type as StatementType,
    text,
    source: sourceOf(node),
    parameters,
    ...(mode && { mode }),
    // Once it is known, what was read of the text is let go of: it takes many times the text's size.
    meaning: () => ('scope' in state ? state : (state = meaningOf(text, state))),
  }
}

/** Like DynamoDB, reads no index with several HASH or several RANGE attributes. Its words say tables; it means the index. */
export function refuseSeveralKeyParts(
  { type, source }: Statement,
  indexes: readonly { readonly name: string; readonly key: KeySchema }[],
): void {
  if (source.index === undefined || (type !== 'select' && type !== 'exists')) return
  const index = indexes.find(({ name }) => name === source.index)
  if (index !== undefined && hasSeveralParts(index.key))
    throw validationError(
      'PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.',
    )
}

/** Whether statements may read a whole table or index: of a store, or of a transactor. */
export type StatementScans = 'allowed' | 'refused'

/** Of a strict statement, and where scans are refused: one is, with what would make it a read by key. */
export function refuseScan(
  { mode, source }: Statement,
  plan: SelectPlan,
  { key }: SelectKey,
  scans: StatementScans = 'allowed',
): void {
  const isStrict = mode === 'strict' || (scans === 'refused' && mode !== 'explain')
  if (!isStrict || plan.type !== 'scan') return
  const { table, index } = source
  throw validationError(
    `A strict statement does not read all of ${index === undefined ? table : `${table}.${index}`}. Hint: give the partition key ` +
      `${key.partition.name} with = or IN in every alternative of WHERE, or read an index whose partition key WHERE gives; ` +
      'EXPLAIN shows what a statement reads.',
  )
}

export interface BoundSelect {
  readonly type: 'select' | 'exists'
  readonly where: BoundCondition | undefined
  /** Undefined: all attributes. The names of the columns are those of the answer of ExecuteStatement. */
  readonly projection: BoundProjection | undefined
  readonly columns: readonly string[]
  readonly order: readonly OrderBy[]
}
export interface BoundInsert {
  readonly type: 'insert'
  readonly item: Item
}
export interface BoundUpdateStatement {
  readonly type: 'update'
  readonly update: BoundUpdate
  readonly where: BoundCondition | undefined
  readonly returning: Returning
}
export interface BoundDelete {
  readonly type: 'delete'
  readonly where: BoundCondition | undefined
  readonly returning: Returning
}
export type BoundStatement = BoundSelect | BoundInsert | BoundUpdateStatement | BoundDelete

/** The statement with the values of its parameters, which were validated before; types of operands are checked here. */
export function bindStatement(statement: Statement, parameters: readonly AttributeValue[]): BoundStatement {
  const meaning = statement.meaning()
  // Like DynamoDB, takes more than there are places for.
  if (parameters.length < statement.parameters)
    throw validationError("Number of parameters in request and statement don't match.")
  if (meaning.type === 'insert') return { type: 'insert', item: insertedItem(meaning, parameters) }
  const placeholders = placeholdersOf(meaning, statement.parameters, parameters)
  const where = meaning.where && boundWhere(meaning.where, placeholders)
  switch (meaning.type) {
    case 'select':
    case 'exists': {
      const { type, columns, order } = meaning
      if (columns === 'all') return { type, where, projection: undefined, columns: [], order }
      const tree = { paths: columns.map(({ path }) => path) }
      const projection = bindProjection({ tree, operators: 0 }, placeholders, 'Statement')
      return { type, where, projection, columns: columns.map(({ name }) => name), order }
    }
    case 'update': {
      const update = bindUpdate({ tree: meaning.update, operators: 0 }, placeholders)
      return { type: 'update', update, where, returning: meaning.returning }
    }
    case 'delete':
      return { type: 'delete', where, returning: meaning.returning }
  }
}

const boundWhere = (tree: ConditionNode, placeholders: Placeholders): BoundCondition =>
  bindCondition({ tree, operators: 0 }, placeholders, 'Statement')

function insertedItem(meaning: Meaning & { type: 'insert' }, parameters: readonly AttributeValue[]): Item {
  if (meaning.parameters.length === 0) return meaning.item
  const item: MutableItem = { ...meaning.item }
  for (const { name, position } of meaning.parameters) setAttribute(item, name, parameters[position]!)
  return item
}

const SETS: ReadonlySet<string> = new Set(['SS', 'NS', 'BS'])

function placeholdersOf(
  { scope }: Meaning,
  count: number,
  parameters: readonly AttributeValue[],
): Placeholders {
  for (const { position, refusal } of scope.setParameters)
    if (!SETS.has(typeOf(parameters[position]!))) throw refusal()
  const { names } = scope
  if (count === 0) return new Placeholders({ names, values: scope.values })
  const values = new Map(scope.values)
  for (let position = 0; position < count; position++)
    values.set(parameterName(position), parameters[position]!)
  return new Placeholders({ names, values })
}
