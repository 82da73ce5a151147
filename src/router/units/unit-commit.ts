// The commit of a unit of work: its writes, and what it has read, in one transaction.
//
//   TransactItems ----------------------------> actions
//   Reads (serializable) ---------------------> expectation of the action on that item, or a check of its own
//   ReadTimestamp (snapshot) -----------------> expectation: nobody has written since what this unit writes
//   Predicates (serializable) ----------------> ranges that every node concerned looks at once more
import type { LocatedPredicate, WriteTransactionOutcome } from '../../coordinator/coordinator.js'
import { DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { Timestamp } from '../../model/brand.js'
import type { Action } from '../../storage/transactions.js'
import { EXTENSION_PREFIX, type Input, type Operation, type RouterContext } from '../context.js'
import { jsonReply } from '../reply.js'
import { tableNameShape } from '../shape.js'
import {
  type BoundAction,
  bindActions,
  parseActions,
  shapeOfActions,
} from '../operations/transact-actions.js'
import { cancelledBy } from '../operations/transact-refusals.js'
import { tokenOf, tokenRefusal } from '../operations/transact-write-items.js'
import { bindPredicates, predicateShape } from './predicates.js'
import { bindReads, type BoundRead, readShape } from './reads.js'
import {
  forget,
  refusedSnapshot,
  releaseOf,
  type Unit,
  unitConflict,
  type UnitConflictDetail,
  unitLimits,
  unitMembers,
  unitOf,
} from './unit.js'

export const unitCommit: Operation = {
  name: 'UnitCommit',
  targetPrefix: EXTENSION_PREFIX,
  access: 'write',
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
    const unit = unitOf(context, input)
    refuseExpired(context, unit)
    const parsed = parseActions(listOf(input, 'TransactItems'), scope, limits.requestBytesMax)
    // Whoever sends a commit again sends the same bytes.
    const payload = [
      input['TransactItems'],
      input['Reads'],
      input['Predicates'],
      input['Locks'],
      unit.isolation,
      unit.readTimestamp,
    ]
    const token = tokenOf(input, payload, JSON.stringify)
    releaseOf(context, input)
    const validates = unit.isolation === 'serializable'
    // Reads the catalogue, so what it gives is sent to the nodes in the same turn.
    const writes = bindActions(context, parsed)
    const reads = validates ? bindReads(context, listOf(input, 'Reads'), scope) : []
    const locks = bindReads(context, listOf(input, 'Locks'), scope)
    const predicates = validates ? bindPredicates(context, listOf(input, 'Predicates'), scope, unit) : []
    const commit = combine(unit, writes, reads, locks)
    if (commit.actions.length === 0 && predicates.length === 0) return jsonReply({})
    const outcome = await context.coordinator.write({
      actions: commit.actions.map(({ action }) => action),
      ...(predicates.length > 0 && { predicates }),
      ...(token && { token }),
      unit: unit.id,
    })
    if (outcome.outcome !== 'unknown' && unit.readTimestamp !== undefined)
      forget(context, [unit.readTimestamp])
    return answer(outcome, commit.actions, writes, predicates)
  },
}

const listOf = (input: Input, member: string): readonly Input[] =>
  (input[member] as readonly Input[] | null | undefined) ?? []

/** Before anything is done: a unit that has taken too long is not committed after its caller has given it up. */
function refuseExpired({ runtime }: RouterContext, { attemptBegan, timeoutMs }: Unit): void {
  if (attemptBegan === undefined) return
  const ageMs = (runtime.clock.nowMicros() - attemptBegan) / 1000
  if (ageMs <= timeoutMs) return
  throw new DynamoError(
    'UnitExpiredException',
    `The unit of work began ${Math.round(ageMs)} ms ago, and its limit is ${timeoutMs} ms`,
  )
}

/** An action and what it is about, for errors. */
interface Blamed {
  readonly action: Action
  readonly tableName: string
}

