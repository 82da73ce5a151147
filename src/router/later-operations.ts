// Operations that many stores are never asked for. Their code is loaded by the first request for one of a kind, so that it costs
// nothing at the start (docs/adr/0029).
import { EXTENSION_PREFIX } from '../port/extension.js'
import type { TableBackups } from './backups/table-backups.js'
import type { OperationName } from './request/access.js'
import type { LaterOperation, Operation } from './request/context.js'

export const later = (
  names: readonly OperationName[],
  load: () => Promise<readonly Operation[]>,
  targetPrefix?: string,
): readonly LaterOperation[] =>
  names.map((name) => ({
    name,
    ...(targetPrefix !== undefined && { targetPrefix }),
    load: async () => {
      const operation = (await load()).find((each) => each.name === name)
      if (operation === undefined) throw new Error(`There is no operation ${name} where it should be.`)
      return operation
    },
  }))

/** Those on backups share what is known of backups, which is opened by the first request for one of them. */
export const laterBackups = (backups: () => Promise<TableBackups>): readonly LaterOperation[] => [
  ...later(
    [
      'CreateBackup',
      'DescribeBackup',
      'ListBackups',
      'DeleteBackup',
      'UpdateContinuousBackups',
      'DescribeContinuousBackups',
      'RestoreTableFromBackup',
      'RestoreTableToPointInTime',
    ],
    async () => (await import('./backups/backup-operations.js')).backupOperations(backups),
  ),
  ...later(['RestoreTables'], async () =>
    (await import('./backups/backup-operations.js')).backupOperations(backups),
  ).map((operation) => ({ ...operation, targetPrefix: EXTENSION_PREFIX })),
]

export const laterOperations: readonly LaterOperation[] = [
  ...later(
    ['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction'],
    async () => (await import('./statements/statement-operations.js')).statementOperations,
  ),
  ...later(
    ['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'],
    async () => (await import('./streams/stream-operations.js')).streamOperations,
  ),
  ...later(
    [
      'PutResourcePolicy',
      'GetResourcePolicy',
      'DeleteResourcePolicy',
      'UpdateContributorInsights',
      'DescribeContributorInsights',
      'ListContributorInsights',
      'DescribeKinesisStreamingDestination',
      'EnableKinesisStreamingDestination',
      'DisableKinesisStreamingDestination',
      'UpdateKinesisStreamingDestination',
      'DescribeTableReplicaAutoScaling',
      'UpdateTableReplicaAutoScaling',
      'ListGlobalTables',
      'DescribeGlobalTable',
    ],
    async () => (await import('./settings/settings-operations.js')).settingsOperations,
  ),
  ...later(['SearchVectors'], async () => [(await import('./vectors/search-vectors.js')).searchVectors]),
  ...later(
    ['GetDigest', 'GetBlock', 'GetRevision', 'ListRevisions', 'RedactRevision', 'GetLedgerFile'],
    async () => (await import('./blocks/block-operations.js')).blockOperations,
    EXTENSION_PREFIX,
  ),
]
