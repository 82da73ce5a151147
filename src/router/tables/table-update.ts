// UpdateTable as a decision: from a table's record and a request to the new record, or a refusal.
//
//   checkUpdate(request)  what can be said without the table: which members may stand together
//   updatedTable(...)     billing mode and throughput, then indexes, then the settings
import type { SpaceId } from '../../model/brand.js'
import { validationError } from '../../model/errors.js'
import type { IndexChanges } from './catalog/creation-pace.js'
import {
  capacityWithoutProvisioning,
  checkCapacityBounds,
  invalid,
  projectionOf,
} from './record/table-definition.js'
import type { ShownStatus, TableStatus } from './table-description.js'
import { merged, onlyUsed, updatedIndexes, type IndexUpdateInput } from './table-update-indexes.js'
import { updatedThroughput } from './table-update-throughput.js'
import type { IndexRecord, TableRecord } from './record/table-record.js'
import {
  checkEncryption,
  checkOnDemandThroughput,
  checkTableClass,
  describeEncryption,
  warmedThroughput,
} from './record/table-settings.js'
import { oneIndexAtATime, withVectorUpdate, type VectorIndexUpdateInput } from './record/vector-indexes.js'
import type { TableSettingsInput } from './record/table-shapes.js'
import { checkStreamSpecification } from './table-stream.js'

export interface UpdateTableInput extends TableSettingsInput {
  readonly GlobalSecondaryIndexUpdates?: readonly IndexUpdateInput[]
  readonly VectorIndexUpdates?: readonly VectorIndexUpdateInput[]
  readonly ReplicaUpdates?: readonly unknown[]
}

export interface TableUpdate {
  readonly record: TableRecord
  readonly dropped: readonly IndexRecord[]
  readonly tableStatus: TableStatus
  readonly indexStatuses: ReadonlyMap<string, TableStatus | ShownStatus>
}

export function checkTableUpdate(input: UpdateTableInput): void {
  checkMembers(input)
  if (input.ReplicaUpdates !== undefined) throw validationError('Replicas are not supported by this store')
  if (input.BillingMode === 'PROVISIONED' && input.ProvisionedThroughput === undefined) {
    throw invalid('ProvisionedThroughput must be specified when BillingMode is PROVISIONED')
  }
  if (input.BillingMode === 'PAY_PER_REQUEST' && input.ProvisionedThroughput !== undefined) {
    throw capacityWithoutProvisioning()
  }
  if (input.ProvisionedThroughput !== undefined) checkCapacityBounds(input.ProvisionedThroughput)
  if (input.GlobalSecondaryIndexUpdates !== undefined) checkIndexUpdates(input.GlobalSecondaryIndexUpdates)
  checkStreamSpecification(input.StreamSpecification, 'update')
  checkEncryption(input.SSESpecification)
  checkTableClass(input.TableClass)
}

/** In the order in which the service names them when several stand with others. */
const EXCLUSIVE = [
  ['SSESpecification', 'Server-Side Encryption modification'],
  ['TableClass', 'TableClass modification'],
  ['DeletionProtectionEnabled', 'DeletionProtection modification'],
  ['WarmThroughput', 'WarmThroughput'],
] as const

function checkMembers(input: UpdateTableInput): void {
  const changes = Object.keys(input).filter((name) => name !== 'TableName' && name !== 'AttributeDefinitions')
  if (changes.length === 0) {
    throw validationError(
      'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required',
    )
  }
  for (const [member, what] of EXCLUSIVE) {
    if (input[member] !== undefined && changes.length > 1) {
      throw invalid(`${what} must be the only operation in the request`)
    }
  }
  const beside = changes.filter((name) => name !== 'OnDemandThroughput' && name !== 'BillingMode')
  if (input.OnDemandThroughput !== undefined && beside.length > 0) {
    throw invalid('OnDemandThroughput can only be combined with BillingMode in an UpdateTable request')
  }
  if (input.ProvisionedThroughput === undefined) return
  if (input.StreamSpecification !== undefined) {
    throw invalid('You cannot modify stream status while updating table IOPS')
  }
  if (input.GlobalSecondaryIndexUpdates?.some((update) => update.Create ?? update.Delete)) {
    throw invalid('You cannot create or delete index while updating table IOPS')
  }
}

