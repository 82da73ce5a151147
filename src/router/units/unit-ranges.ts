// The ranges of a unit of work: UnitQuery and UnitScan read them at its snapshot, and its commit checks them as predicates.
//
//   UnitQuery, UnitScan --> readRange --> Query, Scan, each node read at the snapshot
//   UnitCommit: Predicates --> bindPredicates --> ranges of keys, filters and the nodes that have them
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { query, runQuery, type RangeReader, storageNodesOf, queryRange } from '../reads/query.js'
import { runScan, scan } from '../reads/scan.js'
import type { Operation, Input, RangeContext, RequestScope } from '../request/context.js'
import { tableNameOf } from '../shapes/table-name.js'
import {
  ageMember,
  forget,
  readPlace,
  refuseLost,
  refusedSnapshot,
  releaseOf,
  snapshotPass,
  unitMembers,
  unitOf,
  type RequestUnit,
  type UnitContext,
  type UnitReadPoint,
} from './unit.js'
import type { LocatedPredicate } from '../../coordinator/coordinator.js'
import { validationError } from '../../model/errors.js'
import { keyAfter, type KeyRange, segmentRange } from '../../model/key-range.js'
import { openQueryExpressions, openScanExpressions } from '../reads/read-expressions.js'
import { readMembers } from '../reads/read-members.js'
import {
  readTarget,
  type ReadTarget,
  checkStartCount,
  parseStartKey,
  startPosition,
} from '../reads/read-target.js'
import type { RequestShape } from '../shapes/shape.js'

export const unitQuery = atSnapshot('UnitQuery', query, runQuery)
export const unitScan = atSnapshot('UnitScan', scan, runScan)

function atSnapshot(
  name: 'UnitQuery' | 'UnitScan',
  plain: Operation,
  run: typeof runQuery | typeof runScan,
): Operation {
  return {
    name,
    targetPrefix: EXTENSION_PREFIX,
    shape: { ...plain.shape, members: { ...plain.shape.members, ...unitMembers } },
    async run(context, input, scope) {
      // Before a snapshot is opened: one that nobody is told of would stay until it is too old.
      scope.authorise(tableNameOf(input['TableName']))
      const unit = unitOf(context, scope, input)
      refuseLost(unit)
      releaseOf(context, scope, input)
      const clock = context.runtime.clock.nowMicros()
      return readRange(context, unit, ({ readTimestamp }, nodeView) =>
        run(context, input, scope, {
          nodeView,
          extraMembers: () => ({
            ReadTimestamp: snapshotPass(context, scope, unit, readTimestamp),
            Clock: clock,
            ...ageMember(unit),
          }),
        }),
      )
    },
  }
}

/** `read` is told where to read, and how to ask a node for it. Throws DynamoError. */
export async function readRange<Answer>(
  context: Pick<UnitContext, 'coordinator'>,
  unit: RequestUnit,
  read: (place: UnitReadPoint, nodeView: RangeReader['nodeView']) => Promise<Answer>,
): Promise<Answer> {
  const { snapshots } = context.coordinator
  const place = await readPlace(context, unit)
  const { at } = place
  try {
    return await read(place, (node, table) => ({
      range: async (request) => {
        const outcome = await snapshots.range(node, { ...request, at, table })
        if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
        return outcome.page
      },
    }))
  } catch (error) {
    // Nobody is told of it.
    if (place.isNew && place.readTimestamp !== undefined) forget(context, place.readTimestamp)
    throw error
  } finally {
    place.done()
  }
}

// What a unit of work has queried and scanned, as ranges of keys and filters.

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
