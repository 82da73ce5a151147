// What the requests for exports and imports share.
import { BucketError, checkedPrefix } from '../../buckets/buckets.js'
import { validationError } from '../../model/errors.js'
import type { StringShape } from '../shapes/shape.js'
import type { TransferRecord } from './transfer-record.js'

export const bucketShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 1,
  lengthMax: 255,
  pattern: '[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+',
}
export const bucketOwnerShape: StringShape = { kind: 'string', lengthMin: 1, pattern: '[0-9]{12}' }
export const prefixShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 1024 }
/** Its greatest length is ours: it is kept with its export or import. */
export const clientTokenShape: StringShape = {
  kind: 'string',
  lengthMin: 1,
  lengthMax: 1024,
  pattern: '[^\\$]+',
}
export const tableArnShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 1024 }
export const transferArnShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 37,
  lengthMax: 1024,
}
export const nextTokenShape: StringShape = { kind: 'string', lengthMin: 1, lengthMax: 1024 }

/** S3 takes any text for a prefix; here it is the way to a folder. */
export function checkPrefix(member: string, prefix: string | undefined): void {
  if (prefix === undefined) return
  try {
    checkedPrefix(prefix.endsWith('/') || member !== 'S3Prefix' ? prefix : `${prefix}/`)
  } catch (error) {
    if (!(error instanceof BucketError)) throw error
    throw validationError(`Invalid ${member}: ${error.message}`)
  }
}

/** A page of those after the one that the token names, and the token for the next page. */
export function page<Record extends TransferRecord>(
  operation: string,
  records: readonly Record[],
  { token, countMax }: { readonly token: string | undefined; readonly countMax: number },
): { readonly page: readonly Record[]; readonly next?: string } {
  const after = token === undefined ? undefined : idIn(operation, token)
  const rest = after === undefined ? records : records.filter(({ id }) => id < after)
  const shown = rest.slice(0, countMax)
  const last = shown.at(-1)
  return rest.length > shown.length && last !== undefined
    ? { page: shown, next: Buffer.from(`${TOKEN_START}${last.id}`).toString('base64url').padEnd(112, '=') }
    : { page: shown }
}

const TOKEN_START = 'after/'

function idIn(operation: string, token: string): string {
  const text = Buffer.from(token, 'base64url').toString()
  if (!/^after\/[0-9a-f-]{1,64}$/.test(text)) throw validationError(`Invalid NextToken for ${operation}`)
  return text.slice(TOKEN_START.length)
}
