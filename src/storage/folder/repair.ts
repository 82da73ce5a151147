// Makes the index of a node anew from what can be read of its file, and from what follows from it.
//
//   items            as they stand; one flipped bit is turned back; else the image in the journal, if it is still there
//   index entries,   made anew from the items
//   expiry, counts
//   anything else    as it stands, or mended as items are
//
// What cannot be mended stays in the index as it is, so that reading it is an error and not an absence, unless the operator
// says that it may go.
import { checksumOfKeyBytes, unsealed } from '../../ordered-map/checksum.js'
import type { KeyBounds } from '../../ordered-map/lmdb/file/lmdb-check.js'
import { inspectIndexFile } from '../../ordered-map/lmdb/file/lmdb-file.js'
import { APPLIED, ENTRIES, MARK, decodeApplied } from '../../ordered-map/lmdb/file/lmdb-options.js'
import { IndexRebuild } from '../../ordered-map/lmdb/lmdb-rebuild.js'
import { beforeOneFlip } from '../../ordered-map/lmdb/file/one-bit.js'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import type { TableShape } from '../../model/table.js'
import { capitalised, nameOfRecord } from '../items/damage.js'
import { forEachEntry } from '../items/index-entries.js'
import { asBuffer, decodeItemRecord, parseRecord, recordItemBytes } from '../../line/record.js'
import {
  countBounds,
  countKey,
  countSpace,
  encodeCount,
  inSpace,
  itemKeyAt,
  metaBounds,
  metaName,
  spaceOfKey,
} from '../../line/spaces.js'
import type { MetaEntry } from '../contract/storage-node.js'

export interface RepairOptions {
  /** Whose index it is, if that cannot be read. */
  readonly mark?: string
  readonly tables: (meta: readonly Required<MetaEntry>[]) => readonly TableShape[]
  /** The newest image of each of these keys that the journal still has. */
  readonly journalImages: (
    keys: ReadonlySet<KeyBytes>,
  ) => Promise<ReadonlyMap<KeyBytes, Uint8Array | undefined>>
  /** Up to where the index holds everything, if its own word for that is damaged: where the journal begins. */
  readonly journalStart: number
  /** What cannot be mended is left out. */
  readonly dropDamaged: boolean
}

export interface RepairReport {
  /** What was done, a sentence each. */
  readonly done: readonly string[]
  readonly lost: number
}

const META = metaBounds('')

export async function repairIndex(path: string, options: RepairOptions): Promise<RepairReport> {
  const survey = surveyOf(path)
  const tables = options.tables(survey.meta)
  const images = await options.journalImages(new Set(survey.damaged.keys()))
  const rebuild = new IndexRebuild(path)
  try {
    const repair = new Repair(rebuild, tables, options, survey, images)
    let read = survey.damaged.size
    readRecords(path, survey, (key, value) => {
      read++
      repair.take(key, value)
    })
    const missing = survey.entries - read
    if (missing > 0 && !options.dropDamaged)
      throw new Error(
        `${missing} records of the index in ${path} cannot be found; nothing was changed. With --drop-damaged the index is made anew without them`,
      )
    if (missing !== 0) repair.done.push(countedWrongly(path, survey.entries, read))
    repair.finish()
    const kept = await rebuild.finish(survey.appliedUpTo ?? options.journalStart, survey.mark ?? options.mark)
    return {
      done: [...repair.done, `The index in ${path} was made anew; the old file is ${kept}.`],
      lost: repair.lost,
    }
  } catch (error) {
    await rebuild.abandon()
    throw error
  }
}

const countedWrongly = (path: string, counted: number, found: number): string =>
  `The index in ${path} says that it has ${counted} records, and ${found} were found: ${
    found < counted ? 'the others are left out' : 'it was counted wrongly, or old ones were found again'
  }.`

/** What the first look finds. */
interface Survey {
  readonly meta: Required<MetaEntry>[]
  /** Records that their checksum alone does not mend, as they stand. */
  readonly damaged: Map<KeyBytes, Buffer>
  readonly mended: Set<KeyBytes>
  /** Where records may be missing: only there those of lost pages are believed. */
  readonly holes: KeyBounds[]
  /** By transaction: of several lost records the newest counts. */
  readonly found: Map<KeyBytes, number>
  appliedUpTo: number | undefined
  /** Whose index it says it is. */
  mark: string | undefined
  /** As many as there should be. */
  entries: number
}

