// The rules for keys, indexes and throughput in CreateTable and UpdateTable, in DynamoDB's order and words.
import { validationError } from '../../../model/errors.js'
import { limits } from '../../../model/limits.js'
import type { Projection } from '../../../model/table.js'
import { javaSetOrder } from '../../shapes/java-order.js'
import type {
  AttributeDefinition,
  BillingMode,
  IndexDefinition,
  KeySchemaElement,
  Throughput,
  VectorIndexRecord,
} from './table-record.js'
import { searchedNames, vectorIndexesOf } from './vector-indexes.js'
import type { CreateTableInput, IndexInput, ProjectionInput, ThroughputInput } from './table-shapes.js'

const CAPACITY_UNITS_MAX = 1_000_000_000_000

export const invalid = (reason: string): Error =>
  validationError(`One or more parameter values were invalid: ${reason}`)

export interface TableDefinition {
  readonly billingMode: BillingMode
  readonly throughput: Throughput
  readonly indexes: readonly IndexDefinition[]
  readonly vectorIndexes: readonly VectorIndexRecord[]
}

export function tableDefinition(input: CreateTableInput): TableDefinition {
  const billingMode = input.BillingMode ?? 'PROVISIONED'
  checkTableThroughput(billingMode, input.ProvisionedThroughput)
  checkTableKeys(input)
  const locals = localIndexes(input)
  const globals = globalIndexes(input, billingMode, new Set(locals.map((index) => index.name)))
  const indexes = [...locals, ...globals]
  const vectorIndexes = vectorIndexesOf(
    input.VectorIndexes,
    {
      billingMode,
      defined: checkDefinitions(input.AttributeDefinitions),
      taken: new Set(indexes.map((index) => index.name)),
    },
    { invalid, projectionOf },
  )
  checkAllUsed(input, indexes, vectorIndexes)
  checkProjectedCount(indexes)
  return { billingMode, throughput: throughputOf(input.ProvisionedThroughput), indexes, vectorIndexes }
}

function checkTableThroughput(billingMode: BillingMode, throughput: ThroughputInput | undefined): void {
  if (billingMode === 'PAY_PER_REQUEST') {
    if (throughput !== undefined) throw capacityWithoutProvisioning()
    return
  }
  if (throughput === undefined) {
    throw invalid(
      'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
    )
  }
  checkCapacityBounds(throughput)
}

export const capacityWithoutProvisioning = (): Error =>
  invalid(
    'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
  )

export function checkCapacityBounds(throughput: ThroughputInput): void {
  for (const name of ['ReadCapacityUnits', 'WriteCapacityUnits'] as const) {
    if (throughput[name] > CAPACITY_UNITS_MAX) {
      throw validationError(`Given value ${throughput[name]} for ${name} is out of bounds`)
    }
  }
}

export function throughputOf(input: ThroughputInput | undefined): Throughput {
  return {
    readUnits: Math.trunc(input?.ReadCapacityUnits ?? 0),
    writeUnits: Math.trunc(input?.WriteCapacityUnits ?? 0),
    decreasesToday: 0,
  }
}

function checkTableKeys(input: CreateTableInput): void {
  const names = checkDefinitions(input.AttributeDefinitions)
  if (input.KeySchema.length > input.AttributeDefinitions.length) {
    throw validationError('Invalid KeySchema: Some index key attribute have no definition')
  }
  checkKeySchema(input.KeySchema, names)
  const indexed =
    input.LocalSecondaryIndexes !== undefined ||
    input.GlobalSecondaryIndexes !== undefined ||
    input.VectorIndexes !== undefined
  if (!indexed && input.KeySchema.length !== input.AttributeDefinitions.length) {
    throw invalid(
      'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
    )
  }
}

/** The names that are defined, each once. */
export function checkDefinitions(definitions: readonly AttributeDefinition[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { AttributeName: name } of definitions) {
    if (names.has(name)) throw validationError(`Attribute Name is duplicated: ${name}`)
    names.add(name)
  }
  return names
}

