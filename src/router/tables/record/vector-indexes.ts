// Vector indexes of CreateTable and UpdateTable: their rules, in DynamoDB's words, and how they are described.
//
// Such an index has no key space: SearchVectors looks at the items of the table (router/vectors). So it is complete from the
// start, and its size is 0.
import { DynamoError, validationError } from '../../../model/errors.js'
import { limits } from '../../../model/limits.js'
import { distanceFunctions, type Projection, type VectorShape } from '../../../model/table.js'
import { indexNameShape, type ListShape, type StructShape } from '../../shapes/shape.js'
import { indexArn } from '../../shapes/table-name.js'
import { attributeNameShape, projectionShape } from './table-shapes.js'
import type { ProjectionInput } from './table-shapes.js'
import type { AttributeDefinition, BillingMode, TableRecord, VectorIndexRecord } from './table-record.js'

export interface VectorIndexInput {
  readonly IndexName: string
  readonly VectorAttribute: { readonly AttributeName: string }
  readonly Dimensions: number
  readonly DistanceFunction: VectorShape['distance']
  readonly Projection: ProjectionInput
  readonly SearchSchema?: VectorIndexRecord['searchSchema']
}

export interface VectorIndexUpdateInput {
  readonly Create?: VectorIndexInput
  readonly Delete?: { readonly IndexName: string }
}

export const vectorIndexShape: StructShape = {
  kind: 'struct',
  members: {
    IndexName: indexNameShape,
    VectorAttribute: { kind: 'struct', required: true, members: { AttributeName: attributeNameShape } },
    SearchSchema: {
      kind: 'list',
      member: {
        kind: 'struct',
        members: {
          AttributeName: attributeNameShape,
          SearchSchemaElementType: { kind: 'string', required: true, values: ['HASH', 'INLINE_FILTER'] },
        },
      },
    },
    Projection: projectionShape,
    Dimensions: { kind: 'integer', required: true, valueMin: 1 },
    DistanceFunction: { kind: 'string', required: true, values: distanceFunctions },
  },
}

export const vectorIndexUpdatesShape: ListShape = {
  kind: 'list',
  member: {
    kind: 'struct',
    members: {
      Create: vectorIndexShape,
      Delete: { kind: 'struct', members: { IndexName: indexNameShape } },
    },
  },
}

/** What the checks of all indexes have in common, given by who checks the table. */
export interface IndexChecks {
  readonly invalid: (reason: string) => Error
  readonly projectionOf: (input: ProjectionInput) => Projection
}

/** Searches read at one snapshot, which nodes of an engine have not. */
export function refuseVectorsOnEngine(isAsked: boolean, catalog: { readonly makesSpaces: boolean }): void {
  if (isAsked && catalog.makesSpaces)
    throw validationError('Vector indexes are not supported by this store: its nodes keep no snapshots')
}

/** Of a table that is being created. `taken`: the names of its other indexes. */
export function vectorIndexesOf(
  inputs: readonly VectorIndexInput[] | undefined,
  {
    billingMode,
    defined,
    taken,
  }: { billingMode: BillingMode; defined: ReadonlySet<string>; taken: Set<string> },
  checks: IndexChecks,
): readonly VectorIndexRecord[] {
  if (inputs === undefined) return []
  const { invalid } = checks
  if (inputs.length === 0) throw invalid('List of VectorIndexes is empty')
  refuseProvisioned(billingMode, checks)
  if (inputs.length > limits.vectorIndexesMax) {
    throw invalid(`VectorIndex count exceeds the per-table limit of ${limits.vectorIndexesMax}`)
  }
  const records = inputs.map((input) => {
    const record = vectorIndexOf(input, defined, checks)
    if (taken.has(record.name)) throw invalid(`Duplicate index name: ${record.name}`)
    taken.add(record.name)
    return record
  })
  refuseOtherDimensions(records, checks)
  return records
}

function refuseProvisioned(billingMode: BillingMode, { invalid }: Pick<IndexChecks, 'invalid'>): void {
  if (billingMode === 'PROVISIONED')
    throw invalid('Vector indexes are only supported for PAY_PER_REQUEST tables')
}

