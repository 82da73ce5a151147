// RestoreTableFromBackup, RestoreTableToPointInTime, and ours: RestoreTables, several at once and to a transaction.
import { refuseLedgerName } from '../tables/record/table-ledger.js'
import { validationError } from '../../model/errors.js'
import { EXTENSION_PREFIX } from '../../port/extension.js'
import type { Operation, RequestScope } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, type RequestShape } from '../shapes/shape.js'
import { tableNameOf, tableNameOfArn } from '../shapes/table-name.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { tableDescription } from '../tables/table-description.js'
import { tableOperation } from '../tables/table-operation.js'
import type { TableRecord } from '../tables/record/table-record.js'
import {
  billingModeShape,
  encryptionShape,
  globalIndexShape,
  localIndexShape,
  onDemandThroughputShape,
  throughputShape,
} from '../tables/record/table-shapes.js'
import { vectorIndexShape } from '../tables/record/vector-indexes.js'
import { backupOf, type Backups } from './backup-of.js'
import { type OverridesInput, restoredTable } from './restored-table.js'
import type { RestoreMoment, TableBackups } from './table-backups.js'

export const restoreOperations = (backups: Backups): readonly Operation[] => [
  restoreTableFromBackup(backups),
  restoreTableToPointInTime(backups),
  restoreTables(backups),
]

const TABLES_MAX = 25

const { acceptsArn: _, ...targetNameShape } = administeredTableNameShape
const sourceNameShape: RequestShape = {
  kind: 'string',
  lengthMin: 3,
  lengthMax: 255,
  pattern: '[a-zA-Z0-9_.-]+',
}
const overrideShapes = {
  BillingModeOverride: billingModeShape,
  GlobalSecondaryIndexOverride: { kind: 'list', member: globalIndexShape },
  LocalSecondaryIndexOverride: { kind: 'list', member: localIndexShape },
  ProvisionedThroughputOverride: throughputShape,
  OnDemandThroughputOverride: onDemandThroughputShape,
  SSESpecificationOverride: encryptionShape,
  VectorIndexOverride: { kind: 'list', member: vectorIndexShape },
} as const satisfies Readonly<Record<string, RequestShape>>

async function described(catalog: TableCatalog, record: TableRecord, scope: RequestScope): Promise<object> {
  return tableDescription(record, await catalog.counts(record), scope.addressed)
}

const restoreTableFromBackup = (backups: Backups): Operation =>
  tableOperation<OverridesInput & { readonly TargetTableName: string; readonly BackupArn: string }>({
    name: 'RestoreTableFromBackup',
    shape: {
      kind: 'struct',
      members: {
        TargetTableName: { ...targetNameShape, missing: missing('TargetTableName') },
        BackupArn: { kind: 'string', required: true, lengthMin: 37, lengthMax: 1024 },
        ...overrideShapes,
      },
    },
    async run(catalog, input, scope, context) {
      const { TargetTableName: targetName, BackupArn: arn } = input
      scope.authorise(targetName, 'Target')
      refuseLedgerName(context, targetName)
      const { all, info } = await backupOf(backups, arn, (table) => scope.authorise(table, 'Source'))
      const record = await all.restoreBackup(info, {
        newRecord: (draft, source, atMicros) =>
          restoredTable(draft, context, {
            targetName,
            source,
            overrides: input,
            from: { backupId: info.id, tableName: source.name, atMicros },
          }),
      })
      return jsonReply({ TableDescription: await described(catalog, record, scope) })
    },
  })

interface PointInTimeInput extends OverridesInput {
  readonly SourceTableArn?: string
  readonly SourceTableName?: string
  readonly TargetTableName: string
  readonly UseLatestRestorableTime?: boolean
  readonly RestoreDateTime?: number
}

