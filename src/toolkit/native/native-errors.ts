// What Seriatim answers, as what a caller can react to.
import type { Item } from '../../model/value.js'
import {
  ConditionFailed,
  Conflict,
  SnapshotTooOld,
  UnitExpired,
  type ConflictDetail,
} from '../endpoint/errors.js'
import { invalidWrite, namingTables } from '../unit/naming.js'
import { actionInput } from './native-wire.js'
import { EarlierCommitted } from '../unit/protocol.js'
import { isThrottled, Overloaded } from '../endpoint/refusals.js'
import type { UnitAction, CommitWork } from '../unit/protocol.js'
import { withoutPlaceholders } from '../unit/expressions.js'
import { described } from '../unit/layout.js'
import { unmarshallItem } from '../values/values.js'

/** The members of an answer that are looked at; any of them may be missing. */
interface Refusal {
  readonly name?: string
  readonly message?: string
  readonly Conflicts?: readonly WireConflict[]
  readonly CancellationReasons?: readonly {
    readonly Code?: string
    readonly Message?: string
    readonly Item?: Item
  }[]
}
interface WireConflict {
  readonly TableName?: string
  readonly Key?: Item
  readonly TransactionId?: string
}

export function readRefusal(error: unknown): unknown {
  const { name = '', message = '' } = error as Refusal
  if (isThrottled(error)) return new Overloaded(message, { cause: error })
  switch (name) {
    case 'UnitConflictException':
    case 'TransactionConflictException':
      return conflictOf(error as Refusal)
    case 'SnapshotTooOldException':
      return new SnapshotTooOld(message, { cause: error })
    case 'UnitExpiredException':
      return new UnitExpired(message, { cause: error })
    default:
      return error
  }
}

export function commitRefusal(error: unknown, work: CommitWork): unknown {
  const { name, message = '', CancellationReasons } = error as Refusal
  if (name === 'IdempotentParameterMismatchException')
    return new EarlierCommitted('an earlier attempt was committed', { cause: error })
  if (name !== 'TransactionCanceledException' || CancellationReasons === undefined) {
    const [only, other] = work.actions
    if (name === 'ValidationException' && only !== undefined && other === undefined)
      return invalidWrite(only, message, error)
    return readRefusal(namingTables(error, { TransactItems: work.actions.map(actionInput) }))
  }

  let failed: UnitAction | undefined
  let found: Item | undefined
  let conflicting: UnitAction | undefined
  for (const [
    at,
    { Code = 'None', Message = 'It is not valid', Item: item },
  ] of CancellationReasons.entries()) {
    const action = work.actions[at]
    if (Code === 'None' || action === undefined) continue
    if (Code === 'ConditionalCheckFailed' && !action.pinned) {
      if (failed === undefined) found = item
      failed ??= action
    } else if (Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict') conflicting ??= action
    else if (Code === 'ThrottlingError' || Code === 'ProvisionedThroughputExceeded')
      return new Overloaded('the endpoint asks for patience', { cause: error })
    else return Code === 'ValidationError' ? invalidWrite(action, Message, error) : error
  }
  // While others are in the way of one action, the condition of another may only seem to fail.
  if (conflicting !== undefined)
    return new Conflict(
      `Another transaction was in the way at ${described(conflicting)}.`,
      detailOf(conflicting),
      1,
      {
        cause: error,
      },
    )
  if (failed === undefined) return error
  return new ConditionFailed(
    `The condition "${withoutPlaceholders(failed.expressions.condition ?? '')}" does not hold for ${described(failed)}.`,
    detailOf(failed),
    { cause: error, item: found && unmarshallItem(found) },
  )
}

const detailOf = ({ table, key }: UnitAction): ConflictDetail => ({ table, key: unmarshallItem(key) })

function conflictOf(refusal: Refusal): Conflict {
  const [first] = refusal.Conflicts ?? []
  if (first?.TableName === undefined)
    return new Conflict(refusal.message ?? 'Another transaction was in the way.', {}, 1, { cause: refusal })
  const { TableName: table, Key: key, TransactionId: competitor } = first
  const place = key === undefined ? table : described({ table, key })
  const by = competitor === undefined ? 'another transaction' : `transaction ${competitor}`
  return new Conflict(
    `${place} was changed by ${by}.`,
    {
      table,
      ...(key !== undefined && { key: unmarshallItem(key) }),
      ...(competitor !== undefined && { competitor }),
    },
    1,
    { cause: refusal },
  )
}
