// Which table, and which of its indexes, a statement names.
import { validationError } from '../../model/errors.js'
import type { ExpressionNode, SourceNode, StatementNode } from '../parse/tree.js'

export interface StatementSource {
  readonly table: string
  readonly index?: string
}

const TABLE_NAME = /^(?:[a-zA-Z0-9_.-]{3,255}|arn:.*)$/
const SINGLE_TABLE = 'FROM clause may only contain a single table name in data manipulation statements'

/** What a statement is about; refuses one that is about nothing, or about several things. */
export function sourceOf(node: StatementNode): StatementSource {
  switch (node.type) {
    case 'other':
      throw validationError(node.refusal)
    case 'exists':
      return sourceOf(node.select)
    case 'select': {
      const [source, ...more] = node.sources
      if (node.isProjectionAliased) throw aliased()
      if (more.length > 0) throw validationError('Only select from a single table or index is supported.')
      return namesIn(source!)
    }
    case 'insert': {
      const names = pathNames(node.target.expression)
      if (names.length > 1) throw validationError(SINGLE_TABLE)
      return checked(names)
    }
    case 'update':
    case 'delete': {
      const source = namesIn(node.target)
      if (source.index !== undefined) throw validationError('This operation is not supported on an index')
      return source
    }
  }
}

const aliased = (): Error => validationError('Aliasing is not supported')

function namesIn({ expression, isAliased }: SourceNode): StatementSource {
  if (isAliased) throw aliased()
  const names = pathNames(expression)
  if (names.length > 2) throw validationError('A path may contain at most 2 components in the FROM clause')
  return checked(names)
}

function checked([table = '', index]: readonly string[]): StatementSource {
  if (table === '' || index === '') throw validationError('Path component cannot be an empty string')
  if (!TABLE_NAME.test(table))
    throw validationError(
      "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'.",
    )
  return index === undefined ? { table } : { table, index }
}

function pathNames(expression: ExpressionNode): readonly string[] {
  if (expression.type === 'name') return [expression.name]
  if (expression.type !== 'path' || expression.root.type !== 'name') throw unexpectedSource()
  return [
    expression.root.name,
    ...expression.steps.map((step) => {
      if (step.type === 'member') return step.name
      if (step.type === 'index' && step.index.type === 'string') return step.index.text
      if (step.type === 'index') throw validationError('Invalid list expression in source.')
      throw unexpectedSource()
    }),
  ]
}

const unexpectedSource = (): Error => validationError('Unexpected from source')
