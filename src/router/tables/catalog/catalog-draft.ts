// A change of the catalogue while it is being decided, and as it is written.
import type { LedgerTable } from '../../../blocks/maker.js'
import { spaceId, type SpaceId } from '../../../model/brand.js'
import { DynamoError } from '../../../model/errors.js'
import type { MetaEntry } from '../../../storage/contract/storage-node.js'
import { ending } from '../../lineage/lineage.js'
import {
  decodeStreamRecord,
  encodeStreamRecord,
  streamKey,
  type StreamRecord,
} from '../../lineage/stream-record.js'
import {
  encodeTableRecord,
  keySchemaOf,
  readRecord,
  spacesOf,
  type TableRecord,
} from '../record/table-record.js'

export const TABLE_PREFIX = 'table/'
export const STREAM_PREFIX = 'stream/'
export const LEDGER_PREFIX = 'ledger/'
export const DROPPED_PREFIX = 'dropped/'
export const NEXT_SPACE = 'space/next'
export const CATALOGUE_VERSION = 'catalogue/version'

/** The catalogue as it is before the change. */
export interface DraftBase {
  find(name: string): TableRecord | undefined
  record(name: string): TableRecord
  streams(): readonly StreamRecord[]
  stream(key: string): StreamRecord | undefined
  /** Number of the last record of the log of commits; 0 if there is none. */
  readonly lastRecord: number
}

/** What a change does. */
export class CatalogDraft {
  readonly tables = new Map<string, TableRecord | undefined>()
  readonly streams = new Map<string, StreamRecord | undefined>()
  /** By the id of the table. */
  readonly ledgers = new Map<string, LedgerTable>()
  /** Each with the name of the table whose items it had, or an empty one. */
  readonly dropped = new Map<SpaceId, string>()
  /** Further records beside the catalogue, written with the change. */
  readonly beside: MetaEntry[] = []
  readonly swept = new Set<SpaceId>()
  /** A key space that was never used before. */
  readonly allocateSpace: () => SpaceId
  readonly #catalog: DraftBase
  readonly #nowMicros: number

  constructor(catalog: DraftBase, allocateSpace: () => SpaceId, nowMicros: number) {
    this.#catalog = catalog
    this.allocateSpace = allocateSpace
    this.#nowMicros = nowMicros
  }

  find(name: string): TableRecord | undefined {
    return this.#catalog.find(name)
  }

  /** The record of a table that may be changed. */
  record(name: string): TableRecord {
    const record = this.#catalog.record(name)
    if (record.loading !== undefined) {
      throw new DynamoError(
        'ResourceInUseException',
        `Attempt to change a resource which is still in use: Table is being created: ${name}`,
      )
    }
    return record
  }

  put(record: TableRecord): TableRecord {
    this.tables.set(record.name, record)
    return record
  }

  /** Tables that a process which has ended was loading go; backups that it was making are not made any more. */
  tidy(records: readonly TableRecord[]): void {
    for (const record of records) {
      const { captures, ...rest } = record
      if (record.loading !== undefined) this.remove(record)
      else if (captures !== undefined) this.put(rest)
    }
  }

  /** A new table whose every change is kept for good. */
  putLedger(record: TableRecord): TableRecord {
    const ledger = { ...record, ledger: true as const }
    this.ledgers.set(record.id, ledgerTable(ledger))
    return this.put(ledger)
  }

  /** Its stream ends, and is kept for those who read it; what it was as a ledger stays. */
  remove(record: TableRecord): void {
    this.tables.set(record.name, undefined)
    this.endStream(record)
    if (record.ledger === true)
      this.ledgers.set(record.id, { ...ledgerTable(record), droppedAtMicros: this.#nowMicros })
    for (const space of spacesOf(record)) this.dropped.set(space, space === record.space ? record.name : '')
  }

  drop(space: SpaceId): void {
    this.dropped.set(space, '')
  }

  /** The dropped space is empty on every node. */
  forget(space: SpaceId): void {
    this.swept.add(space)
  }

  stream(key: string): StreamRecord | undefined {
    return this.#catalog.stream(key)
  }

  /** Number of the last record of the log of commits. */
  get lastRecord(): number {
    return this.#catalog.lastRecord
  }

  /** Oldest first. */
  streamsOf(tableName: string): readonly StreamRecord[] {
    return this.#catalog.streams().filter((stream) => stream.tableName === tableName)
  }

  /** Of all tables; those that ended first come first. */
  endedStreams(): readonly StreamRecord[] {
    const endMicros = ({ ended }: StreamRecord): number => ended?.atMicros ?? 0
    return this.#catalog
      .streams()
      .filter(({ status }) => status === 'DISABLED')
      .toSorted((one, other) => endMicros(one) - endMicros(other))
  }

  putStream(stream: StreamRecord): void {
    this.streams.set(streamKey(stream), stream)
  }

  removeStream(stream: StreamRecord): void {
    this.streams.set(streamKey(stream), undefined)
  }

  /** The table has no stream from here on. Which of its records is the last is known later: stream-keeper.ts. */
  endStream({ name, stream }: TableRecord): void {
    if (stream?.viewType === undefined) return
    const there = this.stream(streamKey({ tableName: name, label: stream.label }))
    if (there !== undefined) this.putStream(ending(there, this.#catalog.lastRecord))
  }

  get isEmpty(): boolean {
    const { tables, streams, ledgers, dropped, swept, beside } = this
    return tables.size + streams.size + ledgers.size + dropped.size + swept.size + beside.length === 0
  }
}

export function metaEntries(
  draft: CatalogDraft,
  { nextSpace, version }: { readonly nextSpace: number; readonly version: number },
): MetaEntry[] {
  const entries: MetaEntry[] = [numberEntry(CATALOGUE_VERSION, version)]
  for (const [name, record] of draft.tables) {
    const value = record && encodeTableRecord({ ...record, version })
    entries.push({ name: TABLE_PREFIX + name, ...(value && { value }) })
  }
  for (const [key, stream] of draft.streams) {
    const value = stream && encodeStreamRecord(stream)
    entries.push({ name: STREAM_PREFIX + key, ...(value && { value }) })
  }
  for (const [id, table] of draft.ledgers)
    entries.push({ name: LEDGER_PREFIX + id, value: Buffer.from(JSON.stringify(table)) })
  for (const [space, table] of draft.dropped)
    entries.push({ name: `${DROPPED_PREFIX}${space}`, value: Buffer.from(table) })
  for (const space of draft.swept) entries.push({ name: `${DROPPED_PREFIX}${space}` })
  if (draft.tables.size > 0) entries.push(numberEntry(NEXT_SPACE, nextSpace))
  entries.push(...draft.beside)
  return entries
}

export const numberEntry = (name: string, value: number | undefined): MetaEntry =>
  value === undefined ? { name } : { name, value: Buffer.from(String(value)) }

export const decodeStream = (entry: Required<MetaEntry>): StreamRecord =>
  readRecord(entry, decodeStreamRecord, 'streams')

export const decodeLedger = (entry: Required<MetaEntry>): LedgerTable =>
  readRecord(
    entry,
    (value) => {
      const table = JSON.parse(Buffer.from(value).toString()) as LedgerTable
      spaceId(table.space)
      return table
    },
    'ledgers',
  )

const ledgerTable = (record: TableRecord): LedgerTable => ({
  name: record.name,
  id: record.id,
  space: record.space,
  key: keySchemaOf(record.keySchema, record.attributeDefinitions),
  createdAtMicros: record.createdAtMicros,
})
