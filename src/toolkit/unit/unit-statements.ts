// Statements of PartiQL in a unit of work: each becomes the calls that a lambda could make itself, so that own writes are seen,
// predicates are validated, and every endpoint and isolation level treats it alike.
//
//   SELECT  get, query or scan, and what is left of WHERE      INSERT  put, if absent
//   UPDATE  update of an item that has to be there             DELETE  delete; of an item that is there WHERE has to hold
//   EXISTS  check                                              RETURNING  from the image that the unit sees
import { evaluateCondition, projectionPaths, updatedAttributes } from '../../expression/expression.js'
import { valueAt } from '../../expression/parse/paths.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { validationError } from '../../model/errors.js'
import { keyNames } from '../../model/table.js'
import { attribute, pickAttributes, setAttribute, type Item, type MutableItem } from '../../model/value.js'
import {
  bindStatement,
  onlyKey,
  planSelect,
  readStatement,
  refuseScan,
  refuseSeveralKeyParts,
  statementShape,
  type StatementScans,
  writeTarget,
  type BoundDelete,
  type BoundSelect,
  type BoundUpdateStatement,
  type KeyRead,
  type SelectKey,
  type Statement,
  type StatementSource,
} from '../../partiql/partiql.js'
import { ConditionFailed } from '../endpoint/errors.js'
import { marshall, unmarshallItem } from '../values/values.js'
import { placedActions, printedUpdate } from './compose-update.js'
import type { Expression } from './expressions.js'
import type { UnitCall } from './fold-calls.js'
import { projected, type IndexLayout, described } from './layout.js'
import { NotPrintable, printedCondition } from './print-expressions.js'
import type { ItemAddress, TableLayout, UnitRange } from './protocol.js'

type Plain = Record<string, unknown>

/** What a statement needs of its unit. */
export interface StatementUnit {
  layout(table: string): TableLayout | Promise<TableLayout>
  /** As the unit sees it, after its own writes. */
  image(address: ItemAddress): Promise<Item | undefined>
  rows(range: UnitRange): Promise<readonly Item[]>
  write(address: ItemAddress, step: UnitCall): void
}

/** The rows of a SELECT, or what RETURNING asks for; empty for other statements. */
export async function executeInUnit(
  unit: StatementUnit,
  text: string,
  parameters: readonly unknown[],
  scans?: StatementScans,
): Promise<Plain[]> {
  const statement = readStatement(text)
  if (statement.mode === 'explain')
    throw validationError('EXPLAIN can only be used in ExecuteStatement requests.')
  const { source } = statement
  const layout = await unit.layout(source.table)
  refuseSeveralKeyParts(statement, layout.indexes)
  const values = parameters.map((value) => marshall(value))
  const bound = bindStatement(statement, values)
  const by = {
    statements: [{ shape: statementShape(text), text, ...(values.length > 0 && { parameters: values }) }],
  }
  try {
    switch (bound.type) {
      case 'select':
        return (await selected(unit, layout, statement, bound, scans)).map((row) => unmarshallItem(row))
      case 'insert':
        unit.write(addressIn(layout, bound.item), {
          kind: 'put',
          item: bound.item,
          condition: presence('attribute_not_exists', layout),
          ...by,
        })
        return []
      case 'exists': {
        const { key, condition } = writeTarget(bound.where, layout.key, 'conditions')
        unit.write(
          { table: layout.name, key },
          { kind: 'check', condition: joined('AND', presence('attribute_exists', layout), condition) },
        )
        return []
      }
      case 'update':
        return (await updated(unit, layout, bound, by)).map((row) => unmarshallItem(row))
      case 'delete':
        return (await deleted(unit, layout, bound, by)).map((row) => unmarshallItem(row))
    }
  } catch (error) {
    if (!(error instanceof NotPrintable)) throw error
    throw validationError(`A statement of a unit of work cannot have ${error.message}`)
  }
}

