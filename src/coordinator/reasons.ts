// Why a transaction was cancelled, in DynamoDB's words.
import type { CancellationReason } from '../ledger/ledger.js'
import { CONDITION_FAILED_MESSAGE, TRANSACTION_ONGOING } from '../model/errors.js'
import type { ActionVerdict } from '../storage/contract/transactions.js'

export const NO_REASON: CancellationReason = { Code: 'None' }
export const CONFLICT: CancellationReason = { Code: 'TransactionConflict', Message: TRANSACTION_ONGOING }
const CONDITION_FAILED: CancellationReason = {
  Code: 'ConditionalCheckFailed',
  Message: CONDITION_FAILED_MESSAGE,
}

/**
 * One reason for each action. An action that could only not be ordered is a conflict if nothing else was wrong, and
 * otherwise has no say.
 */
export function reasonsOf(verdicts: readonly ActionVerdict[]): readonly CancellationReason[] {
  const refused = verdicts.some(isRefusedVerdict)
  return verdicts.map((verdict): CancellationReason => {
    switch (verdict.verdict) {
      case 'condition-failed':
        return CONDITION_FAILED
      case 'invalid':
        return { Code: 'ValidationError', Message: verdict.message }
      case 'conflict':
      case 'changed':
        return CONFLICT
      case 'too-old':
      case 'ended':
        return refused ? NO_REASON : CONFLICT
      case 'accepted':
        return NO_REASON
    }
  })
}

/** Another timestamp would not change it. */
export function isRefusedVerdict({ verdict }: ActionVerdict): boolean {
  return (
    verdict === 'condition-failed' || verdict === 'invalid' || verdict === 'conflict' || verdict === 'changed'
  )
}
