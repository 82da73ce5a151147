// Ranges on an engine: items in the order of their partition, or of the whole table in the engine's own; entries of indexes with
// the items they point to. An entry of a global index counts only if its item names it (point 37).
//
//   entry --> its item --> names the id of the entry: it is one
//                      \-> does not: it was left behind, or is on its way; if it stays so, it is removed (entry-repair.ts)
//
// An entry of a local index changes in one step with its item, but is read before it: if the item has another place by then, the range is
// read again.
import type { EngineRow, RowAddress, RowPage } from '../../engine/engine.js'
import { SpaceMissing } from '../../engine/engine.js'
import type { SpaceCount } from '../../line/spaces.js'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import { expiryPrefix } from '../../model/key-bytes.js'
import { keyAfter } from '../../model/key-range.js'
import type { IndexShape } from '../../model/table.js'
import { parseRecord } from '../../line/record.js'
import type { ItemRecord } from '../../rules/item/item.js'
import { entryKey } from '../items/index-entries.js'
import type { RangeEntry, RangePage, RangeRequest } from '../contract/storage-node.js'
import { steadyMicros } from '../../runtime/runtime.js'
import type { EngineParts } from './engine-parts.js'
import type { EntryRepair } from './entry-repair.js'
import { decodeItemHead, recordOf } from './item-row.js'
import {
  entryOf,
  entryRowOf,
  expiryPartitions,
  itemKeyOf,
  itemRow,
  itemRowOf,
  itemRowsEnd,
  itemKeyFrom,
  localEntryOf,
  localRowOf,
  localRowsEnd,
  spaceName,
  walkOf,
  type Walk,
} from './rows.js'

const PAGE_ROWS_MAX = 300
/** Of a range whose items change their places in a local index while they are read. */
const LOCAL_TRIES_MAX = 5
/** Up to so many rows are counted; of more the engine has an estimate. */
const COUNTED_MAX = 2000
/** For how long a count of many rows is answered again: it takes many reads. */
const COUNT_MICROS = 600_000_000

/** A place in the space that was asked for, and the item there. */
interface Place {
  readonly key: KeyBytes
  readonly item: RowAddress
  /** The row of the item, if it is known already. */
  readonly row?: EngineRow
  /** Of an entry that has to be named by its item. */
  readonly entry?: { readonly id: string; readonly address: RowAddress }
  /** Of an entry that is where the item's attributes put it. */
  readonly local?: IndexShape
}

/** Whether an item was met that had another place in a local index than its entry. */
interface Moves {
  isSeen: boolean
}

export class EngineRanges {
  readonly #parts: EngineParts
  readonly #repair: EntryRepair
  readonly #counts = new Map<SpaceId, { readonly count: Promise<SpaceCount>; readonly untilMicros: number }>()

  constructor(parts: EngineParts, repair: EntryRepair) {
    this.#parts = parts
    this.#repair = repair
  }

  async range(request: RangeRequest): Promise<RangePage> {
    if (this.#parts.shapes.isExpiry(request.space)) return this.#expiryRange(request)
    for (let tries = 1; ; tries++) {
      const moves: Moves = { isSeen: false }
      const page = await this.#page(request, moves)
      // At last without those that are on the move.
      if (!moves.isSeen || tries >= LOCAL_TRIES_MAX) return page
    }
  }

  async #page(request: RangeRequest, moves: Moves): Promise<RangePage> {
    const { entriesMax, bytesMax } = request
    const entries: RangeEntry[] = []
    let bytes = 0
    for await (const entry of this.#entries(request, Math.min(PAGE_ROWS_MAX, entriesMax + 1), moves)) {
      if (entries.length >= entriesMax || bytes >= bytesMax) return { entries, more: true }
      entries.push(entry)
      bytes += entry.record.itemBytes
    }
    return { entries, more: false }
  }

