// A statement of a request: read, authorised, and bound to its table.
import {
  bindStatement,
  readStatement,
  refuseSeveralKeyParts,
  type BoundStatement,
  type Statement,
} from '../../partiql/partiql.js'
import { DynamoError, validationError } from '../../model/errors.js'
import type { IndexShape } from '../../model/table.js'
import type { AttributeValue } from '../../model/value.js'
import type { AccessPart } from '../request/access.js'
import type { Catalog, RequestScope, Table } from '../request/context.js'
import { tableNameOf } from '../shapes/table-name.js'

/** A statement that its sender may ask, with its table's name. */
export interface AskedStatement {
  readonly statement: Statement
  readonly tableName: string
  readonly parameters: readonly AttributeValue[]
}

export interface TableStatement<Bound extends BoundStatement = BoundStatement> {
  readonly statement: Statement
  readonly table: Table
  readonly bound: Bound
}

const PARTS = {
  select: 'Select',
  insert: 'Put',
  update: 'Update',
  delete: 'Delete',
  exists: 'ConditionCheck',
} as const satisfies Record<Statement['type'], AccessPart>

/** Refuses a text that is no statement, and a sender that may not ask it. */
export function askedStatement(
  text: string,
  parameters: readonly AttributeValue[],
  scope: Pick<RequestScope, 'authorise'>,
  exists: 'allowed' | 'refused',
  explain: 'allowed' | 'refused' = 'refused',
): AskedStatement {
  const statement = readStatement(text)
  const tableName = tableNameOf(statement.source.table)
  if (statement.mode === 'explain' && explain === 'refused')
    throw validationError('EXPLAIN can only be used in ExecuteStatement requests.')
  if (statement.type === 'exists' && exists === 'refused')
    throw validationError('EXISTS can only be used in ExecuteTransaction write requests.')
  scope.authorise(tableName, PARTS[statement.type])
  return { statement, tableName, parameters }
}

/** Reads the catalogue, so what it gives must be sent to the nodes in the same turn. */
export function tableStatement(
  catalog: Catalog,
  { statement, tableName, parameters }: AskedStatement,
): TableStatement {
  if (statement.source.index !== undefined) refuseSeveralKeyParts(statement, indexesOf(catalog, tableName))
  // What is wrong with the statement itself is told before its table is looked for.
  const bound = bindStatement(statement, parameters)
  return { statement, table: catalog.table(tableName), bound }
}

/** None of a table that is not there, which is told later. */
function indexesOf(catalog: Catalog, tableName: string): readonly IndexShape[] {
  try {
    return catalog.table(tableName).shape.indexes
  } catch (error) {
    if (error instanceof DynamoError) return []
    throw error
  }
}
