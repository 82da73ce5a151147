// CreateBackup, DescribeBackup, ListBackups, DeleteBackup, UpdateContinuousBackups, DescribeContinuousBackups, and the restores.
import { validationError } from '../../model/errors.js'
import type { Operation, RequestScope } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, type StringShape } from '../shapes/shape.js'
import { backupOfArn, tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from '../tables/table-operation.js'
import {
  arnOf,
  backupDescription,
  backupDetails,
  backupSummary,
  continuousBackups,
} from './backup-description.js'
import type { BackupInfo } from './backup-list.js'
import { backupOf, type Backups } from './backup-of.js'
import { restoreOperations } from './restore-operations.js'
import { activeTable, PERIOD_DAYS_MAX } from './active-table.js'

export const backupOperations = (backups: Backups): readonly Operation[] => [
  createBackup(backups),
  describeBackup(backups),
  listBackups(backups),
  deleteBackup(backups),
  updateContinuousBackups(backups),
  describeContinuousBackups(backups),
  ...restoreOperations(backups),
]

const LIST_MAX = 100
const backupArnShape: StringShape = { kind: 'string', required: true, lengthMin: 37, lengthMax: 1024 }
const { required: _, missing: __, ...optionalTableNameShape } = administeredTableNameShape

const createBackup = (backups: Backups): Operation =>
  tableOperation<{ readonly TableName: string; readonly BackupName: string }>({
    name: 'CreateBackup',
    shape: {
      kind: 'struct',
      members: {
        TableName: administeredTableNameShape,
        BackupName: {
          kind: 'string',
          required: true,
          lengthMin: 3,
          lengthMax: 255,
          pattern: '[a-zA-Z0-9_.-]+',
        },
      },
    },
    async run(catalog, input, scope) {
      const name = tableNameOf(input.TableName)
      scope.authorise(name)
      activeTable(catalog, name)
      const info = await (await backups()).create(name, input.BackupName)
      return jsonReply({ BackupDetails: backupDetails(info, scope.addressed) })
    },
  })

const describeBackup = (backups: Backups): Operation =>
  tableOperation<{ readonly BackupArn: string }>({
    name: 'DescribeBackup',
    shape: { kind: 'struct', members: { BackupArn: backupArnShape } },
    async run(_catalog, input, scope) {
      const { info } = await backupOf(backups, input.BackupArn, (table) => scope.authorise(table))
      return jsonReply({ BackupDescription: backupDescription(info, scope.addressed) })
    },
  })

const deleteBackup = (backups: Backups): Operation =>
  tableOperation<{ readonly BackupArn: string }>({
    name: 'DeleteBackup',
    shape: { kind: 'struct', members: { BackupArn: backupArnShape } },
    async run(_catalog, input, scope) {
      const { all, info } = await backupOf(backups, input.BackupArn, (table) => scope.authorise(table))
      return jsonReply({ BackupDescription: backupDescription(await all.remove(info), scope.addressed) })
    },
  })

interface ListBackupsInput {
  readonly TableName?: string
  readonly Limit?: number
  readonly TimeRangeLowerBound?: number
  readonly TimeRangeUpperBound?: number
  readonly ExclusiveStartBackupArn?: string
  readonly BackupType?: 'USER' | 'SYSTEM' | 'AWS_BACKUP' | 'ALL'
}

const listBackups = (backups: Backups): Operation =>
  tableOperation<ListBackupsInput>({
    name: 'ListBackups',
    shape: {
      kind: 'struct',
      members: {
        TableName: optionalTableNameShape,
        Limit: { kind: 'integer', valueMin: 1, valueMax: LIST_MAX },
        TimeRangeLowerBound: { kind: 'double' },
        TimeRangeUpperBound: { kind: 'double' },
        ExclusiveStartBackupArn: { kind: 'string', lengthMin: 37, lengthMax: 1024 },
        BackupType: { kind: 'string', values: ['USER', 'SYSTEM', 'AWS_BACKUP', 'ALL'] },
      },
    },
    async run(_catalog, input, scope) {
      const { Limit: limit = LIST_MAX, ExclusiveStartBackupArn: start } = input
      const after = start === undefined ? '' : backupOfArn(start).id
      const found = (await backups()).all().filter((info) => info.id > after && isListed(info, input, scope))
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1) : undefined
      return jsonReply({
        BackupSummaries: shown.map((info) => backupSummary(info, scope.addressed)),
        ...(last && { LastEvaluatedBackupArn: arnOf(last, scope.addressed) }),
      })
    },
  })

function isListed(info: BackupInfo, input: ListBackupsInput, scope: RequestScope): boolean {
  const { TableName: table, BackupType: type = 'ALL' } = input
  const { TimeRangeLowerBound: lower = -Infinity, TimeRangeUpperBound: upper = Infinity } = input
  const createdAt = info.createdAtMicros / 1e6
  return (
    scope.allows(info.table.name, 'listed') &&
    (table === undefined || tableNameOf(table) === info.table.name) &&
    (type === 'ALL' || type === info.type) &&
    createdAt >= lower &&
    createdAt < upper
  )
}

interface UpdateContinuousBackupsInput {
  readonly TableName: string
  readonly PointInTimeRecoverySpecification: {
    readonly PointInTimeRecoveryEnabled: boolean
    readonly RecoveryPeriodInDays?: number
  }
}

const updateContinuousBackups = (backups: Backups): Operation =>
  tableOperation<UpdateContinuousBackupsInput>({
    name: 'UpdateContinuousBackups',
    shape: {
      kind: 'struct',
      members: {
        TableName: administeredTableNameShape,
        PointInTimeRecoverySpecification: {
          kind: 'struct',
          required: true,
          members: {
            PointInTimeRecoveryEnabled: { kind: 'boolean', required: true },
            RecoveryPeriodInDays: { kind: 'integer', valueMin: 1, valueMax: PERIOD_DAYS_MAX },
          },
        },
      },
    },
    async run(catalog, input, scope) {
      const name = tableNameOf(input.TableName)
      scope.authorise(name)
      activeTable(catalog, name)
      const { PointInTimeRecoveryEnabled: isEnabled, RecoveryPeriodInDays: days } =
        input.PointInTimeRecoverySpecification
      if (!isEnabled && days !== undefined)
        throw validationError(
          'One or more parameter values were invalid: RecoveryPeriodInDays can only be specified when PointInTimeRecoveryEnabled is true',
        )
      const all = await backups()
      if (isEnabled) await all.enable(name, days)
      else await all.disable(name)
      const record = activeTable(catalog, name)
      return jsonReply({ ContinuousBackupsDescription: continuousBackups(record, all.windowOf(record)) })
    },
  })

const describeContinuousBackups = (backups: Backups): Operation =>
  tableOperation<{ readonly TableName: string }>({
    name: 'DescribeContinuousBackups',
    shape: { kind: 'struct', members: { TableName: administeredTableNameShape } },
    async run(catalog, input, scope) {
      const name = tableNameOf(input.TableName)
      scope.authorise(name)
      const record = activeTable(catalog, name)
      const window = record.pointInTime === undefined ? undefined : (await backups()).windowOf(record)
      return jsonReply({ ContinuousBackupsDescription: continuousBackups(record, window) })
    },
  })
