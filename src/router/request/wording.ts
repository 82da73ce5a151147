// The words of a refusal as the service's region eu-west-2 (London) has them since October 2026. In the course of that year the
// service has moved one operation after another to a new check of requests, with new words.
//
//   PutItem, UpdateItem, DeleteItem                       new words, behind `1 validation error detected: `
//   GetItem, BatchGetItem, Query, transactions            new words
//   Scan, BatchWriteItem                                  the older words
//
// What is refused with a look at the table has the same words everywhere.
import { DynamoError, RewordedError, validationError } from '../../model/errors.js'
import { isReadInOlderWay } from '../shapes/deep-values.js'
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
    if (isReadInOlderWay(input)) throw error instanceof RewordedError ? validationError(error.older) : error
    throw validationError(`1 validation error detected: ${error.message}`)
  }
}

const COUNTED = /^\d+ validation errors? detected: /

/** What `check` refuses is told as before. */
export function inOlderWords<Result>(check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    throw error instanceof RewordedError ? validationError(error.older) : error
  }
}

const isRefusal = (error: unknown): error is DynamoError =>
  error instanceof DynamoError && error.name === 'ValidationException'
