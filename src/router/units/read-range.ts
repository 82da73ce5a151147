// Queries and scans where a unit of work reads: each node is read at the unit's snapshot, and the rest is as for Query and
// Scan.
import type { RangeReader } from '../reads/query.js'
import {
  forget,
  type UnitReadPoint,
  readPlace,
  refusedSnapshot,
  type RequestUnit,
  type UnitContext,
} from './unit.js'

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
