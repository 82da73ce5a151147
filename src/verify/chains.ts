// What the entries of all blocks say together: the versions of each item follow each other without a gap, each naming the
// one before; no data is missing but what a later block has redacted; a dropped table does not change any more.
import { base64 } from './bytes.js'
import {
  type BlockEntry,
  type BlockHeader,
  committedData,
  dataHash,
  decodeBlockEntry,
  itemOf,
  type RedactionEntry,
  type RevisionEntry,
  type StoredEntry,
} from './block.js'
import type { LedgerProblem } from './error.js'
import { leafHash, rootOf } from './merkle.js'
import type { Sha256 } from './sha256.js'

/** The newest version of an item, so far. */
interface Newest {
  readonly version: number
  /** The leaf hash of its entry. */
  readonly hash: string
  readonly isDeleted: boolean
}

interface Missing {
  readonly item: string
  readonly version: number
  readonly hash: string
}

export type Complaint = (problem: Omit<LedgerProblem, 'path'>) => void

/** Takes the blocks one after another. Needs memory for each item, not for each revision. */
export class Chains {
  revisions = 0
  redactions = 0
  readonly #complain: Complaint
  readonly #hash: Sha256
  readonly #items = new Map<string, Newest>()
  readonly #dropped = new Set<string>()
  /** Revisions without their data that no redaction has named yet, by block and entry. */
  readonly #missing = new Map<string, Missing>()

  constructor(complain: Complaint, hash: Sha256) {
    this.#complain = complain
    this.#hash = hash
  }

  get items(): number {
    return this.#items.size
  }

  /** `header` undefined: it was refused, and the entries can only be checked among themselves. */
  add(block: number, header: BlockHeader | undefined, entries: readonly StoredEntry[]): void {
    const hashes = entries.map(({ bytes }) => leafHash(bytes, this.#hash))
    if (header !== undefined && header.entries !== entries.length)
      this.#complain({
        block,
        message: `it has ${entries.length} entries, its header says ${header.entries}`,
      })
    if (header !== undefined && base64(rootOf(hashes)) !== header.root)
      this.#complain({ block, message: 'its entries are not those that its header commits to' })
    for (const [at, stored] of entries.entries()) {
      const problem = this.#addEntry(block, header, at, stored, hashes[at]!)
      if (problem !== undefined) this.#complain({ block, entry: at, message: problem })
    }
  }

  /** After the last block. */
  end(): void {
    for (const place of this.#missing.keys()) {
      const [block, entry] = place.split(' ').map(Number)
      this.#complain({
        block: block!,
        entry: entry!,
        message: 'its data is missing, and no block has redacted it',
      })
    }
  }

  /** What is wrong with it, if anything is. */
  #addEntry(
    block: number,
    header: BlockHeader | undefined,
    at: number,
    { bytes, data }: StoredEntry,
    leaf: Uint8Array,
  ): string | undefined {
    const entry = entryOf(bytes)
    if (entry === undefined) return 'it is not an entry of a block'
    const hash = base64(leaf)
    const committed = committedData(entry)
    if (data === undefined && committed !== null) {
      const revision = entry.kind === 'revision' ? entry : undefined
      const item = revision === undefined ? '' : itemOf(revision)
      this.#missing.set(`${block} ${at}`, { item, version: revision?.version ?? -1, hash })
    }
    const wrong = this.#addParsed(block, header, entry, hash)
    return data !== undefined && dataHash(data, this.#hash) !== committed
      ? 'the hash of its data is not the one that it has'
      : wrong
  }

  #addParsed(
    block: number,
    header: BlockHeader | undefined,
    entry: BlockEntry,
    hash: string,
  ): string | undefined {
    switch (entry.kind) {
      case 'revision':
        return this.#addRevision(entry, hash, header)
      case 'redaction':
        return this.#addRedaction(entry, block)
      case 'table':
        if (this.#dropped.has(entry.tableId)) return `table ${entry.tableId} was dropped before`
        if (entry.event === 'DELETE') this.#dropped.add(entry.tableId)
        return undefined
      case 'info':
        return undefined
    }
  }

  #addRevision(entry: RevisionEntry, hash: string, header: BlockHeader | undefined): string | undefined {
    this.revisions++
    const { version, previous, event } = entry
    const item = itemOf(entry)
    const before = this.#items.get(item)
    this.#items.set(item, { version, hash, isDeleted: event === 'REMOVE' })
    const wasThere = before !== undefined && !before.isDeleted
    const expected = before === undefined ? 0 : before.version + 1
    const last = before?.hash ?? null
    if (version !== expected) return `it is version ${version} of its item, and should be ${expected}`
    if (previous !== last)
      return `it does not follow version ${version - 1} of its item: that has another hash`
    if (wasThere === (event === 'INSERT'))
      return `${event} of an item that ${wasThere ? 'was' : 'was not'} there`
    if (this.#dropped.has(entry.tableId)) return `table ${entry.tableId} was dropped before`
    if (header !== undefined && (entry.tx !== header.tx || entry.time !== header.time))
      return 'it has another transaction or time than its block'
    return undefined
  }

  #addRedaction(entry: RedactionEntry, block: number): string | undefined {
    this.redactions++
    const place = `${entry.block} ${entry.entry}`
    const redacted = this.#missing.get(place)
    const where = `entry ${entry.entry} of block ${entry.block}`
    if (entry.block >= block) return `it redacts ${where}, which is not before it`
    if (redacted === undefined) return `it redacts ${where}, which has its data, or never had any`
    this.#missing.delete(place)
    // The parameters of the transaction may go with the data.
    this.#missing.delete(`${entry.block} 0`)
    const item = itemOf(entry)
    if (redacted.hash !== entry.revision || redacted.item !== item || redacted.version !== entry.version)
      return `it redacts ${where}, but names another revision`
    if (this.#items.get(item)!.version === entry.version && !this.#dropped.has(entry.tableId))
      return `it redacts ${where}, which is the current version of its item`
    return undefined
  }
}

function entryOf(bytes: Uint8Array): BlockEntry | undefined {
  try {
    return decodeBlockEntry(bytes)
  } catch {
    return undefined
  }
}
