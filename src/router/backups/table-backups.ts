// Backups of tables, put together: what the operations on them ask for, and what is done behind requests.
//
//   create ------> table-copies: the moment, then the copy ------> backup-list: a file each
//   enable ------> point-in-time: bases, the log held
//   restore -----> table-loads: a backup, or a base and the log --> a table, ACTIVE when it is whole
//
// One pass over the tables for restores to a point in time begins after each change of the catalogue, and once a minute.
import type { CopyKnobs, CopyParts, Fence } from '../../backups/copy-table.js'
import { fence, loggedOf } from '../../backups/copy-table.js'
import { BackupReader } from '../../backups/backup-file.js'
import type { BackupEntry } from '../../backups/backup-frame.js'
import type { MomentRules } from '../../backups/moments.js'
import type { CommitLog } from '../../commit-log/commit-log.js'
import type { CommitRecord } from '../../commit-log/commit-record.js'
import type { StoreSnapshots } from '../../coordinator/snapshots.js'
import type { Timestamp } from '../../model/brand.js'
import { DynamoError } from '../../model/errors.js'
import type { TableShape } from '../../model/table.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { WholeFiles } from '../../runtime/whole-files.js'
import type { StorageNode } from '../../storage/contract/storage-node.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import type { CatalogDraft } from '../tables/catalog/catalog-draft.js'
import { BASE_CAPTURE } from '../tables/catalog/ended-table.js'
import type { TableRecord } from '../tables/record/table-record.js'
import { activeTable, PERIOD_DAYS_MAX, recoverable } from './active-table.js'
import { type BackupAbout, backupIdOf, type BackupInfo, BackupList, fileOf } from './backup-list.js'
import { type EntryPages, PointInTime, type RestoreWindow } from './point-in-time.js'
import { TableCopies } from './table-copies.js'
import { type LoadedTable, TableLoads } from './table-loads.js'

export interface TableBackupsOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly nodeOf: (hash: number) => StorageNode
  readonly catalog: TableCatalog
  readonly snapshots: StoreSnapshots
  readonly log: CommitLog
  /** Where backups are kept, and where the bases of restores to a point in time. */
  readonly files: { readonly backups: WholeFiles; readonly bases: WholeFiles }
  readonly rules?: MomentRules
  readonly knobs?: CopyKnobs
  readonly onError: (error: unknown) => void
}

/** A table that is restored, and the record that it begins with: without items, and not there for requests. */
export interface RestoreTarget {
  readonly source: string
  newRecord(draft: CatalogDraft, source: TableRecord, atMicros: number): TableRecord
}

/** To which moment: that of the newest commit, a time, or that of a transaction. */
export type RestoreMoment =
  | { readonly kind: 'latest' }
  | { readonly kind: 'time'; readonly micros: number }
  | { readonly kind: 'before' | 'after'; readonly transaction: string }

const PASS_EVERY_MS = 60_000
/** As many as DynamoDB allows at once. */
const RESTORES_MAX = 50

export class TableBackups {
  readonly #options: TableBackupsOptions
  readonly #parts: CopyParts
  readonly #copies: TableCopies
  readonly #loads: TableLoads
  readonly #list: BackupList
  readonly #pointInTime: PointInTime
  #cancelTimer: (() => void) | undefined
  #endListening: (() => void) | undefined
  #passing: Promise<void> = Promise.resolve()
  #isWaiting = false
  #isClosed = false

  private constructor(options: TableBackupsOptions) {
    const { catalog, files } = options
    const onError = (error: unknown): void => {
      if (!this.#isClosed) options.onError(error)
    }
    this.#options = options
    this.#parts = options
    const shared = { parts: this.#parts, catalog, onError }
    this.#list = new BackupList(files.backups, onError)
    this.#copies = new TableCopies({ ...shared, onHeld: () => this.#pointInTime.hold() })
    this.#loads = new TableLoads({ ...options, onError })
    this.#pointInTime = new PointInTime({ ...shared, copies: this.#copies, backups: this.#list, files })
  }

  static async open(options: TableBackupsOptions): Promise<TableBackups> {
    const backups = new TableBackups(options)
    await backups.#list.load()
    await backups.#pointInTime.load()
    backups.#endListening = options.catalog.onChanged(() => backups.#wake())
    backups.#wake()
    return backups
  }

  /** The oldest first. */
  all(): readonly BackupInfo[] {
    return this.#list.all()
  }

  find(id: string): BackupInfo | undefined {
    return this.#list.find(id)
  }

  /** As of now; answered before anything is copied. */
  async create(tableName: string, name: string): Promise<BackupInfo> {
    const { runtime, catalog, files } = this.#options
    const createdAtMicros = runtime.clock.nowMicros()
    const id = backupIdOf(createdAtMicros, runtime.randomBytes(4))
    const { record, moment, make } = await this.#copies.begin(id, (draft) => {
      const found = activeTable(draft, tableName)
      if ((found.captures ?? []).some((capture) => !capture.startsWith(BASE_CAPTURE))) throw inUse(tableName)
      return found
    })
    const { items, bytes } = await catalog.count(record.space)
    const { captures: _, ...table } = record
    const about: BackupAbout = {
      id,
      name,
      type: 'USER',
      createdAtMicros,
      at: moment.at,
      table,
      items,
      itemsBytes: bytes,
    }
    const info: BackupInfo = { ...about, status: 'CREATING' }
    this.#list.put(info)
    void make({ files: files.backups, name: fileOf(about), about }).then((isMade) => {
      if (isMade) this.#list.put({ ...about, status: 'AVAILABLE' })
      else this.#list.forget(id)
    })
    return info
  }

