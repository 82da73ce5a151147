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
import type { TableCatalog } from '../tables/catalog.js'
import { BASE_CAPTURE, decodeEndedTable, ENDED_TABLE_PREFIX, type EndedTable } from '../tables/ended-table.js'
import type { TableRecord } from '../tables/table-record.js'
import { type Base, baseDue, baseFile, baseIn, DAY_MICROS } from './bases.js'
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

const SYSTEM_BACKUP_DAYS = 35
const PASSING = { name: 'passing' } as const
const SEED_BYTES = 4

export class PointInTime {
  readonly #options: PointInTimeOptions
  /** By the id of the table; the oldest first. */
  readonly #bases = new Map<string, Base[]>()
  /** Those whose moment is being looked for, by the id of the table. */
  readonly #beginning = new Map<string, Promise<void>>()
  /** Those that are being made. */
  readonly #making = new Map<string, { readonly base: Base; readonly made: Promise<boolean> }>()
  /** What the log had of a table when its newest base was made. */
  readonly #loggedBefore = new Map<string, number>()
  /** Moments that restores need. */
  readonly #reading = new Map<object, Base>()
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
    const { parts, copies, catalog, files } = this.#options
    const { id: tableId, space } = catalog.record(name)
    const { record, moment, make } = await copies.begin(`${BASE_CAPTURE}${++this.#captures}`, (draft) =>
      draft.record(name),
    )
    if (record.id !== tableId) return
    const base: Base = { tableId, since: moment.at, ...moment }
    const logged = parts.log.bytesOf(space)
    const made = make({ files: files.bases, name: baseFile(base), about: { table: record } }).then(
      (isMade) => {
        this.#making.delete(tableId)
        if (!isMade) return false
        this.#add(base)
        this.#loggedBefore.set(tableId, logged)
        return true
      },
    )
    this.#making.set(tableId, { base, made })
  }

  /** Undefined: there is no moment yet to which it can be restored. */
  windowOf({ id, pointInTime }: TableRecord): RestoreWindow | undefined {
    const oldest = this.#usable(id)[0]
    if (pointInTime === undefined || oldest === undefined) return undefined
    const nowMicros = this.#options.parts.runtime.clock.nowMicros()
    const earliestMicros = Math.max(oldest.at, nowMicros - pointInTime.periodDays * DAY_MICROS)
    return { earliestMicros, latestMicros: Math.max(nowMicros, earliestMicros) }
  }

  /** Bases behind which the log is whole, and the one that is being made. */
  #usable(tableId: string): readonly Base[] {
    const making = this.#making.get(tableId)?.base
    const bases = this.#bases.get(tableId) ?? []
    const { lostUpTo } = this.#options.parts.log
    return (making === undefined ? bases : [...bases, making]).filter(({ since }) => since >= lostUpTo)
  }

  /** `complete`: up to which the log is complete for the table. Undefined: the moment is before every base. */
  wayTo({ id, space }: TableRecord, to: Timestamp, complete: Fence): Way | undefined {
    const bases = this.#usable(id)
    const { rules = momentRules } = this.#options.parts
    const base = rules.baseFor(bases, to)
    if (base === undefined) return undefined
    const later = bases.find(({ at }) => at > to)
    return { base, space, to, upTo: later?.upTo ?? complete.upTo }
  }

  /** Everything as of the moment, in the order in which it is applied to an empty table. */
  async *entriesOf(way: Way): AsyncGenerator<readonly BackupEntry[], void, undefined> {
    const { parts, files } = this.#options
    const { rules = momentRules } = parts
    const { base, to } = way
    const key = {}
    this.#reading.set(key, base)
    this.hold()
    try {
      const making = this.#making.get(base.tableId)
      if (making?.base.at === base.at && !(await making.made)) throw new Error('the base was not made')
      const reader = await BackupReader.open(files.bases, baseFile(base))
      try {
        yield* reader.read()
      } finally {
        await reader.close()
      }
      const range = { space: way.space, from: base.first, upTo: way.upTo }
      for await (const records of loggedOf(parts, range))
        yield records.flatMap((record) => rules.redone(record, base.at, to))
    } finally {
      this.#reading.delete(key)
      this.hold()
    }
  }

  /** Does what is due. */
  async pass(): Promise<void> {
    const { catalog, onError } = this.#options
    for (const record of catalog.records()) {
      if (record.pointInTime === undefined || this.#making.has(record.id)) continue
      await this.#see(record).catch(onError)
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
    const newest = this.#usable(id).at(-1)
    if (newest === undefined) return this.begin(name)
    const loggedBytes = parts.log.bytesOf(space) - (this.#loggedBefore.get(id) ?? 0)
    const { bytes: tableBytes } = await catalog.count(space)
    const { baseLoggedBytesMin: loggedBytesMin } = parts.knobs ?? knobs
    const state = { newest, loggedBytes, tableBytes, loggedBytesMin, periodDays: pointInTime.periodDays }
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
    if ([...this.#reading.values()].includes(base)) return true
    await files.bases.rename(baseFile(base), baseFile(next))
    this.#bases.set(
      id,
      (this.#bases.get(id) ?? []).map((each) => (each === base ? next : each)),
    )
    return true
  }

  async #removeOld(): Promise<void> {
    const { catalog, files, backups, parts } = this.#options
    const nowMicros = parts.runtime.clock.nowMicros()
    const periods = new Map(catalog.records().map(({ id, pointInTime }) => [id, pointInTime?.periodDays]))
    for (const [tableId, bases] of this.#bases) {
      const days = periods.get(tableId)
      const needed = days === undefined ? [] : neededBases(bases, nowMicros - days * DAY_MICROS)
      for (const base of bases) {
        if (needed.includes(base) || [...this.#reading.values()].includes(base)) continue
        await files.bases.remove(baseFile(base))
        const left = (this.#bases.get(tableId) ?? []).filter((each) => each !== base)
        if (left.length === 0) this.#bases.delete(tableId)
        else this.#bases.set(tableId, left)
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
      const base = this.#usable(record.id).at(-1)
      if (base !== undefined) await this.#backUpEnded(one, base)
      await home?.writeMeta([{ name: ENDED_TABLE_PREFIX + record.id }])
    }
  }

  async #backUpEnded({ record, items, bytes }: EndedTable, base: Base): Promise<void> {
    const { parts, files, backups } = this.#options
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
      expiresAtMicros: createdAtMicros + SYSTEM_BACKUP_DAYS * DAY_MICROS,
      at: createdAtMicros as Timestamp,
      table: record,
      items,
      itemsBytes: bytes,
    }
    const seed = Buffer.from(runtime.randomBytes(SEED_BYTES)).readUInt32BE()
    const writer = await BackupWriter.begin(files.backups, fileOf(about), { seed, about })
    try {
      for await (const entries of this.entriesOf(way)) await writer.add('redo', entries)
      await writer.finish()
    } catch (error) {
      await writer.abandon().catch(() => undefined)
      throw error
    }
    backups.put({ ...about, status: 'AVAILABLE' })
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
