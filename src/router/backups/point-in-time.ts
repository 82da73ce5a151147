// Tables that can be restored to any moment of the last days, and what is done for them behind requests.
//
//   a pass:  tables without a base, or with one that is due --> a base
//            bases that no moment of the period needs       --> removed
//            deleted tables                                  --> a backup of their last state, from base and log alone
//            the log is held from the oldest moment on that any of this needs
import { BackupReader, BackupWriter } from '../../backups/backup-file.js'
import type { BackupEntry } from '../../backups/backup-frame.js'
import { type CopyParts, type Fence, fence, loggedOf } from '../../backups/copy-table.js'
import { momentRules, neededBases } from '../../backups/moments.js'
import type { SpaceId, Timestamp } from '../../model/brand.js'
import { knobs } from '../../model/knobs.js'
import type { WholeFiles } from '../../runtime/whole-files.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import {
  BASE_CAPTURE,
  decodeEndedTable,
  ENDED_TABLE_PREFIX,
  type EndedTable,
} from '../tables/catalog/ended-table.js'
import type { TableRecord } from '../tables/record/table-record.js'
import { recoverable } from './active-table.js'
import { type Base, baseDue, baseFile, baseIn, isOfEnabling } from './bases.js'
import { type BackupAbout, backupIdOf, fileOf, type BackupList } from './backup-list.js'
import type { TableCopies } from './table-copies.js'

export interface PointInTimeOptions {
  readonly parts: CopyParts
  readonly catalog: TableCatalog
  readonly copies: TableCopies
  readonly backups: BackupList
  readonly files: { readonly bases: WholeFiles; readonly backups: WholeFiles }
  readonly onError: (error: unknown) => void
}

/** The first and the last moment to which a table can be restored. */
export interface RestoreWindow {
  readonly earliestMicros: number
  readonly latestMicros: number
}

/** How to come to a moment: a base, and a part of the log. */
export interface Way {
  readonly base: Base
  readonly space: SpaceId
  readonly to: Timestamp
  /** Number of the last record that may be at or below the moment. */
  readonly upTo: number
}

/** A way that stays open until it is let go: its base and its part of the log are kept. */
export interface KeptWay {
  /** Everything as of the moment, in the order in which it is applied to an empty table. */
  readonly entries: () => EntryPages
  readonly release: () => void
}

export type EntryPages = AsyncGenerator<readonly BackupEntry[], void, undefined>

const SYSTEM_BACKUP_DAYS = 35
const PASSING = { name: 'passing' } as const
const SEED_BYTES = 4

export class PointInTime {
  readonly #options: PointInTimeOptions
  /** By the id of the table; the oldest first. */
  readonly #bases = new Map<string, Base[]>()
  /** Those whose moment is being looked for, by the id of the table. */
  readonly #beginning = new Map<string, Promise<void>>()
  /** The newest of those that are being made. */
  readonly #making = new Map<string, { readonly base: Base; readonly made: Promise<boolean> }>()
  /** What the log had of a table when its newest base was made. */
  readonly #loggedBefore = new Map<string, number>()
  /** Bases of ways that are kept, as they are called now. */
  readonly #reading = new Map<object, Base>()
  /** By the id of the table. */
  readonly #renaming = new Map<string, Promise<void>>()
  #captures = 0

  constructor(options: PointInTimeOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    const { files } = this.#options
    await files.bases.sweep()
    for (const base of (await files.bases.list()).map(baseIn)) if (base !== undefined) this.#add(base)
    this.hold()
  }

  #add(base: Base): void {
    const bases = [...(this.#bases.get(base.tableId) ?? []), base]
    this.#bases.set(
      base.tableId,
      bases.toSorted((one, other) => one.at - other.at),
    )
  }

  /** Begins a base: resolves when its moment is known, which is before anything is copied. */
  begin(name: string): Promise<void> {
    const { id } = this.#options.catalog.record(name)
    // A request and a pass may find at the same time that there is none.
    const begun = this.#beginning.get(id) ?? this.#begin(name).finally(() => this.#beginning.delete(id))
    this.#beginning.set(id, begun)
    return begun
  }

