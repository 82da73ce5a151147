// Faults on demand, for tests of clients: the header `x-seriatim-fault` of one request says what happens to it, or a
// plan does for all of them (fault-plan.ts). Only on a server that was started with faults, which listens on loopback.
import {
  DynamoError,
  TRANSACTION_ONGOING,
  transactionCancelled,
  transactionConflict,
} from '../../model/errors.js'

/** What happens to a request that meets a fault. */
export type Fault =
  /** Refused as if there were too many requests; nothing was done. */
  | { readonly kind: 'throttle' }
  /** An internal error, or a lost connection, before or after the operation was done. */
  | { readonly kind: 'error' | 'lose'; readonly when: 'before' | 'after' }
  /** Answered later, in milliseconds. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Refused because of another transaction on the item, which there is not; nothing was done. */
  | { readonly kind: 'transaction-conflict' }
  /** Refused because a transaction of the same token is said to be in flight; nothing was done. */
  | { readonly kind: 'transaction-in-progress' }

export const FAULT_HEADER = 'x-seriatim-fault'
const DELAY_MS_MAX = 60_000

/** What `parseFault` knows, for error messages. */
export const FAULT_NAMES =
  'throttle, error-before, error-after, lose-before, lose-after, delay-<milliseconds>, transaction-conflict and transaction-in-progress'

/** Undefined for anything but those. */
export function parseFault(text: string): Fault | undefined {
  if (text === 'transaction-conflict' || text === 'transaction-in-progress') return { kind: text }
  const [kind, argument] = text.split('-', 2)
  if (kind === 'throttle' && argument === undefined) return { kind }
  if ((kind === 'error' || kind === 'lose') && (argument === 'before' || argument === 'after')) {
    return { kind, when: argument }
  }
  if (kind === 'delay' && argument !== undefined && /^\d{1,5}$/.test(argument)) {
    return { kind, delayMs: Math.min(Number(argument), DELAY_MS_MAX) }
  }
  return undefined
}

const TRANSACTIONS = new Set(['TransactWriteItems', 'TransactGetItems'])
const SINGLE_WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/** Whether DynamoDB could answer that operation so. */
export function faultFits(fault: Fault, operation: string): boolean {
  switch (fault.kind) {
    case 'transaction-conflict':
      return TRANSACTIONS.has(operation) || SINGLE_WRITES.has(operation)
    case 'transaction-in-progress':
      return operation === 'TransactWriteItems'
    case 'throttle':
    case 'error':
    case 'lose':
    case 'delay':
      return true
  }
}

/** The first item of a transaction is the one in conflict. */
export function conflictError(operation: string, input: object): DynamoError {
  if (!TRANSACTIONS.has(operation)) return transactionConflict()
  const items: unknown = (input as { readonly TransactItems?: unknown }).TransactItems
  const count = Array.isArray(items) ? Math.max(1, items.length) : 1
  return transactionCancelled(
    Array.from({ length: count }, (_, at) =>
      at === 0 ? { Code: 'TransactionConflict', Message: TRANSACTION_ONGOING } : { Code: 'None' },
    ),
  )
}

export const inProgressError = (): DynamoError =>
  new DynamoError(
    'TransactionInProgressException',
    'The transaction with the given request token is already in progress.',
  )
