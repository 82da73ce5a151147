// What a Query or Scan reads: a table, or one of its indexes.
import { validationError } from '../../model/errors.js'
import type { SpaceId } from '../../model/brand.js'
import { keyNames, type IndexShape, type KeySchema } from '../../model/table.js'
import type { Input, RangeContext, Table } from '../request/context.js'

export interface ReadTarget {
  readonly table: Table
  readonly index?: IndexShape
  /** The key of the index, or of the table where there is no index. */
  readonly key: KeySchema
  readonly space: SpaceId
  /** The attributes of a LastEvaluatedKey: the table's key, and the index's. */
  readonly positionNames: readonly string[]
  /** The attributes that the index holds; undefined where it holds whole items. */
  readonly heldNames?: ReadonlySet<string>
}

export function readTarget(
  context: Pick<RangeContext, 'catalog'>,
  tableName: string,
  input: Input,
): ReadTarget {
  const table = context.catalog.table(tableName)
  const indexName = input['IndexName']
  const { key, space } = table.shape
  if (typeof indexName !== 'string') return { table, key, space, positionNames: keyNames(key) }

  const index = readableIndex(table, indexName, input['KeyConditions'] ?? input['KeyConditionExpression'])
  if (index.kind === 'global' && input['ConsistentRead'] === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes')
  }
  const positionNames = [...new Set([...keyNames(key), ...keyNames(index.key)])]
  const whole = { table, index, key: index.key, space: index.space, positionNames }
  if (index.projection.type === 'ALL') return whole
  const included = index.projection.type === 'INCLUDE' ? index.projection.attributes : []
  return { ...whole, heldNames: new Set([...positionNames, ...included]) }
}

function readableIndex(table: Table, name: string, keyCondition: unknown): IndexShape {
  const index = table.readableIndexes.get(name)
  if (index !== undefined) return index
  if (table.shape.indexes.some((each) => each.name === name)) {
    throw validationError(`Cannot read from backfilling global secondary index: ${name}`)
  }
  if (isVectorIndex(table, name)) throw notByVector(keyCondition == null ? 'Scan' : 'Query')
  throw validationError(`The table does not have the specified index: ${name}`)
}

export const isVectorIndex = ({ shape }: Table, name: string): boolean =>
  shape.vectors?.some((each) => each.name === name) === true

/** Only SearchVectors reads such an index. */
export const notByVector = (operation: 'Query' | 'Scan'): Error =>
  validationError(`${operation} operation not supported on this index type`)
