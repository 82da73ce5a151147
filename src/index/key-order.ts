// The order of a set of keys, found out only when somebody asks for it: most keys are looked up by themselves, and many
// (those of pending transactions, say) are gone again before anybody walks over them.
//
//   add --> unsorted --(a walk, or too many of them)--> tree
import BTreeModule from 'sorted-btree'
import type { KeyBytes } from '../model/brand.js'
import { compareKeyBytes } from './ordered-index.js'

// The package is CommonJS: its class is the default member of what an ES module sees.
const BTree = BTreeModule.default

export class KeyOrder {
  readonly #tree = new BTree<KeyBytes, undefined>(undefined, compareKeyBytes)
  readonly #unsorted = new Set<KeyBytes>()
  readonly #unsortedMax: number

  /** `unsortedMax`: this many keys at most are put into the tree at once. */
  constructor(unsortedMax: number) {
    this.#unsortedMax = unsortedMax
  }

  /** A key that is not there yet. */
  add(key: KeyBytes): void {
    this.#unsorted.add(key)
    if (this.#unsorted.size >= this.#unsortedMax) this.#sort()
  }

  delete(key: KeyBytes): void {
    if (!this.#unsorted.delete(key)) this.#tree.delete(key)
  }

  /** The keys in a range in order, or in reverse. Not to be changed meanwhile. */
  *range(from: KeyBytes, to: KeyBytes, direction: 'forward' | 'backward'): Iterable<KeyBytes> {
    this.#sort()
    if (direction === 'forward') {
      for (const key of this.#tree.keys(from)) {
        if (key >= to) return
        yield key
      }
    } else {
      for (const [key] of this.#tree.entriesReversed(to, undefined, true)) {
        if (key < from) return
        yield key
      }
    }
  }

  /** The same keys, for the asking: `take` answers false when it has enough. */
  each(
    from: KeyBytes,
    to: KeyBytes,
    direction: 'forward' | 'backward',
    take: (key: KeyBytes) => boolean,
  ): void {
    if (direction === 'backward') {
      for (const key of this.range(from, to, direction)) if (!take(key)) return
      return
    }
    this.#sort()
    // The tree's own `forRange` would look for the end of the range as well, which takes as long as its beginning.
    const walk = this.#tree.entries(from, [from, undefined])
    for (let next = walk.next(); next.done !== true; next = walk.next()) {
      const [key] = next.value
      if (key >= to || !take(key)) return
    }
  }

  /** Whether there is any key in a range. */
  hasAny(from: KeyBytes, to: KeyBytes): boolean {
    this.#sort()
    const next = this.#tree.getPairOrNextHigher(from)
    return next !== undefined && next[0] < to
  }

  #sort(): void {
    for (const key of this.#unsorted) this.#tree.set(key, undefined)
    this.#unsorted.clear()
  }
}
