// What the catalogue remembers of a table, and the table as requests for its items see it.
import { messageOf } from '../../../model/message-of.js'
import { spaceId, type SpaceId } from '../../../model/brand.js'
import type {
  IndexShape,
  KeyAttribute,
  KeySchema,
  LoggedImages,
  Projection,
  TableShape,
  VectorShape,
} from '../../../model/table.js'
import type { KeyAttributeType } from '../../../model/value.js'
import type { MetaEntry } from '../../../storage/contract/storage-node.js'
import { imagesOf, type StreamViewType } from '../../lineage/stream-record.js'
import type { Table } from '../../request/context.js'
import { vectorShapes } from './vector-indexes.js'

export interface AttributeDefinition {
  readonly AttributeName: string
  readonly AttributeType: KeyAttributeType
}

export interface KeySchemaElement {
  readonly AttributeName: string
  readonly KeyType: 'HASH' | 'RANGE'
}

export type BillingMode = 'PROVISIONED' | 'PAY_PER_REQUEST'

export interface Throughput {
  readonly readUnits: number
  readonly writeUnits: number
  readonly increasedAtMicros?: number
  readonly decreasedAtMicros?: number
  readonly decreasesToday: number
}

export interface IndexDefinition {
  readonly kind: 'global' | 'local'
  readonly name: string
  readonly keySchema: readonly KeySchemaElement[]
  readonly projection: Projection
  readonly throughput: Throughput
  readonly onDemandThroughput?: Readonly<Record<string, number>>
  readonly warmThroughput?: WarmThroughput | undefined
}

/** Kept as it was given, and never enforced. */
export interface ResourcePolicy {
  readonly text: string
  readonly revision: string
}

/** Contributor insights that are enabled, and since when. */
export interface Insights {
  readonly mode: string
  readonly atMicros: number
}

/** How many units a table or an index is said to be ready for; nothing is throttled by it. */
export interface WarmThroughput {
  readonly readUnits: number
  readonly writeUnits: number
}

export interface IndexRecord extends IndexDefinition {
  readonly space: SpaceId
  /**
   * Creating: every write carries it, and the items that were there before are being added. Waiting: the table is being loaded,
   * and nothing carries it yet.
   */
  readonly status: 'WAITING' | 'CREATING' | 'ACTIVE'
  /** By UpdateTable; absent: it came with the table, or was added before that was noted. */
  readonly addedAtMicros?: number
}

export interface VectorIndexRecord extends Omit<VectorShape, 'search'> {
  readonly searchSchema?: readonly {
    readonly AttributeName: string
    readonly SearchSchemaElementType: 'HASH' | 'INLINE_FILTER'
  }[]
  /** By UpdateTable; absent: it came with the table. */
  readonly addedAtMicros?: number
}

export interface TimeToLiveRecord {
  readonly attribute: string
  readonly space: SpaceId
  /** Enabling: the items that were there before are being added to the expiry space. */
  readonly status: 'ENABLING' | 'ENABLED'
}

export interface Tag {
  readonly Key: string
  readonly Value: string
}

/** `spaces`: the engine does not know it everywhere yet. */
export type Loading = 'restore' | 'import' | 'spaces'

export interface RestoredFrom {
  readonly backupId?: string
  readonly tableName: string
  /** The moment of what was restored. */
  readonly atMicros: number
}

export interface TableRecord {
  readonly name: string
  /** Of the catalogue, when the record was last changed; absent: before changes were counted. */
  readonly version?: number
  readonly id: string
  readonly createdAtMicros: number
  readonly space: SpaceId
  readonly keySchema: readonly KeySchemaElement[]
  readonly attributeDefinitions: readonly AttributeDefinition[]
  readonly billingMode: BillingMode
  /** When it last became PAY_PER_REQUEST; a table that never was has no billing mode summary. */
  readonly payPerRequestSinceMicros?: number
  readonly throughput: Throughput
  readonly indexes: readonly IndexRecord[]
  readonly timeToLive?: TimeToLiveRecord
  /** Its latest stream. Without a view type it has ended. */
  readonly stream?: { readonly label: string; readonly viewType?: StreamViewType }
  /** It can be restored to any moment of the last days: the log has its new images, from then on. */
  readonly pointInTime?: { readonly periodDays: number; readonly enabledAtMicros: number }
  /** Backups that are being made of it: the log has its old images meanwhile. Those of a process that has ended are dropped. */
  readonly captures?: readonly string[]
  /** Its items are being brought from elsewhere: no request reaches them. If the process ends meanwhile the table goes. */
  readonly loading?: Loading
  /** Where its items came from. */
  readonly restored?: RestoredFrom
  /** Every change is kept for good (blocks/). */
  readonly ledger?: true
  readonly tags: readonly Tag[]
  readonly deletionProtection: boolean
  readonly tableClass?: string
  /** As it was given, echoed in descriptions. */
  readonly encryption?: Readonly<Record<string, unknown>>
  readonly onDemandThroughput?: Readonly<Record<string, number>>
  readonly warmThroughput?: WarmThroughput
  /** By `table`, or the label of its stream. */
  readonly resourcePolicies?: Readonly<Record<string, ResourcePolicy>>
  /** By the name of an index; that of the table itself is empty. Absent: disabled. */
  readonly contributorInsights?: Readonly<Record<string, Insights>>
  /** Indexes for SearchVectors. They have no key space: the vectors of the table's items are searched. */
  readonly vectorIndexes?: readonly VectorIndexRecord[]
}

