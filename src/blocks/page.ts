// Blocks of one page of the log of commits: everything but what is read for them, and what keeps them. The same code in the thread
// of the store and in the one beside it (page-thread.ts).
//
//   records, the hash of the header before --> blocks, each naming the one before --> entries of the shelf, leaves of the tree
import type { CommitRecord } from '../commit-log/commit-record.js'
import type { SpaceId } from '../model/brand.js'
import type { ShelfEntry } from '../storage/contract/shelf.js'
import { SALT_BYTES } from '../verify/block.js'
import { isEqual } from '../verify/bytes.js'
import { BlockBatch } from './batch.js'
import {
  type LedgerCommit,
  documentsOf,
  infoEntry,
  type LedgerTable,
  makeBlock,
  revisionEntry,
  singleId,
  timeText,
  unitOfCommit,
} from './maker.js'
import type { RevisionPlace } from './places.js'

export interface PageJob {
  readonly strand: string
  /** The number of the first block. */
  readonly size: number
  /** Hash of the header before it. */
  readonly prev: Uint8Array
  readonly records: readonly CommitRecord[]
  readonly tables: readonly LedgerTable[]
  /** Random bytes, `saltBytes(records)` of them. */
  readonly salts: Uint8Array
  readonly pieceBytes: number
}

export interface MadePage {
  readonly entries: readonly ShelfEntry[]
  /** The leaves of the blocks. */
  readonly leaves: readonly Uint8Array[]
}

/** The newest revision of each of these documents, as it is durable. */
export type NewestOf = (documents: readonly string[]) => Promise<readonly (RevisionPlace | undefined)[]>

/** One for each revision, and one for the info of each block. */
export const saltBytes = (records: readonly CommitRecord[]): number =>
  SALT_BYTES * records.reduce((sum, { changes }) => sum + 1 + changes.length, 0)

/** Who makes pages. */
export interface PageMaker {
  make(job: PageJob, newestOf: NewestOf): Promise<MadePage>
}

/** Remembers the newest revisions of so many documents: what was just written is often written again. */
const DOCUMENTS_MAX = 20_000

export class Pages implements PageMaker {
  readonly #documentsMax: number
  readonly #newest = new Map<string, RevisionPlace>()
  /** What is remembered is as of the block with this hash: another maker, or a failure, may have come between. */
  #prev: Uint8Array | undefined

  constructor(documentsMax = DOCUMENTS_MAX) {
    this.#documentsMax = documentsMax
  }

  async make(job: PageJob, newestOf: NewestOf): Promise<MadePage> {
    if (this.#prev === undefined || !isEqual(this.#prev, job.prev)) this.#newest.clear()
    this.#prev = undefined
    const bySpace = new Map<SpaceId, LedgerTable>(job.tables.map((table) => [table.space, table]))
    const commits = job.records
      .map((record) => ({ record, documents: documentsOf(record, bySpace) }))
      .filter(({ documents }) => documents.length > 0)
    await this.#find(commits, newestOf)
    const made = this.#blocks(job, commits)
    this.#prev = made.leaves.at(-1) ?? job.prev
    this.#forget()
    return made
  }

  async #find(commits: readonly LedgerCommit[], newestOf: NewestOf): Promise<void> {
    const missing = new Set<string>()
    for (const { documents } of commits)
      for (const { id } of documents) if (!this.#newest.has(id)) missing.add(id)
    if (missing.size === 0) return
    const ids = [...missing]
    const found = await newestOf(ids)
    for (const [at, id] of ids.entries()) {
      const place = found[at]
      // Not a part of a page of the index.
      if (place !== undefined) this.#newest.set(id, { ...place, hash: place.hash.slice() })
    }
  }

  #blocks({ strand, size, prev, salts, pieceBytes }: PageJob, commits: readonly LedgerCommit[]): MadePage {
    const batch = new BlockBatch(pieceBytes)
    const leaves: Uint8Array[] = []
    let salted = 0
    const salt = (): Uint8Array => salts.subarray(salted, (salted += SALT_BYTES))
    for (const commit of commits) {
      const { timestamp, tx } = commit.record
      const block = size + leaves.length
      const names = { tx: tx ?? singleId(block), time: timeText(timestamp) }
      const revisions = commit.documents.map((each) =>
        revisionEntry(each, names, this.#newest.get(each.id), salt()),
      )
      const entries = [infoEntry(commit, salt()), ...revisions]
      const made = makeBlock({ block, strand, prev: leaves.at(-1) ?? prev }, { tx, timestamp }, entries)
      batch.add(made, { tx, unit: unitOfCommit(commit) })
      for (const [at, { id }] of commit.documents.entries()) {
        const before = this.#newest.get(id)
        const version = before === undefined ? 0 : before.version + 1
        const hash = made.hashes[at + 1] as Uint8Array
        const place = { version, block, entry: at + 1, timestamp, hash }
        batch.addRevision(id, place, before)
        this.#newest.delete(id)
        this.#newest.set(id, place)
      }
      leaves.push(made.leaf)
    }
    return { entries: batch.finish(), leaves }
  }

  /** Those that were not written for the longest time. */
  #forget(): void {
    for (const id of this.#newest.keys()) {
      if (this.#newest.size <= this.#documentsMax) return
      this.#newest.delete(id)
    }
  }
}
