// TableDescription: a table as DynamoDB describes it.
import type { SpaceId } from '../../model/brand.js'
import type { Projection } from '../../model/table.js'
import type { SpaceCount } from '../../line/spaces.js'
import type { Addressed } from '../request/router.js'
import { backupArn, indexArn, streamArn, tableArn } from '../shapes/table-name.js'
import type { IndexRecord, TableRecord, Throughput, WarmThroughput } from './record/table-record.js'
import { shownEncryption } from './record/table-settings.js'
import { type CreationMoment, isTableCreating, phasesOf } from './catalog/creation-pace.js'
import { describeVectorIndex } from './record/vector-indexes.js'

export type TableStatus = 'CREATING' | 'ACTIVE' | 'UPDATING' | 'DELETING'

/** The answer to a request that changes the table shows the change as under way, as DynamoDB does. */
export interface Statuses {
  readonly table: TableStatus
  /** By index name; the others are as they are recorded. */
  readonly indexes?: ReadonlyMap<string, TableStatus | ShownStatus>
}

/** The status of an index as it is described, where it does not follow from its record. */
export interface ShownStatus {
  readonly IndexStatus: TableStatus
  readonly Backfilling?: boolean
}

/** Of a table that is read while it, or one of its indexes, may be in creation; undefined: as recorded. */
export function statusesAt(record: TableRecord, moment: CreationMoment): Statuses | undefined {
  if (isTableCreating(record, moment)) {
    const indexes = [...record.indexes, ...(record.vectorIndexes ?? [])]
    return { table: 'CREATING', indexes: new Map(indexes.map(({ name }) => [name, CREATED_WITH_TABLE])) }
  }
  const phases = [...phasesOf(record, moment)]
  if (phases.length === 0) return undefined
  const isAllocating = phases.some(([, phase]) => phase === 'allocating')
  return {
    table: isAllocating ? 'UPDATING' : 'ACTIVE',
    indexes: new Map(
      phases.map(([name, phase]) => [
        name,
        { IndexStatus: 'CREATING', Backfilling: phase === 'backfilling' },
      ]),
    ),
  }
}

const CREATED_WITH_TABLE: ShownStatus = { IndexStatus: 'CREATING' }

export type CountOf = (space: SpaceId) => SpaceCount

/** `addressed`: where the client sees the table. */
export function tableDescription(
  record: TableRecord,
  countOf: CountOf,
  { region }: Addressed,
  statuses?: Statuses,
): object {
  const count = countOf(record.space)
  const globals = record.indexes.filter((index) => index.kind === 'global')
  const locals = record.indexes.filter((index) => index.kind === 'local')
  const since = record.payPerRequestSinceMicros
  const status = statuses?.table ?? (record.loading === undefined ? 'ACTIVE' : 'CREATING')
  return {
    AttributeDefinitions: record.attributeDefinitions,
    TableName: record.name,
    KeySchema: record.keySchema,
    TableStatus: status,
    CreationDateTime: seconds(record.createdAtMicros),
    ProvisionedThroughput: describeThroughput(record.throughput),
    TableSizeBytes: count.bytes,
    ItemCount: count.items,
    TableArn: tableArn(record.name, region),
    TableId: record.id,
    ...(since !== undefined && {
      BillingModeSummary: {
        BillingMode: record.billingMode,
        ...(status !== 'CREATING' && { LastUpdateToPayPerRequestDateTime: seconds(since) }),
      },
    }),
    ...(locals.length > 0 && {
      LocalSecondaryIndexes: locals.map((index) => describeIndex(record, index, countOf, region)),
    }),
    ...(globals.length > 0 && {
      GlobalSecondaryIndexes: globals.map((index) => ({
        ...describeIndex(record, index, countOf, region),
        ...describeStatus(index, statuses?.indexes?.get(index.name)),
        ProvisionedThroughput: describeThroughput(index.throughput),
        ...(index.onDemandThroughput !== undefined && { OnDemandThroughput: index.onDemandThroughput }),
        ...describeWarm(index.warmThroughput),
      })),
    }),
    ...(record.vectorIndexes?.length && {
      VectorIndexes: record.vectorIndexes.map((index) =>
        describeVectorIndex(record.name, index, region, vectorStatus(statuses?.indexes?.get(index.name))),
      ),
    }),
    ...describeStream(record, region),
    ...describeRestore(record, region),
    ...(record.encryption !== undefined && { SSEDescription: shownEncryption(record.encryption, region) }),
    ...(record.tableClass !== undefined && { TableClassSummary: { TableClass: record.tableClass } }),
    ...(record.onDemandThroughput !== undefined && { OnDemandThroughput: record.onDemandThroughput }),
    ...describeWarm(record.warmThroughput),
    DeletionProtectionEnabled: record.deletionProtection,
  }
}

