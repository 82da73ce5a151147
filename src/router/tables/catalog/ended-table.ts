// A table that could be restored to any moment, and is deleted: a backup of its last state is left (router/backups). Until that is
// made, the record of the table stands beside the catalogue.
import { DynamoError } from '../../../model/errors.js'
import type { SpaceCount } from '../../../line/spaces.js'
import type { MetaEntry } from '../../../storage/contract/storage-node.js'
import { readRecord, type TableRecord } from '../record/table-record.js'

export const ENDED_TABLE_PREFIX = 'ended/'

export interface EndedTable extends SpaceCount {
  readonly record: TableRecord
}

export const endedTable = (ended: EndedTable): MetaEntry => ({
  name: ENDED_TABLE_PREFIX + ended.record.id,
  value: Buffer.from(JSON.stringify(ended)),
})

export const decodeEndedTable = (entry: Required<MetaEntry>): EndedTable =>
  readRecord(entry, (value) => JSON.parse(Buffer.from(value).toString()) as EndedTable, 'tables')

/** A base for restores to a point in time does not count: it is given up with its table. */
export function refuseWhileBackedUp({ name, captures = [] }: TableRecord): void {
  if (captures.every((id) => id.startsWith(BASE_CAPTURE))) return
  throw new DynamoError(
    'ResourceInUseException',
    `Attempt to change a resource which is still in use: Table is being backed up: ${name}`,
  )
}

/** How captures for bases begin; those for backups are the ids of the backups. */
export const BASE_CAPTURE = 'base-'
