// The index in memory: a hash map, and the order of its keys.
import type { KeyBytes } from '../model/brand.js'
import { KeyOrder } from './key-order.js'
import type { IndexChange, KeyRange, OrderedIndex } from './ordered-index.js'

const UNSORTED_KEYS_MAX = 1000

/**
 * An index that forgets everything when it is closed.
 *
 * @example
 * const index = memoryIndex()
 * await index.apply([[key, value]], 1)
 */
export function memoryIndex(): OrderedIndex {
  const values = new Map<KeyBytes, Uint8Array>()
  const order = new KeyOrder(UNSORTED_KEYS_MAX)
  let appliedUpTo = 0
  return {
    get: (key) => values.get(key),
    range,
    scan: ({ from, to, reverse }, look) =>
      order.each(from, to, reverse ? 'backward' : 'forward', (key) => {
        const value = values.get(key) as Uint8Array
        return look(value, value.length)
      }),
    apply: (changes: Iterable<IndexChange>, upTo: number) => {
      for (const [key, value] of changes) {
        if (value === undefined) {
          if (values.delete(key)) order.delete(key)
        } else {
          if (!values.has(key)) order.add(key)
          values.set(key, value)
        }
      }
      appliedUpTo = upTo
      return APPLIED
    },
    get appliedUpTo() {
      return appliedUpTo
    },
    close: () => Promise.resolve(),
  }

  function* range({ from, to, reverse }: KeyRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    for (const key of order.range(from, to, reverse ? 'backward' : 'forward')) {
      yield [key, values.get(key) as Uint8Array]
    }
  }
}

const APPLIED = Promise.resolve()
