// An engine in memory, for tests and for servers in one process: every step is carried out in the turn in which it is called,
// nothing is lost, and nothing is unknown. With the scope `partition` it can do no more than Cassandra can; with `store` one step
// spans everything, as on an engine with transactions.
import type { KeyBytes } from '../model/brand.js'
import {
  type CasOutcome,
  type Consistency,
  type Engine,
  type EngineRow,
  type PartitionRange,
  type PlainOutcome,
  type PlainWrite,
  type RowAddress,
  type RowChange,
  type RowPage,
  type RowPut,
  type SpaceRange,
  NO_VERSION,
  SpaceMissing,
  cellNames,
  isPartitionRange,
} from './engine.js'

export interface MemoryEngineOptions {
  /** What one compare-and-set spans. */
  readonly scope?: 'partition' | 'store'
}

/** Of a row that was removed plainly: it stays removed, whatever comes late. */
const REMOVED = 'removed'

type Partition = Map<KeyBytes, EngineRow | typeof REMOVED>

/**
 * An engine in memory. Stores that are opened on the same one share their tables.
 *
 * @example
 * const engine = new MemoryEngine()
 * await engine.createSpace('t1')
 * await engine.cas([{ address, seen: 'absent', next: { version, past: [], cells: { head } } }]) // { outcome: 'applied' }
 */
export class MemoryEngine implements Engine {
  readonly name = 'memory'
  readonly limits = { casRowsMax: 500, casBytesMax: 16 * 1024 * 1024, cellBytesMax: 4 * 1024 * 1024 }
  readonly #scope: 'partition' | 'store'
  readonly #spaces = new Map<string, Map<KeyBytes, Partition>>()
  readonly #droppedSpaces = new Set<string>()

  constructor({ scope = 'partition' }: MemoryEngineOptions = {}) {
    this.#scope = scope
  }

  scopeOf({ space, partition }: RowAddress): string {
    return this.#scope === 'store' ? '' : `${space}/${partition}`
  }

  // eslint-disable-next-line typescript/require-await -- exceptions reject
  async read(
    addresses: readonly RowAddress[],
    _consistency: Consistency,
  ): Promise<readonly (EngineRow | undefined)[]> {
    return addresses.map((address) => this.#row(address))
  }

  // eslint-disable-next-line typescript/require-await
  async cas(changes: readonly RowChange[]): Promise<CasOutcome> {
    return this.casNow(changes)
  }

  /** The same in this turn: for those who decide themselves when a step takes place. */
  casNow(changes: readonly RowChange[]): Extract<CasOutcome, { outcome: 'applied' | 'refused' }> {
    this.#assertOneScope(changes)
    const rows = changes.map(({ address }) => this.#row(address))
    const holds = changes.every(({ seen }, at) => seen === 'any' || seen === (rows[at]?.version ?? 'absent'))
    if (!holds) return { outcome: 'refused', rows }
    for (const [at, { address, next }] of changes.entries()) {
      const partition = this.#partition(address)
      if (next === 'removed') partition.delete(address.row)
      else if (next !== undefined) partition.set(address.row, changed(address, rows[at], next))
    }
    return { outcome: 'applied' }
  }

  /** The row in this turn. */
  rowNow(address: RowAddress): EngineRow | undefined {
    return this.#row(address)
  }

  // eslint-disable-next-line typescript/require-await
  async write(rows: readonly PlainWrite[]): Promise<PlainOutcome> {
    for (const { address, head } of rows) {
      const partition = this.#partition(address)
      if (head === undefined) partition.set(address.row, REMOVED)
      else if (partition.get(address.row) !== REMOVED)
        partition.set(address.row, { address, version: NO_VERSION, past: [], cells: { head } })
    }
    return { outcome: 'applied' }
  }

  // eslint-disable-next-line typescript/require-await
  async range(request: PartitionRange | SpaceRange): Promise<RowPage> {
    return isPartitionRange(request) ? this.#rangeOfPartition(request) : this.#rangeOfSpace(request)
  }

  createSpace(space: string): Promise<void> {
    if (!this.#droppedSpaces.has(space) && !this.#spaces.has(space)) this.#spaces.set(space, new Map())
    return Promise.resolve()
  }

  dropSpace(space: string): Promise<void> {
    this.#spaces.delete(space)
    this.#droppedSpaces.add(space)
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #rangeOfPartition({ space, partition, from, to, reverse, rowsMax }: PartitionRange): RowPage {
    const found = [...(this.#space(space).get(partition) ?? [])]
      .flatMap(([row, stored]) =>
        row >= from && (to === undefined || row < to) && stored !== REMOVED ? [stored] : [],
      )
      .toSorted(byRow)
    if (reverse) found.reverse()
    return { rows: found.slice(0, rowsMax), more: found.length > rowsMax }
  }

  #rangeOfSpace({ space, after, fromPart = 0, toPart, rowsMax }: SpaceRange): RowPage {
    const rows: EngineRow[] = []
    const partitions = [...this.#space(space)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [partition, stored] of partitions) {
      const part = partOf(partition)
      const isBefore = after === undefined ? part < fromPart : partition < after.partition
      if (isBefore || (toPart !== undefined && part >= toPart)) continue
      const behind = after !== undefined && partition === after.partition ? after.row : undefined
      for (const row of [...stored.values()].filter((each) => each !== REMOVED).toSorted(byRow)) {
        if (behind !== undefined && row.address.row <= behind) continue
        if (rows.length >= rowsMax) return { rows, more: true }
        rows.push(row)
      }
    }
    return { rows, more: false }
  }

  #row(address: RowAddress): EngineRow | undefined {
    const stored = this.#space(address.space).get(address.partition)?.get(address.row)
    return stored === REMOVED ? undefined : stored
  }

  #partition({ space, partition }: RowAddress): Partition {
    const partitions = this.#space(space)
    let found = partitions.get(partition)
    if (found === undefined) partitions.set(partition, (found = new Map()))
    return found
  }

  #space(space: string): Map<KeyBytes, Partition> {
    const found = this.#spaces.get(space)
    if (found === undefined) throw new SpaceMissing(`there is no space ${space} in the engine in memory`)
    return found
  }

  #assertOneScope(changes: readonly RowChange[]): void {
    const [first] = changes
    if (first === undefined) throw new RangeError('a compare-and-set of nothing')
    const scope = this.scopeOf(first.address)
    const seen = new Set<string>()
    for (const { address } of changes) {
      if (this.scopeOf(address) !== scope)
        throw new RangeError('a compare-and-set of rows of different scopes')
      const place = `${address.space}/${address.partition}/${address.row}`
      if (seen.has(place)) throw new RangeError('a compare-and-set with a row twice')
      seen.add(place)
    }
  }
}

function changed(address: RowAddress, before: EngineRow | undefined, next: RowPut): EngineRow {
  const cells: Partial<Record<(typeof cellNames)[number], Uint8Array>> = {}
  for (const name of cellNames) {
    const given = next.cells[name]
    const value = given === undefined ? before?.cells[name] : (given ?? undefined)
    if (value !== undefined) cells[name] = value
  }
  return { address, version: next.version, past: next.past, cells }
}

const byRow = (a: EngineRow, b: EngineRow): number => (a.address.row < b.address.row ? -1 : 1)

/** Partitions begin with their hash, which spreads them evenly. */
function partOf(partition: KeyBytes): number {
  let part = 0
  for (let at = 0; at < 4; at++) part = part * 256 + (at < partition.length ? partition.charCodeAt(at) : 0)
  return part
}