  async #begin(name: string): Promise<void> {
    const { parts, copies, files } = this.#options
    const { record, moment, make } = await copies.begin(`${BASE_CAPTURE}${++this.#captures}`, (draft) =>
      recoverable(draft, name),
    )
    const { id: tableId, pointInTime } = record
    const enabledAtMicros = pointInTime?.enabledAtMicros ?? 0
    const base: Base = { tableId, enabledAtMicros, since: moment.at, ...moment }
    const logged = parts.log.bytesOf(record.space)
    const file = { files: files.bases, name: baseFile(base), about: { table: record } }
    const made: Promise<boolean> = make(file).then((isMade) => {
      // Recovery may have been disabled and enabled meanwhile: then another is on its way.
      if (this.#making.get(tableId)?.made === made) this.#making.delete(tableId)
      if (!isMade) return false
      this.#add(base)
      this.#loggedBefore.set(tableId, logged)
      return true
    })
    this.#making.set(tableId, { base, made })
  }

  /** Undefined: there is no moment yet to which it can be restored. */
  windowOf(record: TableRecord): RestoreWindow | undefined {
    const { pointInTime } = record
    const oldest = this.#usable(record)[0]
    if (pointInTime === undefined || oldest === undefined) return undefined
    const nowMicros = this.#options.parts.runtime.clock.nowMicros()
    const earliestMicros = Math.max(oldest.at, nowMicros - this.#days(pointInTime.periodDays))
    return { earliestMicros, latestMicros: Math.max(nowMicros, earliestMicros) }
  }

  /** Bases behind which the log is whole, and the one that is being made. */
  #usable(record: TableRecord): readonly Base[] {
    const making = this.#making.get(record.id)?.base
    const bases = this.#bases.get(record.id) ?? []
    const { lostUpTo } = this.#options.parts.log
    return (making === undefined ? bases : [...bases, making]).filter(
      (base) => base.since >= lostUpTo && isOfEnabling(base, record),
    )
  }

  /** `complete`: up to which the log is complete for the table. Undefined: the moment is before every base. */
  wayTo(record: TableRecord, to: Timestamp, complete: Fence): Way | undefined {
    const { space } = record
    const bases = this.#usable(record)
    const { rules = momentRules } = this.#options.parts
    const base = rules.baseFor(bases, to)
    if (base === undefined) return undefined
    const later = bases.find(({ at }) => at > to)
    return { base, space, to, upTo: later?.upTo ?? complete.upTo }
  }

  /** From this turn on. */
  keep(way: Way): KeptWay {
    const key = {}
    this.#reading.set(key, way.base)
    this.hold()
    return {
      entries: () => this.entriesOf(way),
      release: () => {
        this.#reading.delete(key)
        this.hold()
      },
    }
  }

