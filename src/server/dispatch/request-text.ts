// What the head of a request says, and what is answered where it says nothing that there is.
import { DynamoError } from '../../model/errors.js'
import { type Addressed, itemOperations } from '../../router/request/router.js'
import { signedRegion } from '../access/sigv4.js'
import { FAULT_NAMES } from '../faults/faults.js'
import { AMZ_JSON } from '../http/answer.js'
import type { RequestHeaders } from '../http/request-head.js'

export const TARGET_PREFIX = 'DynamoDB_20120810.'
const CONTENT_TYPES = new Map(
  [AMZ_JSON, 'application/x-amz-json-1.1', 'application/json'].map((type) => [type, type]),
)
const QUOTED_MAX = 100

export function contentTypeOf(headers: RequestHeaders): string | undefined {
  const value = headers['content-type']
  if (value === AMZ_JSON) return AMZ_JSON
  if (typeof value !== 'string') return undefined
  return CONTENT_TYPES.get(value.split(';', 1)[0]!.trim().toLowerCase())
}

/** Undefined where it is of no use, as for the many operations on items. */
export function addressedBy(
  operation: string,
  { host, authorization }: RequestHeaders,
): Addressed | undefined {
  if (itemOperations.has(operation) && operation !== 'TransactWriteItems') return undefined
  return {
    host: typeof host === 'string' ? host : undefined,
    region: regionIn(authorization),
  }
}

export const regionOf = ({ authorization }: RequestHeaders): string | undefined => regionIn(authorization)

const regionIn = (authorization: string | string[] | undefined): string | undefined =>
  typeof authorization === 'string' ? signedRegion(authorization) : undefined

export function unknownTarget(target: string | string[] | undefined): DynamoError {
  if (typeof target !== 'string' || target === '') {
    return new DynamoError(
      'UnknownOperationException',
      `The X-Amz-Target header is missing; expected ${TARGET_PREFIX}<Operation>.`,
    )
  }
  return new DynamoError(
    'UnknownOperationException',
    `The operation ${JSON.stringify(target.slice(0, QUOTED_MAX))} is not supported.`,
  )
}

export const throttled = (): DynamoError =>
  new DynamoError('ThrottlingException', 'Too many requests are in flight; try again.')

export const unknownFault = (text: string, operation: string): DynamoError =>
  new DynamoError(
    'ValidationException',
    `Unknown fault ${JSON.stringify(text.slice(0, QUOTED_MAX))} for ${operation}; there are ${FAULT_NAMES}`,
  )