export function checkKeySchema(schema: readonly KeySchemaElement[], defined: ReadonlySet<string>): void {
  checkKeyNames(schema, defined)
  if (schema.length === 2 && schema[1]?.KeyType !== 'RANGE') {
    throw validationError('Invalid KeySchema: The second KeySchemaElement is not a RANGE key type')
  }
}

function checkKeyNames(schema: readonly KeySchemaElement[], defined: ReadonlySet<string>): void {
  const names = schema.map((element) => element.AttributeName)
  if (names.some((name) => !defined.has(name))) {
    throw invalid(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: ${listed(names)}, AttributeDefinitions: ${listed(defined)}`,
    )
  }
  if (new Set(names).size < names.length) {
    throw validationError('Both the Hash Key and the Range Key element in the KeySchema have the same name')
  }
  if (schema[0]?.KeyType !== 'HASH') {
    throw validationError('Invalid KeySchema: The first KeySchemaElement is not a HASH key type')
  }
}

/** A global index may have several HASH attributes, then several RANGE attributes. */
function checkIndexKeySchema(schema: readonly KeySchemaElement[], defined: ReadonlySet<string>): void {
  const isRange = ({ KeyType }: KeySchemaElement): boolean => KeyType === 'RANGE'
  const ranges = schema.filter(isRange).length
  if (schema.length - ranges <= 1 && ranges <= 1) return checkKeySchema(schema, defined)
  checkKeyNames(schema, defined)
  if (ranges > 0 && schema.slice(-ranges).some((element) => !isRange(element)))
    throw invalid('All HASH key attributes must precede RANGE key attributes in the KeySchema')
  if (schema.length - ranges > limits.indexKeyPartsMax)
    throw invalid('The KeySchema exceeds the maximum allowed number of HASH key attributes')
  if (ranges > limits.indexKeyPartsMax)
    throw invalid('The KeySchema exceeds the maximum allowed number of RANGE key attributes')
}

const listed = (names: Iterable<string>): string => `[${javaSetOrder([...names]).join(', ')}]`

function localIndexes(input: CreateTableInput): IndexDefinition[] {
  const inputs = input.LocalSecondaryIndexes
  if (inputs === undefined) return []
  if (inputs.length === 0) throw invalid('List of LocalSecondaryIndexes is empty')
  if (input.KeySchema.length !== 2) {
    throw invalid(
      'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex',
    )
  }
  const defined = checkDefinitions(input.AttributeDefinitions)
  const tableHash = input.KeySchema[0]?.AttributeName
  const taken = new Set<string>()
  const definitions = inputs.map((index): IndexDefinition => {
    checkKeySchema(index.KeySchema, defined)
    if (index.KeySchema.length !== 2) {
      throw invalid(`Index KeySchema does not have a range key for index: ${index.IndexName}`)
    }
    const indexHash = index.KeySchema[0]?.AttributeName
    if (indexHash !== tableHash) {
      throw invalid(
        `Index KeySchema does not have the same leading hash key as table KeySchema for index: ${index.IndexName}. index hash key: ${indexHash}, table hash key: ${tableHash}`,
      )
    }
    const projection = projectionOf(index.Projection)
    takeName(taken, index.IndexName)
    return definitionOf('local', index, projection)
  })
  if (definitions.length > limits.localIndexesMax) {
    throw invalid(`Number of LocalSecondaryIndexes exceeds per-table limit of ${limits.localIndexesMax}`)
  }
  return definitions
}

function globalIndexes(
  input: CreateTableInput,
  billingMode: BillingMode,
  taken: Set<string>,
): IndexDefinition[] {
  const inputs = input.GlobalSecondaryIndexes
  if (inputs === undefined) return []
  if (inputs.length === 0) throw invalid('List of GlobalSecondaryIndexes is empty')
  const defined = checkDefinitions(input.AttributeDefinitions)
  const definitions = inputs.map((index) => {
    const definition = globalIndex(index, defined)
    checkIndexThroughput(index, billingMode)
    takeName(taken, index.IndexName)
    return definition
  })
  if (definitions.length > limits.globalIndexesMax) {
    throw invalid(`GlobalSecondaryIndex count exceeds the per-table limit of ${limits.globalIndexesMax}`)
  }
  return definitions
}

/** One global index of CreateTable or UpdateTable, but for its throughput. */
export function globalIndex(index: IndexInput, defined: ReadonlySet<string>): IndexDefinition {
  checkIndexKeySchema(index.KeySchema, defined)
  const projection = projectionOf(index.Projection)
  if (index.ProvisionedThroughput !== undefined) checkCapacityBounds(index.ProvisionedThroughput)
  return definitionOf('global', index, projection)
}

function checkIndexThroughput(index: IndexInput, billingMode: BillingMode): void {
  const isGiven = index.ProvisionedThroughput !== undefined
  if (billingMode === 'PROVISIONED') {
    if (!isGiven) throw invalid(`ProvisionedThroughput is not specified for index: ${index.IndexName}`)
  } else if (isGiven) {
    throw invalid(
      `ProvisionedThroughput should not be specified for index: ${index.IndexName} when BillingMode is PAY_PER_REQUEST`,
    )
  }
}

function definitionOf(kind: 'global' | 'local', index: IndexInput, projection: Projection): IndexDefinition {
  return {
    kind,
    name: index.IndexName,
    keySchema: index.KeySchema,
    projection,
    throughput: throughputOf(kind === 'global' ? index.ProvisionedThroughput : undefined),
    ...(kind === 'global' &&
      index.OnDemandThroughput !== undefined && { onDemandThroughput: { ...index.OnDemandThroughput } }),
  }
}

function takeName(taken: Set<string>, name: string): void {
  if (taken.has(name)) throw invalid(`Duplicate index name: ${name}`)
  taken.add(name)
}

export function projectionOf({
  ProjectionType: type,
  NonKeyAttributes: attributes,
}: ProjectionInput): Projection {
  if (type === undefined) throw invalid('Unknown ProjectionType: null')
  if (type !== 'INCLUDE') {
    if (attributes === undefined) return { type }
    throw invalid(`ProjectionType is ${type}, but NonKeyAttributes is specified`)
  }
  if (attributes === undefined)
    throw invalid('ProjectionType is INCLUDE, but NonKeyAttributes is not specified')
  const seen = new Set<string>()
  for (const name of attributes) {
    if (seen.has(name)) throw invalid(`Duplicate element in NonKeyAttributes: ${name}`)
    seen.add(name)
  }
  return { type, attributes }
}

function checkAllUsed(
  input: CreateTableInput,
  indexes: readonly IndexDefinition[],
  vectorIndexes: readonly VectorIndexRecord[],
): void {
  const used = usedNames(input.KeySchema, indexes, vectorIndexes)
  if (used.size === input.AttributeDefinitions.length) return
  const defined = input.AttributeDefinitions.map((definition) => definition.AttributeName)
  throw invalid(
    `Some AttributeDefinitions are not used. AttributeDefinitions: ${listed(defined)}, keys used: ${listed(used)}`,
  )
}

/** The attributes that are part of some key, or of what vectors are searched by. */
export function usedNames(
  keySchema: readonly KeySchemaElement[],
  indexes: readonly Pick<IndexDefinition, 'keySchema'>[],
  vectorIndexes: readonly VectorIndexRecord[] = [],
): ReadonlySet<string> {
  const keys = [keySchema, ...indexes.map((index) => index.keySchema)].flat()
  return new Set([...keys.map((element) => element.AttributeName), ...searchedNames(vectorIndexes)])
}

export function checkProjectedCount(indexes: readonly Pick<IndexDefinition, 'projection'>[]): void {
  let count = 0
  for (const { projection } of indexes)
    if (projection.type === 'INCLUDE') count += projection.attributes.length
  if (count > limits.projectedAttributesMax) {
    throw invalid(
      `Number of NonKeyAttributes of all indexes exceeds the per-table limit of ${limits.projectedAttributesMax}`,
    )
  }
}
