// Shapes that the requests for tables share, and their members once they have been checked.
import { limits } from '../../../model/limits.js'
import { indexNameShape, type ListShape, type RequestShape, type StructShape } from '../../shapes/shape.js'
import type { AttributeDefinition, BillingMode, KeySchemaElement, Tag } from './table-record.js'
import type { VectorIndexInput } from './vector-indexes.js'

const MODEL = 'com.amazonaws.dynamodb.v20120810.'

export const attributeNameShape = { kind: 'string', required: true, lengthMin: 1, lengthMax: 255 } as const

export const attributeDefinitionsShape: ListShape = {
  kind: 'list',
  member: {
    kind: 'struct',
    className: `${MODEL}AttributeDefinition`,
    members: {
      AttributeName: attributeNameShape,
      AttributeType: { kind: 'string', required: true, values: ['B', 'N', 'S'] },
    },
  },
}

export const keySchemaShape: ListShape = {
  kind: 'list',
  required: true,
  lengthMin: 1,
  lengthMax: 2,
  member: {
    kind: 'struct',
    className: `${MODEL}KeySchemaElement`,
    members: {
      AttributeName: attributeNameShape,
      KeyType: { kind: 'string', required: true, values: ['HASH', 'RANGE'] },
    },
  },
}

export const billingModeShape: RequestShape = { kind: 'string', values: ['PROVISIONED', 'PAY_PER_REQUEST'] }

export const throughputShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}ProvisionedThroughput`,
  members: {
    WriteCapacityUnits: { kind: 'long', required: true, valueMin: 1 },
    ReadCapacityUnits: { kind: 'long', required: true, valueMin: 1 },
  },
}

export const onDemandThroughputShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}OnDemandThroughput`,
  members: { MaxReadRequestUnits: { kind: 'long' }, MaxWriteRequestUnits: { kind: 'long' } },
}

export const warmThroughputShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}WarmThroughput`,
  members: {
    ReadUnitsPerSecond: { kind: 'long', valueMin: 1 },
    WriteUnitsPerSecond: { kind: 'long', valueMin: 1 },
  },
}

export const projectionShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}Projection`,
  required: true,
  members: {
    ProjectionType: { kind: 'string', values: ['ALL', 'INCLUDE', 'KEYS_ONLY'] },
    NonKeyAttributes: { kind: 'list', lengthMin: 1, lengthMax: 100, member: attributeNameShape },
  },
}

export const localIndexShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}LocalSecondaryIndex`,
  members: { IndexName: indexNameShape, KeySchema: keySchemaShape, Projection: projectionShape },
}

export const globalIndexShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}GlobalSecondaryIndex`,
  members: {
    ...localIndexShape.members,
    KeySchema: { ...keySchemaShape, lengthMax: 2 * limits.indexKeyPartsMax },
    ProvisionedThroughput: throughputShape,
    OnDemandThroughput: onDemandThroughputShape,
    WarmThroughput: warmThroughputShape,
  },
}

export const tagsShape: ListShape = {
  kind: 'list',
  member: {
    kind: 'struct',
    className: `${MODEL}Tag`,
    members: { Key: { kind: 'string' }, Value: { kind: 'string' } },
  },
}

export const encryptionShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}SSESpecification`,
  members: {
    Enabled: { kind: 'boolean' },
    SSEType: { kind: 'string', values: ['AES256', 'KMS'] },
    // As long as Amazon's names of keys: it is kept with the table.
    KMSMasterKeyId: { kind: 'string', lengthMin: 1, lengthMax: 2048 },
  },
}

export const streamShape: StructShape = {
  kind: 'struct',
  className: `${MODEL}StreamSpecification`,
  members: {
    StreamEnabled: { kind: 'boolean', required: true },
    StreamViewType: {
      kind: 'string',
      values: ['NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY'],
    },
  },
}

export interface ThroughputInput {
  readonly ReadCapacityUnits: number
  readonly WriteCapacityUnits: number
}

export interface OnDemandThroughputInput {
  readonly MaxReadRequestUnits?: number
  readonly MaxWriteRequestUnits?: number
}

export interface WarmThroughputInput {
  readonly ReadUnitsPerSecond?: number
  readonly WriteUnitsPerSecond?: number
}

export interface ProjectionInput {
  readonly ProjectionType?: 'ALL' | 'INCLUDE' | 'KEYS_ONLY'
  readonly NonKeyAttributes?: readonly string[]
}

export interface IndexInput {
  readonly IndexName: string
  readonly KeySchema: readonly KeySchemaElement[]
  readonly Projection: ProjectionInput
  readonly ProvisionedThroughput?: ThroughputInput
  readonly OnDemandThroughput?: OnDemandThroughputInput
  readonly WarmThroughput?: WarmThroughputInput
}

export interface StreamInput {
  readonly StreamEnabled: boolean
  readonly StreamViewType?: string
}

export interface EncryptionInput {
  readonly Enabled?: boolean
  readonly SSEType?: string
  readonly KMSMasterKeyId?: string
}

/** What CreateTable and UpdateTable both may carry. */
export interface TableSettingsInput {
  readonly TableName: string
  readonly AttributeDefinitions?: readonly AttributeDefinition[]
  readonly BillingMode?: BillingMode
  readonly ProvisionedThroughput?: ThroughputInput
  readonly OnDemandThroughput?: OnDemandThroughputInput
  readonly WarmThroughput?: WarmThroughputInput
  readonly StreamSpecification?: StreamInput
  readonly SSESpecification?: EncryptionInput
  readonly TableClass?: string
  readonly DeletionProtectionEnabled?: boolean
}

export interface CreateTableInput extends TableSettingsInput {
  readonly AttributeDefinitions: readonly AttributeDefinition[]
  readonly KeySchema: readonly KeySchemaElement[]
  readonly LocalSecondaryIndexes?: readonly IndexInput[]
  readonly GlobalSecondaryIndexes?: readonly IndexInput[]
  readonly Tags?: readonly Partial<Tag>[]
  readonly VectorIndexes?: readonly VectorIndexInput[]
  readonly ResourcePolicy?: string
}

/** A copy without the members that are null, which count as absent. */
export function withoutNulls(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutNulls)
  if (typeof input !== 'object' || input === null) return input
  const present = Object.entries(input).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, withoutNulls(value)]))
}
