// Why a transaction is not done, as DynamoDB tells it: a reason for each action, in the order of the request.
import { CONFLICT, NO_REASON, reasonsOf } from '../../coordinator/reasons.js'
import type { CancellationReason, ItemRef } from '../../ledger/ledger.js'
import { DynamoError, validationError } from '../../model/errors.js'
import type { Item } from '../../model/value.js'
import type { ActionVerdict } from '../../storage/transactions.js'
import { parseRecord } from '../reply.js'

interface ShownReason extends CancellationReason {
  readonly Item?: Item
}

export function cancelled(reasons: readonly ShownReason[]): DynamoError {
  const codes = reasons.map(({ Code }) => Code).join(', ')
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  )
}

/** The items that conditions failed on are shown where they were asked for. */
export function cancelledBy(
  verdicts: readonly ActionVerdict[],
  showsItem: (position: number) => boolean,
): DynamoError {
  const reasons = reasonsOf(verdicts)
  return cancelled(
    reasons.map((reason, position): ShownReason => {
      const verdict = verdicts[position]
      if (verdict?.verdict !== 'condition-failed' || verdict.current === undefined) return reason
      return showsItem(position) ? { ...reason, Item: parseRecord<Item>(verdict.current) } : reason
    }),
  )
}

export const conflicted = (conflicts: readonly boolean[]): DynamoError =>
  cancelled(conflicts.map((conflict) => (conflict ? CONFLICT : NO_REASON)))

/** A refusal of one element cancels the transaction, with no word about the others. */
export function eachOrCancelled<T, Bound>(
  elements: readonly T[],
  bind: (element: T, position: number) => Bound,
): readonly Bound[] {
  return elements.map((element, position) => {
    try {
      return bind(element, position)
    } catch (error) {
      if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
      const reason = { Code: 'ValidationError', Message: error.message }
      throw cancelled(elements.map((_, at) => (at === position ? reason : NO_REASON)))
    }
  })
}

export function refuseRepeatedItems(items: readonly ItemRef[]): void {
  const seen = new Set(items.map(({ space, key }) => `${space} ${key.bytes}`))
  if (seen.size < items.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
}
