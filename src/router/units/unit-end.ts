import { EXTENSION_PREFIX } from '../../port/extension.js'
import { type Input, type Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import { bindLocks, parseItems, readShape } from './reads.js'
import { releaseOf, unitRequestLimits, unitMembers, unitOf } from './unit.js'

/** A unit that gives up says so, if it holds locks. */
export const unitEnd: Operation = {
  name: 'UnitEnd',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: {
      ...unitMembers,
      Locks: { kind: 'list', lengthMax: unitRequestLimits.readsMax, member: readShape },
    },
  },

  async run(context, input, scope) {
    const unit = unitOf(context, scope, input)
    releaseOf(context, scope, input)
    const elements = (input['Locks'] as readonly Input[] | null | undefined) ?? []
    const turns = new TurnBudget(context.runtime)
    const locks = bindLocks(context, await parseItems(elements, scope, 'Locks', turns))
    await context.coordinator.snapshots.unlock(
      unit.id,
      locks.map(({ table, key }) => ({ space: table.space, key })),
    )
    return jsonReply({})
  },
}