function checkIndexUpdates(updates: readonly IndexUpdateInput[]): void {
  if (updates.length === 0) throw invalid('List of GlobalSecondaryIndexUpdates is empty')
  const names = new Set<string>()
  for (const { Create, Update, Delete } of updates) {
    const actions = [Update, Create, Delete].filter((action) => action !== undefined)
    const [action] = actions
    if (action === undefined) {
      throw invalid(
        'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null',
      )
    }
    if (actions.length > 1) {
      throw invalid('Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object')
    }
    const name = action.IndexName
    if (names.has(name)) {
      throw invalid(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${name}`,
      )
    }
    names.add(name)
  }
}

/** A limit of on-demand throughput that is none. */
const UNLIMITED = -1

export function updatedTable(
  record: TableRecord,
  input: UpdateTableInput,
  allocateSpace: () => SpaceId,
  nowMicros: number,
): TableUpdate {
  const billed = updatedThroughput(record, input, nowMicros)
  checkOnDemandThroughput(input.OnDemandThroughput, billed.billingMode, 'table', UNLIMITED)
  const { indexed, dropped, statuses } = updatedIndexes(billed, input, allocateSpace, nowMicros)
  const searched = withVectors(indexed, input, nowMicros)
  return {
    record: warmed(withSettings(searched, input), input),
    dropped,
    tableStatus: isUpdating(record, input) ? 'UPDATING' : 'ACTIVE',
    indexStatuses: new Map<string, TableStatus | ShownStatus>([
      ...statuses,
      ...vectorStatuses(input.VectorIndexUpdates),
    ]),
  }
}

/** A vector index that is added or removed, and what its search schema defines. */
function withVectors(record: TableRecord, input: UpdateTableInput, nowMicros: number): TableRecord {
  const { VectorIndexUpdates: updates, AttributeDefinitions: added = [] } = input
  if (
    updates !== undefined &&
    indexChangesOf(input).created.length + indexChangesOf(input).deleted.length > 1
  )
    throw oneIndexAtATime()
  const definitions = updates === undefined ? [] : merged(record.attributeDefinitions, added, added)
  const defined = new Set(definitions.map((each) => each.AttributeName))
  const updated = withVectorUpdate(record, updates, defined, nowMicros, { invalid, projectionOf })
  if (updates === undefined) return updated
  return { ...updated, attributeDefinitions: onlyUsed(updated, updated.indexes, definitions) }
}

function vectorStatuses(updates: readonly VectorIndexUpdateInput[] = []): [string, ShownStatus][] {
  return updates.flatMap(({ Create }) =>
    Create === undefined ? [] : [[Create.IndexName, { IndexStatus: 'CREATING', Backfilling: false }]],
  )
}

/** The indexes of both kinds that a request creates and deletes. */
export function indexChangesOf(input: UpdateTableInput): IndexChanges {
  const updates = [...(input.GlobalSecondaryIndexUpdates ?? []), ...(input.VectorIndexUpdates ?? [])]
  return {
    created: updates.flatMap(({ Create }) => (Create === undefined ? [] : [Create.IndexName])),
    deleted: updates.flatMap(({ Delete }) => (Delete === undefined ? [] : [Delete.IndexName])),
  }
}

function warmed(record: TableRecord, input: UpdateTableInput): TableRecord {
  const warmThroughput = warmedThroughput(
    input.WarmThroughput,
    record,
    record.warmThroughput,
    'table',
    'updated',
  )
  const byIndex = new Map(
    (input.GlobalSecondaryIndexUpdates ?? []).map(({ Update }) => [Update?.IndexName, Update]),
  )
  return {
    ...record,
    ...(warmThroughput !== undefined && { warmThroughput }),
    indexes: record.indexes.map((index) => {
      const update = byIndex.get(index.name)
      if (update === undefined) return index
      const { billingMode } = record
      const { throughput, warmThroughput: current } = index
      const what = `index ${index.name}` as const
      checkOnDemandThroughput(update.OnDemandThroughput, billingMode, what, UNLIMITED)
      const warm = warmedThroughput(
        update.WarmThroughput,
        { billingMode, throughput },
        current,
        what,
        'updated',
      )
      return {
        ...index,
        ...(warm !== undefined && { warmThroughput: warm }),
        ...(update.OnDemandThroughput !== undefined && {
          onDemandThroughput: { ...index.onDemandThroughput, ...update.OnDemandThroughput },
        }),
      }
    }),
  }
}

/** Only these take the service time; the rest is in force with the answer. */
function isUpdating(record: TableRecord, input: UpdateTableInput): boolean {
  return (
    input.ProvisionedThroughput !== undefined ||
    (input.BillingMode !== undefined && input.BillingMode !== record.billingMode) ||
    input.GlobalSecondaryIndexUpdates?.some((update) => update.Create ?? update.Delete) === true ||
    input.VectorIndexUpdates !== undefined ||
    input.StreamSpecification !== undefined ||
    input.SSESpecification !== undefined ||
    input.TableClass !== undefined
  )
}

function withSettings(record: TableRecord, input: UpdateTableInput): TableRecord {
  const { encryption, ...rest } = record
  const wanted = input.SSESpecification
  if (wanted !== undefined && wanted.Enabled !== true && encryption === undefined) {
    throw invalid('Table is already encrypted by default')
  }
  const encrypted =
    wanted === undefined ? encryption : wanted.Enabled ? describeEncryption(wanted) : undefined
  return {
    ...rest,
    ...(encrypted !== undefined && { encryption: encrypted }),
    ...(input.TableClass !== undefined && { tableClass: input.TableClass }),
    ...(input.OnDemandThroughput !== undefined && {
      onDemandThroughput: { ...record.onDemandThroughput, ...input.OnDemandThroughput },
    }),
    ...(input.DeletionProtectionEnabled !== undefined && {
      deletionProtection: input.DeletionProtectionEnabled,
    }),
  }
}
