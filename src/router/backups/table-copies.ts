// Copies of tables that are being made: one after another, each as of the moment at which it was asked for.
//
//   begin:  the log takes the old images of the table --> fence: the moment --> answered
//   lane:   copy, copy, copy ...                                                --> the log takes them no more
import { BackupWriter } from '../../backups/backup-file.js'
import { copyTable, type CopyParts, type Fence, fence } from '../../backups/copy-table.js'
import type { Timestamp } from '../../model/brand.js'
import type { TableShape } from '../../model/table.js'
import type { WholeFiles } from '../../runtime/whole-files.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import type { CatalogDraft } from '../tables/catalog/catalog-draft.js'
import { persistently } from '../tables/catalog/persistent-change.js'
import type { TableRecord } from '../tables/record/table-record.js'

export interface CopiesOptions {
  readonly parts: CopyParts
  readonly catalog: TableCatalog
  /** The log is needed from another moment on. */
  readonly onHeld: () => void
  readonly onError: (error: unknown) => void
}

/** A copy that has its moment, and is made when its turn comes. */
export interface BegunCopy {
  readonly record: TableRecord
  readonly moment: Fence
  /** Writes the file and resolves when it is whole; false if that has failed, which was told. */
  readonly make: (file: CopyFile) => Promise<boolean>
}

export interface CopyFile {
  readonly files: WholeFiles
  readonly name: string
  readonly about: unknown
}

const SEED_BYTES = 4

export class TableCopies {
  readonly #options: CopiesOptions
  /** Moments from which on the log is needed. */
  readonly #held = new Map<string, Timestamp>()
  #lane: Promise<unknown> = Promise.resolve()
  readonly #closing = new AbortController()

  constructor(options: CopiesOptions) {
    this.#options = options
  }

  /** The oldest moment from which on the log is needed for what is being made. */
  get heldFrom(): number {
    return Math.min(Infinity, ...this.#held.values())
  }

  /**
   * `decide` may refuse, and says what becomes of the table; it gets its capture with the same change.
   * @throws what `decide` throws
   */
  async begin(capture: string, decide: (draft: CatalogDraft) => TableRecord): Promise<BegunCopy> {
    const { parts, catalog } = this.#options
    await parts.log.begin()
    // Nothing of what follows is let go meanwhile.
    this.#held.set(capture, parts.runtime.clock.nowMicros() as Timestamp)
    this.#options.onHeld()
    const record = await catalog
      .change((draft) => {
        const decided = decide(draft)
        return draft.put({ ...decided, captures: [...(decided.captures ?? []), capture] })
      })
      .catch((error: unknown) => {
        this.#held.delete(capture)
        throw error
      })
    try {
      const table = this.#shapeOf(record)
      const moment = await fence(parts, [table])
      return {
        record,
        moment,
        make: (file) => {
          const made = this.#lane.then(() => this.#make(record, { table, moment, file }))
          const done = made.then(
            () => true,
            (error: unknown) => {
              if (!this.#closing.signal.aborted) this.#options.onError(error)
              return false
            },
          )
          this.#lane = done.then(() => this.#end(record, capture))
          return this.#lane.then(() => done)
        },
      }
    } catch (error) {
      await this.#end(record, capture)
      throw error
    }
  }

  /** Resolves when nothing is being made. */
  async idle(): Promise<void> {
    await this.#lane
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#lane
  }

  async #make(
    record: TableRecord,
    { table, moment, file }: { readonly table: TableShape; readonly moment: Fence; readonly file: CopyFile },
  ): Promise<void> {
    const { parts } = this.#options
    const seed = Buffer.from(parts.runtime.randomBytes(SEED_BYTES)).readUInt32BE()
    const writer = await BackupWriter.begin(file.files, file.name, {
      seed,
      about: file.about,
      frameBytes: parts.knobs?.copyFrameBytes,
    })
    try {
      await copyTable(parts, { table, fence: moment, writer, check: () => this.#check(record) })
      await writer.finish()
    } catch (error) {
      await writer.abandon().catch(() => undefined)
      throw error
    }
  }

  #check({ name, id }: TableRecord): void {
    if (this.#closing.signal.aborted) throw new Error('the store is closed')
    if (this.#options.catalog.find(name)?.id !== id)
      throw new Error(`The table ${name} was deleted while a copy of it was made.`)
  }

  #shapeOf({ name, id }: TableRecord): TableShape {
    const { catalog } = this.#options
    const shape = catalog.shapeOf(name)
    if (shape === undefined || catalog.find(name)?.id !== id)
      throw new Error(`The table ${name} was deleted.`)
    return shape
  }

  /** The table is no longer logged for it. What a closed catalogue keeps is dropped by the next one. */
  async #end({ name, id }: TableRecord, capture: string): Promise<void> {
    const { catalog, onError, parts } = this.#options
    this.#held.delete(capture)
    this.#options.onHeld()
    const end = (draft: CatalogDraft): void => {
      const found = draft.find(name)
      if (found?.id !== id) return
      const { captures = [], ...record } = found
      const left = captures.filter((each) => each !== capture)
      draft.put({ ...record, ...(left.length > 0 && { captures: left }) })
    }
    const { runtime } = parts
    await persistently(() => catalog.change(end), { runtime, closing: this.#closing.signal, onError })
  }
}