function surveyOf(path: string): Survey {
  const survey: Survey = {
    meta: [],
    damaged: new Map(),
    mended: new Set(),
    holes: [],
    found: new Map(),
    appliedUpTo: undefined,
    mark: undefined,
    entries: 0,
  }
  const note = (key: KeyBytes, value: Uint8Array): void => {
    survey.damaged.delete(key)
    if (key >= META.from && key < META.to)
      survey.meta.push({ name: metaName(key), value: Buffer.from(value) })
  }
  const isRead = inspectIndexFile(path, {
    isSound,
    entries: (tree, entries) => {
      if (tree === ENTRIES) survey.entries = entries
    },
    found: (_, keys) => survey.holes.push(keys ?? { from: undefined, to: undefined }),
    record: (tree, keyBytes, record) => {
      const key = latin1(keyBytes)
      const sound = soundRecord(key, keyBytes, record)
      if (tree !== ENTRIES) {
        if (key === APPLIED && sound !== undefined)
          survey.appliedUpTo = decodeApplied(sound.record)?.appliedUpTo
        if (key === MARK && sound !== undefined) survey.mark = Buffer.from(sound.value).toString('latin1')
      } else if (sound === undefined) {
        survey.damaged.set(key, Buffer.from(record))
      } else {
        if (sound.isMended) survey.mended.add(sound.key)
        note(sound.key, sound.value)
      }
    },
    lost: (keyBytes, record, transaction) => {
      const key = latin1(keyBytes)
      const sound = soundRecord(key, keyBytes, record)
      if (sound === undefined || sound.isMended || !isInHole(survey, keyBytes)) return
      if (transaction <= (survey.found.get(key) ?? -1)) return
      survey.found.set(key, transaction)
      note(key, sound.value)
    },
  })
  if (!isRead)
    throw new Error(`the index file in ${path} cannot be read at all; restore the data folder from a copy`)
  return survey
}

/** Every record that can be believed, once; those of lost pages last. */
function readRecords(path: string, survey: Survey, take: (key: KeyBytes, value: Buffer) => void): void {
  const seen = new Set<KeyBytes>()
  const isRepeated = survey.holes.length > 0
  inspectIndexFile(path, {
    isSound,
    found: () => undefined,
    record: (tree, keyBytes, record) => {
      const sound = tree === ENTRIES ? soundRecord(latin1(keyBytes), keyBytes, record) : undefined
      if (sound === undefined) return
      if (isRepeated) seen.add(sound.key)
      take(sound.key, asBuffer(sound.value))
    },
    lost: (keyBytes, record, transaction) => {
      const key = latin1(keyBytes)
      if (survey.found.get(key) !== transaction || seen.has(key)) return
      const sound = soundRecord(key, keyBytes, record)
      if (sound === undefined) return
      seen.add(key)
      take(key, asBuffer(sound.value))
    },
  })
}

const isSound = (key: Buffer, record: Buffer): boolean =>
  unsealed(checksumOfKeyBytes(key, 0, key.length), record) !== undefined

function soundRecord(
  key: KeyBytes,
  keyBytes: Buffer,
  record: Buffer,
):
  | {
      readonly key: KeyBytes
      readonly value: Uint8Array
      readonly record: Uint8Array
      readonly isMended: boolean
    }
  | undefined {
  const value = unsealed(checksumOfKeyBytes(keyBytes, 0, keyBytes.length), record)
  if (value !== undefined) return { key, value, record, isMended: false }
  const before = beforeOneFlip(key, record)
  if (before === undefined) return undefined
  const bytes = Buffer.from(before.key, 'latin1')
  const mended = unsealed(checksumOfKeyBytes(bytes, 0, bytes.length), before.record)
  return mended && { key: before.key, value: mended, record: before.record, isMended: true }
}

const isInHole = ({ holes }: Survey, key: Buffer): boolean =>
  holes.some(
    ({ from, to }) =>
      (from === undefined || Buffer.compare(key, from) >= 0) &&
      (to === undefined || Buffer.compare(key, to) < 0),
  )

