// What a unit of work has queried and scanned, as ranges of keys and filters.
import type { LocatedPredicate } from '../../coordinator/coordinator.js'
import { validationError } from '../../model/errors.js'
import { keyAfter, type KeyRange, segmentRange } from '../../model/key-range.js'
import type { Input, RangeContext, RequestScope } from '../request/context.js'
import { storageNodesOf, queryRange } from '../reads/query.js'
import { openQueryExpressions, openScanExpressions } from '../reads/read-expressions.js'
import { readMembers } from '../reads/read-members.js'
import { readTarget, type ReadTarget } from '../reads/read-target.js'
import type { RequestShape } from '../shapes/shape.js'
import { checkStartCount, parseStartKey, startPosition } from '../reads/start-key.js'
import { tableNameOf } from '../shapes/table-name.js'
import type { RequestUnit } from './unit.js'

const { TableName, IndexName, FilterExpression, ExpressionAttributeNames, ExpressionAttributeValues } =
  readMembers

export const predicateShape: RequestShape = {
  kind: 'struct',
  members: {
    TableName: TableName as RequestShape,
    IndexName: IndexName as RequestShape,
    FilterExpression: FilterExpression as RequestShape,
    ExpressionAttributeNames: ExpressionAttributeNames as RequestShape,
    ExpressionAttributeValues: ExpressionAttributeValues as RequestShape,
    KeyConditionExpression: { kind: 'string' },
    ScanIndexForward: { kind: 'boolean' },
    LastEvaluatedKey: { kind: 'map', member: { kind: 'any' } },
  },
}

export function bindPredicates(
  context: RangeContext,
  elements: readonly Input[],
  scope: Pick<RequestScope, 'authorise'>,
  { readTimestamp: since }: Pick<RequestUnit, 'readTimestamp'>,
): readonly LocatedPredicate[] {
  if (elements.length === 0) return []
  for (const element of elements) scope.authorise(tableNameOf(element['TableName']), 'Predicates')
  if (since === undefined) throw validationError('Predicates need the ReadTimestamp that they were read at')
  return elements.map((element): LocatedPredicate => {
    const tableName = tableNameOf(element['TableName'])
    const target = readTarget(context, tableName, element)
    const { index } = target
    const { whole, filter, nodes } = partsOf(context, element, target)
    const range = readPart(element, target, whole)
    return {
      check: {
        table: target.table.shape,
        ...(index && { index }),
        since,
        range,
        ...(filter && { filter: filter.bound }),
      },
      nodes,
    }
  })
}

function partsOf(context: RangeContext, element: Input, target: ReadTarget) {
  const everywhere = context.nodes.map((_, position) => position)
  if (typeof element['KeyConditionExpression'] !== 'string') {
    return { whole: segmentRange(0, 1), filter: openScanExpressions(element).filter, nodes: everywhere }
  }
  const expressions = openQueryExpressions(element)
  const whole = queryRange(target, expressions.keyCondition(target.key))
  const nodes = storageNodesOf(context, target, whole.from).map((node) => context.nodes.indexOf(node))
  return { whole, filter: expressions.filter, nodes }
}

/** Up to where reading ended; what lies beyond was not seen. */
function readPart(element: Input, target: ReadTarget, whole: KeyRange): KeyRange {
  const last = parseStartKey(element['LastEvaluatedKey'])
  if (last === undefined) return whole
  checkStartCount(target, last)
  const position = startPosition(target, last)
  return element['ScanIndexForward'] === false
    ? { ...whole, from: position }
    : { ...whole, to: keyAfter(position) }
}