function addressIn(layout: TableLayout, item: Item): ItemAddress {
  const names = keyNames(layout.key)
  for (const name of names)
    if (attribute(item, name) === undefined)
      throw validationError(`Key attribute should be present in the item: Key ${name}`)
  return { table: layout.name, key: pickAttributes(item, names) }
}

/** `#key` is the partition key, which every item has. */
const presence = (name: 'attribute_exists' | 'attribute_not_exists', { key }: TableLayout): Expression => ({
  text: `${name}(#key)`,
  names: { '#key': key.partition.name },
})

function joined(word: 'AND' | 'OR', first: Expression, condition: BoundCondition | undefined): Expression {
  if (condition === undefined) return first
  const second = printedCondition(condition)
  const isGrouped = word === 'AND' && condition.tree.type === 'or'
  return {
    text: `${first.text} ${word} ${isGrouped ? `(${second.text})` : second.text}`,
    names: { ...first.names, ...second.names },
    ...(second.values && { values: second.values }),
  }
}

async function updated(
  unit: StatementUnit,
  layout: TableLayout,
  { update, where, returning }: BoundUpdateStatement,
  by: Pick<UnitCall, 'statements'>,
): Promise<readonly Item[]> {
  const { key, condition } = writeTarget(where, layout.key, 'refused')
  const address = { table: layout.name, key }
  const before = returning === undefined ? undefined : await unit.image(address)
  if (returning !== undefined && (before === undefined || !holds(condition, before))) throw failed(address)
  unit.write(address, {
    kind: 'update',
    update: printedUpdate(placedActions(update)),
    condition: joined('AND', presence('attribute_exists', layout), condition),
    ...by,
  })
  if (returning === undefined) return []
  const image = returning.endsWith('OLD') ? before : await unit.image(address)
  if (image === undefined) return []
  if (returning.startsWith('ALL')) return [image]
  const part = updatedAttributes(update, image)
  return Object.keys(part).length === 0 ? [] : [part]
}

async function deleted(
  unit: StatementUnit,
  layout: TableLayout,
  { where, returning }: BoundDelete,
  by: Pick<UnitCall, 'statements'>,
): Promise<readonly Item[]> {
  const { key, condition } = writeTarget(where, layout.key, 'refused')
  const address = { table: layout.name, key }
  const before = returning === undefined ? undefined : await unit.image(address)
  if (before !== undefined && !holds(condition, before)) throw failed(address)
  unit.write(address, {
    kind: 'delete',
    ...(condition && { condition: joined('OR', presence('attribute_not_exists', layout), condition) }),
    ...by,
  })
  return before === undefined ? [] : [before]
}

const holds = (condition: BoundCondition | undefined, item: Item): boolean =>
  condition === undefined || evaluateCondition(condition, item)

const failed = (address: ItemAddress): ConditionFailed =>
  new ConditionFailed(`The WHERE of a statement does not hold for ${described(address)}.`, {
    table: address.table,
    key: unmarshallItem(address.key),
  })

async function selected(
  unit: StatementUnit,
  layout: TableLayout,
  statement: Statement,
  bound: BoundSelect,
  scans: StatementScans | undefined,
): Promise<readonly Item[]> {
  const { source } = statement
  const index = indexOf(layout, source)
  const target: SelectKey = {
    key: index?.key ?? layout.key,
    of: index === undefined ? 'table' : 'index',
  }
  const plan = planSelect(bound.where, bound.order, target)
  refuseScan(statement, plan, target, scans)
  const key = index === undefined ? onlyKey(plan, layout.key) : undefined
  if (key !== undefined) {
    const item = await unit.image({ table: layout.name, key })
    return item === undefined ? [] : [columnsOf(bound, item)]
  }
  const ranges: UnitRange[] =
    plan.type === 'scan'
      ? [{ ...rangeOf(source), ...filterOf(plan.filter), reverse: false }]
      : plan.reads.map((read) => ({
          ...rangeOf(source),
          ...keyRead(read, layout, index),
          reverse: plan.isReverse,
        }))
  const rows: Item[] = []
  for (const range of ranges) rows.push(...(await unit.rows(range)))
  const found = rows.filter((row) => holds(bound.where, row))
  return Promise.all(
    found.map(async (row) => columnsOf(bound, await wholeRow(unit, layout, index, bound, row))),
  )
}

