// How a transaction ends, as its caller is told.
import { WriteFailed } from '../line/errors.js'
import { messageOf } from '../model/message-of.js'
import type { ActionVerdict, PredicateVerdict } from '../storage/contract/transactions.js'
import type { WriteTransactionOutcome } from './coordinator.js'

export const cancelled = (
  verdicts: readonly ActionVerdict[],
  predicates: readonly PredicateVerdict[] = [],
): WriteTransactionOutcome => ({
  outcome: 'cancelled',
  verdicts,
  ...(predicates.length > 0 && { predicates }),
})

/** Only a node that says that it kept nothing, and to which nothing else was sent, leaves no doubt. */
export const failed = (error: unknown): WriteTransactionOutcome & { readonly message: string } => ({
  outcome: error instanceof WriteFailed ? 'unavailable' : 'unknown',
  message: messageOf(error),
  cause: error,
})
