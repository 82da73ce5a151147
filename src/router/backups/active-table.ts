// Tables as the operations on backups need them.
import { DynamoError } from '../../model/errors.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import type { TableRecord } from '../tables/record/table-record.js'

export const PERIOD_DAYS_MAX = 35

/** One that is there, and not being created. */
export function activeTable(catalog: Pick<TableCatalog, 'find'>, name: string): TableRecord {
  const record = catalog.find(name)
  if (record === undefined) throw new DynamoError('TableNotFoundException', `Table not found: ${name}`)
  if (record.loading !== undefined)
    throw new DynamoError('TableInUseException', `Table is being created: ${name}`)
  return record
}

/** One that can be restored to a point in time. */
export function recoverable(catalog: Pick<TableCatalog, 'find'>, name: string): TableRecord {
  const record = activeTable(catalog, name)
  if (record.pointInTime === undefined)
    throw new DynamoError(
      'PointInTimeRecoveryUnavailableException',
      `Point in time recovery is not enabled for table '${name}'`,
    )
  return record
}
