// What blocks say of what was committed: pure. Hashes and bytes are made where the texts go (batch.ts).
//
//   record of the log --> info, one entry for each revision --> batch: inner tree, header, leaf of the ledger's tree
import { hash } from 'node:crypto'
import { type About, aboutIn, type CommitRecord, type LoggedChange } from '../commit-log/commit-record.js'
import type { SpaceId } from '../model/brand.js'
import type { KeySchema } from '../model/table.js'
import type { InfoEntry, TableEntry } from '../verify/block.js'

/** A table whose every change is kept, also after it was dropped. */
export interface LedgerTable {
  readonly name: string
  readonly id: string
  readonly space: SpaceId
  readonly key: KeySchema
  readonly createdAtMicros: number
  /** It is no more. */
  readonly droppedAtMicros?: number
}

/** The id of a single write, of which the log has none. */
export const singleId = (block: number): string => `s${block}`

/** The block that such an id names. */
export function blockOfSingle(tx: string): number | undefined {
  const [, digits] = /^s(0|[1-9]\d{0,14})$/.exec(tx) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Microseconds as ISO text, to the millisecond. */
export const timeText = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString()

/** The same for an item for ever, and for no other: 16 bytes of a hash. `key`: JSON of its key attributes. */
export function documentId(tableId: string, key: string): string {
  const text = hash('sha256', `${tableId} ${key}`, 'base64url')
  // Of the last digit only the first two bits are of the 16th byte.
  return (
    text.slice(0, DOCUMENT_ID_DIGITS - 1) + LAST_DIGITS[DIGITS.indexOf(text[DOCUMENT_ID_DIGITS - 1]!) >> 4]
  )
}

const DOCUMENT_ID_DIGITS = 22
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const LAST_DIGITS = 'AQgw'

/** A table, with what all entries say of it. */
export interface NamedTable extends LedgerTable {
  /** JSON text of its name and id, without braces. */
  readonly names: string
}

export const named = (table: LedgerTable): NamedTable => ({
  ...table,
  names: `"table":${quoted(table.name)},"tableId":${quoted(table.id)}`,
})

/** One change of a record, with the item that it is of. */
export interface DocumentChange {
  readonly change: LoggedChange
  readonly table: NamedTable
  readonly id: string
  readonly key: string
}

/** The changes of ledger tables. */
export function documentsOf(
  record: CommitRecord,
  tables: ReadonlyMap<SpaceId, NamedTable>,
): readonly DocumentChange[] {
  const documents: DocumentChange[] = []
  for (const change of record.changes) {
    const table = tables.get(change.space)
    if (table === undefined) continue
    const key = keyTextOf(change)
    documents.push({ change, table, key, id: documentId(table.id, key) })
  }
  return documents
}

function keyTextOf({ keys }: LoggedChange): string {
  if (keys === undefined) throw new Error('a change of a ledger table without its key')
  return Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength).toString()
}

/** A commit, with what it changed of ledger tables. */
export interface LedgerCommit {
  readonly record: CommitRecord
  readonly documents: readonly DocumentChange[]
}

/** The hash of data behind its salt, in base64; whoever keeps the entry that follows keeps both with it. */
export type Salted = (data: Uint8Array) => string

/**
 * The info of a block: who did what, to which documents. Literals and parameters of statements are its data, which can be
 * redacted; a digest of them without a salt could be guessed then.
 */
export function infoText({ documents }: LedgerCommit, salted: Salted): string {
  const [only] = documents
  if (documents.length === 1 && only?.change.about === undefined) return plainInfo(only as DocumentChange)
  const abouts = documents.map(({ change }) => aboutIn(change.about))
  const by = abouts.find((about) => about.by !== undefined)?.by
  const unit = unitOf(abouts)
  const statements = abouts.flatMap((about) => about.statements ?? [])
  let before = 0
  const entry: InfoEntry = {
    kind: 'info',
    ...(by !== undefined && { by }),
    ...(unit !== undefined && { unit }),
    ...(statements.length > 0 && { statements: statements.map(({ shape }) => shape) }),
    operations: documents.map(({ change }) => ({ operation: change.operation })),
    documents: Object.fromEntries(
      documents.map(({ id, table }, at) => {
        const count = abouts[at]?.statements?.length ?? 0
        const own = Array.from({ length: count }, () => before++)
        const of = { table: table.name, tableId: table.id, operations: [at] }
        return [id, count === 0 ? of : { ...of, statements: own }]
      }),
    ),
    data:
      statements.length === 0
        ? null
        : salted(
            Buffer.from(JSON.stringify(statements.map(({ text, parameters }) => ({ text, parameters })))),
          ),
  }
  return JSON.stringify(entry)
}

const unitOf = (abouts: readonly About[]): string | undefined =>
  abouts.find(({ unit }) => unit !== undefined)?.unit

/** The id that its client gave to the unit of work that a commit is of. */
export const unitOfCommit = ({ documents }: LedgerCommit): string | undefined =>
  documents.some(({ change }) => change.about !== undefined)
    ? unitOf(documents.map(({ change }) => aboutIn(change.about)))
    : undefined

/** The same text, for most blocks. */
const plainInfo = ({ change, table, id }: DocumentChange): string =>
  `{"kind":"info","operations":[{"operation":"${change.operation}"}],` +
  `"documents":{"${id}":{${table.names},"operations":[0]}},"data":null}`

const quoted = (text: string): string => JSON.stringify(text)

const EVENTS = { insert: 'INSERT', modify: 'MODIFY', remove: 'REMOVE' } as const

/** The revision that a change has left, behind the one before it. Its fields are those of RevisionEntry, in its order. */
export function revisionText(
  { change, table, id, key }: DocumentChange,
  { tx, time }: { readonly tx: string; readonly time: string },
  before: { readonly version: number; readonly hash: string } | undefined,
  salted: Salted,
): string {
  const data = change.new && salted(change.new)
  const version = before === undefined ? 0 : before.version + 1
  // Not by JSON.stringify: the key is a text already, and this is made for each write.
  return (
    `{"kind":"revision",${table.names},"key":${key},"id":"${id}",` +
    `"version":${version},"tx":${quoted(tx)},"time":"${time}","event":"${EVENTS[change.event]}","cause":"${change.cause}",` +
    `"data":${data === undefined ? 'null' : `"${data}"`},` +
    `"previous":${before === undefined ? 'null' : `"${before.hash}"`}}`
  )
}

/** The creation or the end of a ledger table. */
export const tableText = (
  event: 'CREATE' | 'DELETE',
  { name, id, key: { partition, sort } }: LedgerTable,
  time: string,
): string => {
  const keys = sort === undefined ? [partition] : [partition, sort]
  const entry: TableEntry = { kind: 'table', event, table: name, tableId: id, keys, time }
  return JSON.stringify(entry)
}
