// A unit's commit once its tables and keys are known: the rules say what it requires, one transaction carries it out, and its
// outcome becomes the answer to the unit. The wire, the port in this process and the simulator commit here.
//
//   UnitCommit --> rules/units/binding.ts: actions, expectations, predicates --> coordinator.write --> answer or DynamoError
import type { ClientToken, LocatedPredicate, WriteTransactionOutcome } from '../../coordinator/coordinator.js'
import { DynamoError } from '../../model/errors.js'
import type { Timestamp } from '../../model/brand.js'
import { type BoundUnit, bindUnit, type UnitWork } from '../../rules/units/binding.js'
import { cancelledBy } from '../transactions/transact-refusals.js'
import { tokenRefusal } from '../transactions/transact-write-items.js'
import {
  refusedSnapshot,
  shownId,
  type RequestUnit,
  unitConflict,
  type UnitConflictDetail,
  type UnitContext,
} from './unit.js'

export interface UnitCommit extends UnitWork<LocatedPredicate> {
  readonly token?: ClientToken | undefined
  /** The item that the condition of this action failed on is wanted in the reason. */
  readonly showsItem: (position: number) => boolean
  /** The unit's snapshot is needed no longer. */
  readonly release: () => void
}

/** The commit timestamp; undefined if there was nothing to do, or if it was done before. Throws DynamoError. */
export async function commitUnit(
  context: Pick<UnitContext, 'coordinator'>,
  unit: RequestUnit,
  commit: UnitCommit,
): Promise<Timestamp | undefined> {
  const bound = bindUnit(unit, commit)
  const { actions, predicates } = bound
  const { token } = commit
  if (actions.length === 0 && predicates.length === 0) return undefined
  const outcome = await context.coordinator.write({
    actions,
    ...(predicates.length > 0 && { predicates }),
    ...(token && { token }),
    unit: unit.id,
  })
  if (outcome.outcome !== 'unknown') commit.release()
  switch (outcome.outcome) {
    case 'committed':
      return outcome.timestamp
    case 'repeated':
      return undefined
    case 'cancelled':
      throw refusal(outcome, bound, commit)
    case 'token-mismatch':
    case 'token-in-progress':
    case 'unavailable':
    case 'unknown':
      throw tokenRefusal(outcome)
  }
}

/** Before anything is done: a unit that has taken too long is not committed after its caller has given it up. */
export function refuseExpired(
  { runtime }: Pick<UnitContext, 'runtime'>,
  { attemptBegan, timeoutMs }: RequestUnit,
): void {
  if (attemptBegan === undefined) return
  const ageMs = (runtime.clock.nowMicros() - attemptBegan) / 1000
  if (ageMs <= timeoutMs) return
  throw new DynamoError(
    'UnitExpiredException',
    `The unit of work began ${Math.round(ageMs)} ms ago, and its limit is ${timeoutMs} ms`,
  )
}

/**
 * A conflict comes before a failed condition: the unit has decided upon what is no longer so, and may decide otherwise
 * when it looks again.
 */
function refusal(
  { verdicts, predicates: ranges = [] }: Extract<WriteTransactionOutcome, { outcome: 'cancelled' }>,
  { actions, predicates }: BoundUnit<LocatedPredicate>,
  { writes, showsItem }: UnitCommit,
): DynamoError {
  const conflicts: UnitConflictDetail[] = []
  let changed = false
  for (const [at, verdict] of verdicts.entries()) {
    const blamed = actions[at]
    const named = blamed && { TableName: blamed.table.name, Key: blamed.keyAttributes }
    if (verdict.verdict === 'changed') {
      changed = true
      conflicts.push({ ...named, ...(verdict.by && { TransactionId: verdict.by }) })
    } else if (verdict.verdict === 'conflict') {
      const other = verdict.others[0] ?? verdict.holder
      conflicts.push({ ...named, ...(other !== undefined && { TransactionId: shownId(other) }) })
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
  if (failed && !changed) return cancelledBy(verdicts.slice(0, writes.length), showsItem)
  return unitConflict(
    changed
      ? 'What the unit of work has read, or writes, was changed by others'
      : 'Another transaction is in the way of the unit of work',
    conflicts,
  )
}
