// Tables as DescribeTable has them, and what screens want to know of their keys.
import type { AttributeValue, Item } from '../values/attribute.js'
import { call, type CallOptions } from './client.js'

export type KeyType = 'S' | 'N' | 'B'

interface KeyPart {
  readonly AttributeName: string
  readonly KeyType: 'HASH' | 'RANGE'
}

export interface IndexDescription {
  readonly IndexName: string
  readonly KeySchema: readonly KeyPart[]
  readonly IndexStatus?: string
  readonly ItemCount?: number
  readonly IndexSizeBytes?: number
  readonly Projection?: { readonly ProjectionType?: string; readonly NonKeyAttributes?: readonly string[] }
}

export interface TableDescription {
  readonly TableName: string
  readonly TableStatus: string
  readonly TableArn: string
  readonly TableId?: string
  readonly ItemCount: number
  readonly TableSizeBytes: number
  readonly CreationDateTime?: number
  readonly KeySchema: readonly KeyPart[]
  readonly AttributeDefinitions: readonly {
    readonly AttributeName: string
    readonly AttributeType: KeyType
  }[]
  readonly GlobalSecondaryIndexes?: readonly IndexDescription[]
  readonly LocalSecondaryIndexes?: readonly IndexDescription[]
  readonly StreamSpecification?: { readonly StreamEnabled?: boolean; readonly StreamViewType?: string }
  readonly LatestStreamArn?: string
  readonly BillingModeSummary?: { readonly BillingMode?: string }
  readonly ProvisionedThroughput?: {
    readonly ReadCapacityUnits?: number
    readonly WriteCapacityUnits?: number
  }
  readonly DeletionProtectionEnabled?: boolean
}

export async function describeTable(name: string, options?: CallOptions): Promise<TableDescription> {
  const { Table } = await call<{ readonly Table: TableDescription }>(
    'DescribeTable',
    { TableName: name },
    options,
  )
  return Table
}

const PAGES_MAX = 1000

export async function listTables(options?: CallOptions): Promise<readonly string[]> {
  const names: string[] = []
  let from: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const { TableNames, LastEvaluatedTableName } = await call<{
      readonly TableNames: readonly string[]
      readonly LastEvaluatedTableName?: string
    }>('ListTables', { Limit: 100, ...(from !== undefined && { ExclusiveStartTableName: from }) }, options)
    names.push(...TableNames)
    from = LastEvaluatedTableName
    if (from === undefined) break
  }
  return names
}

export interface KeyNames {
  readonly hash: string
  readonly range?: string
}

export function keyNames(schema: readonly KeyPart[]): KeyNames {
  const hash = schema.find(({ KeyType: kind }) => kind === 'HASH')?.AttributeName ?? ''
  const range = schema.find(({ KeyType: kind }) => kind === 'RANGE')?.AttributeName
  return { hash, ...(range !== undefined && { range }) }
}

/** Of an index, which may have several attributes of a kind. */
export const keyParts = (schema: readonly KeyPart[], kind: KeyPart['KeyType']): readonly string[] =>
  schema.filter((part) => part.KeyType === kind).map(({ AttributeName }) => AttributeName)

export const indexesOf = (table: TableDescription): readonly IndexDescription[] => [
  ...(table.GlobalSecondaryIndexes ?? []),
  ...(table.LocalSecondaryIndexes ?? []),
]

export const keyTypeOf = (table: TableDescription, attribute: string): KeyType =>
  table.AttributeDefinitions.find(({ AttributeName }) => AttributeName === attribute)?.AttributeType ?? 'S'

export function keyOf(table: TableDescription, item: Item): Item {
  const { hash, range } = keyNames(table.KeySchema)
  const key: Record<string, AttributeValue> = { [hash]: item[hash] as AttributeValue }
  if (range !== undefined) key[range] = item[range] as AttributeValue
  return key
}

/** The same for the same key: attributes of a key have one order. */
export const keyText = (table: TableDescription, item: Item): string => JSON.stringify(keyOf(table, item))