  async *#entries(
    request: Pick<RangeRequest, 'space' | 'itemSpace' | 'from' | 'to' | 'reverse'>,
    rowsMax: number,
    moves: Moves,
  ): AsyncGenerator<RangeEntry> {
    for await (const rows of this.#pages(request, rowsMax)) {
      const places = rows.flatMap((row) => this.#rowPlace(request, row) ?? [])
      yield* await this.#verified(request, places, moves)
    }
  }

  /** Of one page, those that are there. An item that is left out of a page by a twin of its entry comes with the other. */
  async #verified(
    { space }: Pick<RangeRequest, 'space'>,
    places: readonly Place[],
    moves: Moves,
  ): Promise<RangeEntry[]> {
    const unread = places.filter(({ row }) => row === undefined)
    const read =
      unread.length === 0
        ? []
        : await this.#parts.engine.read(
            unread.map(({ item }) => item),
            'consistent',
          )
    const rows = new Map(unread.map((place, at) => [place, read[at]]))
    const found: RangeEntry[] = []
    for (const place of places) {
      const row = place.row ?? rows.get(place)
      const head = decodeItemHead(row)
      this.#parts.clock.witness(head.written)
      if (place.entry !== undefined) {
        const { id } = place.entry
        if (!head.entries.some((entry) => entry.space === space && entry.id === id)) {
          if (head.pending?.entries.some((entry) => entry.id === id) !== true)
            this.#repair.orphan(place.entry.address, place.item)
          continue
        }
      }
      const record: ItemRecord | undefined = recordOf(row, head)
      if (record === undefined) continue
      if (place.local !== undefined && !isAt(place, place.local, record)) {
        moves.isSeen = true
        continue
      }
      if (place.row !== undefined) this.#repair.met(row as EngineRow, head)
      found.push({ key: place.key, record })
    }
    return found
  }

  #rowPlace(
    { space, itemSpace }: Pick<RangeRequest, 'space' | 'itemSpace'>,
    row: EngineRow,
  ): Place | undefined {
    const { address, cells } = row
    if (itemSpace === undefined || itemSpace === space) {
      const key = itemKeyOf(address)
      return key && { key: key.bytes, item: address, row }
    }
    const { shapes } = this.#parts
    const table = shapes.tableOfLocal(space)
    const isLocal = table !== undefined
    const localKey = isLocal ? localEntryOf(space, address) : undefined
    // Items and other indexes stand in the same partitions.
    if (isLocal && localKey === undefined) return undefined
    const base = cells.head && (Buffer.from(cells.head).toString('latin1') as KeyBytes)
    if (base === undefined) return undefined
    const item = itemRow(itemSpace, itemKeyFrom(base))
    if (localKey !== undefined) {
      const local = shapes.of(table as SpaceId)?.indexes.find((index) => index.space === space)
      return { key: localKey, item, ...(local && { local }) }
    }
    const { key, id } = entryOf('global', address)
    return { key, item, entry: { id, address } }
  }

  async *#pages(
    {
      space,
      itemSpace,
      from,
      to,
      reverse,
    }: Pick<RangeRequest, 'space' | 'itemSpace' | 'from' | 'to' | 'reverse'>,
    rowsMax: number,
  ): AsyncGenerator<readonly EngineRow[]> {
    const table = this.#parts.shapes.tableOfLocal(space)
    const isLocal = itemSpace !== undefined && itemSpace !== space && table !== undefined
    const isItems = itemSpace === undefined || itemSpace === space
    const walk = isItems
      ? walkOf({ from, to }, itemRowOf, itemRowsEnd)
      : isLocal
        ? walkOf({ from, to }, localRowOf(space), localRowsEnd(space))
        : walkOf({ from, to }, entryRowOf, undefined, true)
    if (walk === undefined) return
    const name = spaceName(isLocal ? table : space)
    yield* this.#walk(name, walk, reverse, rowsMax)
  }

  async *#walk(
    space: string,
    walk: Walk,
    reverse: boolean,
    rowsMax: number,
    only?: 'head',
  ): AsyncGenerator<readonly EngineRow[]> {
    const { engine } = this.#parts
    const rest = { space, rowsMax, ...(only && { only }) }
    let page: RowPage
    if (walk.partition === undefined) {
      if (reverse) throw new RangeError('a walk through all partitions has no reverse')
      let after = walk.after && { space, ...walk.after }
      do {
        page = await engine.range({ ...rest, ...walk, ...(after && { after }) } as Parameters<
          typeof engine.range
        >[0])
        yield page.rows
        after = page.after ?? page.rows.at(-1)?.address ?? after
      } while (page.more)
      return
    }
    let { from, to } = walk
    do {
      page = await engine.range({
        ...rest,
        partition: walk.partition,
        from,
        ...(to !== undefined && { to }),
        reverse,
      })
      yield page.rows
      const last = page.rows.at(-1)?.address.row
      if (last !== undefined) {
        if (reverse) to = last
        else from = keyAfter(last)
      }
    } while (page.more)
  }

  /** Item rows of a table from a key on, with what is pending, for work behind requests. */
  async *itemRows(space: SpaceId, from: KeyBytes): AsyncGenerator<EngineRow> {
    const walk = walkOf({ from }, itemRowOf, itemRowsEnd)
    if (walk === undefined) return
    for await (const rows of this.#walk(spaceName(space), walk, false, PAGE_ROWS_MAX))
      for (const row of rows) if (itemKeyOf(row.address) !== undefined) yield row
  }

  async expired(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    nowSeconds: number,
    entriesMax: number,
  ): Promise<readonly RangeEntry[]> {
    const bounds = { from: '' as KeyBytes, to: expiryPrefix(nowSeconds + 1) }
    return this.#expiring(expirySpace, itemSpace, bounds, entriesMax)
  }

  /** Items that expire stand in several partitions, each in the order of time. */
  async #expiryRange({ space, itemSpace, from, to, entriesMax, bytesMax }: RangeRequest): Promise<RangePage> {
    const found = await this.#expiring(space, itemSpace as SpaceId, { from, to }, entriesMax + 1)
    const entries: RangeEntry[] = []
    let bytes = 0
    for (const entry of found) {
      if (entries.length >= entriesMax || bytes >= bytesMax) return { entries, more: true }
      entries.push(entry)
      bytes += entry.record.itemBytes
    }
    return { entries, more: false }
  }

  async #expiring(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    { from, to }: { readonly from: KeyBytes; readonly to?: KeyBytes | undefined },
    entriesMax: number,
  ): Promise<readonly RangeEntry[]> {
    const { engine } = this.#parts
    const space = spaceName(expirySpace)
    const bounds = { from: entryRowOf(from), ...(to !== undefined && { to: entryRowOf(to) }) }
    const places: Place[] = []
    try {
      const pages = await Promise.all(
        expiryPartitions.map((partition) =>
          engine.range({ space, partition, ...bounds, reverse: false, rowsMax: entriesMax }),
        ),
      )
      for (const { rows } of pages)
        for (const { address, cells } of rows) {
          const { key, id } = entryOf('expiry', address)
          const base = Buffer.from(cells.head ?? []).toString('latin1') as KeyBytes
          places.push({ key, item: itemRow(itemSpace, itemKeyFrom(base)), entry: { id, address } })
        }
    } catch (error) {
      if (!(error instanceof SpaceMissing)) throw error
    }
    const due = await this.#verified({ space: expirySpace }, places, { isSeen: false })
    return due.toSorted((a, b) => (a.key < b.key ? -1 : 1)).slice(0, entriesMax)
  }

  /** Of few rows as they are; of many as the engine estimates, or as they were counted a while ago. */
  async count(space: SpaceId): Promise<SpaceCount> {
    const now = steadyMicros(this.#parts.runtime.clock)
    const known = this.#counts.get(space)
    if (known !== undefined && now < known.untilMicros) return known.count
    const count = this.#counted(space).catch((error: unknown) => {
      // A table that is being made, or is gone, has none.
      if (error instanceof SpaceMissing) return { items: 0, bytes: 0 }
      throw error
    })
    // Those who ask meanwhile wait for the same.
    this.#counts.set(space, { count, untilMicros: Infinity })
    try {
      const { items } = await count
      if (items < COUNTED_MAX) this.#counts.delete(space)
      else this.#counts.set(space, { count, untilMicros: now + COUNT_MICROS })
      return await count
    } catch (error) {
      this.#counts.delete(space)
      throw error
    }
  }

  async #counted(space: SpaceId): Promise<SpaceCount> {
    const { engine, shapes } = this.#parts
    const itemSpace = shapes
      .all()
      .find(({ indexes }) => indexes.some((index) => index.space === space))?.space
    let items = 0
    let bytes = 0
    const start = { space, from: '' as KeyBytes, reverse: false }
    for await (const entry of this.#entries(
      itemSpace === undefined ? start : { ...start, itemSpace },
      PAGE_ROWS_MAX,
      { isSeen: false },
    )) {
      items++
      bytes += entry.record.itemBytes
      if (items < COUNTED_MAX) continue
      const estimate = await engine.estimate?.(spaceName(space))
      if (estimate !== undefined && estimate.rows > items)
        return { items: estimate.rows, bytes: Math.max(bytes, estimate.bytes) }
      if (items >= COUNTED_MAX * 5) break
    }
    return { items, bytes }
  }
}

/** Whether the attributes of the item put it where its entry was read. */
function isAt({ key, item }: Place, index: IndexShape, record: ItemRecord): boolean {
  const base = itemKeyOf(item)
  return base !== undefined && entryKey(index, parseRecord(record), base) === key
}
