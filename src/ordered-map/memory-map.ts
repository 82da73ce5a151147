// The index in memory: a hash map, and the order of its keys.
//
//   never copied    own: every cell                      order: the same cells
//   after a copy    own: cells made since, by this side  order: those and the shared ones, which neither side changes
import type { KeyBytes } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import { KeyOrder } from './key-order.js'
import type { IndexChange, ScanRange, OrderedMap } from './ordered-map.js'

/** What stands at a key: the map and the order both lead to it, so that a new value needs neither. */
interface Cell {
  value: Uint8Array
}

/** An index in memory, which can be copied in a moment. */
export interface MemoryMap extends OrderedMap {
  /**
   * The same content, from here on apart: copy on write. Both sides then find by the order what they have not written since,
   * and take memory for what they change.
   */
  copy(): MemoryMap
}

/**
 * An index that forgets everything when it is closed.
 *
 * @example
 * const index = memoryMap()
 * await index.apply([[key, value]], 1)
 */
export const memoryMap = ({ unsortedKeysMax }: Pick<Knobs, 'unsortedKeysMax'> = knobs): MemoryMap =>
  new CellMap(new KeyOrder(unsortedKeysMax), 0)

class CellMap implements MemoryMap {
  /** Cells that only this map leads to: their values may be changed in place. */
  #own = new Map<KeyBytes, Cell>()
  readonly #order: KeyOrder<Cell>
  /** There may be cells that are not its own. */
  #isShared: boolean
  #appliedUpTo: number

  /** The order is this map's from here on; its cells are others', too. */
  constructor(order: KeyOrder<Cell>, appliedUpTo: number, shared?: 'shared') {
    this.#order = order
    this.#appliedUpTo = appliedUpTo
    this.#isShared = shared !== undefined
  }

  copy(): MemoryMap {
    this.#own = new Map()
    this.#isShared = true
    return new CellMap(this.#order.copy(), this.#appliedUpTo, 'shared')
  }

  get appliedUpTo(): number {
    return this.#appliedUpTo
  }

  get(key: KeyBytes): Uint8Array | undefined {
    return this.#cell(key)?.value
  }

  *range({ from, to, reverse }: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    for (const key of this.#order.range(from, to, reverse ? 'backward' : 'forward')) {
      yield [key, (this.#cell(key) as Cell).value]
    }
  }

  scan({ from, to, reverse }: ScanRange, look: Parameters<OrderedMap['scan']>[1]): void {
    this.#order.each(from, to, reverse ? 'backward' : 'forward', ({ value }) => look(value, value.length))
  }

  apply(changes: Iterable<IndexChange>, upTo: number): Promise<void> {
    for (const [key, value] of changes) this.#change(key, value)
    this.#appliedUpTo = upTo
    return APPLIED
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #cell(key: KeyBytes): Cell | undefined {
    return this.#own.get(key) ?? (this.#isShared ? this.#order.beside(key) : undefined)
  }

  #change(key: KeyBytes, value: Uint8Array | undefined): void {
    if (value === undefined) {
      // A key that is not there must not cost a copy of the nodes that lead to its place.
      if (this.#own.delete(key) || (this.#isShared && this.#order.beside(key) !== undefined))
        this.#order.delete(key)
      return
    }
    const own = this.#own.get(key)
    if (own !== undefined) {
      own.value = value
      return
    }
    const added = { value }
    this.#own.set(key, added)
    this.#order.add(key, added)
  }
}

const APPLIED = Promise.resolve()