function indexOf(layout: TableLayout, { index }: StatementSource): IndexLayout | undefined {
  if (index === undefined) return undefined
  const found = layout.indexes.find(({ name }) => name === index)
  if (found === undefined) throw validationError('The table does not have the specified index')
  return found
}

const rangeOf = ({ table, index }: StatementSource): Pick<UnitRange, 'table' | 'index'> => ({
  table,
  ...(index !== undefined && { index }),
})

/** Left to the endpoint where it has words for it, so that only what matters is read, and validated. */
function filterOf(filter: BoundCondition | undefined): Pick<UnitRange, 'filter' | 'names' | 'values'> {
  if (filter === undefined) return {}
  try {
    const { text, names, values } = printedCondition(filter)
    return { filter: text, ...(names && { names }), ...(values && { values }) }
  } catch (error) {
    if (error instanceof NotPrintable) return {}
    throw error
  }
}

/** One condition on the sort key goes to the endpoint; further ones are looked at here, and so is a filter on the key. */
function keyRead(
  { partition, sort, filter }: KeyRead,
  layout: TableLayout,
  index: IndexLayout | undefined,
): Pick<UnitRange, 'keyCondition' | 'filter' | 'names' | 'values'> {
  const key = index?.key ?? layout.key
  const names: Record<string, string> = { '#pk': key.partition.name }
  const values: MutableItem = { ':pk': partition }
  let keyCondition = '#pk = :pk'
  const [first] = sort
  if (first !== undefined) {
    names['#sk'] = key.sort!.name
    for (const [at, value] of first.values.entries()) values[`:sk${at}`] = value
    keyCondition += ` AND ${sortText(first.op)}`
  }
  const further = namesKey(filter, keyNames(key)) ? {} : filterOf(filter)
  return {
    keyCondition,
    ...(further.filter !== undefined && { filter: further.filter }),
    names: { ...names, ...further.names },
    values: { ...values, ...further.values },
  }
}

const sortText = (op: KeyRead['sort'][number]['op']): string => {
  if (op === 'BETWEEN') return '#sk BETWEEN :sk0 AND :sk1'
  return op === 'begins_with' ? 'begins_with(#sk, :sk0)' : `#sk ${op} :sk0`
}

const namesKey = (filter: BoundCondition | undefined, names: readonly string[]): boolean =>
  filter !== undefined && Object.values(printedNames(filter)).some((name) => names.includes(name))

function printedNames(filter: BoundCondition): Readonly<Record<string, string>> {
  try {
    return printedCondition(filter).names ?? {}
  } catch {
    return {}
  }
}

/** A column that an index does not hold is read of the item, as a local index of DynamoDB does; a global one refuses it. */
async function wholeRow(
  unit: StatementUnit,
  layout: TableLayout,
  index: IndexLayout | undefined,
  { projection }: BoundSelect,
  row: Item,
): Promise<Item> {
  if (index === undefined || projection === undefined || index.projection.type === 'ALL') return row
  const names = projectionPaths(projection).map(([name]) => String(name))
  const all: MutableItem = {}
  for (const name of names) setAttribute(all, name, { NULL: true })
  const missing = names.filter((name) => attribute(projected(layout, index, all), name) === undefined)
  if (missing.length === 0) return row
  if (index.kind === 'global')
    throw validationError(
      `One or more parameter values were invalid: Global secondary index ${index.name} does not project [${missing.join(', ')}]`,
    )
  return (await unit.image({ table: layout.name, key: pickAttributes(row, keyNames(layout.key)) })) ?? row
}

function columnsOf({ projection, columns }: BoundSelect, item: Item): Item {
  if (projection === undefined) return item
  const row: MutableItem = {}
  for (const [at, path] of projection.tree.paths.entries()) {
    const value = valueAt(path, item, projection.bindings.names)
    if (value !== undefined) setAttribute(row, columns[at]!, value)
  }
  return row
}