  /** The same of all ways that there are to the past of a table. */
  keepAll(record: TableRecord): Pick<KeptWay, 'release'> {
    const keys = this.#usable(record).map((base) => {
      const key = {}
      this.#reading.set(key, base)
      return key
    })
    this.hold()
    return {
      release: () => {
        for (const key of keys) this.#reading.delete(key)
        this.hold()
      },
    }
  }

  /** Under whatever name it has. */
  #isRead({ tableId, at }: Base): boolean {
    return [...this.#reading.values()].some((read) => read.tableId === tableId && read.at === at)
  }

  /** Of a way that is kept: everything as of the moment, in the order in which it is applied to an empty table. */
  entriesOf(way: Way): EntryPages {
    return this.#read(way, (reader) => reader.read(), 'with the log')
  }

  /** The first part of it: items, each key once. */
  itemsOf(way: Way): EntryPages {
    return this.#read(way, (reader) => reader.readItems(), 'without the log')
  }

  /** The rest of it: what is applied to them. */
  changesOf(way: Way): EntryPages {
    return this.#read(way, (reader) => reader.readChanges(), 'with the log')
  }

  async *#read(
    way: Way,
    part: (reader: BackupReader<unknown>) => AsyncIterable<readonly BackupEntry[]>,
    log: 'with the log' | 'without the log',
  ): EntryPages {
    const { parts, files } = this.#options
    const { rules = momentRules } = parts
    const base = await this.#baseOf(way)
    const reader = await BackupReader.open(files.bases, baseFile(base))
    try {
      yield* part(reader)
    } finally {
      await reader.close()
    }
    if (log === 'without the log') return
    const range = { space: way.space, from: base.first, upTo: way.upTo }
    for await (const records of loggedOf(parts, range))
      yield records.flatMap((record) => rules.redone(record, base.at, way.to))
  }

  async #baseOf(way: Way): Promise<Base> {
    const { tableId, at } = way.base
    // When it was kept its base may have been about to be advanced: to a later part of the log, under another name. It is still
    // known by its moment.
    for (let renamed; (renamed = this.#renaming.get(tableId)) !== undefined;) await renamed
    const base = this.#bases.get(tableId)?.find((each) => each.at === at) ?? way.base
    const making = this.#making.get(tableId)
    if (making?.base.at === at && !(await making.made)) throw new Error('the base was not made')
    return base
  }

  /** Does what is due. */
  async pass(): Promise<void> {
    const { catalog, onError } = this.#options
    for (const record of catalog.records()) {
      if (record.pointInTime === undefined || this.#making.has(record.id)) continue
      await this.#see(record).catch((error: unknown) => {
        // It may have been deleted meanwhile, or its recovery disabled.
        const found = catalog.find(record.name)
        if (found?.id === record.id && found.pointInTime !== undefined) onError(error)
      })
    }
    try {
      // What a deleted table leaves is made from its bases: before they go.
      await this.#endedTables()
      await this.#removeOld()
    } catch (error) {
      onError(error)
    }
    this.hold()
  }

  /** Resolves when no base is being made. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#making.values(), ({ made }) => made))
  }

  /** Whether there may be something to do. */
  async hasWork(): Promise<boolean> {
    const { catalog, parts } = this.#options
    if (catalog.records().some(({ pointInTime }) => pointInTime !== undefined) || this.#bases.size > 0)
      return true
    return ((await parts.nodes[0]?.readMeta(ENDED_TABLE_PREFIX)) ?? []).length > 0
  }

  async #see(record: TableRecord): Promise<void> {
    const { catalog, parts } = this.#options
    const { id, name, space, pointInTime } = record
    if (pointInTime === undefined) return
    const newest = this.#usable(record).at(-1)
    if (newest === undefined) return this.begin(name)
    const loggedBytes = parts.log.bytesOf(space) - (this.#loggedBefore.get(id) ?? 0)
    const { bytes: tableBytes } = await catalog.count(space)
    const { baseLoggedBytesMin: loggedBytesMin } = parts.knobs ?? knobs
    const state = {
      newest,
      loggedBytes,
      tableBytes,
      loggedBytesMin,
      periodMicros: this.#days(pointInTime.periodDays),
    }
    const due = baseDue(state, parts.runtime.clock.nowMicros())
    if (due === undefined || (due === 'age' && (await this.#isAdvanced(record, newest)))) return
    await this.begin(name)
  }

  /** A table that has not changed since its base needs no other: the log is needed from a later moment on. */
  async #isAdvanced({ id, name, space }: TableRecord, base: Base): Promise<boolean> {
    const { catalog, parts, files } = this.#options
    const table = catalog.shapeOf(name)
    if (table === undefined) return true
    const now = await fence(parts, [table])
    for await (const records of loggedOf(parts, { space, from: base.first, upTo: now.upTo }))
      if (records.some(({ timestamp }) => timestamp > base.at)) return false
    const next: Base = { ...base, since: now.at, first: now.first }
    if (this.#isRead(base)) return true
    const renamed = files.bases.rename(baseFile(base), baseFile(next)).then(() => {
      this.#bases.set(
        id,
        (this.#bases.get(id) ?? []).map((each) => (each === base ? next : each)),
      )
    })
    // A reader waits for the name that it has then; whether that failed is told here.
    const ended = renamed.catch(() => undefined).finally(() => this.#renaming.delete(id))
    this.#renaming.set(id, ended)
    await renamed
    return true
  }

  async #removeOld(): Promise<void> {
    const { catalog, files, backups, parts } = this.#options
    const nowMicros = parts.runtime.clock.nowMicros()
    const records = new Map(catalog.records().map((record) => [record.id, record]))
    for (const [tableId, bases] of this.#bases) {
      const record = records.get(tableId)
      const days = record?.pointInTime?.periodDays
      const usable = record === undefined ? [] : bases.filter((base) => isOfEnabling(base, record))
      const needed = days === undefined ? [] : neededBases(usable, nowMicros - this.#days(days))
      for (const base of bases) {
        if (needed.includes(base) || this.#isRead(base)) continue
        // First: no way is begun from a base that is going.
        const left = (this.#bases.get(tableId) ?? []).filter((each) => each !== base)
        if (left.length === 0) this.#bases.delete(tableId)
        else this.#bases.set(tableId, left)
        await files.bases.remove(baseFile(base))
      }
    }
    for (const info of backups.all())
      if ((info.expiresAtMicros ?? Infinity) <= nowMicros && !backups.isRead(info)) await backups.remove(info)
  }

  /** Each table that was deleted leaves a backup. If it has no base, it never could be restored. */
  async #endedTables(): Promise<void> {
    const { parts } = this.#options
    const home = parts.nodes[0]
    const ended = ((await home?.readMeta(ENDED_TABLE_PREFIX)) ?? []).map(decodeEndedTable)
    for (const one of ended) {
      const { record } = one
      await this.#making.get(record.id)?.made
      const base = this.#usable(record).at(-1)
      if (base !== undefined) await this.#backUpEnded(one, base)
      await home?.writeMeta([{ name: ENDED_TABLE_PREFIX + record.id }])
    }
  }

  async #backUpEnded({ record, items, bytes }: EndedTable, base: Base): Promise<void> {
    const { parts, backups } = this.#options
    const { runtime, nodes, log } = parts
    // Writes that were called before the table was dropped have passed, and are in the log.
    await Promise.all(nodes.map((node) => node.writeMeta([PASSING])))
    await log.settled()
    const way: Way = { base, space: record.space, to: Number.MAX_SAFE_INTEGER as Timestamp, upTo: log.last }
    const createdAtMicros = runtime.clock.nowMicros()
    const about: BackupAbout = {
      id: backupIdOf(createdAtMicros, runtime.randomBytes(4)),
      name: `${record.name}$DeletedTableBackup`,
      type: 'SYSTEM',
      createdAtMicros,
      expiresAtMicros: createdAtMicros + this.#days(SYSTEM_BACKUP_DAYS),
      at: createdAtMicros as Timestamp,
      table: record,
      items,
      itemsBytes: bytes,
    }
    const kept = this.keep(way)
    try {
      await this.#writeEnded(about, kept.entries())
    } finally {
      kept.release()
    }
    backups.put({ ...about, status: 'AVAILABLE' })
  }

  async #writeEnded(about: BackupAbout, all: AsyncIterable<readonly BackupEntry[]>): Promise<void> {
    const { parts, files } = this.#options
    const seed = Buffer.from(parts.runtime.randomBytes(SEED_BYTES)).readUInt32BE()
    const frameBytes = parts.knobs?.copyFrameBytes
    const writer = await BackupWriter.begin(files.backups, fileOf(about), { seed, about, frameBytes })
    try {
      for await (const entries of all) await writer.add('redo', entries)
      await writer.finish()
    } catch (error) {
      await writer.abandon().catch(() => undefined)
      throw error
    }
  }

  #days(count: number): number {
    return count * (this.#options.parts.knobs?.recoveryDayMicros ?? knobs.recoveryDayMicros)
  }

  /** The log keeps what the oldest bases need, and what is being made and read. */
  hold(): void {
    const { parts, copies } = this.#options
    let from = copies.heldFrom
    for (const { since } of this.#reading.values()) from = Math.min(from, since)
    for (const { base } of this.#making.values()) from = Math.min(from, base.since)
    for (const bases of this.#bases.values()) for (const { since } of bases) from = Math.min(from, since)
    parts.log.holdFrom(from === Infinity ? undefined : (from as Timestamp))
  }
}
