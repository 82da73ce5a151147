// The backup that a request names.
import { DynamoError } from '../../model/errors.js'
import { backupOfArn } from '../shapes/table-name.js'
import type { BackupInfo } from './backup-list.js'
import type { TableBackups } from './table-backups.js'

/** What is known of backups is opened by the first who asks. */
export type Backups = () => Promise<TableBackups>

/** That of a table which the one who asks may see. */
export async function backupOf(
  backups: Backups,
  arn: string,
  authorise: (tableName: string) => void,
): Promise<{ readonly all: TableBackups; readonly info: BackupInfo }> {
  const { tableName, id } = backupOfArn(arn)
  authorise(tableName)
  const all = await backups()
  const info = all.find(id)
  if (info?.table.name !== tableName)
    throw new DynamoError('BackupNotFoundException', `Backup not found: ${arn}`)
  return { all, info }
}
