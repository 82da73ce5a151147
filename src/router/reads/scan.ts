import { comparisonsOf } from '../../expression/expression.js'
import { RewordedError, validationError } from '../../model/errors.js'
import { segmentRange, type KeyRange } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import { partitionParts, sortParts } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { Input, Operation, RangeContext, RequestScope } from '../request/context.js'
import { openScanExpressions, refuseNestedKeyPaths, checkSelect, selectionOf } from './read-expressions.js'
import { conditionMapShape, readMembers } from './read-members.js'
import { readPage } from './read-page.js'
import {
  readTarget,
  type ReadTarget,
  checkStartCount,
  checkStartPart,
  checkTableStart,
  inRange,
  parseStartKey,
  rangeAfter,
  startPosition,
} from './read-target.js'
import type { Reply } from '../request/router.js'
import { toldInOlderWords } from '../request/wording.js'
import { tableNameOf } from '../shapes/table-name.js'
import { plainReads, type RangeReader } from './query.js'

export const scan: Operation = {
  name: 'Scan',
  shape: {
    kind: 'struct',
    wording: 'newest',
    members: {
      ...readMembers,
      TotalSegments: { kind: 'integer', valueMin: 1, valueMax: limits.segmentsMax },
      ScanFilter: conditionMapShape,
      Segment: { kind: 'integer', valueMin: 0, valueMax: limits.segmentsMax - 1 },
      Limit: { kind: 'integer', valueMin: 1 },
    },
  },

  run: (context, input, scope) => runScan(context, input, scope, plainReads),
}

export async function runScan(
  context: RangeContext,
  input: Input,
  scope: Pick<RequestScope, 'authorise'>,
  reader: RangeReader,
): Promise<Reply> {
  const tableName = tableNameOf(input['TableName'])
  scope.authorise(tableName)
  let start: Item | undefined
  let segment: Segment = WHOLE
  const expressions = toldInOlderWords(() =>
    openScanExpressions(input, () => {
      start = parseStartKey(input['ExclusiveStartKey'])
      segment = segmentOf(input)
    }),
  )
  checkSelect(input, 'Scan')

  const target = readTarget(context, tableName, input)
  if (start !== undefined) checkStart(target, start)
  const selection = selectionOf(input, target, expressions.projection)
  const whole = segmentRange(segment.segment, segment.total)
  const range = start === undefined ? whole : rest(target, whole, start, segment)
  refuseNestedKeyPaths(target, expressions)
  return readPage({
    target,
    nodes: context.nodes.map((node) => reader.nodeView(node, target.table.shape)),
    range,
    reverse: false,
    entriesMax: typeof input['Limit'] === 'number' ? Math.floor(input['Limit']) : undefined,
    filter: expressions.filter?.matches,
    filterComparisons: expressions.filter && comparisonsOf(expressions.filter.bound),
    selection,
    consistent: input['ConsistentRead'] === true,
    capacityDetail: input['ReturnConsumedCapacity'],
    ...(reader.extraMembers && { extraMembers: reader.extraMembers }),
  })
}

interface Segment {
  readonly segment: number
  readonly total: number
}

const WHOLE: Segment = { segment: 0, total: 1 }

function segmentOf(input: Input): Segment {
  const segment = input['Segment'] ?? undefined
  const total = input['TotalSegments'] ?? undefined
  if (segment === undefined && total === undefined) return WHOLE
  if (typeof total !== 'number') {
    throw validationError(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    )
  }
  if (typeof segment !== 'number') {
    throw validationError(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    )
  }
  const [part, parts] = [Math.floor(segment), Math.floor(total)]
  if (part < parts) return { segment: part, total: parts }
  const zeroBased = 'The Segment parameter is zero-based and must be less than parameter TotalSegments'
  const told = `${zeroBased}: Segment: ${part} is not less than TotalSegments: ${parts}`
  throw new RewordedError(told, told, zeroBased)
}

/** A scan of a table says more about a wrong start key than a scan of an index. */
function checkStart(target: ReadTarget, start: Item): void {
  if (target.index === undefined) return checkTableStart(target, start)
  checkStartCount(target, start)
  for (const part of partitionParts(target.index.key)) checkStartPart(target, part, 'partition', start)
  for (const part of sortParts(target.index.key)) checkStartPart(target, part, 'sort', start)
}

function rest(target: ReadTarget, whole: KeyRange, start: Item, { segment, total }: Segment): KeyRange {
  const position = startPosition(target, start)
  if (inRange(whole, position)) return rangeAfter(whole, position, false)
  throw validationError(
    'The provided starting key is invalid: Invalid ExclusiveStartKey. ' +
      `Please use ExclusiveStartKey with correct Segment. TotalSegments: ${total} Segment: ${segment}`,
  )
}
