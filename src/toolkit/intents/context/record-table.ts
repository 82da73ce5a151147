// The table of transaction records, before anything depends on it: a unit that could not be decided, because the table is
// missing or must not be written, is refused before its first write.
import { isUnauthorized } from '../../endpoint/refusals.js'
import type { RequestUsage } from './caller.js'
import { readHeader } from './headers.js'
import type { Header } from '../protocol/records.js'
import { beatRequest } from '../protocol/requests.js'
import { layoutProblem } from '../protocol/setup-check.js'
import type { IntentsContext } from './context.js'

/** What is known of it. */
export interface RecordTable {
  isFound: boolean
  /** A header was written, changed and read. */
  isProven: boolean
}

/** Before a transactor's first unit. */
export async function findRecords(space: IntentsContext): Promise<void> {
  const { layouts, records, recordTable } = space
  if (recordTable.isFound) return
  try {
    const problem = layoutProblem(await layouts.of(records))
    if (problem !== undefined)
      throw new Error(`The table ${records} cannot hold transaction records: ${problem}.`)
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException')
      throw new Error(
        `Units of work keep their records in the table ${records}, which is not there: call setup() of a transactor once. Nothing was written.`,
        { cause: error },
      )
    throw withoutRight(space, error, 'dynamodb:DescribeTable')
  }
  recordTable.isFound = true
}

/** With a transactor's first header, which is there now: whether all that its decision needs is allowed. */
export async function proveRecords(
  space: IntentsContext,
  header: Pick<Header, 'id' | 'turn'>,
  usage: RequestUsage,
): Promise<void> {
  const { caller, records, recordTable } = space
  const reply = await caller.send('UpdateItem', beatRequest(records, header, 0), usage)
  // A refused condition says that the header was changed, which is for others to find out.
  if (!reply.ok && isUnauthorized(reply.error)) throw withoutRight(space, reply.error, 'dynamodb:UpdateItem')
  try {
    await readHeader(space, header.id, usage)
  } catch (error) {
    throw withoutRight(space, error, 'dynamodb:GetItem')
  }
  recordTable.isProven = true
}

/** The same error, if it is another one than a missing right. */
export function withoutRight(
  { records }: Pick<IntentsContext, 'records'>,
  error: unknown,
  right: string,
): unknown {
  if (!isUnauthorized(error)) return error
  const { name, message } = error as Error
  const explained = new Error(
    `Units of work need the right ${right} on their record table ${records}: ${message} Nothing was written.`,
    { cause: error },
  )
  explained.name = name
  return explained
}
