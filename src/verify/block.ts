// A block of the ledger: one committed transaction. The header is a leaf of the ledger's tree; it commits to the entries by the
// root of a tree of their own, and to the header before it. Hashed are the bytes that are stored, never a text made again.
//
//   header --root--> entries (the info first, then one for each revision) --data--> salt and image, which redaction removes
//      |                                                                   \-previous--> the entry of the item's last revision
//      prev--> the header before
import { base64, concat, isHashText, utf8, utf8Text } from './bytes.js'
import { VerificationError } from './error.js'
import { HASH_BYTES } from './merkle.js'
import { sha256, type Sha256 } from './sha256.js'

export const SALT_BYTES = 16
/** `prev` of the first block. */
export const NO_HASH = new Uint8Array(HASH_BYTES)

/** The header of a block: a leaf of the ledger's tree. */
export interface BlockHeader {
  /** Of this form. */
  readonly v: 1
  /** Its number, from 0: the index of the leaf. */
  readonly block: number
  /** The origin of the ledger. */
  readonly strand: string
  /** The id of the transaction. */
  readonly tx: string
  /** When it was committed, ISO 8601. */
  readonly time: string
  /** The commit timestamp: its place in the serial order, in microseconds. */
  readonly ts: number
  /** How many entries it has. */
  readonly entries: number
  /** The root of the tree over the entries, in base64. */
  readonly root: string
  /** The leaf hash of the header before, in base64. */
  readonly prev: string
}

/**
 * What the transaction did: its operations or statements, and the documents that they touched. Parameters are `data`, as that
 * of a revision: a digest of them without a salt could be guessed after a redaction.
 */
export interface InfoEntry {
  /** Which kind of entry. */
  readonly kind: 'info'
  /** base64 of SHA-256 of salt and parameters; null if there are none. */
  readonly data: string | null
  readonly [field: string]: unknown
}

/** One version of one item. */
export interface RevisionEntry {
  /** Which kind of entry. */
  readonly kind: 'revision'
  /** The name of the table. */
  readonly table: string
  /** Its id, which no other table ever has. */
  readonly tableId: string
  /** The item's, as DynamoDB writes it. */
  readonly key: Readonly<Record<string, unknown>>
  /** Of the document: the same for all versions of an item. */
  readonly id: string
  /** From 0, without a gap, past deletes too. */
  readonly version: number
  /** The id of the transaction. */
  readonly tx: string
  /** When it was committed, ISO 8601. */
  readonly time: string
  /** What happened to the item. */
  readonly event: 'INSERT' | 'MODIFY' | 'REMOVE'
  /** Who did it: a user, time to live, a restore. */
  readonly cause: string
  /** base64 of SHA-256 of salt and image; null for a delete. */
  readonly data: string | null
  /** base64 of the leaf hash of the entry of the revision before; null for the first. */
  readonly previous: string | null
}

/** The data of a revision before the current one was removed. */
export interface RedactionEntry {
  /** Which kind of entry. */
  readonly kind: 'redaction'
  /** The name of the table. */
  readonly table: string
  /** Its id. */
  readonly tableId: string
  /** The item's. */
  readonly key: Readonly<Record<string, unknown>>
  /** Of the revision that was redacted. */
  readonly version: number
  /** The block of that revision. */
  readonly block: number
  /** Which entry of that block it is. */
  readonly entry: number
  /** The leaf hash of that entry, in base64. */
  readonly revision: string
  /** What was given as the reason. */
  readonly reason?: string
  readonly [field: string]: unknown
}

/** A ledger table was created or dropped. */
export interface TableEntry {
  /** Which kind of entry. */
  readonly kind: 'table'
  /** What happened to it. */
  readonly event: 'CREATE' | 'DELETE'
  /** Its name. */
  readonly table: string
  /** Its id. */
  readonly tableId: string
  readonly [field: string]: unknown
}

/** What a block holds. */
export type BlockEntry = InfoEntry | RevisionEntry | RedactionEntry | TableEntry

/** An entry as it is stored: its bytes, and beside them salt and image, unless there are none or they were redacted. */
export interface StoredEntry {
  /** What is hashed as a leaf. */
  readonly bytes: Uint8Array
  /** Salt and image. */
  readonly data?: Uint8Array
}

export const encodeBlockHeader = (header: BlockHeader): Uint8Array => utf8(headerText(header))

/** The fields in their order, whatever order they are given in. */
export const headerText = ({ v, block, strand, tx, time, ts, entries, root, prev }: BlockHeader): string =>
  JSON.stringify({ v, block, strand, tx, time, ts, entries, root, prev })