function describeWarm(warm: WarmThroughput | undefined): object {
  if (warm === undefined) return {}
  const { readUnits: ReadUnitsPerSecond, writeUnits: WriteUnitsPerSecond } = warm
  return { WarmThroughput: { ReadUnitsPerSecond, WriteUnitsPerSecond, Status: 'ACTIVE' } }
}

function vectorStatus(shown: TableStatus | ShownStatus | undefined): object {
  return typeof shown === 'object' ? shown : { IndexStatus: shown ?? 'ACTIVE' }
}

/** The latest stream is named for as long as the table is there, also when it has ended. */
function describeStream({ name, stream }: TableRecord, region: string | undefined): object {
  if (stream === undefined) return {}
  return {
    ...(stream.viewType !== undefined && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: stream.viewType },
    }),
    LatestStreamLabel: stream.label,
    LatestStreamArn: streamArn(name, stream.label, region),
  }
}

function describeRestore({ restored, loading }: TableRecord, region: string | undefined): object {
  if (restored === undefined) return {}
  const { backupId, tableName, atMicros } = restored
  return {
    RestoreSummary: {
      ...(backupId !== undefined && { SourceBackupArn: backupArn(tableName, backupId, region) }),
      SourceTableArn: tableArn(tableName, region),
      RestoreDateTime: seconds(atMicros),
      RestoreInProgress: loading === 'restore',
    },
  }
}

function describeIndex(
  record: TableRecord,
  index: IndexRecord,
  countOf: CountOf,
  region: string | undefined,
): object {
  const count = countOf(index.space)
  return {
    IndexName: index.name,
    KeySchema: index.keySchema,
    Projection: describeProjection(index.projection),
    IndexSizeBytes: count.bytes,
    ItemCount: count.items,
    IndexArn: indexArn(record.name, index.name, region),
  }
}

/** `Backfilling` is there only while an index is being added to an existing table: false in the answer that adds it. */
function describeStatus(index: IndexRecord, underWay: TableStatus | ShownStatus | undefined): object {
  if (typeof underWay === 'object') return underWay
  const status = underWay ?? (index.status === 'WAITING' ? 'CREATING' : index.status)
  if (status !== 'CREATING' || index.status !== 'CREATING') return { IndexStatus: status }
  return { IndexStatus: status, Backfilling: underWay === undefined }
}

export function describeProjection(projection: Projection): object {
  return {
    ProjectionType: projection.type,
    ...(projection.type === 'INCLUDE' && { NonKeyAttributes: projection.attributes }),
  }
}

export function describeThroughput(throughput: Throughput): object {
  const { increasedAtMicros, decreasedAtMicros } = throughput
  return {
    ...(increasedAtMicros !== undefined && { LastIncreaseDateTime: seconds(increasedAtMicros) }),
    ...(decreasedAtMicros !== undefined && { LastDecreaseDateTime: seconds(decreasedAtMicros) }),
    NumberOfDecreasesToday: throughput.decreasesToday,
    ReadCapacityUnits: throughput.readUnits,
    WriteCapacityUnits: throughput.writeUnits,
  }
}

/** Seconds since the epoch, to the millisecond. */
export const seconds = (micros: number): number => Math.floor(micros / 1000) / 1000
