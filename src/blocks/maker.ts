// Makes blocks of what was committed: pure, but for the salts, which are given.
//
//   record of the log --> info, one entry for each revision --> inner tree --> header --> leaf of the ledger's tree
import { hash } from 'node:crypto'
import { type About, aboutIn, type CommitRecord, type LoggedChange } from '../commit-log/commit-record.js'
import type { SpaceId, Timestamp } from '../model/brand.js'
import type { KeySchema } from '../model/table.js'
import {
  saltedData,
  encodeBlockEntry,
  encodeBlockHeader,
  type InfoEntry,
  type StoredEntry,
} from '../verify/block.js'
import { leafHash, rootOf } from '../verify/merkle.js'
import type { Sha256 } from '../verify/sha256.js'
import type { RevisionPlace } from './places.js'

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
const utf8 = (text: string): Uint8Array => Buffer.from(text)

/** Node's own is faster for all but the shortest texts: 1 us for 100 bytes and for 1,000. */
const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

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

export interface MadeBlock {
  readonly block: number
  readonly header: Uint8Array
  /** Of the header. */
  readonly leaf: Uint8Array
  readonly entries: readonly StoredEntry[]
  /** Of the entries, as leaves. */
  readonly hashes: readonly Uint8Array[]
}

/** Where a block stands: its number, and the hash of the header before it. */
export interface BlockHead {
  readonly block: number
  readonly strand: string
  readonly prev: Uint8Array
}

/** What a block is of. */
export interface BlockSubject {
  /** Absent: no transaction; the block's number is in its id then. */
  readonly tx?: string | undefined
  readonly timestamp: Timestamp
}

export function makeBlock(
  { block, strand, prev }: BlockHead,
  { tx = singleId(block), timestamp }: BlockSubject,
  entries: readonly StoredEntry[],
): MadeBlock {
  const hashes = entries.map(({ bytes }) => leafHash(bytes, sha256))
  const header = encodeBlockHeader({
    v: 1,
    block,
    strand,
    tx,
    time: timeText(timestamp),
    ts: timestamp,
    entries: entries.length,
    root: base64(rootOf(hashes)),
    prev: base64(prev),
  })
  return { block, header, leaf: leafHash(header, sha256), entries, hashes }
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

/** The same for an item for ever, and for no other. `key`: JSON of its key attributes. */
export const documentId = (tableId: string, key: string): string =>
  (hash('sha256', utf8(`${tableId} ${key}`), 'buffer').subarray(0, DOCUMENT_ID_BYTES) as Buffer).toString(
    'base64url',
  )

const DOCUMENT_ID_BYTES = 16

/** One change of a record, with the item that it is of. */
export interface DocumentChange {
  readonly change: LoggedChange
  readonly table: LedgerTable
  readonly id: string
  readonly key: string
}

/** The changes of ledger tables. */
export function documentsOf(
  record: CommitRecord,
  tables: ReadonlyMap<SpaceId, LedgerTable>,
): readonly DocumentChange[] {
  return record.changes.flatMap((change) => {
    const table = tables.get(change.space)
    if (table === undefined) return []
    const key = keyTextOf(change)
    return { change, table, key, id: documentId(table.id, key) }
  })
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

/**
 * The info of a block: who did what, to which documents. Literals and parameters of statements are its data, which can be
 * redacted; a digest of them without a salt could be guessed then.
 */
export function infoEntry({ documents }: LedgerCommit, salt: Uint8Array): StoredEntry {
  const [only] = documents
  if (documents.length === 1 && only?.change.about === undefined) return plainInfo(only as DocumentChange)
  const abouts = documents.map(({ change }) => aboutIn(change.about))
  const by = abouts.find((about) => about.by !== undefined)?.by
  const unit = unitOf(abouts)
  const statements = abouts.flatMap((about) => about.statements ?? [])
  const data =
    statements.length === 0
      ? undefined
      : saltedData(
          salt,
          utf8(JSON.stringify(statements.map(({ text, parameters }) => ({ text, parameters })))),
        )
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
    data: data === undefined ? null : base64(sha256(data)),
  }
  return { bytes: encodeBlockEntry(entry), ...(data && { data }) }
}

const unitOf = (abouts: readonly About[]): string | undefined =>
  abouts.find(({ unit }) => unit !== undefined)?.unit

/** The id that its client gave to the unit of work that a commit is of. */
export const unitOfCommit = ({ documents }: LedgerCommit): string | undefined =>
  documents.some(({ change }) => change.about !== undefined)
    ? unitOf(documents.map(({ change }) => aboutIn(change.about)))
    : undefined

/** The same text, for most blocks. */
const plainInfo = ({ change, table, id }: DocumentChange): StoredEntry => ({
  bytes: utf8(
    `{"kind":"info","operations":[{"operation":"${change.operation}"}],` +
      `"documents":{"${id}":{"table":${quoted(table.name)},"tableId":${quoted(table.id)},"operations":[0]}},"data":null}`,
  ),
})

const quoted = (text: string): string => JSON.stringify(text)

const EVENTS = { insert: 'INSERT', modify: 'MODIFY', remove: 'REMOVE' } as const

/** The revision that a change has left, behind the one before it. Its fields are those of RevisionEntry, in its order. */
export function revisionEntry(
  { change, table, id, key }: DocumentChange,
  { tx, time }: { readonly tx: string; readonly time: string },
  before: Pick<RevisionPlace, 'version' | 'hash'> | undefined,
  salt: Uint8Array,
): StoredEntry {
  const data = change.new && saltedData(salt, change.new)
  const version = before === undefined ? 0 : before.version + 1
  // Not by JSON.stringify: the key is a text already, and this is made for each write.
  const text =
    `{"kind":"revision","table":${quoted(table.name)},"tableId":${quoted(table.id)},"key":${key},"id":"${id}",` +
    `"version":${version},"tx":${quoted(tx)},"time":"${time}","event":"${EVENTS[change.event]}","cause":"${change.cause}",` +
    `"data":${data === undefined ? 'null' : `"${base64(sha256(data))}"`},` +
    `"previous":${before === undefined ? 'null' : `"${base64(before.hash)}"`}}`
  return { bytes: utf8(text), ...(data && { data }) }
}

/** The creation or the end of a ledger table. */
export const tableEntry = (
  event: 'CREATE' | 'DELETE',
  { name, id, key: { partition, sort } }: LedgerTable,
  time: string,
): StoredEntry => {
  const keys = sort === undefined ? [partition] : [partition, sort]
  return { bytes: encodeBlockEntry({ kind: 'table', event, table: name, tableId: id, keys, time }) }
}
