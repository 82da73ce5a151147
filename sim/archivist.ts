// An operator who takes backups of the table, restores them and other moments, and forgets nothing: through every crash what was
// told to be there stays there, and what is restored is compared with everything that was committed (check/moments.ts).
//
//   back up | restore a backup | restore a moment | read a moment, slowly | drop, remove, disable, enable | look at everything
//
// He stands outside, as the follower of the log does, and draws from a source of his own. He asks for many things at once, and what he
// has asked of a life that has ended he never hears of.
import { TableGone } from '../src/line/errors.js'
import type { BackupEntry } from '../src/backups/backup-frame.js'
import { parseRecord } from '../src/line/record.js'
import type { KeyBytes, Timestamp } from '../src/model/brand.js'
import { knobs } from '../src/model/knobs.js'
import type { Item } from '../src/model/value.js'
import type { BackupInfo } from '../src/router/backups/backup-list.js'
import { baseIn, isOfEnabling } from '../src/router/backups/bases.js'
import { restoredTable } from '../src/router/backups/restored-table.js'
import type { RestoreMoment, RestoreTarget } from '../src/router/backups/table-backups.js'
import type { TableRecord } from '../src/router/tables/record/table-record.js'
import { Random } from '../src/runtime/seeded-random.js'
import { type Archive, mayFail } from './archive.js'
import { judgeView } from './check/views.js'
import type { Restored } from './check/moments.js'
import { imageText } from './history.js'
import type { Machine } from './machine.js'
import type { Life, Surroundings } from './process.js'
import type { Recorder } from './recorder.js'
import { TABLE } from './table.js'

const SOURCE = 6 * 2 ** 32
const PAUSE_MICROS = { min: 500, max: 400_000 }
const READER_PAUSE_MICROS = { min: 1, max: 1_000_000 }
/** In one world. */
const ACTS_MAX = 300
const AT_ONCE_MAX = 5
const TABLES_MAX = 4
const LAST_MOMENTS = 6
const DAYS_MAX = 3

const ACTS = {
  look: 3,
  'back up': 3,
  'restore a backup': 2,
  'restore a moment': 3,
  'read a moment': 5,
  'drop a table': 2,
  'remove a backup': 1,
  enable: 2,
  disable: 0.3,
} as const
type Act = keyof typeof ACTS

/** A table that was restored. */
interface Copy {
  readonly what: string
  readonly id: string
  readonly at: number
  /** What it held when it was first seen. */
  content?: ReadonlyMap<string, string>
}

export class Archivist {
  readonly restored: Restored[] = []
  readonly #machine: Machine
  readonly #around: Surroundings
  readonly #recorder: Recorder
  readonly #random: Random
  #life: Life | undefined
  #atOnce = 0
  #acts = 0
  #names = 0
  /** Backups that were seen, and nobody has asked to remove. */
  readonly #backups = new Map<string, BackupInfo>()
  /** Tables that were seen to be there, and nobody has asked to drop, by name; and those that this life is making. */
  readonly #copies = new Map<string, Copy>()
  readonly #making = new Set<string>()
  /** From this moment on the table could be restored, and nobody has asked to disable that since. */
  #restorableFrom: number | undefined
  #disabling = 0
  readonly #removed = new Set<string>()
  /** Periods pass while the world lives. */
  readonly #areDaysShort: boolean

  constructor(
    machine: Machine,
    around: Surroundings,
    recorder: Recorder,
    { seed, dayMicros }: { readonly seed: number; readonly dayMicros: number },
  ) {
    this.#areDaysShort = dayMicros < knobs.recoveryDayMicros
    this.#machine = machine
    this.#around = around
    this.#recorder = recorder
    this.#random = new Random(seed + SOURCE)
  }

  /** As long as there is trouble. */
  start(): void {
    const { scheduler, trouble } = this.#around
    scheduler.after(this.#random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max), 'archivist', () => {
      if (!trouble.on || this.#acts++ >= ACTS_MAX) return
      this.#act()
      this.start()
    })
  }

