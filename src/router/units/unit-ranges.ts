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
import { type ReadPlace, readPlace, refusedSnapshot, releaseOf, unitMembers, unitOf } from './unit.js'

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
      releaseOf(context, input)
      const place = await readPlace(context, unitOf(context, input))
      try {
        return await run(context, input, scope, readerAt(context, place))
      } finally {
        place.done()
      }
    },
  }
}

function readerAt({ coordinator }: RouterContext, { at, members }: ReadPlace): RangeReader {
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
