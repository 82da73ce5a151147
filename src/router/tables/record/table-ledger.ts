// Tables that are ledgers: asked for by a tag when the table is created, and never turned on or off later.
import { validationError } from '../../../model/errors.js'
import type { RouterContext } from '../../request/context.js'
import type { Tag, TableRecord } from './table-record.js'
import { mergeTags } from './tags.js'

const LEDGER_TAG: Tag = { Key: 'seriatim:ledger', Value: 'true' }

/** Whether the tags of a new table make it a ledger. */
export function asksForLedger(tags: readonly Tag[]): boolean {
  const tag = tags.find(({ Key }) => Key === LEDGER_TAG.Key)
  if (tag === undefined) return false
  if (tag.Value === LEDGER_TAG.Value) return true
  throw validationError(
    `The tag ${LEDGER_TAG.Key} of a table has the value ${LEDGER_TAG.Value}, or the table has no such tag`,
  )
}

/** A table that is a ledger says so, whatever made it one. */
export const ledgerTags = (tags: readonly Tag[]): readonly Tag[] => mergeTags(tags, [LEDGER_TAG])

/** Before the table is there: from then on its changes are in the log, and become blocks. */
export async function beginLedger({ log, blocks }: Pick<RouterContext, 'log' | 'blocks'>): Promise<void> {
  if (log === undefined || blocks === undefined)
    throw validationError('Ledger tables are not supported by this store: its nodes keep no log of commits')
  await log.begin()
  await blocks.begin()
}

/** A ledger begins with its first block: what is restored or imported would stand in none. */
export function refuseLedgerName({ isLedger }: Pick<RouterContext, 'isLedger'>, name: string): void {
  if (isLedger?.(name) === true)
    throw validationError(
      `A table named ${name} is a ledger in this store, and a ledger begins empty: restore or import under another name`,
    )
}

/** Tags that are added to a table that there is. */
export function checkAddedTags(record: TableRecord, added: readonly Tag[]): void {
  const tag = added.find(({ Key }) => Key === LEDGER_TAG.Key)
  if (tag === undefined || (record.ledger === true && tag.Value === LEDGER_TAG.Value)) return
  throw validationError(
    record.ledger === true
      ? `Table ${record.name} is a ledger, and stays one: its tag ${LEDGER_TAG.Key} cannot be changed`
      : `Table ${record.name} cannot become a ledger: the tag ${LEDGER_TAG.Key} is given when a table is created`,
  )
}

export function checkRemovedTags(record: TableRecord, removed: ReadonlySet<string>): void {
  if (record.ledger === true && removed.has(LEDGER_TAG.Key))
    throw validationError(
      `Table ${record.name} is a ledger, and stays one: its tag ${LEDGER_TAG.Key} cannot be removed`,
    )
}