  /** At rest: all that there was is there, and some more moments are read. */
  async finish(): Promise<void> {
    const archive = this.#machine.archive
    if (archive === undefined) return this.#found('no-archive', 'the machine is up without its backups')
    this.#meet(archive)
    await archive.backups.idle()
    await this.#done(archive, 'look', this.#look(archive))
    for (const info of this.#backups.values())
      await this.#done(archive, 'restore a backup', this.#readBackup(archive, info))
    for (let n = 0; n < LAST_MOMENTS; n++)
      await this.#done(archive, 'read a moment', this.#readMoment(archive))
  }

  #act(): void {
    const archive = this.#machine.archive
    if (archive === undefined) return
    if (this.#meet(archive)) return void this.#done(archive, 'look', this.#look(archive))
    if (this.#atOnce >= AT_ONCE_MAX) return
    const act = this.#drawn()
    void this.#done(archive, act, this.#does(act, archive))
  }

  /** Whether this life is a new one. */
  #meet({ life, catalog }: Archive): boolean {
    if (life === this.#life) return false
    this.#life = life
    this.#atOnce = 0
    this.#disabling = 0
    this.#making.clear()
    for (const { name, loading } of catalog.records())
      if (loading !== undefined) this.#found('half-table', `${name} is there after a start, and not whole`)
    return true
  }

  #drawn(): Act {
    const all = Object.entries(ACTS) as [Act, number][]
    let left = this.#random.below(1e6) * (all.reduce((sum, [, weight]) => sum + weight, 0) / 1e6)
    return all.find(([, weight]) => (left -= weight) < 0)?.[0] ?? 'look'
  }

  #does(act: Act, archive: Archive): Promise<void> {
    switch (act) {
      case 'look':
        return this.#look(archive)
      case 'back up':
        return this.#backUp(archive)
      case 'restore a backup':
        return this.#restoreBackup(archive)
      case 'restore a moment':
        return this.#restoreMoment(archive)
      case 'read a moment':
        return this.#readMoment(archive)
      case 'drop a table':
        return this.#dropTable(archive)
      case 'remove a backup':
        return this.#removeBackup(archive)
      case 'enable':
        return archive.backups.enable(TABLE.name, this.#random.between(1, DAYS_MAX))
      case 'disable':
        return this.#disable(archive)
    }
  }

  async #done({ life }: Archive, act: Act, done: Promise<void>): Promise<void> {
    const { tally } = this.#around
    this.#atOnce++
    try {
      await done
      if (life.alive) tally.add('backups/', act)
    } catch (error) {
      // Of a life that has ended nothing counts.
      if (!life.alive) return
      const failure = error instanceof Error ? error : new Error(String(error))
      tally.add('backups/refused ', `${act}: ${failure.name}`)
      if (!REFUSALS.has(failure.name) && !mayFail(failure))
        this.#found('backup-error', `${act}: ${failure.stack ?? String(failure)}`)
    } finally {
      if (life === this.#life) this.#atOnce--
    }
  }

  /** Everything that was there is there, and is what it was. */
  async #look(archive: Archive): Promise<void> {
    const { backups, catalog, files, life } = archive
    for (const [id, { at }] of this.#backups)
      if (backups.find(id)?.at !== at) this.#found('backup-lost', `the backup ${id} is gone`)
    for (const info of backups.all())
      if (info.status === 'AVAILABLE' && !this.#removed.has(info.id)) this.#backups.set(info.id, info)
    for (const [name, copy] of this.#copies) {
      const record = catalog.find(name)
      if (record?.id !== copy.id || record.loading !== undefined)
        this.#found('table-lost', `${name}, ${copy.what}, is gone`)
      else
        await this.#seen(archive, record, copy).catch((error: unknown) => {
          // Dropped by this operator while it looked.
          const isDropped = !this.#copies.has(name) || catalog.find(name)?.id !== copy.id
          if (!(error instanceof TableGone && isDropped)) throw error
        })
    }
    this.#judgeWindow(archive)
    const table = catalog.find(TABLE.name)
    const bases = (await files.list()).flatMap((file) => baseIn(file) ?? [])
    if (!life.alive || table === undefined || this.#disabling > 0) return
    for (const base of bases)
      if (base.tableId === table.id && isOfEnabling(base, table)) this.#restorableFrom ??= base.at
  }

  /** Once the table could be restored, it can be until somebody disables that. */
  #judgeWindow({ backups, catalog, life }: Archive): void {
    const from = this.#restorableFrom
    const record = catalog.find(TABLE.name)
    if (from === undefined || record === undefined || !life.alive) return
    const window = backups.windowOf(record)
    if (window === undefined) return this.#found('window-lost', `it could be restored from ${from} on`)
    if (window.earliestMicros > from && !this.#areDaysShort)
      this.#found('window-shrunk', `from ${from} to ${window.earliestMicros}`)
  }

  async #disable({ backups, life }: Archive): Promise<void> {
    this.#restorableFrom = undefined
    this.#disabling++
    await backups.disable(TABLE.name).finally(() => {
      if (life === this.#life) this.#disabling--
    })
  }

  async #backUp(archive: Archive): Promise<void> {
    const { backups } = archive
    await backups.create(TABLE.name, 'a backup')
  }

