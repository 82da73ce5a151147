// The commit of a unit of work, as it comes over the wire: its writes, and what it has read, in one transaction.
//
//   TransactItems, Reads, Locks, Predicates --> tables and keys --> work.ts
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { validatesReads } from '../../model/isolation.js'
import { limits } from '../../model/limits.js'
import { pairReads } from '../../rules/units/binding.js'
import { tokenOf } from '../transactions/client-tokens.js'
import { type Input, type Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import { type RequestShape, tableNameShape } from '../shapes/shape.js'
import { bindActions, parseActionsInTurns, shapeOfActions } from '../transactions/transact-actions.js'
import { commitUnit, refuseExpired } from './work.js'
import { bindPredicates, predicateShape } from './unit-ranges.js'
import { bindLocks, bindReads, parseItems, readShape } from './reads.js'
import { refuseLost, releaseOf, shownId, unitRequestLimits, unitMembers, unitOf } from './unit.js'

const statementText: RequestShape = {
  kind: 'string',
  required: true,
  lengthMin: 1,
  lengthMax: limits.statementCharactersMax,
}

/** By which the unit came to an action: for the block of a ledger table. */
const statementsShape: RequestShape = {
  kind: 'list',
  lengthMax: unitRequestLimits.actionsMax,
  member: {
    kind: 'struct',
    members: {
      Shape: statementText,
      Text: statementText,
      Parameters: { kind: 'list', member: { kind: 'any' } },
    },
  },
}

export const unitCommit: Operation = {
  name: 'UnitCommit',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: {
      ...unitMembers,
      ClientRequestToken: { kind: 'string', lengthMin: 1, lengthMax: 36 },
      Reads: { kind: 'list', lengthMax: unitRequestLimits.readsMax, member: readShape },
      Predicates: { kind: 'list', lengthMax: unitRequestLimits.predicatesMax, member: predicateShape },
      TransactItems: shapeOfActions(0, unitRequestLimits.actionsMax, { Statements: statementsShape }),
      Locks: {
        kind: 'list',
        lengthMax: unitRequestLimits.readsMax,
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
    const elements = listOf(input, 'TransactItems')
    const parsing = parseActionsInTurns(context, elements, scope, limits.requestBytesMax)
    const parsed = parsing instanceof Promise ? await parsing : parsing
    const turns = new TurnBudget(context.runtime)
    const readItems = await parseItems(listOf(input, 'Reads'), scope, 'Reads', turns)
    const lockedItems = await parseItems(listOf(input, 'Locks'), scope, 'Locks', turns)
    // Whoever sends a commit again sends the same bytes.
    const payload = [
      input['TransactItems'],
      input['Reads'],
      input['Predicates'],
      input['Locks'],
      unit.isolation,
      unit.pass,
    ]
    const named = {
      actions: parsed,
      reads: [...listOf(input, 'Locks'), ...listOf(input, 'Reads'), ...listOf(input, 'Predicates')],
    }
    const claim = tokenOf(context, scope, input, named, payload, JSON.stringify)
    const token = claim instanceof Promise ? await claim : claim
    releaseOf(context, scope, input)
    const validates = validatesReads(unit.isolation)
    if (unit.isolation === 'snapshot' || (validates && listOf(input, 'Predicates').length > 0))
      refuseLost(unit)
    // Reads the catalogue, so what it gives is sent to the nodes in the same turn.
    const writes = bindActions(context, parsed, { principal: scope.principal, unit: shownId(unit.id) })
    const reads = bindReads(context, readItems)
    const locks = bindLocks(context, lockedItems)
    // At other levels they are not looked at, nor need they be valid.
    const predicates = validates ? bindPredicates(context, listOf(input, 'Predicates'), scope, unit) : []
    const actions = writes.map(({ action }) => action)
    const timestamp = await commitUnit(context, unit, {
      ...pairReads(actions, reads),
      locks,
      predicates,
      token,
      showsItem: (position) => writes[position]?.showsItem === true,
      release: () => context.passes.release(scope.principal, unit.pass),
    })
    return jsonReply(timestamp === undefined ? {} : { CommitTimestamp: timestamp })
  },
}

const listOf = (input: Input, member: string): readonly Input[] =>
  (input[member] as readonly Input[] | null | undefined) ?? []