  async remove(info: BackupInfo): Promise<BackupInfo> {
    if (info.status === 'CREATING' || this.#list.isRead(info)) throw inUse(info.table.name)
    await this.#list.remove(info)
    return { ...info, status: 'DELETED' }
  }

  /** Answered once the table is there as CREATING. */
  async restoreBackup(info: BackupInfo, target: Omit<RestoreTarget, 'source'>): Promise<TableRecord> {
    if (info.status === 'CREATING') throw inUse(info.table.name)
    this.#checkRestores(1)
    const endRead = this.#list.beginRead(info)
    try {
      const record = await this.#options.catalog.change((draft) =>
        draft.put(target.newRecord(draft, info.table, info.at)),
      )
      void this.#loads.run([{ record, entries: () => this.entriesOf(info) }]).finally(endRead)
      return record
    } catch (error) {
      endRead()
      throw error
    }
  }

  /** What a backup holds, in the order in which it is applied to an empty table. */
  async *entriesOf(info: BackupInfo): AsyncGenerator<readonly BackupEntry[], void, undefined> {
    const reader = await BackupReader.open<BackupAbout>(this.#options.files.backups, fileOf(info))
    try {
      yield* reader.read()
    } finally {
      await reader.close()
    }
  }

  /** From now on the table can be restored to any moment of that many days; its first moment is known when it resolves. */
  async enable(tableName: string, periodDays: number | undefined): Promise<void> {
    const { catalog, log, runtime } = this.#options
    await log.begin()
    const isNew = await catalog.change((draft) => {
      const record = activeTable(draft, tableName)
      const before = record.pointInTime
      const days = periodDays ?? before?.periodDays ?? PERIOD_DAYS_MAX
      const enabledAtMicros = before?.enabledAtMicros ?? runtime.clock.nowMicros()
      if (days !== before?.periodDays)
        draft.put({ ...record, pointInTime: { periodDays: days, enabledAtMicros } })
      return before === undefined
    })
    if (isNew) await this.#pointInTime.begin(tableName)
  }

  async disable(tableName: string): Promise<void> {
    await this.#options.catalog.change((draft) => {
      const { pointInTime, ...record } = activeTable(draft, tableName)
      if (pointInTime !== undefined) draft.put(record)
    })
    await this.#pass()
  }

  windowOf(record: TableRecord): RestoreWindow | undefined {
    return this.#pointInTime.windowOf(record)
  }

  /** What can be read of the past of a table, up to now. Throws as a restore does. */
  async past(tableName: string): Promise<TablePast> {
    const { catalog } = this.#options
    const source = recoverable(catalog, tableName)
    const complete = await fence(this.#parts, [catalog.shapeOf(tableName) as TableShape])
    const { release } = this.#pointInTime.keepAll(source)
    return {
      release,
      earliestMicros: Math.ceil(this.#pointInTime.windowOf(source)?.earliestMicros ?? complete.at),
      at: (to) => {
        const way = this.#pointInTime.wayTo(source, to, complete)
        if (way === undefined || to > complete.at)
          throw outOfWindow(source, this.#pointInTime.windowOf(source))
        return {
          items: () => this.#pointInTime.itemsOf(way),
          changes: () => this.#pointInTime.changesOf(way),
        }
      },
      commitsFrom: async (from) =>
        loggedOf(this.#parts, {
          space: source.space,
          from: await this.#parts.log.numberAt(from),
          upTo: complete.upTo,
        }),
    }
  }

  /** All of them as of the same moment, and there for requests together. Answered once they are there as CREATING. */
  async restoreTo(moment: RestoreMoment, targets: readonly RestoreTarget[]): Promise<RestoredTables> {
    this.#checkRestores(targets.length)
    const { at, tables, release } = await this.readAt(
      moment,
      targets.map(({ source }) => source),
    )
    try {
      const loaded = await this.#create(
        targets.map((target, place) => ({ target, ...(tables[place] as TableAt) })),
        at,
      )
      void this.#loads.run(loaded).finally(release)
      return { records: loaded.map(({ record }) => record), at }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Tables of another store, which are read as they are taken in. Resolves when they are there, or have failed, which was told. */
  async takeIn(
    tables: readonly (TableAt & { readonly target: Omit<RestoreTarget, 'source'> })[],
    at: Timestamp,
  ): Promise<void> {
    await this.#loads.run(await this.#create(tables, at))
  }

  async #create(
    tables: readonly (TableAt & { readonly target: Omit<RestoreTarget, 'source'> })[],
    at: Timestamp,
  ): Promise<readonly LoadedTable[]> {
    return this.#options.catalog.change((draft) =>
      tables.map(({ source, target, entries }) => ({
        record: draft.put(target.newRecord(draft, source, at)),
        entries,
      })),
    )
  }

  /** Tables as they were at one moment, to be read as often as it is of use, and then let go. */
  async readAt(moment: RestoreMoment, names: readonly string[]): Promise<TablesAt> {
    const { catalog } = this.#options
    const sources = names.map((name) => recoverable(catalog, name))
    const shapes = sources.map(({ name }) => catalog.shapeOf(name) as TableShape)
    const complete = await fence(this.#parts, shapes)
    const to = await this.#momentOf(moment, sources, complete)
    const ways = sources.map((source) => {
      const window = this.#pointInTime.windowOf(source)
      const way = this.#pointInTime.wayTo(source, to, complete)
      if (way === undefined || window === undefined || to < window.earliestMicros || to > complete.at)
        throw outOfWindow(source, window)
      return way
    })
    const kept = ways.map((way) => this.#pointInTime.keep(way))
    const tables = sources.map((source, place): TableAt => {
      const { entries } = kept[place] as (typeof kept)[number]
      return { source, entries }
    })
    return {
      at: to,
      tables,
      release: () => {
        for (const { release } of kept) release()
      },
    }
  }

  async #momentOf(
    moment: RestoreMoment,
    sources: readonly TableRecord[],
    complete: Fence,
  ): Promise<Timestamp> {
    if (moment.kind === 'latest') return complete.at
    if (moment.kind === 'time') return Math.floor(moment.micros) as Timestamp
    for (const { space } of sources) {
      for await (const records of loggedOf(this.#parts, { space, from: 1, upTo: complete.upTo })) {
        const found = records.find(({ tx }) => tx === moment.transaction)
        // Timestamps are whole: between it and the one before there is no commit.
        if (found !== undefined) return (found.timestamp - (moment.kind === 'before' ? 1 : 0)) as Timestamp
      }
    }
    throw new DynamoError(
      'ResourceNotFoundException',
      `Requested resource not found: Transaction: ${moment.transaction} has changed none of these tables since they can be restored`,
    )
  }

  #checkRestores(more: number): void {
    if (this.#loads.running + more <= RESTORES_MAX) return
    throw new DynamoError(
      'LimitExceededException',
      `Subscriber limit exceeded: Only ${RESTORES_MAX} tables can be restored at the same time`,
    )
  }

  #wake(): void {
    if (this.#isClosed || this.#isWaiting) return
    this.#isWaiting = true
    this.#options.runtime.defer(() => {
      this.#isWaiting = false
      if (!this.#isClosed) void this.#pass()
    })
  }

  #pass(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#passing = this.#passing
      .then(async () => {
        if (this.#isClosed || !(await this.#pointInTime.hasWork())) return
        await this.#pointInTime.pass()
        this.#cancelTimer ??= this.#options.runtime.clock.timer(PASS_EVERY_MS, () => {
          this.#cancelTimer = undefined
          void this.#pass()
        })
      })
      .catch((error: unknown) => this.#options.onError(error))
    return this.#passing
  }

  /** Resolves when backups are made, tables restored, and what is due done. */
  async idle(): Promise<void> {
    await this.#pass()
    await this.#pointInTime.idle()
    await this.#copies.idle()
    await this.#loads.idle()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#endListening?.()
    this.#cancelTimer?.()
    await this.#copies.close()
    await this.#loads.close()
    await this.#passing
    this.#cancelTimer?.()
  }
}

