// The backups of a store: opened by the first request for one, and at the start where there is something to do for them.
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { BACKUPS_BUCKET } from '../buckets/buckets.js'
import { DynamoError } from '../model/errors.js'
import type { TableBackups, TableBackupsOptions } from '../router/backups/table-backups.js'
import { ENDED_TABLE_PREFIX } from '../router/tables/catalog/ended-table.js'
import { wholeFilesIn, wholeFilesInMemory } from '../runtime/whole-files.js'

export type BackupFiles = TableBackupsOptions['files']

export interface StoreBackupsOptions extends Omit<TableBackupsOptions, 'log' | 'files'> {
  readonly log?: TableBackupsOptions['log'] | undefined
  readonly files?: (() => BackupFiles) | undefined
}

/** Backups are kept in a bucket of their own where there are buckets; otherwise in the data folder, or in memory with the rest. */
export function backupFilesOf({ path, buckets }: BackupPlace): BackupFiles {
  const own = path === undefined ? wholeFilesInMemory() : wholeFilesIn(join(path, 'backups'))
  return {
    bases: own,
    backups: buckets === undefined ? own : wholeFilesIn(join(buckets, BACKUPS_BUCKET), ownerOf(path)),
  }
}

/** Of what is being written: other stores may write into the same bucket. */
const ownerOf = (path: string | undefined): string =>
  createHash('sha256')
    .update(path === undefined ? `memory ${process.pid}` : resolve(path))
    .digest('hex')
    .slice(0, 12)

interface BackupPlace {
  readonly path?: string | undefined
  readonly buckets?: string | undefined
}

export class StoreBackups {
  readonly #options: StoreBackupsOptions
  #opened: Promise<TableBackups> | undefined

  constructor(options: StoreBackupsOptions) {
    this.#options = options
  }

  /**
   * Where a table can be restored to a point in time, or one that could be was deleted, there is work without a request. The log lets go
   * of nothing before it knows what is needed.
   */
  async begin(): Promise<void> {
    const { catalog, nodes } = this.#options
    const isLeft = catalog.records().some(({ pointInTime }) => pointInTime !== undefined)
    if (isLeft || ((await nodes[0]?.readMeta(ENDED_TABLE_PREFIX)) ?? []).length > 0) await this.open()
    else this.#options.log?.holdFrom(undefined)
  }

  open(): Promise<TableBackups> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  async #open(): Promise<TableBackups> {
    const { log, files, ...options } = this.#options
    if (log === undefined || files === undefined)
      throw new DynamoError(
        'ContinuousBackupsUnavailableException',
        'Backups have not been enabled for this store: its nodes keep no log of commits',
      )
    const { TableBackups: Backups } = await import('../router/backups/table-backups.js')
    return Backups.open({ ...options, log, files: files() })
  }

  async idle(): Promise<void> {
    await (await this.#opened)?.idle()
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close()
  }
}
