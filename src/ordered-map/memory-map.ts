// The index in memory: a hash map, and the order of its keys.
import type { KeyBytes } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import { KeyOrder } from './key-order.js'
import type { IndexChange, ScanRange, OrderedMap } from './ordered-map.js'

/** What stands at a key: the map and the order both lead to it, so that a new value needs neither. */
interface Cell {
  value: Uint8Array
}

/**
 * An index that forgets everything when it is closed.
 *
 * @example
 * const index = memoryIndex()
 * await index.apply([[key, value]], 1)
 */
export function memoryMap({ unsortedKeysMax }: Pick<Knobs, 'unsortedKeysMax'> = knobs): OrderedMap {
  const cells = new Map<KeyBytes, Cell>()
  const order = new KeyOrder<Cell>(unsortedKeysMax)
  let appliedUpTo = 0
  return {
    get: (key) => cells.get(key)?.value,
    range,
    scan: ({ from, to, reverse }, look) =>
      order.each(from, to, reverse ? 'backward' : 'forward', ({ value }) => look(value, value.length)),
    apply: (changes: Iterable<IndexChange>, upTo: number) => {
      for (const [key, value] of changes) change(key, value)
      appliedUpTo = upTo
      return APPLIED
    },
    get appliedUpTo() {
      return appliedUpTo
    },
    close: () => Promise.resolve(),
  }

  function change(key: KeyBytes, value: Uint8Array | undefined): void {
    const cell = cells.get(key)
    if (cell === undefined) {
      if (value === undefined) return
      const added = { value }
      cells.set(key, added)
      order.add(key, added)
    } else if (value === undefined) {
      cells.delete(key)
      order.delete(key)
    } else {
      cell.value = value
    }
  }

  function* range({ from, to, reverse }: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    for (const key of order.range(from, to, reverse ? 'backward' : 'forward')) {
      yield [key, (cells.get(key) as Cell).value]
    }
  }
}

const APPLIED = Promise.resolve()