  async #restoreBackup(archive: Archive): Promise<void> {
    const infos = archive.backups.all().filter(({ status }) => status === 'AVAILABLE')
    if (infos.length === 0 || this.#making.size + this.#copies.size >= TABLES_MAX) return
    const info = this.#random.pick(infos)
    if (this.#random.chance(0.5)) return this.#readBackup(archive, info)
    const name = this.#newName()
    const record = await archive.backups.restoreBackup(info, target(archive, name))
    this.#becomes(archive, record, { what: `the backup ${info.id}`, at: info.at })
  }

  async #restoreMoment(archive: Archive): Promise<void> {
    if (this.#making.size + this.#copies.size >= TABLES_MAX) return
    const moment = await this.#moment(archive)
    if (moment === undefined) return
    const name = this.#newName()
    const restored = await this.#inWindow(archive, moment, () =>
      archive.backups.restoreTo(moment, [{ source: TABLE.name, ...target(archive, name) }]),
    )
    if (restored === undefined || !archive.life.alive) return
    const [record] = restored.records
    this.#becomes(archive, record!, { what: `a restore (${moment.kind})`, at: restored.at })
  }

  /** It is looked at once it is there. */
  #becomes(archive: Archive, { name, id }: TableRecord, copy: Pick<Copy, 'what' | 'at'>): void {
    const { catalog, life } = archive
    const seen = (): void => {
      const record = catalog.find(name)
      if (record?.id === id && record.loading !== undefined) return
      end()
      this.#making.delete(name)
      // One that has failed is told of where the machine reports its errors.
      if (!life.alive || record?.id !== id) return
      const made: Copy = { ...copy, id }
      this.#copies.set(name, made)
      void this.#done(archive, 'look', this.#seen(archive, record, made))
    }
    if (!life.alive) return
    this.#making.add(name)
    const end = catalog.onChanged(seen)
    seen()
  }

  /** What the table holds: the same whenever it is looked at, and on each node in whichever way. */
  async #seen({ nodes, catalog, life }: Archive, record: TableRecord, copy: Copy): Promise<void> {
    const content = new Map<string, string>()
    for (const node of nodes) {
      const { entries } = await node.range({
        space: record.space,
        from: '' as KeyBytes,
        reverse: false,
        entriesMax: Infinity,
        bytesMax: Infinity,
      })
      for (const entry of entries) addTo(content, parseRecord(entry.record))
    }
    if (!life.alive || catalog.find(record.name)?.id !== copy.id) return
    for (const { name, log } of this.#machine.nodes) {
      const shape = catalog.shapeOf(record.name)
      const view = log.view('decided')
      if (shape === undefined || view === undefined) continue
      for (const { kind, explanation } of judgeView(`${name} of ${record.name}`, shape, view, []))
        this.#found(kind, explanation)
    }
    if (copy.content === undefined) {
      copy.content = content
      this.#remember(copy.what, copy.at, content)
    } else if (textOf(copy.content) !== textOf(content))
      this.#found('copy-changed', `${record.name}, ${copy.what}, is not what it was`)
  }

  async #readMoment(archive: Archive): Promise<void> {
    const moment = await this.#moment(archive)
    if (moment === undefined) return
    const read = await this.#inWindow(archive, moment, () => archive.backups.readAt(moment, [TABLE.name]))
    if (read === undefined) return
    const [table] = read.tables
    const content = await this.#applied(table!.entries()).finally(read.release)
    if (archive.life.alive) this.#remember(`what was read (${moment.kind})`, read.at, content)
  }

  async #readBackup(archive: Archive, info: BackupInfo): Promise<void> {
    const content = await this.#applied(archive.backups.entriesOf(info)).catch((error: unknown) => {
      // He has asked to remove it himself meanwhile.
      if (!this.#removed.has(info.id)) throw error
    })
    if (content !== undefined && archive.life.alive) this.#remember(`the backup ${info.id}`, info.at, content)
  }

  /** In the order in which a restore applies them, and sometimes slowly. */
  async #applied(entries: AsyncIterable<readonly BackupEntry[]>): Promise<ReadonlyMap<string, string>> {
    const { scheduler } = this.#around
    const content = new Map<string, string>()
    const isSlow = this.#random.chance(0.5)
    const { min, max } = READER_PAUSE_MICROS
    for await (const some of entries) {
      for (const { kind, text } of some) {
        const item = JSON.parse(Buffer.from(text).toString()) as Item
        if (kind === 'put') addTo(content, item)
        else content.delete(nameIn(item))
      }
      if (isSlow && this.#around.trouble.on)
        await new Promise<void>((resolve) => {
          scheduler.after(this.#random.skewed(min, max), 'archivist reads', resolve)
        })
    }
    return content
  }

  /** A moment of the window as it is now, most often one at which something was committed, or just before it. */
  async #moment({ backups, catalog, log }: Archive): Promise<RestoreMoment | undefined> {
    const random = this.#random
    const record = catalog.find(TABLE.name)
    const window = record && backups.windowOf(record)
    if (window === undefined) return undefined
    const { earliestMicros, latestMicros } = window
    if (random.chance(0.1)) return { kind: 'latest' }
    if (random.chance(0.7)) {
      const from = random.between(Math.min(log.first, log.last), log.last)
      const { records } = await log.read({ from: Math.max(from, log.first), recordsMax: 1, bytesMax: 1 })
      const [commit] = records
      const at = commit?.timestamp
      if (at !== undefined && at > earliestMicros && at <= latestMicros) {
        if (commit?.tx !== undefined && random.chance(0.3))
          return { kind: random.pick(['before', 'after']), transaction: commit.tx }
        return { kind: 'time', micros: at - random.below(2) }
      }
    }
    return { kind: 'time', micros: random.between(Math.ceil(earliestMicros), Math.floor(latestMicros)) }
  }

  /** Refused: only if the moment has left the window since it was drawn. */
  async #inWindow<Result>(
    { backups, catalog, life }: Archive,
    moment: RestoreMoment,
    ask: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await ask()
    } catch (error) {
      if ((error as Error).name !== 'InvalidRestoreTimeException' || !life.alive) throw error
      const record = catalog.find(TABLE.name)
      const window = record && backups.windowOf(record)
      // Where days are short the window moves on, and is moved back by a longer period, all the time.
      const isInside =
        moment.kind === 'time' &&
        !this.#areDaysShort &&
        window !== undefined &&
        moment.micros >= window.earliestMicros &&
        moment.micros <= window.latestMicros
      if (isInside) this.#found('moment-refused', `${moment.micros}: ${(error as Error).message}`)
      this.#around.tally.add('backups/moment was gone')
      return undefined
    }
  }

  async #dropTable({ catalog }: Archive): Promise<void> {
    const names = [...this.#copies.keys()]
    if (names.length === 0) return
    const name = this.#random.pick(names)
    this.#copies.delete(name)
    await catalog.change((draft) => {
      const found = draft.find(name)
      if (found !== undefined) draft.remove(found)
    })
  }

  async #removeBackup({ backups, life }: Archive): Promise<void> {
    const ids = [...this.#backups.keys()]
    const info = ids.length === 0 ? undefined : backups.find(this.#random.pick(ids))
    if (info === undefined) return
    this.#removed.add(info.id)
    this.#backups.delete(info.id)
    await backups.remove(info)
    if (life.alive && backups.find(info.id) !== undefined)
      this.#found('backup-left', `the backup ${info.id} was removed, and is there`)
  }

  #remember(what: string, at: Timestamp | number, content: ReadonlyMap<string, string>): void {
    this.#around.tally.add('backups/compared')
    this.restored.push({ what, at, content })
  }

  #newName(): string {
    return `copy-${this.#names++}`
  }

  #found(kind: string, explanation: string): void {
    this.#recorder.found.add(kind, explanation)
  }
}

/** What requests are refused with that come at a bad moment. */
const REFUSALS = new Set([
  'BackupInUseException',
  'PointInTimeRecoveryUnavailableException',
  'ResourceNotFoundException',
  'LogTrimmed',
])

const target = ({ life }: Archive, targetName: string): Omit<RestoreTarget, 'source'> => ({
  newRecord: (draft, source, atMicros) =>
    restoredTable(draft, life, {
      targetName,
      source,
      overrides: {},
      from: { tableName: source.name, atMicros },
    }),
})

function addTo(content: Map<string, string>, item: Item): void {
  content.set(nameIn(item), imageText(item))
}

function nameIn(item: Item): string {
  const { id } = item
  if (id === undefined || !('S' in id)) throw new Error(`an item without its key: ${JSON.stringify(item)}`)
  return id.S
}

const textOf = (content: ReadonlyMap<string, string>): string =>
  JSON.stringify([...content].toSorted(([one], [other]) => (one < other ? -1 : 1)))
