// Errors of an endpoint that say what they are about: DynamoDB's own often name neither the table nor the item.
import { DynamoError } from '../../model/errors.js'
import type { ItemAddress } from './protocol.js'
import { described } from './layout.js'

/** A write that cannot be carried out, whatever others do: a wrong operand type, an item that is too large. */
export function invalidWrite(address: ItemAddress, message: string, cause?: unknown): DynamoError {
  const error = new DynamoError(
    'ValidationException',
    `${withoutEnd(message)}, in the write of ${described(address)}.`,
  )
  if (cause !== undefined) error.cause = cause
  return error
}

const CANDIDATES_SHOWN_MAX = 10

/** The same of one of several writes, where nobody says which. */
export function invalidAmong(
  addresses: readonly ItemAddress[],
  message: string,
  cause: unknown,
): DynamoError {
  const shown = addresses.slice(0, CANDIDATES_SHOWN_MAX).map(described)
  const more = addresses.length - shown.length
  const error = new DynamoError(
    'ValidationException',
    `${withoutEnd(message)}, in one of the writes of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
  )
  error.cause = cause
  return error
}

/** `input`: the request. The error keeps its class and its name, and says which table is missing if it does not. */
export function namingTables(error: unknown, input: unknown, hint = ''): unknown {
  if (!(error instanceof Error) || error.name !== 'ResourceNotFoundException') return error
  const tables = [...new Set(tablesIn(input))]
  if (tables.length === 0 || tables.some((table) => error.message.includes(table))) return error
  const [first] = tables
  const which =
    tables.length === 1
      ? `the table ${first} is not there`
      : `one of the tables ${tables.join(', ')} is not there`
  error.message = `${withoutEnd(error.message)}: ${which}${hint}`
  return error
}

const withoutEnd = (sentence: string): string => sentence.replace(/[.:\s]+$/, '')

const DEPTH_MAX = 4

/** In the members `TableName`, and the keys of `RequestItems`. */
function tablesIn(input: unknown, depth = 0): string[] {
  if (typeof input !== 'object' || input === null || depth > DEPTH_MAX) return []
  if (Array.isArray(input)) return input.flatMap((one) => tablesIn(one, depth + 1))
  const { TableName, RequestItems, ...members } = input as Record<string, unknown>
  if (typeof TableName === 'string') return [TableName]
  if (typeof RequestItems === 'object' && RequestItems !== null) return Object.keys(RequestItems)
  return Object.values(members).flatMap((one) => (typeof one === 'object' ? tablesIn(one, depth + 1) : []))
}
