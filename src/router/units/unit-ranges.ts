// UnitQuery and UnitScan: Query and Scan at the snapshot of a unit of work.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { type Operation } from '../request/context.js'
import { query, runQuery } from '../reads/query.js'
import { runScan, scan } from '../reads/scan.js'
import { tableNameOf } from '../shapes/table-name.js'
import { readRange } from './read-range.js'
import { ageMember, refuseLost, releaseOf, snapshotTicket, unitMembers, unitOf } from './unit.js'

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
            ReadTimestamp: snapshotTicket(context, scope, unit, readTimestamp),
            Clock: clock,
            ...ageMember(unit),
          }),
        }),
      )
    },
  }
}
