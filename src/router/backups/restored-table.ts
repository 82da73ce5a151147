// The table that a restore makes: defined as its source is, but for what the request says otherwise. Tags, the stream, the time
// to live and the recovery to a point in time are not taken over.
import { DynamoError } from '../../model/errors.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { CatalogDraft } from '../tables/catalog/catalog-draft.js'
import { newTable } from '../tables/create-table.js'
import { describeProjection } from '../tables/table-description.js'
import { invalid, tableDefinition } from '../tables/record/table-definition.js'
import { checkEncryption, checkOnDemandThroughput } from '../tables/record/table-settings.js'
import type {
  BillingMode,
  IndexRecord,
  RestoredFrom,
  TableRecord,
  Throughput,
} from '../tables/record/table-record.js'
import type { VectorIndexInput } from '../tables/record/vector-indexes.js'
import type {
  CreateTableInput,
  EncryptionInput,
  IndexInput,
  OnDemandThroughputInput,
  ProjectionInput,
  ThroughputInput,
} from '../tables/record/table-shapes.js'

export interface OverridesInput {
  readonly BillingModeOverride?: BillingMode
  readonly GlobalSecondaryIndexOverride?: readonly IndexInput[]
  readonly LocalSecondaryIndexOverride?: readonly IndexInput[]
  readonly ProvisionedThroughputOverride?: ThroughputInput
  readonly OnDemandThroughputOverride?: OnDemandThroughputInput
  readonly SSESpecificationOverride?: EncryptionInput
  readonly VectorIndexOverride?: readonly VectorIndexInput[]
}

export interface Restored {
  readonly targetName: string
  readonly source: TableRecord
  readonly overrides: OverridesInput
  readonly from: RestoredFrom
}

/** @throws TableAlreadyExistsException, TableInUseException, ValidationException */
export function restoredTable(
  draft: CatalogDraft,
  context: { readonly runtime: Runtime },
  { targetName, source, overrides, from }: Restored,
): TableRecord {
  const there = draft.find(targetName)
  if (there?.loading !== undefined)
    throw new DynamoError('TableInUseException', `Table is being created: ${targetName}`)
  if (there !== undefined || draft.tables.get(targetName) !== undefined)
    throw new DynamoError('TableAlreadyExistsException', `Table already exists: ${targetName}`)
  const input = inputOf(targetName, source, overrides)
  const definition = tableDefinition(input)
  checkEncryption(input.SSESpecification)
  checkOnDemandThroughput(input.OnDemandThroughput, definition.billingMode, 'table')
  const record = newTable(draft, context, input, { definition, tags: [] })
  return {
    ...record,
    ...(overrides.SSESpecificationOverride === undefined &&
      source.encryption !== undefined && { encryption: source.encryption }),
    indexes: record.indexes.map((index) => ({ ...index, status: 'WAITING' })),
    loading: 'restore',
    restored: from,
  }
}

function inputOf(targetName: string, source: TableRecord, overrides: OverridesInput): CreateTableInput {
  const billing = overrides.BillingModeOverride ?? source.billingMode
  const isSame = billing === source.billingMode
  const throughput =
    overrides.ProvisionedThroughputOverride ??
    (billing === 'PROVISIONED' && isSame ? unitsOf(source.throughput) : undefined)
  const onDemand =
    overrides.OnDemandThroughputOverride ??
    (billing === 'PAY_PER_REQUEST' && isSame ? source.onDemandThroughput : undefined)
  const locals = indexesOf('local', source, overrides.LocalSecondaryIndexOverride, billing)
  const globals = indexesOf('global', source, overrides.GlobalSecondaryIndexOverride, billing)
  const vectors = vectorsOf(source, overrides.VectorIndexOverride)
  const keys = [source, ...[...locals, ...globals].map(({ KeySchema: keySchema }) => ({ keySchema }))]
  const used = new Set([
    ...keys.flatMap(({ keySchema }) => keySchema.map(({ AttributeName: name }) => name)),
    ...vectors.flatMap(({ SearchSchema: schema = [] }) => schema.map(({ AttributeName: name }) => name)),
  ])
  const { SSESpecificationOverride: encryption } = overrides
  return {
    TableName: targetName,
    KeySchema: source.keySchema,
    AttributeDefinitions: source.attributeDefinitions.filter(({ AttributeName: name }) => used.has(name)),
    BillingMode: billing,
    ...(throughput && { ProvisionedThroughput: throughput }),
    ...(onDemand && { OnDemandThroughput: onDemand }),
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ...(vectors.length > 0 && { VectorIndexes: vectors }),
    ...(encryption && { SSESpecification: encryption }),
    ...(source.tableClass !== undefined && { TableClass: source.tableClass }),
  }
}

/** Those that are named, which must be of the source; or all of the source. */
function indexesOf(
  kind: IndexRecord['kind'],
  source: TableRecord,
  wanted: readonly IndexInput[] | undefined,
  billing: BillingMode,
): readonly IndexInput[] {
  const there = source.indexes.filter((index) => index.kind === kind)
  const isProvisioned = kind === 'global' && billing === 'PROVISIONED'
  if (wanted === undefined)
    return there.map((index) => ({
      IndexName: index.name,
      KeySchema: index.keySchema,
      Projection: describeProjection(index.projection) as ProjectionInput,
      ...(isProvisioned &&
        source.billingMode === 'PROVISIONED' && { ProvisionedThroughput: unitsOf(index.throughput) }),
    }))
  for (const { IndexName: name, KeySchema: keySchema } of wanted) {
    const found = there.find((index) => index.name === name)
    if (found === undefined || JSON.stringify(found.keySchema) !== JSON.stringify(keySchema.map(inOrder)))
      throw invalid(`The ${kind} secondary index ${name} of the override is not an index of the source table`)
  }
  return wanted
}

function vectorsOf(
  { vectorIndexes = [] }: TableRecord,
  wanted: readonly VectorIndexInput[] | undefined,
): readonly VectorIndexInput[] {
  const unknown = wanted?.find(({ IndexName }) => !vectorIndexes.some(({ name }) => name === IndexName))
  if (unknown !== undefined)
    throw invalid(`The vector index ${unknown.IndexName} of the override is not an index of the source table`)
  return (
    wanted ??
    vectorIndexes.map((index) => ({
      IndexName: index.name,
      VectorAttribute: { AttributeName: index.attribute },
      Dimensions: index.dimensions,
      DistanceFunction: index.distance,
      Projection: describeProjection(index.projection) as ProjectionInput,
      ...(index.searchSchema && { SearchSchema: index.searchSchema }),
    }))
  )
}

const inOrder = ({ AttributeName, KeyType }: IndexInput['KeySchema'][number]): object => ({
  AttributeName,
  KeyType,
})

const unitsOf = ({ readUnits, writeUnits }: Throughput): ThroughputInput => ({
  ReadCapacityUnits: readUnits,
  WriteCapacityUnits: writeUnits,
})
