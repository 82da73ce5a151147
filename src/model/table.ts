// What a table is, as the storage node needs to know it: how keys are made and which indexes follow an item.
import type { KeyBytes, SpaceId } from './brand.js'
import { attribute, setAttribute, type Item, type KeyAttributeType, type MutableItem } from './value.js'

export interface KeyAttribute {
  readonly name: string
  readonly type: KeyAttributeType
}

export interface KeySchema {
  readonly partition: KeyAttribute
  readonly sort?: KeyAttribute
  /** HASH attributes after the first. Only a global index has any. */
  readonly furtherPartition?: readonly KeyAttribute[]
  /** RANGE attributes after the first. Only a global index has any. */
  readonly furtherSort?: readonly KeyAttribute[]
}

export type Projection =
  | { readonly type: 'ALL' }
  | { readonly type: 'KEYS_ONLY' }
  | { readonly type: 'INCLUDE'; readonly attributes: readonly string[] }

export interface IndexShape {
  readonly name: string
  readonly space: SpaceId
  readonly kind: 'global' | 'local'
  readonly key: KeySchema
  readonly projection: Projection
}

/** How near two vectors are to each other. */
export const distanceFunctions = ['COSINE', 'EUCLIDEAN', 'DOT_PRODUCT'] as const

/** An index for SearchVectors. */
export interface VectorShape {
  readonly name: string
  /** A list of so many numbers. */
  readonly attribute: string
  readonly dimensions: number
  readonly distance: (typeof distanceFunctions)[number]
  readonly projection: Projection
  /** Attributes that a search may name; that of kind `hash` it has to, and an item without it is not in the index. */
  readonly search: readonly (KeyAttribute & { readonly kind: 'hash' | 'filter' })[]
}

/** The part of a table's definition that writes carry to the storage node. */
export interface TableShape {
  readonly name: string
  readonly space: SpaceId
  readonly key: KeySchema
  readonly indexes: readonly IndexShape[]
  /** Absent: it has none. */
  readonly vectors?: readonly VectorShape[]
  /** Of the change of the catalogue that gave it this shape; absent: before changes were counted. */
  readonly version?: number
  /** Items that expire are found through a key space of their own, ordered by expiry. */
  readonly expiry?: { readonly attribute: string; readonly space: SpaceId }
  /** The log of commits has a record of every change, with these images; absent: it has none. */
  readonly logged?: LoggedImages
}

export interface LoggedImages {
  readonly old: boolean
  readonly new: boolean
  /** The key attributes, too, whatever images there are. */
  readonly keys?: true
}

/** Of two shapes of a table the one with the higher version is the newer one. */
export const versionOf = ({ version = 0 }: TableShape): number => version

/** The primary key of an item: its place on the ring, and its bytes within the table's key space. */
export interface ItemKey {
  /** 32-bit hash of the partition key; the upper ten bits are the bucket, the paper's partition. */
  readonly hash: number
  /** Hash, partition key and sort key, without the space prefix. */
  readonly bytes: KeyBytes
}

/** All HASH attributes, in the order of the schema. */
export const partitionParts = ({ partition, furtherPartition }: KeySchema): readonly KeyAttribute[] =>
  furtherPartition === undefined ? [partition] : [partition, ...furtherPartition]

/** All RANGE attributes, in the order of the schema. */
export function sortParts({ sort, furtherSort }: KeySchema): readonly KeyAttribute[] {
  if (sort === undefined) return []
  return furtherSort === undefined ? [sort] : [sort, ...furtherSort]
}

/** The HASH attributes, then the RANGE attributes. */
export function keyParts(schema: KeySchema): readonly KeyAttribute[] {
  if (hasSeveralParts(schema)) return [...partitionParts(schema), ...sortParts(schema)]
  return schema.sort === undefined ? [schema.partition] : [schema.partition, schema.sort]
}

export const keyNames = (schema: KeySchema): readonly string[] => keyParts(schema).map(({ name }) => name)

/** Whether it has more than one HASH or more than one RANGE attribute. */
export const hasSeveralParts = ({ furtherPartition, furtherSort }: KeySchema): boolean =>
  furtherPartition !== undefined || furtherSort !== undefined

/** Whether an attribute of that name is part of the key. */
export const isKeyName = (schema: KeySchema, name: unknown): boolean =>
  name === schema.partition.name ||
  (schema.sort !== undefined && name === schema.sort.name) ||
  (hasSeveralParts(schema) && keyParts(schema).some((part) => part.name === name))

/** The key attributes of an item, or of a part of one. */
export function keyAttributesOf(schema: KeySchema, item: Item): Item {
  const key: MutableItem = {}
  for (const part of keyParts(schema)) {
    const value = attribute(item, part.name)
    if (value !== undefined) setAttribute(key, part.name, value)
  }
  return key
}

/** Whether anything is asked of the attributes of its items beside the key. */
export const hasIndexes = ({ indexes, vectors }: TableShape): boolean =>
  indexes.length > 0 || vectors !== undefined

/** Whether its items may have entries in other spaces: in indexes, or among the items that expire. */
export function hasEntries(table: TableShape): boolean {
  return table.indexes.length > 0 || table.expiry !== undefined
}
