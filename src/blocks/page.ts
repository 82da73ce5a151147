// Blocks of one page of the log of commits: everything but what is read for them, and what keeps them. The same code in the thread
// of the store and in the one beside it (page-thread.ts).
//
//   records, the hash of the header before --> blocks, each naming the one before --> entries of the shelf, leaves of the tree
import { type CommitRecord, recordBytes } from '../commit-log/commit-record.js'
import type { SpaceId, Timestamp } from '../model/brand.js'
import type { ShelfEntry } from '../storage/contract/shelf.js'
import { SALT_BYTES } from '../verify/block.js'
import { base64, isEqual } from '../verify/bytes.js'
import { BlockBatch } from './batch.js'
import {
  decodeDocumentHead,
  type DocumentHead,
  encodeChunk,
  encodeDocumentHead,
  withRevision,
} from './heads.js'
import {
  type LedgerCommit,
  documentsOf,
  infoText,
  type LedgerTable,
  named,
  revisionText,
  type Salted,
  singleId,
  timeText,
  unitOfCommit,
} from './maker.js'
import { newestKey, olderKey } from './places.js'

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

/** The heads of these documents, as the shelf has them. */
export type HeadsOf = (documents: readonly string[]) => Promise<readonly (Uint8Array | undefined)[]>

/** One for each revision, and one for the info of each block. */
export const saltBytes = (records: readonly CommitRecord[]): number =>
  SALT_BYTES * records.reduce((sum, { changes }) => sum + 1 + changes.length, 0)

/** Who makes pages. */
export interface PageMaker {
  make(job: PageJob, headsOf: HeadsOf): Promise<MadePage>
}

/** Remembers the heads of so many documents: what was just written is often written again. */
const DOCUMENTS_MAX = 20_000

export class Pages implements PageMaker {
  readonly #heads: RecentHeads
  /** What is remembered is as of the block with this hash: another maker, or a failure, may have come between. */
  #prev: Uint8Array | undefined

  constructor(documentsMax = DOCUMENTS_MAX) {
    this.#heads = new RecentHeads(documentsMax)
  }

  async make(job: PageJob, headsOf: HeadsOf): Promise<MadePage> {
    if (this.#prev === undefined || !isEqual(this.#prev, job.prev)) this.#heads.clear()
    this.#prev = undefined
    const tables = new Map<SpaceId, ReturnType<typeof named>>(
      job.tables.map((table) => [table.space, named(table)]),
    )
    const commits: LedgerCommit[] = []
    for (const record of job.records) {
      const documents = documentsOf(record, tables)
      if (documents.length > 0) commits.push({ record, documents })
    }
    await this.#find(commits, headsOf)
    const made = this.#blocks(job, commits)
    this.#prev = made.leaves.at(-1) ?? job.prev
    this.#heads.forget()
    return made
  }

  async #find(commits: readonly LedgerCommit[], headsOf: HeadsOf): Promise<void> {
    const missing = new Set<string>()
    for (const { documents } of commits)
      for (const { id } of documents) if (this.#heads.get(id) === undefined) missing.add(id)
    if (missing.size === 0) return
    const ids = [...missing]
    const found = await headsOf(ids)
    for (const [at, id] of ids.entries()) {
      const value = found[at]
      if (value !== undefined) this.#heads.set(id, decodeDocumentHead(value))
    }
  }

  #blocks({ strand, size, prev, salts, pieceBytes }: PageJob, commits: readonly LedgerCommit[]): MadePage {
    const batch = new BlockBatch(pieceBytes, bytesAbout(commits))
    const leaves: Uint8Array[] = []
    const changed = new Set<string>()
    const time = timeTexts()
    let saltsTaken = 0
    const salted: Salted = (data) => batch.data(salts.subarray(saltsTaken, (saltsTaken += SALT_BYTES)), data)
    let before = base64(prev)
    for (const commit of commits) {
      const { timestamp, tx } = commit.record
      const block = size + leaves.length
      const names = { tx: tx ?? singleId(block), time: time(timestamp) }
      batch.begin({ block, strand, prev: before })
      batch.entry(infoText(commit, salted))
      for (const [at, document] of commit.documents.entries()) {
        const { id } = document
        const last = this.#heads.get(id)
        const hash = batch.entry(revisionText(document, names, last, salted))
        const { head, chunk } = withRevision(last, { block, entry: at + 1, timestamp, hash })
        this.#heads.set(id, head)
        changed.add(id)
        if (chunk !== undefined) batch.put(olderKey(id, chunk.version), encodeChunk(chunk))
      }
      before = batch.end({ tx, unit: unitOfCommit(commit), timestamp, time: names.time })
      leaves.push(Buffer.from(before, 'base64'))
    }
    for (const id of changed)
      batch.put(newestKey(id), encodeDocumentHead(this.#heads.get(id) as DocumentHead))
    return { entries: batch.finish(), leaves }
  }
}

/** Of entries with their data: those of a revision are about as long as its key, thrice, and some names. */
const bytesAbout = (commits: readonly LedgerCommit[]): number =>
  commits.reduce((sum, { record }) => sum + ENTRY_BYTES + recordBytes(record), 0)

const ENTRY_BYTES = 800

/** Texts of times that mostly grow by less than a second. */
function timeTexts(): (micros: Timestamp) => string {
  let second = -1
  let prefix = ''
  return (micros) => {
    const ms = Math.floor(micros / 1000)
    const its = Math.floor(ms / 1000)
    if (its !== second) {
      second = its
      prefix = timeText(micros).slice(0, -'000Z'.length)
    }
    return `${prefix}${String(ms % 1000).padStart(3, '0')}Z`
  }
}

/** The heads that were set last: in two generations, so that none is moved when it is set again. */
class RecentHeads {
  readonly #headsMax: number
  #young = new Map<string, DocumentHead>()
  #old = new Map<string, DocumentHead>()

  constructor(headsMax: number) {
    this.#headsMax = headsMax
  }

  get(id: string): DocumentHead | undefined {
    const young = this.#young.get(id)
    if (young !== undefined) return young
    const old = this.#old.get(id)
    if (old !== undefined) this.#young.set(id, old)
    return old
  }

  set(id: string, head: DocumentHead): void {
    this.#young.set(id, head)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  /** Between pages: all that one page needs stay. */
  forget(): void {
    if (this.#young.size <= this.#headsMax / 2) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
