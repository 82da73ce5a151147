// The index in memory: a B+ tree.
import BTreeModule from 'sorted-btree'
import type { KeyBytes } from '../model/brand.js'
import type { IndexChange, KeyRange, OrderedIndex } from './ordered-index.js'
import { compareKeyBytes } from './ordered-index.js'

// The package is CommonJS: its class is the default member of what an ES module sees.
const BTree = BTreeModule.default

/**
 * An index that forgets everything when it is closed.
 *
 * @example
 * const index = memoryIndex()
 * await index.apply([[key, value]], 1)
 */
export function memoryIndex(): OrderedIndex {
  const tree = new BTree<KeyBytes, Uint8Array>(undefined, compareKeyBytes)
  let appliedUpTo = 0
  return {
    get: (key) => tree.get(key),
    range: (range) => (range.reverse ? backward(range) : forward(range)),
    apply: (changes: Iterable<IndexChange>, upTo: number) => {
      for (const [key, value] of changes) {
        if (value === undefined) tree.delete(key)
        else tree.set(key, value)
      }
      appliedUpTo = upTo
      return Promise.resolve()
    },
    get appliedUpTo() {
      return appliedUpTo
    },
    close: () => Promise.resolve(),
  }

  function* forward({ from, to }: KeyRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    for (const entry of tree.entries(from)) {
      if (entry[0] >= to) return
      yield entry
    }
  }

  function* backward({ from, to }: KeyRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    for (const entry of tree.entriesReversed(to, undefined, true)) {
      if (entry[0] < from) return
      yield entry
    }
  }
}
