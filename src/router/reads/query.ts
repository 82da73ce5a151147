import { partitionHash } from '../../model/key-bytes.js'
import type { KeyBytes } from '../../model/brand.js'
import { comparisonsOf } from '../../expression/expression.js'
import { validationError } from '../../model/errors.js'
import { sameValue } from '../../model/compare.js'
import { indexRange, itemRange, type KeyRange } from '../../model/key-range.js'
import { partitionParts, sortParts, type TableShape } from '../../model/table.js'
import { attribute, setAttribute, type Item, type MutableItem } from '../../model/value.js'
import type { StorageNode } from '../../storage/contract/storage-node.js'
import type { Input, Operation, RangeContext, RequestScope } from '../request/context.js'
import {
  openQueryExpressions,
  refuseNestedKeyPaths,
  refuseKeysInFilter,
  refuseUnheldFilter,
  type KeyCondition,
  checkSelect,
  selectionOf,
} from './read-expressions.js'
import { conditionMapShape, readMembers } from './read-members.js'
import { readPage, type RangeNode } from './read-page.js'
import {
  readTarget,
  type ReadTarget,
  checkStartCount,
  checkStartPart,
  inRange,
  parseStartKey,
  rangeAfter,
  startPosition,
} from './read-target.js'
import type { Reply } from '../request/router.js'
import { tableNameOf } from '../shapes/table-name.js'

export const query: Operation = {
  name: 'Query',
  shape: {
    kind: 'struct',
    wording: 'newer, alone',
    members: {
      ...readMembers,
      // Its lower bound is checked below: DynamoDB words it differently here.
      Limit: { kind: 'integer' },
      QueryFilter: conditionMapShape,
      KeyConditions: conditionMapShape,
      ScanIndexForward: { kind: 'boolean' },
      KeyConditionExpression: { kind: 'string' },
    },
  },

  run: (context, input, scope) => runQuery(context, input, scope, plainReads),
}

/** How the nodes are asked, and what is said beside DynamoDB's answer. */
export interface RangeReader {
  nodeView(node: StorageNode, table: TableShape): RangeNode
  /** Asked for once the page has been read. */
  readonly extraMembers?: () => Readonly<Record<string, unknown>>
}

export const plainReads: RangeReader = { nodeView: (node) => node }

export async function runQuery(
  context: RangeContext,
  input: Input,
  scope: Pick<RequestScope, 'authorise'>,
  reader: RangeReader,
): Promise<Reply> {
  const tableName = tableNameOf(input['TableName'])
  scope.authorise(tableName)
  const entriesMax = limitOf(input['Limit'])
  let start: Item | undefined
  const expressions = openQueryExpressions(input, () => {
    start = parseStartKey(input['ExclusiveStartKey'])
  })
  checkSelect(input, 'Query')

  const target = readTarget(context, tableName, input)
  if (start !== undefined) {
    checkStartCount(target, start)
    for (const part of partitionParts(target.key)) checkStartPart(target, part, 'partition', start)
  }
  const condition = expressions.keyCondition(target.key)
  const reverse = input['ScanIndexForward'] === false
  const whole = queryRange(target, condition)
  const range = start === undefined ? whole : rest(target, condition, whole, start, reverse)
  refuseNestedKeyPaths(target, { projection: expressions.projection })
  refuseKeysInFilter(target, expressions)
  const selection = selectionOf(input, target, expressions.projection)
  refuseNestedKeyPaths(target, { filter: expressions.filter })
  refuseUnheldFilter(target, expressions)
  return readPage({
    target,
    nodes: storageNodesOf(context, target, whole.from).map((node) =>
      reader.nodeView(node, target.table.shape),
    ),
    range,
    reverse,
    entriesMax,
    filter: expressions.filter?.matches,
    filterComparisons: expressions.filter && comparisonsOf(expressions.filter.bound),
    selection,
    consistent: input['ConsistentRead'] === true,
    capacityDetail: input['ReturnConsumedCapacity'],
    ...(isOneItem(target) && { follows: 'nothing' as const }),
    ...(reader.extraMembers && { extraMembers: reader.extraMembers }),
  })
}

function limitOf(limit: unknown): number | undefined {
  if (typeof limit !== 'number') return undefined
  if (limit >= 1) return Math.floor(limit)
  throw validationError(
    "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
  )
}

export const queryRange = (
  { index, key }: ReadTarget,
  { partition, further, sort }: KeyCondition,
): KeyRange =>
  index === undefined ? itemRange(key, partition, sort) : indexRange(key, partition, sort, further)

/** What of the range follows the start key, which must be a place within it. */
function rest(
  target: ReadTarget,
  condition: KeyCondition,
  whole: KeyRange,
  start: Item,
  reverse: boolean,
): KeyRange {
  for (const part of sortParts(target.key)) checkStartPart(target, part, 'sort', start)
  const position = startPosition(target, start)
  const ofCondition = partitionOf(target, condition)
  const samePartition = partitionParts(target.key).every(({ name }) => {
    const value = attribute(start, name)
    return value !== undefined && sameValue(value, attribute(ofCondition, name)!)
  })
  if (condition.sort === undefined) {
    if (!samePartition) {
      throw validationError(
        'The provided starting key is outside query boundaries based on provided conditions',
      )
    }
  } else {
    const inPartition = samePartition ? position : startPosition(target, { ...start, ...ofCondition })
    if (!inRange(whole, inPartition)) {
      throw validationError('The provided starting key does not match the range key predicate')
    }
    if (!samePartition) {
      throw validationError('The query can return at most one row and cannot be restarted')
    }
  }
  if (isOneItem(target))
    throw validationError(
      `The provided exclusive start key is invalid: ExclusiveStartKey: {${shownKey(start)}}`,
    )
  return rangeAfter(whole, position, reverse)
}

/** In a table without a sort key nothing can follow the item of a key. */
const isOneItem = ({ index, key }: ReadTarget): boolean => index === undefined && key.sort === undefined

/** As Java writes it. */
const shownKey = (key: Item): string =>
  Object.entries(key)
    .map(([name, value]) => {
      const [[type, content] = []] = Object.entries(value as object) as [string, unknown][]
      return `${name}=AttributeValue: {${type}:${String(content)}}`
    })
    .join(', ')

/** The HASH attributes that the condition asks for. */
function partitionOf({ key }: ReadTarget, { partition, further }: KeyCondition): Item {
  const item: MutableItem = {}
  for (const [at, { name }] of partitionParts(key).entries())
    setAttribute(item, name, at === 0 ? partition : further!.partition[at - 1]!)
  return item
}

/** An index entry lives on the node of its item: only a global index has one partition on several nodes. */
export function storageNodesOf(
  context: RangeContext,
  target: ReadTarget,
  key: KeyBytes,
): readonly StorageNode[] {
  return target.index?.kind === 'global' ? context.nodes : [context.nodeOf(partitionHash(key))]
}