/** A table as it was at some moment. */
export interface TableAt extends Pick<LoadedTable, 'entries'> {
  readonly source: TableRecord
}

export interface TablesAt {
  readonly at: Timestamp
  readonly tables: readonly TableAt[]
  /** What they are read from is needed no more. */
  readonly release: () => void
}

export interface TablePast {
  readonly earliestMicros: number
  /** What it is read from is needed no more. */
  readonly release: () => void
  /** The table as of the moment: items, each key once, and what is applied to them, in its order. */
  readonly at: (to: Timestamp) => { readonly items: () => EntryPages; readonly changes: () => EntryPages }
  /** Commits on the table; all with that timestamp or a later one are among them. */
  commitsFrom(from: Timestamp): Promise<AsyncGenerator<readonly CommitRecord[], void, undefined>>
}

export interface RestoredTables {
  readonly records: readonly TableRecord[]
  readonly at: Timestamp
}

const inUse = (tableName: string): DynamoError =>
  new DynamoError(
    'BackupInUseException',
    `There is another ongoing conflicting backup control plane operation on the table: ${tableName}`,
  )

function outOfWindow({ name }: TableRecord, window: RestoreWindow | undefined): DynamoError {
  const told =
    window === undefined
      ? 'it has no moment yet to which it can be restored'
      : `EarliestRestorableDateTime is ${window.earliestMicros / 1e6}, LatestRestorableDateTime is ${window.latestMicros / 1e6}`
  return new DynamoError(
    'InvalidRestoreTimeException',
    `The moment is outside of the restorable window of table '${name}': ${told}`,
  )
}
