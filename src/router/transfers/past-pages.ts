// What an export of the past reads: the table as of a moment, or what changed between two, from a base and the log of commits.
//
//   moment:   changes since a base, by key, the last word --> items of the base without those, then those
//   changes:  commits of the time --> by key, the last image and its time --> those that differ from what was before
//
// Changes are put together by key in memory, and there may be more than that: the keys are divided by their hash, and everything is
// read once for each part.
import type { CommitRecord } from '../../commit-log/commit-record.js'
import type { Timestamp } from '../../model/brand.js'
import { asBuffer } from '../../line/record.js'
import { itemKey } from '../../model/key-bytes.js'
import { type ItemKey, keyAttributesOf, type TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { ChangeTexts } from '../../transfer/dynamodb-json.js'
import type { BackupEntry } from '../../backups/backup-frame.js'
import type { TablePast } from '../backups/table-backups.js'
import type { ExportPage } from './export-job.js'
import type { ExportWindow } from '../../transfer/manifest.js'

export interface PastParts {
  readonly table: TableShape
  readonly past: TablePast
  /** What one part may take in memory. */
  readonly partBytesMax?: number
}

const PART_BYTES_MAX = 64 * 1024 * 1024
const PARTS_MAX = 1024
const PAGE_ENTRIES = 500

/** There is more in a part than was thought: all parts are to be smaller. */
class PartTooLarge extends Error {}

/** One of several parts of the keys. */
interface KeyPart {
  readonly at: number
  readonly of: number
}

export async function* pastPages(window: ExportWindow, parts: PastParts): AsyncGenerator<ExportPage> {
  let of = 1
  for (let at = 0; at < of;) {
    try {
      // Whether there is room is known before the first page.
      yield* window.type === 'FULL_EXPORT'
        ? itemsAt(window.atMicros as Timestamp, parts, { at, of })
        : await changesIn(window, parts, { at, of })
    } catch (error) {
      if (!(error instanceof PartTooLarge) || of >= PARTS_MAX) throw error
      // Each part becomes two, so that those that were written already are not written again.
      of *= 2
      at *= 2
      continue
    }
    at++
  }
}

/** Parts of twice as many are halves of these. */
const isIn = ({ hash }: ItemKey, { at, of }: KeyPart): boolean => Math.floor((hash / 2 ** 32) * of) === at

class Room {
  #left: number

  constructor({ partBytesMax = PART_BYTES_MAX }: PastParts) {
    this.#left = 2 * partBytesMax
  }

  take(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new PartTooLarge()
  }
}

const parsed = (text: Uint8Array): Item => JSON.parse(asBuffer(text).toString()) as Item

/** Items of the base go through; those that have changed since are left out, and come at the end. */
async function* itemsAt(to: Timestamp, parts: PastParts, part: KeyPart): AsyncGenerator<ExportPage> {
  const { table, past } = parts
  const { items, changes } = past.at(to)
  const changed = await lastOf(changes(), parts, part)
  const isWhole = part.of === 1 && changed.size === 0
  for await (const entries of items()) {
    const texts: Uint8Array[] = []
    for (const { text } of entries) {
      const key = isWhole ? undefined : itemKey(table.key, parsed(text))
      if (key === undefined || (isIn(key, part) && !changed.has(key.bytes))) texts.push(text)
    }
    if (texts.length > 0) yield { items: texts }
  }
  const left = [...changed.values()].filter((text) => text !== undefined)
  yield* pagesOf(left).map((texts) => ({ items: texts }))
}

/** By key, what becomes of an item in the end; undefined: it is removed. */
async function lastOf(
  changes: AsyncIterable<readonly BackupEntry[]>,
  parts: PastParts,
  part: KeyPart,
): Promise<ReadonlyMap<string, Uint8Array | undefined>> {
  const room = new Room(parts)
  const held = new Map<string, Uint8Array | undefined>()
  for await (const entries of changes)
    for (const { kind, text } of entries) {
      const key = itemKey(parts.table.key, parsed(text))
      if (!isIn(key, part)) continue
      room.take((kind === 'put' ? text.length : 0) + (held.has(key.bytes) ? 0 : key.bytes.length))
      room.take(-(held.get(key.bytes)?.length ?? 0))
      // A copy: the text is a part of all that was read with it.
      held.set(key.bytes, kind === 'put' ? Uint8Array.from(text) : undefined)
    }
  return held
}

interface Changed {
  readonly timestamp: Timestamp
  readonly keys: string
  /** Absent: it was removed. */
  readonly new?: Uint8Array
  /** There was none before the time. */
  readonly isNew: boolean
  old?: Uint8Array
}

async function changesIn(
  window: Extract<ExportWindow, { type: 'INCREMENTAL_EXPORT' }>,
  parts: PastParts,
  part: KeyPart,
): Promise<readonly ExportPage[]> {
  const { past } = parts
  const room = new Room(parts)
  const changed = new Map<string, Changed>()
  for await (const records of await past.commitsFrom(window.fromMicros as Timestamp))
    for (const record of records)
      if (record.timestamp >= window.fromMicros && record.timestamp < window.toMicros)
        takeCommit(record, { parts, part, room, changed })
  // The start belongs to the time, so what was before is of one timestamp earlier; at the first moment that is kept there is none.
  if (window.view === 'NEW_AND_OLD_IMAGES' && changed.size > 0) {
    const earliest = past.earliestMicros
    await addOld(Math.max(window.fromMicros - 1, earliest) as Timestamp, { parts, room, changed })
  }
  const changes = [...changed.values()]
    .filter((change) => !(change.isNew && change.new === undefined))
    .map(({ timestamp, keys, old, new: image }): ChangeTexts => ({
      timestampMicros: timestamp,
      keys,
      ...(old && { old: asBuffer(old).toString() }),
      ...(image && { new: asBuffer(image).toString() }),
    }))
  return pagesOf(changes).map((some) => ({ changes: some }))
}

interface Collecting {
  readonly parts: PastParts
  readonly room: Room
  readonly changed: Map<string, Changed>
}

function takeCommit(
  { timestamp, changes }: CommitRecord,
  { parts, part, room, changed }: Collecting & { readonly part: KeyPart },
): void {
  const { table } = parts
  for (const { space, key: bytes, event, keys, old, new: image } of changes) {
    if (space !== table.space) continue
    const text = keys ?? image ?? old
    if (text === undefined) throw new Error(`a change of ${table.name} in the log of commits has no key`)
    const item = parsed(text)
    const key = itemKey(table.key, item)
    if (!isIn(key, part)) continue
    const before = changed.get(bytes)
    room.take((image?.length ?? 0) + bytes.length)
    changed.set(bytes, {
      timestamp,
      keys: JSON.stringify(keyAttributesOf(table.key, item)),
      isNew: before?.isNew ?? event === 'insert',
      ...(event !== 'remove' && image && { new: Uint8Array.from(image) }),
    })
  }
}

/** As they were before the time; in a base and the log some stand several times, and the last word counts. */
async function addOld(to: Timestamp, { parts, room, changed }: Collecting): Promise<void> {
  const { table, past } = parts
  const { items, changes } = past.at(to)
  for await (const entries of inOrder(items(), changes()))
    for (const { kind, text } of entries) {
      const change = changed.get(itemKey(table.key, parsed(text)).bytes)
      if (change === undefined || change.isNew) continue
      room.take(text.length - (change.old?.length ?? 0))
      if (kind === 'put') change.old = Uint8Array.from(text)
      else delete change.old
    }
}

async function* inOrder<Page>(...sources: readonly AsyncIterable<Page>[]): AsyncGenerator<Page> {
  for (const source of sources) yield* source
}

function pagesOf<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const pages: (readonly Entry[])[] = []
  for (let at = 0; at < entries.length; at += PAGE_ENTRIES) pages.push(entries.slice(at, at + PAGE_ENTRIES))
  return pages
}
