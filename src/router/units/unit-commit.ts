// The commit of a unit of work, as it comes over the wire: its writes, and what it has read, in one transaction.
//
//   TransactItems ----------------------------> actions
//   Reads (serializable) ---------------------> expectation of the action on that item, or a check of its own
//   ReadTimestamp (snapshot) -----------------> expectation: nobody has written since what this unit writes; since its
//                                               version, if Reads has one
//   Predicates (serializable) ----------------> ranges that every node concerned looks at once more
import { limits } from '../../model/limits.js'
import type { Action } from '../../storage/transactions.js'
import { tokenOf } from '../client-tokens.js'
import { EXTENSION_PREFIX, type Input, type Operation } from '../context.js'
import { jsonReply } from '../reply.js'
import { tableNameShape } from '../shape.js'
import {
  type BoundAction,
  bindActions,
  parseActionsInTurns,
  shapeOfActions,
} from '../operations/transact-actions.js'
import { commitUnit, firstCommitterWins, refuseExpired } from './commit.js'
import { bindPredicates, predicateShape } from './predicates.js'
import { bindReads, readShape } from './reads.js'
import { refuseLost, releaseOf, type Unit, unitLimits, unitMembers, unitOf } from './unit.js'

export const unitCommit: Operation = {
  name: 'UnitCommit',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: {
      ...unitMembers,
      ClientRequestToken: { kind: 'string', lengthMin: 1, lengthMax: 36 },
      Reads: { kind: 'list', lengthMax: unitLimits.readsMax, member: readShape },
      Predicates: { kind: 'list', lengthMax: unitLimits.predicatesMax, member: predicateShape },
      TransactItems: shapeOfActions(0, unitLimits.actionsMax),
      Locks: {
        kind: 'list',
        lengthMax: unitLimits.readsMax,
        member: {
          kind: 'struct',
          members: {
            TableName: tableNameShape,
            Key: { kind: 'map', member: { kind: 'any' }, required: true },
          },
        },
      },
    },
  },

  async run(context, input, scope) {
    const unit = unitOf(context, scope, input)
    refuseExpired(context, unit)
    const actions = listOf(input, 'TransactItems')
    const parsing = parseActionsInTurns(context, actions, scope, limits.requestBytesMax)
    const parsed = parsing instanceof Promise ? await parsing : parsing
    // Whoever sends a commit again sends the same bytes.
    const payload = [
      input['TransactItems'],
      input['Reads'],
      input['Predicates'],
      input['Locks'],
      unit.isolation,
      unit.ticket,
    ]
    const named = {
      actions: parsed,
      reads: [...listOf(input, 'Locks'), ...listOf(input, 'Reads'), ...listOf(input, 'Predicates')],
    }
    const claim = tokenOf(context, scope, input, named, payload, JSON.stringify)
    const token = claim instanceof Promise ? await claim : claim
    releaseOf(context, scope, input)
    const validates = unit.isolation === 'serializable'
    if (unit.isolation === 'snapshot' || (validates && listOf(input, 'Predicates').length > 0))
      refuseLost(unit)
    // Reads the catalogue, so what it gives is sent to the nodes in the same turn.
    const writes = bindActions(context, parsed)
    const reads = bindReads(context, listOf(input, 'Reads'), scope, 'Reads')
    const locks = bindReads(context, listOf(input, 'Locks'), scope, 'Locks')
    const predicates = validates ? bindPredicates(context, listOf(input, 'Predicates'), scope, unit) : []
    const timestamp = await commitUnit(context, unit, {
      actions: combine(unit, writes, reads, locks),
      writes: writes.length,
      predicates,
      token,
      showsItem: (position) => writes[position]?.showsItem === true,
      release: () => context.tickets.release(scope.principal, unit.ticket),
    })
    return jsonReply(timestamp === undefined ? {} : { CommitTimestamp: timestamp })
  },
}

const listOf = (input: Input, member: string): readonly Input[] =>
  (input[member] as readonly Input[] | null | undefined) ?? []

/** One action for each item: what the unit requires of an item it writes goes with the write. */
export function combine(
  { isolation, readTimestamp }: Unit,
  writes: readonly BoundAction[],
  reads: readonly Action[],
  locks: readonly Action[],
): readonly Action[] {
  const locked = new Set(locks.map(itemName))
  const readsByItem = new Map<string, Action>()
  /** Of items that are written at snapshot: one that was read behind the snapshot has been written since. */
  const versions = new Map<string, Action['expected']>()
  for (const read of reads) {
    const name = itemName(read)
    if (isolation === 'snapshot' && hasVersion(read)) versions.set(name, read.expected)
    // A lock that was lost may have been taken again by a copy of its request, behind a write that the unit has not seen.
    if (isolation === 'serializable' || locked.has(name)) readsByItem.set(name, read)
  }
  const since = isolation === 'snapshot' ? readTimestamp : undefined
  const actions = writes.map(({ action }): Action => {
    const name = itemName(action)
    const read = readsByItem.get(name)
    readsByItem.delete(name)
    const first = read?.expected ?? firstCommitterWins(action, since)
    const expected = first?.kind === 'unwritten-since' ? (versions.get(name) ?? first) : first
    const required = expected === undefined ? action : { ...action, expected }
    return locked.delete(name) ? { ...required, locked: true } : required
  })
  for (const [name, action] of readsByItem) {
    actions.push(locked.delete(name) ? { ...action, locked: true } : action)
  }
  for (const action of locks) {
    if (!locked.has(itemName(action))) continue
    const { expected: _, ...check } = action
    actions.push({ ...check, locked: true })
  }
  return actions
}

/** Without one, the item was absent, and may have come and gone since. */
const hasVersion = ({ expected }: Action): boolean =>
  expected?.kind === 'version' && expected.written !== undefined

const itemName = ({ table, key }: Action): string => `${table.space} ${key.bytes}`
