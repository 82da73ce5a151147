// The shelf of a node in this process: its line, under a prefix of the system's own space.
import { shelfKey, withoutShelf } from '../../line/spaces.js'
import type { Line } from '../../line/line.js'
import type { KeyBytes } from '../../model/brand.js'
import type { Shelf, ShelfEntry, ShelfRange } from '../contract/shelf.js'

export class LineShelf implements Shelf {
  readonly #line: Line

  constructor(line: Line) {
    this.#line = line
  }

  async keep(entries: readonly ShelfEntry[], pace: 'hurried' | 'unhurried' = 'hurried'): Promise<void> {
    for (const { key, value } of entries) this.#line.put(shelfKey(key), value)
    await (pace === 'hurried' ? this.#line.whenDurable() : this.#line.whenDurableUnhurried())
  }

  async kept(keys: readonly KeyBytes[]): Promise<readonly (Uint8Array | undefined)[]> {
    return keys.map((key) => this.#line.durable.get(shelfKey(key)))
  }

  async keptRange(range: ShelfRange): Promise<readonly Required<ShelfEntry>[]> {
    const { from, to, reverse, entriesMax, bytesMax = Infinity } = range
    let bytes = 0
    const entries: Required<ShelfEntry>[] = []
    if (from >= to || entriesMax <= 0) return entries
    for (const [key, value] of this.#line.durable.range({
      from: shelfKey(from),
      to: shelfKey(to),
      reverse,
    })) {
      entries.push({ key: withoutShelf(key), value })
      bytes += value.byteLength
      if (entries.length === entriesMax || bytes >= bytesMax) break
    }
    return entries
  }
}