const restoreTableToPointInTime = (backups: Backups): Operation =>
  tableOperation<PointInTimeInput>({
    name: 'RestoreTableToPointInTime',
    shape: {
      kind: 'struct',
      members: {
        SourceTableArn: { kind: 'string', lengthMin: 1, lengthMax: 1024 },
        SourceTableName: sourceNameShape,
        TargetTableName: { ...targetNameShape, missing: missing('TargetTableName') },
        UseLatestRestorableTime: { kind: 'boolean' },
        RestoreDateTime: { kind: 'double' },
        ...overrideShapes,
      },
    },
    async run(catalog, input, scope, context) {
      const { TargetTableName: targetName, SourceTableArn: arn, SourceTableName: name } = input
      const source = arn === undefined ? name : tableNameOfArn(arn)
      if (source === undefined)
        throw validationError('One of SourceTableName or SourceTableArn must be specified')
      scope.authorise(source, 'Source')
      scope.authorise(targetName, 'Target')
      refuseLedgerName(context, targetName)
      const moment = momentOf(input)
      const { records } = await (
        await backups()
      ).restoreTo(moment, [restoreTarget(context, source, targetName, input)])
      return jsonReply({ TableDescription: await described(catalog, records[0] as TableRecord, scope) })
    },
  })

interface RestoreTablesInput {
  readonly Tables: readonly { readonly SourceTableName: string; readonly TargetTableName: string }[]
  readonly UseLatestRestorableTime?: boolean
  readonly RestoreDateTime?: number
  readonly BeforeTransaction?: string
  readonly AfterTransaction?: string
}

const restoreTables = (backups: Backups): Operation =>
  tableOperation<RestoreTablesInput>({
    name: 'RestoreTables',
    targetPrefix: EXTENSION_PREFIX,
    shape: {
      kind: 'struct',
      members: {
        Tables: {
          kind: 'list',
          required: true,
          lengthMin: 1,
          lengthMax: TABLES_MAX,
          member: {
            kind: 'struct',
            members: {
              SourceTableName: administeredTableNameShape,
              TargetTableName: { ...targetNameShape, missing: missing('TargetTableName') },
            },
          },
        },
        UseLatestRestorableTime: { kind: 'boolean' },
        RestoreDateTime: { kind: 'double' },
        BeforeTransaction: { kind: 'string', lengthMin: 1, lengthMax: 255 },
        AfterTransaction: { kind: 'string', lengthMin: 1, lengthMax: 255 },
      },
    },
    async run(catalog, input, scope, context) {
      const pairs = input.Tables.map((each) => ({
        source: tableNameOf(each.SourceTableName),
        target: each.TargetTableName,
      }))
      for (const { source, target } of pairs) {
        scope.authorise(source, 'Source')
        scope.authorise(target, 'Target')
        refuseLedgerName(context, target)
      }
      const { records, at } = await (
        await backups()
      ).restoreTo(
        momentOf(input),
        pairs.map(({ source, target }) => restoreTarget(context, source, target, {})),
      )
      return jsonReply({
        TableDescriptions: await Promise.all(records.map((record) => described(catalog, record, scope))),
        RestoreTimestamp: at,
      })
    },
  })

const restoreTarget = (
  context: Parameters<typeof restoredTable>[1],
  source: string,
  targetName: string,
  overrides: OverridesInput,
): Parameters<TableBackups['restoreTo']>[1][number] => ({
  source,
  newRecord: (draft, record, atMicros) =>
    restoredTable(draft, context, {
      targetName,
      source: record,
      overrides,
      from: { tableName: source, atMicros },
    }),
})

/** Exactly one must be given. */
function momentOf(input: Omit<RestoreTablesInput, 'Tables'>): RestoreMoment {
  const moments: RestoreMoment[] = []
  const { RestoreDateTime: seconds, BeforeTransaction: before, AfterTransaction: after } = input
  if (input.UseLatestRestorableTime === true) moments.push({ kind: 'latest' })
  if (seconds !== undefined) moments.push({ kind: 'time', micros: Math.round(seconds * 1e6) })
  if (before !== undefined) moments.push({ kind: 'before', transaction: before })
  if (after !== undefined) moments.push({ kind: 'after', transaction: after })
  const [moment, ...others] = moments
  if (moment === undefined)
    throw validationError('One of RestoreDateTime or UseLatestRestorableTime must be specified')
  if (others.length > 0)
    throw validationError('Only one of RestoreDateTime and UseLatestRestorableTime may be specified')
  return moment
}

function missing(member: string): string {
  return `The parameter '${member}' is required but was not present in the request`
}
