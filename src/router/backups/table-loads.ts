// Tables that are being restored: created, loaded, and there for requests once they are whole.
//
//   CREATING, without indexes --> items --> indexes are filled --> ACTIVE, all tables of one restore in one change
//                                   \--> failed: the tables go; the process ends: the next one removes them
import type { BackupEntry } from '../../backups/backup-frame.js'
import type { CopyKnobs } from '../../backups/copy-table.js'
import { TableLoad } from '../../backups/load-table.js'
import type { TableShape } from '../../model/table.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { StorageNode } from '../../storage/contract/storage-node.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import type { CatalogDraft } from '../tables/catalog/catalog-draft.js'
import { persistently } from '../tables/catalog/persistent-change.js'
import type { TableRecord } from '../tables/record/table-record.js'

export interface LoadsOptions {
  readonly runtime: Runtime
  readonly catalog: TableCatalog
  readonly nodeOf: (hash: number) => StorageNode
  readonly knobs?: CopyKnobs
  readonly onError: (error: unknown) => void
}

export interface LoadedTable {
  /** In the catalogue, with `loading`. */
  readonly record: TableRecord
  /** What to apply to the empty table, in order. */
  readonly entries: () => AsyncIterable<readonly BackupEntry[]>
}

export class TableLoads {
  readonly #options: LoadsOptions
  readonly #running = new Set<Promise<void>>()
  readonly #looking = new Set<() => void>()
  readonly #closing = new AbortController()

  constructor(options: LoadsOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running.size
  }

  /** Begins, and resolves when the tables are there, or are gone again, which was told. */
  async run(tables: readonly LoadedTable[]): Promise<void> {
    const running = this.#load(tables).catch(async (error: unknown) => {
      if (this.#closing.signal.aborted) return
      this.#options.onError(error)
      await this.#giveUp(tables)
    })
    this.#running.add(running)
    try {
      await running
    } finally {
      this.#running.delete(running)
    }
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const look of this.#looking) look()
    await this.idle()
  }

  async #load(tables: readonly LoadedTable[]): Promise<void> {
    const { runtime, nodeOf, knobs } = this.#options
    const entriesMax = knobs?.loadEntriesMax
    for (const { record, entries } of tables) {
      const load = new TableLoad({ runtime, nodeOf, target: () => this.#target(record), entriesMax })
      for await (const some of entries()) await load.add(some)
      await load.flush()
    }
    await this.#changeAll(tables, (record) => ({
      ...record,
      indexes: record.indexes.map((index) => ({ ...index, status: 'CREATING' })),
    }))
    for (const { record } of tables) await this.#filled(record)
    await this.#changeAll(tables, withoutLoading)
  }

  async #changeAll(
    tables: readonly LoadedTable[],
    next: (record: TableRecord) => TableRecord,
  ): Promise<void> {
    await this.#options.catalog.change((draft) => {
      for (const { record } of tables) draft.put(next(this.#find(record)))
    })
  }

  #find({ name, id }: TableRecord): TableRecord {
    if (this.#closing.signal.aborted) throw new Error('the store is closed')
    const record = this.#options.catalog.find(name)
    if (record?.id !== id) throw new Error(`The table ${name} was deleted while it was restored.`)
    return record
  }

  #target(record: TableRecord): TableShape {
    this.#find(record)
    return this.#options.catalog.shapeOf(record.name) as TableShape
  }

  /** Resolves when its indexes are. */
  async #filled(record: TableRecord): Promise<void> {
    const isFilled = (): boolean => this.#find(record).indexes.every(({ status }) => status === 'ACTIVE')
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        try {
          if (!isFilled()) return
          resolve()
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
        end()
        this.#looking.delete(look)
      }
      const end = this.#options.catalog.onChanged(look)
      this.#looking.add(look)
      look()
    })
  }

  async #giveUp(tables: readonly LoadedTable[]): Promise<void> {
    const { catalog, runtime, onError } = this.#options
    const remove = (draft: CatalogDraft): void => {
      for (const { record } of tables) {
        const found = draft.find(record.name)
        if (found?.id === record.id) draft.remove(found)
      }
    }
    await persistently(() => catalog.change(remove), { runtime, closing: this.#closing.signal, onError })
  }
}

function withoutLoading(record: TableRecord): TableRecord {
  const { loading: _, ...rest } = record
  return rest
}
