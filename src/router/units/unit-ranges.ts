// UnitQuery and UnitScan: Query and Scan at the snapshot of a unit of work.
import {
  EXTENSION_PREFIX,
  type Input,
  type Operation,
  type RequestScope,
  type RouterContext,
} from '../context.js'
import type { Reply } from '../router.js'
import { query, type RangeReader, runQuery } from '../operations/query.js'
import { runScan, scan } from '../operations/scan.js'
import { tableNameOf } from '../table-name.js'
import {
  ageMember,
  type ReadPlace,
  readPlace,
  refusedSnapshot,
  refuseLost,
  releaseOf,
  unitMembers,
  unitOf,
} from './unit.js'

export const unitQuery = atSnapshot('UnitQuery', query, runQuery)
export const unitScan = atSnapshot('UnitScan', scan, runScan)

type Run = (context: RouterContext, input: Input, scope: RequestScope, reader: RangeReader) => Promise<Reply>

function atSnapshot(name: 'UnitQuery' | 'UnitScan', plain: Operation, run: Run): Operation {
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
      const place = await readPlace(context, unit)
      const { tickets } = context
      const ticket =
        place.isNew && place.readTimestamp !== undefined
          ? tickets.giveSnapshot(scope.principal, place.readTimestamp)
          : undefined
      const members = { ReadTimestamp: ticket ?? unit.ticket, Clock: clock, ...ageMember(unit) }
      try {
        return await run(context, input, scope, readerAt(context, place, members))
      } catch (error) {
        // Nobody is told of it.
        if (ticket !== undefined) tickets.release(scope.principal, ticket)
        throw error
      } finally {
        place.done()
      }
    },
  }
}

function readerAt(
  { coordinator }: RouterContext,
  { at }: ReadPlace,
  members: Readonly<Record<string, unknown>>,
): RangeReader {
  return {
    nodeView: (node, table) => ({
      range: async (request) => {
        const outcome = await coordinator.snapshots.range(node, { ...request, at, table })
        if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
        return outcome.page
      },
    }),
    extraMembers: members,
  }
}
