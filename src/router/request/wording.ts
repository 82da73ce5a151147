// The words of a refusal, as the regions of the service have them in October 2026. In the course of that year the service has moved one
// operation after another, region by region, to a new check of requests, with new words:
//
//                                            most, us-east-1 among them                  REGIONS_BEHIND      REGIONS_AHEAD of each
//   PutItem, UpdateItem, DeleteItem          new, behind `1 validation error detected: ` older               new
//   GetItem, BatchGetItem, Query             new                                         older               new
//   transactions                             older                                       older               new
//   Scan                                     older                                       older               some new
//   BatchWriteItem                           older                                       older               older
//
// A request is answered in the words of the region that it is signed for, and in those of us-east-1 where there is none. What is
// refused with a look at the table has the same words everywhere.
import { DynamoError, inOlderWords, type Moving, RewordedError, validationError } from '../../model/errors.js'
import { isActionReadInOlderWay, isReadInOlderWay } from '../shapes/deep-values.js'
import type { Input } from './context.js'

/**
 * What `check` refuses of a request, before the table is looked at, is counted as an error of the validation; not so of a request
 * with values that are nested very deep.
 */
export function enveloped<Result>(input: Input, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    if (!isRefusal(error) || COUNTED.test(error.message)) throw error
    const older = inOlderWords(error)
    if (isReadInOlderWay(input)) throw older
    throw new RewordedError(`1 validation error detected: ${error.message}`, older.message)
  }
}

const COUNTED = /^\d+ validation errors? detected: /

/** What `check` refuses is told as before. */
export function toldInOlderWords<Result>(check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    throw error instanceof RewordedError && error.newest === undefined ? inOlderWords(error) : error
  }
}

/**
 * What `check` refuses of an action of a transaction is told as before, but where transactions have moved; there too if a value of the
 * action is nested very deep.
 */
export function toldOfTransactions<Result>(action: Input, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RewordedError) || error.newest !== undefined) throw error
    if (isActionReadInOlderWay(action)) throw inOlderWords(error)
    throw new RewordedError(error.older, error.older, error.message, 'transactions')
  }
}

/** Nothing has moved there. */
const REGIONS_BEHIND: ReadonlySet<string | undefined> = new Set(['eu-south-2', 'me-central-1'])
/** Transactions have moved there, or what Scan says of its own parameters. */
const REGIONS_AHEAD: Readonly<Record<Moving, ReadonlySet<string | undefined>>> = {
  scans: new Set(['ap-northeast-2', 'eu-central-1', 'eu-west-2', 'us-west-1']),
  transactions: new Set(['ap-northeast-2', 'eu-north-1', 'eu-west-2']),
}

export const hasWordsOfItsOwn = (region: string | undefined): boolean =>
  REGIONS_BEHIND.has(region) || Object.values(REGIONS_AHEAD).some((regions) => regions.has(region))

/** Since then values of transactions are looked at before the transaction runs, as those of single writes are. */
export const haveTransactionsMoved = (region: string | undefined): boolean =>
  REGIONS_AHEAD.transactions.has(region)

/** The refusal of a request that was signed for `region`. */
export function inWordsOf(region: string | undefined, error: DynamoError): DynamoError {
  if (REGIONS_BEHIND.has(region)) return inOlderWords(error)
  if (!(error instanceof RewordedError) || !REGIONS_AHEAD[error.moving].has(region)) return error
  return error.newest === undefined ? error : validationError(error.newest)
}

const isRefusal = (error: unknown): error is DynamoError =>
  error instanceof DynamoError && error.name === 'ValidationException'
