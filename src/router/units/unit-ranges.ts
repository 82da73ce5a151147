// UnitQuery and UnitScan: Query and Scan at the snapshot of a unit of work.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { query, runQuery, type RangeReader } from '../reads/query.js'
import { runScan, scan } from '../reads/scan.js'
import type { Operation } from '../request/context.js'
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

// Queries and scans where a unit of work reads: each node is read at the unit's snapshot, and the rest is as for Query and
// Scan.

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