export function decodeBlockHeader(bytes: Uint8Array): BlockHeader {
  const text = utf8Text(bytes)
  const header = parsed(text) as Partial<BlockHeader> | null | undefined
  const isWhole =
    header?.v === 1 &&
    [header.block, header.ts, header.entries].every(
      (number) => Number.isSafeInteger(number) && number! >= 0,
    ) &&
    [header.strand, header.tx, header.time].every((value) => typeof value === 'string') &&
    isHashText(header.root) &&
    isHashText(header.prev) &&
    headerText(header as BlockHeader) === text
  if (!isWhole) throw new VerificationError('not the header of a block')
  return header as BlockHeader
}

export const encodeBlockEntry = (entry: BlockEntry): Uint8Array => utf8(JSON.stringify(entry))

export function decodeBlockEntry(bytes: Uint8Array): BlockEntry {
  const entry = canonical(bytes) as Partial<BlockEntry> | undefined
  if (!isEntry(entry)) throw new VerificationError('not an entry of a block')
  return entry
}

/** What an entry says of its data; null if it never had any. */
export const committedData = (entry: BlockEntry): string | null =>
  entry.kind === 'revision' || entry.kind === 'info' ? entry.data : null

/** Salt and image lie one behind the other, as they are stored. */
export const saltedData = (salt: Uint8Array, image: Uint8Array): Uint8Array => concat(salt, image)
export const dataHash = (data: Uint8Array, hash: Sha256 = sha256): string => base64(hash(data))
export const imageOf = (data: Uint8Array): Uint8Array => data.subarray(SALT_BYTES)

/** The file of a block: for each entry its length in four bytes, itself, the length of its data (0: none), and the data. */
export function encodeBlock(entries: readonly StoredEntry[]): Uint8Array {
  return concat(
    ...entries.flatMap(({ bytes, data = new Uint8Array(0) }) => [length(bytes), bytes, length(data), data]),
  )
}

export function decodeBlock(file: Uint8Array): StoredEntry[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  let at = 0
  const part = (): Uint8Array => {
    const start = at + 4
    at = start <= file.length ? start + view.getUint32(at) : Number.POSITIVE_INFINITY
    if (at > file.length) throw new VerificationError('the file of a block ends within an entry')
    return file.subarray(start, at)
  }
  const entries: StoredEntry[] = []
  while (at < file.length) {
    const bytes = part()
    const data = part()
    entries.push(data.length > 0 ? { bytes, data } : { bytes })
  }
  return entries
}

/** An item within a ledger, whichever order its key's attributes come in. */
export function itemOf({ tableId, key }: Pick<RevisionEntry, 'tableId' | 'key'>): string {
  const names = Object.keys(key)
  return `${tableId} ${JSON.stringify(names.length < 2 ? key : names.toSorted().map((name) => [name, key[name]]))}`
}

/** JSON that is written in one way only: no blanks, no name twice. Else undefined. */
function canonical(bytes: Uint8Array): unknown {
  const text = utf8Text(bytes)
  const value = parsed(text)
  return JSON.stringify(value) === text ? value : undefined
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

function isEntry(entry: Partial<BlockEntry> | undefined): entry is BlockEntry {
  if (entry === undefined || entry === null) return false
  const isItem = (one: Partial<RevisionEntry | RedactionEntry>): boolean =>
    typeof one.key === 'object' && one.key !== null && Number.isSafeInteger(one.version) && one.version! >= 0
  const isTable = (one: { readonly table?: string; readonly tableId?: string }): boolean =>
    typeof one.table === 'string' && typeof one.tableId === 'string'
  switch (entry.kind) {
    case undefined:
      return false
    case 'info':
      return entry.data === null || isHashText(entry.data)
    case 'revision':
      return (
        isTable(entry) &&
        isItem(entry) &&
        (entry.data === null || isHashText(entry.data)) &&
        (entry.previous === null || isHashText(entry.previous)) &&
        (entry.event === 'REMOVE') === (entry.data === null)
      )
    case 'redaction':
      return (
        isTable(entry) &&
        isItem(entry) &&
        Number.isSafeInteger(entry.block) &&
        Number.isSafeInteger(entry.entry) &&
        isHashText(entry.revision)
      )
    case 'table':
      return isTable(entry)
    default:
      return false
  }
}

function length(bytes: Uint8Array): Uint8Array {
  const field = new Uint8Array(4)
  new DataView(field.buffer).setUint32(0, bytes.length)
  return field
}