/** One action for each item: what the unit requires of an item it writes goes with the write. */
function combine(
  { isolation, readTimestamp }: Unit,
  writes: readonly BoundAction[],
  reads: readonly BoundRead[],
  locks: readonly BoundRead[],
): { readonly actions: readonly Blamed[] } {
  const readsByItem = new Map<string, BoundRead>()
  for (const read of reads) readsByItem.set(itemName(read.action), read)
  const locked = new Set(locks.map(({ action }) => itemName(action)))
  const since = isolation === 'snapshot' ? readTimestamp : undefined
  const actions = writes.map(({ action, table }): Blamed => {
    const name = itemName(action)
    const read = readsByItem.get(name)
    readsByItem.delete(name)
    const expected = read?.action.expected ?? firstCommitterWins(action, since)
    const required = expected === undefined ? action : { ...action, expected }
    return { tableName: table.name, action: locked.delete(name) ? { ...required, locked: true } : required }
  })
  for (const [name, { action, tableName }] of readsByItem) {
    actions.push({ tableName, action: locked.delete(name) ? { ...action, locked: true } : action })
  }
  for (const { action, tableName } of locks) {
    if (!locked.has(itemName(action))) continue
    const { expected: _, ...check } = action
    actions.push({ tableName, action: { ...check, locked: true } })
  }
  return { actions }
}

const itemName = ({ table, key }: Action): string => `${table.space} ${key.bytes}`

function firstCommitterWins(action: Action, since: Timestamp | undefined): Action['expected'] {
  if (since === undefined || action.mutation.kind === 'check' || onlyAdds(action)) return undefined
  return { kind: 'unwritten-since', timestamp: since }
}

/** Two units that only add to the same item do not concern each other. */
const onlyAdds = ({ mutation, condition }: Action): boolean =>
  mutation.kind === 'update' &&
  condition === undefined &&
  mutation.update.tree.actions.every(({ type }) => type === 'add')

function answer(
  outcome: WriteTransactionOutcome,
  actions: readonly Blamed[],
  writes: readonly BoundAction[],
  predicates: readonly LocatedPredicate[],
): Uint8Array {
  switch (outcome.outcome) {
    case 'committed':
      return jsonReply(outcome.timestamp === undefined ? {} : { CommitTimestamp: outcome.timestamp })
    case 'repeated':
      return jsonReply({})
    case 'cancelled':
      throw refusal(outcome, actions, writes, predicates)
    case 'token-mismatch':
    case 'token-in-progress':
    case 'unavailable':
    case 'unknown':
      throw tokenRefusal(outcome)
  }
}

/**
 * A conflict comes before a failed condition: the unit has decided upon what is no longer so, and may decide otherwise
 * when it looks again.
 */
function refusal(
  { verdicts, predicates: ranges = [] }: Extract<WriteTransactionOutcome, { outcome: 'cancelled' }>,
  actions: readonly Blamed[],
  writes: readonly BoundAction[],
  predicates: readonly LocatedPredicate[],
): DynamoError {
  const conflicts: UnitConflictDetail[] = []
  let changed = false
  for (const [at, verdict] of verdicts.entries()) {
    const blamed = actions[at]
    const named = blamed && { TableName: blamed.tableName, Key: blamed.action.keyAttributes }
    if (verdict.verdict === 'changed') {
      changed = true
      conflicts.push({ ...named, ...(verdict.by && { TransactionId: verdict.by }) })
    } else if (verdict.verdict === 'conflict') {
      const other = verdict.others[0] ?? verdict.holder
      conflicts.push({ ...named, ...(other !== undefined && { TransactionId: other }) })
    }
  }
  for (const [at, verdict] of ranges.entries()) {
    const tableName = predicates[at]?.check.table.name
    const named = tableName === undefined ? {} : { TableName: tableName }
    if (verdict.verdict === 'snapshot-too-old') return refusedSnapshot({ outcome: 'snapshot-too-old' })
    if (verdict.verdict === 'changed') {
      changed = true
      conflicts.push({ ...named, ...(verdict.by && { TransactionId: verdict.by }) })
    }
    if (verdict.verdict === 'pending') conflicts.push({ ...named, TransactionId: verdict.tx })
  }
  const failed = verdicts.some(({ verdict }) => verdict === 'condition-failed' || verdict === 'invalid')
  if (failed && !changed) {
    return cancelledBy(verdicts.slice(0, writes.length), (position) => writes[position]?.showsItem === true)
  }
  return unitConflict(
    changed
      ? 'What the unit of work has read, or writes, was changed by others'
      : 'Another transaction is in the way of the unit of work',
    conflicts,
  )
}
