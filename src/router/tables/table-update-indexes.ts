// Creating and deleting global indexes in UpdateTable, one at a time.
import type { SpaceId } from '../../model/brand.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import {
  checkDefinitions,
  checkProjectedCount,
  globalIndex,
  invalid,
  usedNames,
} from './record/table-definition.js'
import type { TableStatus } from './table-description.js'
import type {
  AttributeDefinition,
  IndexRecord,
  KeySchemaElement,
  TableRecord,
} from './record/table-record.js'
import type {
  IndexInput,
  OnDemandThroughputInput,
  TableSettingsInput,
  ThroughputInput,
  WarmThroughputInput,
} from './record/table-shapes.js'
import { checkOnDemandThroughput, warmedThroughput } from './record/table-settings.js'
import { oneIndexAtATime } from './record/vector-indexes.js'
import { indexBeingCreated, indexCapacityWithoutProvisioning } from './table-update-throughput.js'

export interface IndexUpdateInput {
  readonly Create?: IndexInput
  readonly Update?: {
    readonly IndexName: string
    readonly ProvisionedThroughput?: ThroughputInput
    readonly OnDemandThroughput?: OnDemandThroughputInput
    readonly WarmThroughput?: WarmThroughputInput
  }
  readonly Delete?: { readonly IndexName: string }
}

interface IndexUpdate {
  readonly indexed: TableRecord
  readonly dropped: readonly IndexRecord[]
  readonly statuses: ReadonlyMap<string, TableStatus>
}

export function updatedIndexes(
  record: TableRecord,
  input: TableSettingsInput & { readonly GlobalSecondaryIndexUpdates?: readonly IndexUpdateInput[] },
  allocateSpace: () => SpaceId,
  nowMicros: number,
): IndexUpdate {
  const updates = input.GlobalSecondaryIndexUpdates ?? []
  const online = updates.filter((update) => update.Create ?? update.Delete)
  // Told before it is looked whether the indexes are there.
  if (online.length > 1) throw oneIndexAtATime()
  for (const { Create, Delete } of online) {
    if (Create !== undefined) checkNewName(record, Create.IndexName)
    if (Delete !== undefined) deletableIndex(record, Delete.IndexName)
  }
  checkOneAtATime(record, online)
  const statuses = new Map<string, TableStatus>()
  for (const { Update } of updates) if (Update !== undefined) statuses.set(Update.IndexName, 'UPDATING')
  const create = online[0]?.Create
  if (create !== undefined) {
    statuses.set(create.IndexName, 'CREATING')
    return {
      indexed: withIndex(record, create, input.AttributeDefinitions, allocateSpace, nowMicros),
      dropped: [],
      statuses,
    }
  }
  const doomed = online[0]?.Delete
  if (doomed !== undefined) {
    const index = deletableIndex(record, doomed.IndexName)
    statuses.set(index.name, 'DELETING')
    return { indexed: withoutIndex(record, index), dropped: [index], statuses }
  }
  return { indexed: record, dropped: [], statuses }
}

function checkNewName(record: TableRecord, name: string): void {
  const existing = record.indexes.find((index) => index.name === name)
  if (existing === undefined) return
  if (existing.status === 'CREATING') throw indexBeingCreated(record.name, name)
  throw validationError('Attempting to create an index which already exists')
}

function deletableIndex(record: TableRecord, name: string): IndexRecord {
  const index = record.indexes.find((candidate) => candidate.name === name)
  if (index === undefined) {
    throw new DynamoError('ResourceNotFoundException', 'Requested resource not found')
  }
  if (index.kind === 'local') {
    throw validationError(`Cannot delete an index that is not a GlobalSecondaryIndex: ${name}`)
  }
  return index
}

/** An index that is being created may be deleted; anything else waits until it is complete. */
function checkOneAtATime(record: TableRecord, online: readonly IndexUpdateInput[]): void {
  const creating = record.indexes.find((index) => index.status === 'CREATING')
  const isCancellation = online[0]?.Delete?.IndexName === creating?.name
  if (online.length > 0 && creating !== undefined && !isCancellation) throw oneIndexAtATime()
}

