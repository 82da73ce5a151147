// What a Query or Scan reads: a table, or one of its indexes, and from where on.
import { validationError, DynamoError, RewordedError } from '../../model/errors.js'
import type { SpaceId, KeyBytes } from '../../model/brand.js'
import { keyNames, type IndexShape, type KeySchema, type KeyAttribute } from '../../model/table.js'
import type { Input, RangeContext, Table } from '../request/context.js'
import { indexEntryKey, itemKey } from '../../model/key-bytes.js'
import { keyAfter, type KeyRange } from '../../model/key-range.js'
import { parseItem } from '../../model/parse-value.js'
import { attribute, typeOf, type Item, pickAttributes } from '../../model/value.js'
import { checkKey, checkKeyValue, type KeyRole } from '../request/keys.js'

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

// ExclusiveStartKey: where a page goes on. It may be forged, and the item it was made from may be gone: the position in
// the key space is computed from its attributes, and they are checked as if they had never been seen.

const INVALID = 'The provided starting key is invalid'
const MISMATCH = 'The provided key element does not match the schema'

/** The values alone, before it is known which table they belong to. */
export function parseStartKey(json: unknown): Item | undefined {
  if (json === undefined || json === null) return undefined
  return refused(UNPREFIXED, () => parseItem(json))
}

/** DynamoDB tells these without saying that they are about the starting key. */
const UNPREFIXED = /contains duplicates|number set|numeric value|significant digits|number with magnitude/
const NEVER = /(?!)/

function refused<Result>(unprefixed: RegExp, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
    throw unprefixed.test(error.message) ? error : validationError(`${INVALID}: ${error.message}`)
  }
}

/** Refuses a start key that has not as many attributes as a LastEvaluatedKey of this target; each of those is looked for later. */
export function checkStartCount(target: ReadTarget, start: Item): void {
  if (Object.keys(start).length !== target.positionNames.length) throw validationError(INVALID)
}

/** Refuses a start key that is not in the key of the index, or of the table where there is none. */
export function checkStartPart({ index }: ReadTarget, part: KeyAttribute, role: KeyRole, start: Item): void {
  const value = attribute(start, part.name)
  if (value === undefined) throw validationError(INVALID)
  if (typeOf(value) !== part.type) throw validationError(index === undefined ? INVALID : MISMATCH)
  refused(NEVER, () => checkKeyValue(part.name, role, value))
}

/** Refuses a start key that is not exactly a key of the table. */
export function checkTableStart(target: ReadTarget, start: Item): void {
  try {
    refused(NEVER, () => checkKey(target.table.shape.key, start))
  } catch (error) {
    if (!(error instanceof DynamoError) || error.message !== `${INVALID}: ${MISMATCH}`) throw error
    throw new RewordedError(error.message, error.message, INVALID)
  }
}

/** The place of a start key in the key space of its target; the table's part of it is checked here. */
export function startPosition(target: ReadTarget, start: Item): KeyBytes {
  const { key } = target.table.shape
  const tableKey = pickAttributes(start, keyNames(key))
  refused(NEVER, () => checkKey(key, tableKey))
  const base = itemKey(key, tableKey)
  if (target.index === undefined) return base.bytes
  const position = indexEntryKey(target.index, start, base)
  if (position === undefined) throw validationError(INVALID)
  return position
}

export const inRange = (range: KeyRange, position: KeyBytes): boolean =>
  position >= range.from && (range.to === undefined || position < range.to)

/** What of the range comes after the position, in the direction of reading. */
export function rangeAfter(range: KeyRange, position: KeyBytes, reverse: boolean): KeyRange {
  if (reverse) return { from: range.from, to: position }
  return range.to === undefined ? { from: keyAfter(position) } : { from: keyAfter(position), to: range.to }
}
