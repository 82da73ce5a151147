// Backups as DynamoDB describes them.
import type { Addressed } from '../request/router.js'
import { backupArn, tableArn } from '../shapes/table-name.js'
import { describeProjection, describeThroughput, seconds } from '../tables/table-description.js'
import type { IndexRecord, TableRecord } from '../tables/record/table-record.js'
import type { BackupInfo } from './backup-list.js'
import type { RestoreWindow } from './point-in-time.js'

export const arnOf = ({ id, table }: BackupInfo, { region }: Addressed): string =>
  backupArn(table.name, id, region)

export function backupDetails(info: BackupInfo, addressed: Addressed): object {
  const { name, itemsBytes, status, type, createdAtMicros, expiresAtMicros } = info
  return {
    BackupArn: arnOf(info, addressed),
    BackupName: name,
    BackupSizeBytes: itemsBytes,
    BackupStatus: status,
    BackupType: type,
    BackupCreationDateTime: seconds(createdAtMicros),
    ...(expiresAtMicros !== undefined && { BackupExpiryDateTime: seconds(expiresAtMicros) }),
  }
}

export function backupSummary(info: BackupInfo, addressed: Addressed): object {
  const { table } = info
  return {
    TableName: table.name,
    TableId: table.id,
    TableArn: tableArn(table.name, addressed.region),
    ...backupDetails(info, addressed),
  }
}

export function backupDescription(info: BackupInfo, addressed: Addressed): object {
  const { table, items, itemsBytes } = info
  const { throughput, onDemandThroughput } = table
  return {
    BackupDetails: backupDetails(info, addressed),
    SourceTableDetails: {
      TableName: table.name,
      TableId: table.id,
      TableArn: tableArn(table.name, addressed.region),
      TableSizeBytes: itemsBytes,
      KeySchema: table.keySchema,
      TableCreationDateTime: seconds(table.createdAtMicros),
      ProvisionedThroughput: {
        ReadCapacityUnits: throughput.readUnits,
        WriteCapacityUnits: throughput.writeUnits,
      },
      ...(onDemandThroughput !== undefined && { OnDemandThroughput: onDemandThroughput }),
      ItemCount: items,
      BillingMode: table.billingMode,
    },
    SourceTableFeatureDetails: featureDetails(table),
  }
}

function featureDetails({ indexes, stream, timeToLive, encryption }: TableRecord): object {
  const of = (kind: IndexRecord['kind']): readonly IndexRecord[] =>
    indexes.filter((index) => index.kind === kind)
  const indexInfo = ({ name, keySchema, projection }: IndexRecord): object => ({
    IndexName: name,
    KeySchema: keySchema,
    Projection: describeProjection(projection),
  })
  return {
    ...(of('local').length > 0 && { LocalSecondaryIndexes: of('local').map(indexInfo) }),
    ...(of('global').length > 0 && {
      GlobalSecondaryIndexes: of('global').map((index) => ({
        ...indexInfo(index),
        ProvisionedThroughput: describeThroughput(index.throughput),
      })),
    }),
    ...(stream?.viewType !== undefined && {
      StreamDescription: { StreamEnabled: true, StreamViewType: stream.viewType },
    }),
    ...(timeToLive !== undefined && {
      TimeToLiveDescription: { TimeToLiveStatus: timeToLive.status, AttributeName: timeToLive.attribute },
    }),
    ...(encryption !== undefined && { SSEDescription: encryption }),
  }
}

/** What is told as the earliest moment can be restored to, though it is told in milliseconds. */
const secondsUp = (micros: number): number => Math.ceil(micros / 1000) / 1000

export function continuousBackups({ pointInTime }: TableRecord, window: RestoreWindow | undefined): object {
  return {
    ContinuousBackupsStatus: 'ENABLED',
    PointInTimeRecoveryDescription:
      pointInTime === undefined
        ? { PointInTimeRecoveryStatus: 'DISABLED' }
        : {
            PointInTimeRecoveryStatus: 'ENABLED',
            RecoveryPeriodInDays: pointInTime.periodDays,
            ...(window !== undefined && {
              EarliestRestorableDateTime: secondsUp(window.earliestMicros),
              LatestRestorableDateTime: Math.max(
                secondsUp(window.earliestMicros),
                seconds(window.latestMicros),
              ),
            }),
          },
  }
}