function withIndex(
  record: TableRecord,
  input: IndexInput,
  definitions: readonly AttributeDefinition[] | undefined,
  allocateSpace: () => SpaceId,
  nowMicros: number,
): TableRecord {
  if (definitions === undefined)
    throw invalid(`AttributeDefinitions is not specified for index: ${input.IndexName}`)
  const definition = globalIndex(input, checkDefinitions(definitions))
  checkThroughput(record, input)
  checkOnDemandThroughput(input.OnDemandThroughput, record.billingMode, `index ${input.IndexName}`)
  const globals = record.indexes.filter((index) => index.kind === 'global')
  if (globals.length >= limits.globalIndexesMax) {
    throw new DynamoError(
      'LimitExceededException',
      `Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of ${limits.globalIndexesMax}`,
    )
  }
  const warmThroughput = warmedThroughput(
    input.WarmThroughput,
    { ...record, throughput: definition.throughput },
    undefined,
    `index ${input.IndexName}`,
    'made',
  )
  const index: IndexRecord = {
    ...definition,
    space: allocateSpace(),
    status: 'CREATING',
    addedAtMicros: nowMicros,
    ...(warmThroughput !== undefined && { warmThroughput }),
  }
  const indexes = [...record.indexes, index]
  checkProjectedCount(indexes)
  return {
    ...record,
    indexes,
    attributeDefinitions: onlyUsed(
      record,
      indexes,
      merged(record.attributeDefinitions, definitions, index.keySchema),
    ),
  }
}

function checkThroughput({ billingMode }: TableRecord, input: IndexInput): void {
  const isGiven = input.ProvisionedThroughput !== undefined
  if (billingMode === 'PAY_PER_REQUEST' && isGiven) throw indexCapacityWithoutProvisioning(input.IndexName)
  if (billingMode === 'PROVISIONED' && !isGiven) {
    throw invalid(
      `Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: ${input.IndexName}`,
    )
  }
}

function withoutIndex(record: TableRecord, doomed: IndexRecord): TableRecord {
  const indexes = record.indexes.filter((index) => index !== doomed)
  return { ...record, indexes, attributeDefinitions: onlyUsed(record, indexes, record.attributeDefinitions) }
}

/** An attribute keeps its type: one that the new index uses may not have another, any other is left as it was. */
export function merged(
  existing: readonly AttributeDefinition[],
  added: readonly AttributeDefinition[],
  used: readonly (Partial<KeySchemaElement> & Pick<AttributeDefinition, 'AttributeName'>)[],
): AttributeDefinition[] {
  const byName = new Map(existing.map((definition) => [definition.AttributeName, definition]))
  for (const definition of added) {
    const known = byName.get(definition.AttributeName)
    if (known === undefined) byName.set(definition.AttributeName, definition)
    const use = used.find(({ AttributeName }) => AttributeName === definition.AttributeName)
    if (known === undefined || known.AttributeType === definition.AttributeType || use === undefined) continue
    const role = use.KeyType ?? 'HASH'
    const shown = ({ AttributeName: name, AttributeType: type }: AttributeDefinition): string =>
      `Schema:[SchemaElement: key{${name}:${type}:${role}}]`
    throw invalid(
      'Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. ' +
        `Existing schema: ${shown(known)} New schema: ${shown(definition)}`,
    )
  }
  return [...byName.values()]
}

/** Definitions that no key and no search uses are not kept. */
export function onlyUsed(
  record: TableRecord,
  indexes: readonly IndexRecord[],
  definitions: readonly AttributeDefinition[],
): AttributeDefinition[] {
  const used = usedNames(record.keySchema, indexes, record.vectorIndexes)
  return definitions.filter((definition) => used.has(definition.AttributeName))
}
