// Entries that a crash has left, and items without entries that a late step has made: readers meet them, and they are put right
// behind the answer.
//
//   entry that no item names, for as long as any step takes, by this server's steady clock
//      --> the item gets a new version: a late step that would name the entry is refused from here on --> the entry is removed
//   item written with an older shape than the table has, and without an entry of that shape
//      --> the entries are put, and the item names them
//   deleted item whose row has not changed for that long --> the row is removed
import type { EngineRow, RowAddress } from '../../engine/engine.js'
import { versionOf, type ItemKey, type TableShape } from '../../model/table.js'
import { steadyMicros } from '../../runtime/runtime.js'
import type { EngineParts } from './engine-parts.js'
import { completedChanges } from './item-changes.js'
import { decodeItemHead, encodeItemHead, type ItemHead, loadRow } from './item-row.js'
import { itemKeyOf, spaceOf } from './rows.js'
import { rowPlace, type StepDecision } from './scope-steps.js'

/** Longer than any step and any transaction takes. */
const WATCH_MS = 10 * 60_000
const WATCHED_MAX = 100_000
/** In times of the watch: longer than a walk through a large table takes. */
const FORGOTTEN = 20

interface Watched {
  readonly state: string
  readonly sinceMicros: number
}

export class EntryRepair {
  readonly #parts: EngineParts
  readonly #watchMicros: number
  readonly #watched = new Map<string, Watched>()
  #clearedMicros = 0

  constructor(parts: EngineParts, watchMs = WATCH_MS) {
    this.#parts = parts
    this.#watchMicros = watchMs * 1000
  }

  /** An entry whose item does not name it. */
  orphan(entry: RowAddress, item: RowAddress): void {
    if (!this.#isOld(rowPlace(entry), '')) return
    this.#parts.behind(this.#remove(entry, item))
  }

  async #remove(entry: RowAddress, item: RowAddress): Promise<void> {
    const isNamed = await this.#parts.steps.take({
      addresses: [item],
      decide: (rows): StepDecision<boolean> => {
        const head = decodeItemHead(rows.row(item))
        const row = rowPlace(entry)
        const names = [...head.entries, ...(head.pending?.entries ?? [])]
        if (names.some(({ id }) => row.endsWith(id))) return { answer: true }
        return { answer: false, next: [{ address: item, cells: { head: encodeItemHead(head) } }] }
      },
    })
    if (!isNamed) await this.#parts.engine.write([{ address: entry }])
  }

  /** A row of an item as a reader met it, or of one that was deleted. */
  tended(row: EngineRow, head = decodeItemHead(row)): void {
    if (head.cell !== undefined) this.met(row, head)
    else if (head.pending === undefined) this.tombstone(row)
  }

  /** An item as a reader met it. */
  met(row: EngineRow, head: ItemHead): void {
    const table = this.#parts.shapes.of(spaceOf(row.address))
    const key = itemKeyOf(row.address)
    if (table === undefined || key === undefined || head.shape >= versionOf(table)) return
    if (!table.indexes.some(({ kind }) => kind === 'global') && table.expiry === undefined) return
    if (this.#lacksEntries(table, key, row)) this.#parts.behind(this.complete(table, row.address))
  }

  #lacksEntries(table: TableShape, key: ItemKey, row: EngineRow): boolean {
    const item = loadRow(row, table, key, true)
    const write = { table, key, row, head: item.head, old: () => item.item(), newId: () => '' }
    return completedChanges(write) !== undefined
  }

  /** The item gets the entries that it lacks under this shape. */
  complete(table: TableShape, address: RowAddress): Promise<void> {
    return completeEntries(this.#parts, table, address)
  }

  /** A row of a deleted item, which nothing needs any more once it has not changed for so long. */
  tombstone(row: EngineRow): void {
    if (!this.#isOld(rowPlace(row.address), row.version)) return
    const { address, version } = row
    this.#parts.behind(
      this.#parts.steps.take({
        addresses: [address],
        decide: (rows): StepDecision<void> => {
          const there = rows.row(address)
          const head = decodeItemHead(there)
          return there?.version === version && head.cell === undefined && head.pending === undefined
            ? { answer: undefined, next: [{ address, cells: 'removed' }] }
            : { answer: undefined }
        },
      }),
    )
  }

  /** Whether it has been so for long enough; notes it if it was not met before. */
  #isOld(place: string, state: string): boolean {
    const now = steadyMicros(this.#parts.runtime.clock)
    const watched = this.#watched.get(place)
    if (watched?.state === state) {
      if (now - watched.sinceMicros < this.#watchMicros) return false
      this.#watched.delete(place)
      return true
    }
    // Where there is no room, those that are watched come of age first.
    if (watched !== undefined || this.#hasRoom(now)) this.#watched.set(place, { state, sinceMicros: now })
    return false
  }

  #hasRoom(now: number): boolean {
    if (this.#watched.size < WATCHED_MAX) return true
    if (now < this.#clearedMicros + this.#watchMicros) return false
    this.#clearedMicros = now
    // Of those that have not been met again others have seen to.
    for (const [place, { sinceMicros }] of this.#watched)
      if (now - sinceMicros > FORGOTTEN * this.#watchMicros) this.#watched.delete(place)
    return this.#watched.size < WATCHED_MAX
  }
}

/** The item there gets the entries that it lacks under this shape. */
export function completeEntries(parts: EngineParts, table: TableShape, address: RowAddress): Promise<void> {
  const key = itemKeyOf(address) as ItemKey
  const { newId } = parts
  return parts.steps.take({
    addresses: [address],
    decide: (rows): StepDecision<void> => {
      const row = rows.row(address)
      const item = loadRow(row, table, key, true)
      const changes = completedChanges({ table, key, row, head: item.head, old: () => item.item(), newId })
      return { answer: undefined, ...changes }
    },
  })
}
