// What an error says of the request that it answers: the one list, for units of work and for locks.
//
//   refused   the endpoint has said no: this send did nothing, and sending it again would not help
//   busy      the same for now: another try may have more luck
//   unsent    no connection came about, so nothing left
//   unsure    no answer, or one that says nothing: it may have been carried out
//   misuse    a defect of the program
//
// A refusal speaks of one send. What earlier sends of the same request did, only their own errors say: the SDK sends by
// itself again, and tells of each through `CallOptions.sendFailed`.
import { Conflict, LockTimeout, SnapshotTooOld } from './errors.js'

export type SendVerdict = 'refused' | 'busy' | 'unsent' | 'unsure' | 'misuse'

/** The members of an error that are looked at; any of them may be missing. */
interface SentError {
  readonly name?: string
  readonly code?: unknown
  readonly $fault?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
}

const BUSY = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'Throttling',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'TransactionConflictException',
])

const UNSURE = new Set([
  'InternalServerError',
  'InternalServerException',
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'RequestTimeout',
  'RequestTimeoutException',
  'TimeoutError',
  'NetworkingError',
  // An earlier send of the same request is still under way.
  'TransactionInProgressException',
])

/** Whoever asks is not known, or may not ask this; it has not been looked at what was asked. */
const CREDENTIALS = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'NotAuthorized',
  'OptInRequired',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
])

/** Codes of sockets that were never connected. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE'])
const SOCKET = new Set([
  ...UNSENT,
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])

export function verdictOf(error: unknown): SendVerdict {
  const { name = '', code } = error as SentError
  if (BUSY.has(name)) return 'busy'
  if (UNSURE.has(name)) return 'unsure'
  if (CREDENTIALS.has(name)) return 'refused'
  const status = statusOf(error)
  if (status !== undefined) {
    if (status === 429) return 'busy'
    return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unsure'
  }
  if (typeof code === 'string' && UNSENT.has(code)) return 'unsent'
  if (error instanceof TypeError || error instanceof RangeError) return 'misuse'
  // An endpoint without HTTP: a store in this process, or one in a test.
  return /(?:Exception|Exceeded)$/.test(name) ? 'refused' : 'unsure'
}

/** Throttling, a broken connection, a server that is being replaced: it may be over the next time. */
export function isTransient(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name = '', code, $fault } = error as SentError
  if (BUSY.has(name) || UNSURE.has(name)) return true
  if (CREDENTIALS.has(name)) return false
  if (typeof code === 'string' && SOCKET.has(code)) return true
  const status = statusOf(error) ?? 0
  return $fault === 'server' || status >= 500 || status === 429 || status === 408
}

/** Turned away before the request was looked at: says nothing of an earlier send of the same request. */
export const isTurnedAway = (error: unknown): boolean => isThrottled(error) || isUnauthorized(error)

export const isThrottled = (error: unknown): boolean => {
  const { name = '' } = error as SentError
  return statusOf(error) === 429 || (BUSY.has(name) && name !== 'TransactionConflictException')
}

/** Credentials or rights that are missing, wrong, or no longer valid. */
export function isUnauthorized(error: unknown): boolean {
  const status = statusOf(error)
  return CREDENTIALS.has((error as SentError).name ?? '') || status === 401 || status === 403
}

/** Of the HTTP answer, where there was one. */
export const statusOf = (error: unknown): number | undefined => (error as SentError).$metadata?.httpStatusCode

/** How often the SDK has sent the request that ended with this error. */
export const sendsOf = (error: unknown): number => (error as SentError).$metadata?.attempts ?? 1

/** The endpoint asks for patience: tried again later, and everybody on this transactor slows down. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'
}

/** The answers to all sends of a request were lost. It may or may not have been carried out. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost'
}

export function timedOut(operation: string, timeoutMs: number): Error {
  const error = new Error(`${operation} was not answered within ${timeoutMs} ms`)
  error.name = 'TimeoutError'
  return error
}

/** An attempt of a unit has met it, and another attempt may succeed. */
export const isRetriableAttempt = (error: unknown): boolean =>
  error instanceof Conflict ||
  error instanceof SnapshotTooOld ||
  error instanceof Overloaded ||
  error instanceof AnswerLost

/** What a caller is told of it: the two classes above stay inside, and what was met comes out. */
export const surfaced = (error: unknown): unknown =>
  (error instanceof Overloaded || error instanceof AnswerLost) && error.cause !== undefined
    ? error.cause
    : error

/** For promises: what was met comes out. */
export const rethrown = (error: unknown): never => {
  throw surfaced(error)
}

/**
 * Whether the same unit or acquire may succeed later: true for `Conflict`, `SnapshotTooOld`, `LockTimeout`, throttling, a
 * broken connection and an unavailable endpoint. A unit that was rejected with one of these has written nothing. After
 * `OutcomeUnknown` it may have, so that is not retriable; refused credentials and the function's own errors are not either.
 *
 * @example
 *   try {
 *     await t.transact((tx) => tx.put('Books', { id: 'b1', title: 'Emma', price: 9 }))
 *   } catch (error) {
 *     if (!isRetriable(error)) throw error
 *     console.error('nothing was written: put the work back into the queue')
 *   }
 */
export const isRetriable = (error: unknown): boolean =>
  isRetriableAttempt(error) || error instanceof LockTimeout || isTransient(error)
