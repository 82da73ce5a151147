// What a statement asks for, as far as its text tells: trees of the expression language, without the values of its parameters.
import { validationError } from '../../model/errors.js'
import type { ConditionNode, PathNode, UpdateNode } from '../../expression/parse/tree.js'
import { setAttribute, type AttributeValue, type MutableItem } from '../../model/value.js'
import type {
  ExpressionNode,
  InsertStatement,
  OrderTerm,
  ReturningNode,
  SelectStatement,
  StatementNode,
} from '../parse/tree.js'
import { whereConditionOf } from './conditions.js'
import { fieldsOf, literalOf } from './literals.js'
import { StatementScope } from './scope.js'
import { updateOf } from './updates.js'

export interface Column {
  /** Of the answer: the last name of its path, with the indexes behind it. */
  readonly name: string
  readonly path: PathNode
}

export interface OrderBy {
  readonly name: string
  readonly isDescending: boolean
}

/** An attribute of an INSERT that is a parameter. */
export interface ParameterAttribute {
  readonly name: string
  readonly position: number
}

/** `ALL OLD *` and the like; undefined: nothing. */
export type Returning = 'ALL OLD' | 'ALL NEW' | 'MODIFIED OLD' | 'MODIFIED NEW' | undefined

export type Meaning = { readonly scope: StatementScope } & (
  | {
      readonly type: 'select' | 'exists'
      readonly columns: readonly Column[] | 'all'
      readonly where: ConditionNode | undefined
      readonly order: readonly OrderBy[]
    }
  | {
      readonly type: 'insert'
      readonly item: Readonly<Record<string, AttributeValue>>
      readonly parameters: readonly ParameterAttribute[]
    }
  | {
      readonly type: 'update'
      readonly update: UpdateNode
      readonly where: ConditionNode | undefined
      readonly returning: Returning
    }
  | { readonly type: 'delete'; readonly where: ConditionNode | undefined; readonly returning: Returning }
)

export function meaningOf(text: string, node: StatementNode): Meaning {
  const scope = new StatementScope(text)
  switch (node.type) {
    case 'select':
      return { type: 'select', ...selectOf(node, scope), scope }
    case 'exists':
      return { type: 'exists', ...selectOf(node.select, scope), scope }
    case 'insert':
      return { type: 'insert', ...insertOf(node, scope), scope }
    case 'update': {
      const where = whereOf(node.where, scope)
      const update = updateOf(node.assignments, scope)
      return { type: 'update', update, where, returning: returningOf(node.returning), scope }
    }
    case 'delete': {
      const returning = returningOf(node.returning)
      if (returning !== undefined && returning !== 'ALL OLD')
        throw validationError(
          `Invalid returning clause: RETURNING ${returning} *. Only RETURNING ALL OLD * is allowed in DELETE statements.`,
        )
      return { type: 'delete', where: whereOf(node.where, scope), returning, scope }
    }
    case 'other':
      throw validationError(node.refusal)
  }
}

const whereOf = (where: ExpressionNode | undefined, scope: StatementScope): ConditionNode | undefined =>
  where && whereConditionOf(where, scope)

function selectOf(
  node: SelectStatement,
  scope: StatementScope,
): {
  readonly columns: readonly Column[] | 'all'
  readonly where: ConditionNode | undefined
  readonly order: readonly OrderBy[]
} {
  if (node.modifier === 'DISTINCT') throw validationError('Unsupported token in expression: DISTINCT')
  if (node.modifier === 'VALUE')
    throw validationError("Select projection doesn't support value or pivot keywords")
  const clause = node.unsupportedClause
  if (clause !== undefined) {
    const message = `Unsupported clause: ${clause.name}`
    throw clause.at === undefined ? validationError(message) : scope.refusals.at(clause.at, message)
  }
  const columns = node.projection === 'all' ? 'all' : columnsOf(node.projection, scope)
  if (node.order.length > 0 && node.where === undefined)
    throw validationError('Must have WHERE clause in the statement when using ORDER BY clause.')
  return { columns, where: whereOf(node.where, scope), order: node.order.map(orderOf) }
}

function columnsOf(items: readonly ExpressionNode[], scope: StatementScope): readonly Column[] {
  const seen = new Set<string>()
  return items.map((item) => {
    if (item.type === 'path' && item.steps.some(({ type }) => type === 'unpivot'))
      throw validationError("Changing item's hierarchy while reading isn't supported")
    const path = scope.path(item)
    const name = columnName(item)
    if (seen.has(name)) throw validationError(`Duplicate identifiers in select clause: ${name}`)
    seen.add(name)
    return { name, path }
  })
}

function columnName(item: ExpressionNode): string {
  if (item.type === 'name') return item.name
  if (item.type !== 'path' || item.root.type !== 'name') return ''
  let name = item.root.name
  for (const step of item.steps) {
    if (step.type === 'member') name = step.name
    else if (step.type === 'index' && step.index.type === 'string') name = step.index.text
    else if (step.type === 'index' && step.index.type === 'number')
      name += `[${Math.abs(Number(step.index.text))}]`
  }
  return name
}

function orderOf({ by, isDescending }: OrderTerm): OrderBy {
  if (by.type === 'name') return { name: by.name, isDescending }
  const type = by.type === 'string' ? JSON.stringify(by.text) : by.type.toUpperCase()
  throw validationError(`Argument to ORDER BY must be of type VariableReference. Type: ${type}`)
}

function insertOf(
  node: InsertStatement,
  scope: StatementScope,
): { readonly item: MutableItem; readonly parameters: readonly ParameterAttribute[] } {
  if (node.returning.length > 0) throw validationError('RETURNING is not supported in INSERT')
  if (node.refusal !== undefined) throw validationError(node.refusal)
  const { value } = node
  if (value.type !== 'struct')
    throw scope.refusals.at(
      value.at,
      'Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.',
    )
  const item: MutableItem = {}
  const parameters: ParameterAttribute[] = []
  for (const [name, field] of fieldsOf(value, scope.refusals, 'root')) {
    if (name === '') throw validationError('Empty attribute name')
    if (field.type === 'parameter') parameters.push({ name, position: field.position })
    else setAttribute(item, name, literalOf(field, scope.refusals))
  }
  return { item, parameters }
}

function returningOf(elements: readonly ReturningNode[]): Returning {
  const [first, ...more] = elements
  if (first === undefined) return undefined
  if (more.length > 0)
    throw validationError('Invalid syntax with multiple returning elements in RETURNING clause')
  if (!first.isStar)
    throw validationError("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
  return `${first.which} ${first.image}`
}