export const encodeTableRecord = (record: TableRecord): Uint8Array => Buffer.from(JSON.stringify(record))

/** What the data folder holds about a table is not readable any more; the message is a sentence. */
export class RecordDamaged extends Error {
  override readonly name = 'RecordDamaged'
}

/** The record, checked as far as everything else relies on it. */
export const decodeTableRecord = (entry: Required<MetaEntry>): TableRecord =>
  readRecord(
    entry,
    (value) => {
      const record = JSON.parse(Buffer.from(value).toString()) as TableRecord
      for (const space of spacesOf(record)) spaceId(space)
      tableOf(record)
      return record
    },
    'tables',
  )

/** What `decode` makes of an entry of the catalogue. */
export function readRecord<Decoded>(
  entry: Required<MetaEntry>,
  decode: (value: Uint8Array) => Decoded,
  what: 'tables' | 'streams' | 'transfers' | 'ledgers',
): Decoded {
  try {
    return decode(entry.value)
  } catch (error) {
    const reason = messageOf(error)
    throw new RecordDamaged(
      `The record ${JSON.stringify(entry.name)} of the catalogue of ${what} is damaged: ${reason}.`,
      { cause: error },
    )
  }
}

/** Every key space that belongs to the table. */
export function spacesOf(record: TableRecord): SpaceId[] {
  const spaces = [record.space, ...record.indexes.map((index) => index.space)]
  return record.timeToLive === undefined ? spaces : [...spaces, record.timeToLive.space]
}

/** The table as writes and reads of its items carry it. `withheld`: indexes that cannot be read yet for another reason. */
export function tableOf(record: TableRecord, withheld?: ReadonlyMap<string, unknown>): Table {
  // Of several indexes with something wrong the first by name is told.
  const sorted = record.indexes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const carried = sorted.filter(({ status }) => status !== 'WAITING')
  const indexes = carried.map((index) => indexShape(record, index))
  const logged = loggedImages(record)
  const shape: TableShape = {
    name: record.name,
    space: record.space,
    key: keySchemaOf(record.keySchema, record.attributeDefinitions),
    indexes,
    ...(record.vectorIndexes?.length && {
      vectors: vectorShapes(record.vectorIndexes, record.attributeDefinitions),
    }),
    ...(record.version !== undefined && { version: record.version }),
    ...(record.timeToLive && {
      expiry: { attribute: record.timeToLive.attribute, space: record.timeToLive.space },
    }),
    ...(logged && { logged }),
  }
  const readable = indexes.filter(
    ({ name }, position) => carried[position]?.status === 'ACTIVE' && withheld?.has(name) !== true,
  )
  return { name: record.name, shape, readableIndexes: new Map(readable.map((index) => [index.name, index])) }
}

/** What the readers of its log need together: a stream, restores to a point in time, a backup that is being made, blocks. */
function loggedImages({ stream, pointInTime, ledger, captures = [] }: TableRecord): LoggedImages | undefined {
  const streamed = stream?.viewType === undefined ? undefined : imagesOf(stream.viewType)
  if (streamed === undefined && pointInTime === undefined && captures.length === 0 && ledger !== true)
    return undefined
  return {
    old: streamed?.old === true || captures.length > 0,
    new: streamed?.new === true || pointInTime !== undefined || ledger === true,
    ...(ledger && { keys: ledger }),
  }
}

function indexShape(record: TableRecord, index: IndexRecord): IndexShape {
  return {
    name: index.name,
    space: index.space,
    kind: index.kind,
    key: keySchemaOf(index.keySchema, record.attributeDefinitions),
    projection: index.projection,
  }
}

export function keySchemaOf(
  elements: readonly KeySchemaElement[],
  definitions: readonly AttributeDefinition[],
): KeySchema {
  const attributeOf = (name: string): KeyAttribute => {
    const definition = definitions.find((candidate) => candidate.AttributeName === name)
    if (definition === undefined) throw new Error(`the key attribute ${name} has no definition`)
    return { name, type: definition.AttributeType }
  }
  const named = (type: KeySchemaElement['KeyType']): readonly KeyAttribute[] =>
    elements.filter(({ KeyType }) => KeyType === type).map(({ AttributeName }) => attributeOf(AttributeName))
  const [partition, ...furtherPartition] = named('HASH')
  const [sort, ...furtherSort] = named('RANGE')
  if (partition === undefined) throw new Error('a key schema without a partition key')
  return {
    partition,
    ...(sort && { sort }),
    ...(furtherPartition.length > 0 && { furtherPartition }),
    ...(furtherSort.length > 0 && { furtherSort }),
  }
}