class Repair {
  readonly done: string[] = []
  lost = 0
  readonly #rebuild: IndexRebuild
  readonly #tables = new Map<SpaceId, TableShape>()
  /** Spaces whose entries follow from items. */
  readonly #derived = new Set<SpaceId>()
  readonly #options: RepairOptions
  readonly #survey: Survey
  readonly #images: ReadonlyMap<KeyBytes, Uint8Array | undefined>
  readonly #counts = new Map<SpaceId, { items: number; bytes: number }>()
  /** Items that stay as they are: the index entries that lead to them stay, too. */
  readonly #unmended = new Set<KeyBytes>()

  constructor(
    rebuild: IndexRebuild,
    tables: readonly TableShape[],
    options: RepairOptions,
    survey: Survey,
    images: ReadonlyMap<KeyBytes, Uint8Array | undefined>,
  ) {
    this.#rebuild = rebuild
    this.#options = options
    this.#survey = survey
    this.#images = images
    for (const table of tables) {
      this.#tables.set(table.space, table)
      for (const { space } of table.indexes) this.#derived.add(space)
      if (table.expiry !== undefined) this.#derived.add(table.expiry.space)
      this.#count(table.space, 0, 0)
      for (const { space } of table.indexes) this.#count(space, 0, 0)
    }
    for (const key of survey.damaged.keys())
      if (!options.dropDamaged && !images.has(key) && this.#tables.has(spaceOfKey(key)))
        this.#unmended.add(key)
    for (const key of survey.mended)
      if (!this.#isDerived(key)) this.#say(key, 'was mended: one bit of it was flipped')
  }

  take(key: KeyBytes, value: Buffer): void {
    const space = spaceOfKey(key)
    const table = this.#tables.get(space)
    if (table !== undefined) {
      this.#item(table, key, value)
    } else if (this.#derived.has(space)) {
      // Made anew, but for those of items that cannot be read.
      for (const [each] of this.#tables) {
        if (!this.#unmended.has(inSpace(each, value.toString('latin1') as KeyBytes))) continue
        this.#rebuild.put(key, value)
        this.#count(space, 1, 0)
      }
    } else if (!this.#isDerived(key)) {
      this.#rebuild.put(key, value)
    }
  }

  finish(): void {
    for (const [key, record] of this.#survey.damaged) {
      if (this.#isDerived(key) || this.#rebuild.has(key)) continue
      if (this.#images.has(key)) {
        const image = this.#images.get(key)
        if (image !== undefined) this.take(key, asBuffer(image))
        this.#say(key, 'was restored from the journal')
      } else if (this.#options.dropDamaged) {
        this.lost++
        this.#say(key, 'could not be mended, and was left out')
      } else {
        this.lost++
        this.#rebuild.putDamaged(key, record)
        this.#count(spaceOfKey(key), this.#tables.has(spaceOfKey(key)) ? 1 : 0, 0)
        this.#say(key, 'could not be mended, and stays damaged; with --drop-damaged it is left out')
      }
    }
    for (const [space, count] of this.#counts)
      if (this.#tables.has(space) || this.#derived.has(space))
        this.#rebuild.put(countKey(space), encodeCount(count))
  }

  #item(table: TableShape, key: KeyBytes, value: Buffer): void {
    this.#rebuild.put(key, value)
    const bytes = recordItemBytes(value)
    this.#count(table.space, 1, bytes)
    const base = itemKeyAt(key)
    const item = parseRecord(decodeItemRecord(value))
    forEachEntry(table, base, { old: undefined, new: item }, (space, _, entry) => {
      if (entry === undefined) return
      this.#rebuild.put(inSpace(space, entry), Buffer.from(base.bytes, 'latin1'))
      this.#count(space, 1, bytes)
    })
  }

  /** Index entries, and counts of spaces that are known. */
  #isDerived(key: KeyBytes): boolean {
    if (key >= countBounds.from && key < countBounds.to && key.length === 9)
      return this.#tables.has(countSpace(key)) || this.#derived.has(countSpace(key))
    return this.#derived.has(spaceOfKey(key))
  }

  #count(space: SpaceId, items: number, bytes: number): void {
    const count = this.#counts.get(space) ?? { items: 0, bytes: 0 }
    count.items += items
    count.bytes += bytes
    this.#counts.set(space, count)
  }

  #say(key: KeyBytes, what: string): void {
    this.done.push(`${capitalised(nameOfRecord(key, this.#tables.values()))} ${what}.`)
  }
}

const latin1 = (bytes: Buffer): KeyBytes => bytes.toString('latin1') as KeyBytes
