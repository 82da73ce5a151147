// Why a transaction is not done, as DynamoDB tells it: a reason for each action, in the order of the request.
import { CONFLICT, NO_REASON, reasonsOf } from '../../coordinator/reasons.js'
import type { CancellationReason, ItemRef } from '../../ledger/ledger.js'
import { DynamoError, ItemText, transactionCancelled, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import type { ActionVerdict } from '../../storage/contract/transactions.js'

interface ShownReason extends CancellationReason {
  readonly Item?: ItemText
}

/** The items that conditions failed on are shown where they were asked for, the first of them if they are many bytes. */
export function cancelledBy(
  verdicts: readonly ActionVerdict[],
  showsItem: (position: number) => boolean,
): DynamoError {
  const reasons = reasonsOf(verdicts)
  let bytes = 0
  return transactionCancelled(
    reasons.map((reason, position): ShownReason => {
      const verdict = verdicts[position]
      if (verdict?.verdict !== 'condition-failed' || verdict.current === undefined) return reason
      const { json } = verdict.current
      if (!showsItem(position) || bytes + json.length > limits.cancelledItemBytesMax) return reason
      bytes += json.length
      return { ...reason, Item: new ItemText(json) }
    }),
  )
}

export const conflicted = (conflicts: readonly boolean[]): DynamoError =>
  transactionCancelled(conflicts.map((conflict) => (conflict ? CONFLICT : NO_REASON)))

/** An empty value in a key, of the table or of an index, is a fault of the request. */
const EMPTY_KEY = /cannot contain an empty (?:string|binary) value/

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
      if (EMPTY_KEY.test(error.message)) throw error
      const reason = { Code: 'ValidationError', Message: error.message }
      throw transactionCancelled(elements.map((_, at) => (at === position ? reason : NO_REASON)))
    }
  })
}

export function refuseRepeatedItems(items: readonly ItemRef[]): void {
  if (items.length <= FEW ? hasTwice(items) : namesOf(items).size < items.length) {
    throw validationError('Transaction request cannot include multiple operations on one item')
  }
}

/** As many are compared with each other sooner than their names are made. */
const FEW = 8

const hasTwice = (items: readonly ItemRef[]): boolean =>
  items.some(({ space, key }, at) => {
    for (let before = 0; before < at; before++) {
      const other = items[before] as ItemRef
      if (other.key.hash === key.hash && other.key.bytes === key.bytes && other.space === space) return true
    }
    return false
  })

const namesOf = (items: readonly ItemRef[]): ReadonlySet<string> =>
  new Set(items.map(({ space, key }) => `${space} ${key.bytes}`))