function vectorIndexOf(
  input: VectorIndexInput,
  defined: ReadonlySet<string>,
  { invalid, projectionOf }: IndexChecks,
): VectorIndexRecord {
  const { Dimensions: dimensions, SearchSchema: searchSchema } = input
  if (dimensions > limits.dimensionsMax)
    throw invalid(`Number of dimensions must be between 1 and ${limits.dimensionsMax} inclusive.`)
  const names = searchSchema?.map((element) => element.AttributeName) ?? []
  if (names.some((name) => !defined.has(name)))
    throw invalid('One element in SearchSchema is not defined in attribute definitions')
  if (new Set(names).size !== names.length) throw invalid('One attribute is in SearchSchema more than once')
  if (names.includes(input.VectorAttribute.AttributeName))
    throw invalid('The vector attribute cannot be in SearchSchema')
  if ((searchSchema?.filter((each) => each.SearchSchemaElementType === 'HASH').length ?? 0) > 1)
    throw invalid('SearchSchema can have at most one HASH element')
  return {
    name: input.IndexName,
    attribute: input.VectorAttribute.AttributeName,
    dimensions: Math.trunc(dimensions),
    distance: input.DistanceFunction,
    projection: projectionOf(input.Projection),
    ...(searchSchema !== undefined && { searchSchema }),
  }
}

function refuseOtherDimensions(records: readonly VectorIndexRecord[], { invalid }: IndexChecks): void {
  const known = new Map<string, number>()
  for (const { attribute, dimensions } of records) {
    if ((known.get(attribute) ?? dimensions) !== dimensions) {
      throw invalid(
        `Conflicting attribute definition for '${attribute}'. All VectorIndexes on the same vector attribute must use the same dimensions.`,
      )
    }
    known.set(attribute, dimensions)
  }
}

/** The attributes of search schemas: they are defined as those of keys are. */
export const searchedNames = (indexes: readonly VectorIndexRecord[] = []): readonly string[] =>
  indexes.flatMap(({ searchSchema = [] }) => searchSchema.map((element) => element.AttributeName))

/** The record with what UpdateTable does to its vector indexes; one at a time, as for other indexes. */
export function withVectorUpdate(
  record: TableRecord,
  updates: readonly VectorIndexUpdateInput[] | undefined,
  defined: ReadonlySet<string>,
  nowMicros: number,
  checks: IndexChecks,
): TableRecord {
  const { vectorIndexes: there = [] } = record
  if (there.length > 0 || updates !== undefined) refuseProvisioned(record.billingMode, checks)
  if (updates === undefined) return record
  const [update] = updates
  if (update === undefined) throw checks.invalid('List of VectorIndexUpdates is empty')
  if (updates.length > 1) throw oneIndexAtATime()
  if ((update.Create === undefined) === (update.Delete === undefined))
    throw checks.invalid('One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null')
  const { Create: create, Delete: doomed } = update
  if (doomed !== undefined) {
    if (!there.some(({ name }) => name === doomed.IndexName))
      throw new DynamoError('ResourceNotFoundException', 'Requested resource not found')
    return { ...record, vectorIndexes: there.filter(({ name }) => name !== doomed.IndexName) }
  }
  const added = { ...vectorIndexOf(create!, defined, checks), addedAtMicros: nowMicros }
  if ([...record.indexes, ...there].some(({ name }) => name === added.name))
    throw checks.invalid(`Duplicate index name: ${added.name}`)
  if (there.length >= limits.vectorIndexesMax)
    throw new DynamoError(
      'LimitExceededException',
      `Subscriber limit exceeded: VectorIndex count exceeds the per-table limit of ${limits.vectorIndexesMax}`,
    )
  refuseOtherDimensions([...there, added], checks)
  return { ...record, vectorIndexes: [...there, added] }
}

export const oneIndexAtATime = (): DynamoError =>
  new DynamoError(
    'LimitExceededException',
    'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
  )

/** As writes and searches see them. */
export function vectorShapes(
  indexes: readonly VectorIndexRecord[],
  definitions: readonly AttributeDefinition[],
): readonly VectorShape[] {
  const typeOf = (name: string): AttributeDefinition['AttributeType'] =>
    definitions.find((each) => each.AttributeName === name)?.AttributeType ?? 'S'
  return indexes.map(({ name, attribute, dimensions, distance, projection, searchSchema = [] }) => ({
    name,
    attribute,
    dimensions,
    distance,
    projection,
    search: searchSchema.map(({ AttributeName: searched, SearchSchemaElementType: kind }) => ({
      name: searched,
      type: typeOf(searched),
      kind: kind === 'HASH' ? 'hash' : 'filter',
    })),
  }))
}

/** `status`: as the table has it for this index. */
export function describeVectorIndex(
  tableName: string,
  index: VectorIndexRecord,
  region: string | undefined,
  status: object,
): object {
  const { projection } = index
  return {
    IndexName: index.name,
    ...(index.searchSchema !== undefined && { SearchSchema: index.searchSchema }),
    Projection: {
      ProjectionType: projection.type,
      ...(projection.type === 'INCLUDE' && { NonKeyAttributes: projection.attributes }),
    },
    VectorAttribute: { AttributeName: index.attribute },
    Dimensions: index.dimensions,
    DistanceFunction: index.distance,
    ...status,
    IndexSizeBytes: 0,
    ItemCount: 0,
    IndexArn: indexArn(tableName, index.name, region),
  }
}
