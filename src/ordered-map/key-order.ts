// The order of a set of keys, found out only when somebody asks for it: most keys are looked up by themselves, and many
// (those of pending transactions, say) are gone again before anybody walks over them. What belongs to a key may stand
// beside it, so that a walk need not look it up.
//
//   add --> unsorted --(a walk, or too many of them)--> tree
import type { KeyBytes } from '../model/brand.js'
import { compareKeyBytes } from '../model/key-bytes.js'
import { BTree } from './b-tree.js'

export class KeyOrder<Beside = undefined> {
  #tree = new BTree<KeyBytes, Beside>(undefined, compareKeyBytes)
  readonly #unsorted = new Map<KeyBytes, Beside>()
  readonly #unsortedMax: number
  /** A key may stand among the unsorted ones and, with what a copy has beside it, in the tree. */
  #isCopied = false

  /** `unsortedMax`: this many keys at most are put into the tree at once. */
  constructor(unsortedMax: number) {
    this.#unsortedMax = unsortedMax
  }

  /** A key that is not there yet, or the same again. */
  add(key: KeyBytes, beside: Beside): void {
    this.#unsorted.set(key, beside)
    if (this.#unsorted.size >= this.#unsortedMax) this.#sort()
  }

  delete(key: KeyBytes): void {
    if (!this.#unsorted.delete(key) || this.#isCopied) this.#tree.delete(key)
  }

  /**
   * The same keys, from here on apart: nodes of the tree are shared until one side changes them. What stands beside the keys
   * is shared for good, and is not to be changed in place by either side.
   */
  copy(): KeyOrder<Beside> {
    this.#sort()
    const copy = new KeyOrder<Beside>(this.#unsortedMax)
    copy.#tree = this.#tree.clone()
    this.#isCopied = copy.#isCopied = true
    return copy
  }

  /** What stands beside a key; undefined if it is not there. */
  beside(key: KeyBytes): Beside | undefined {
    return this.#unsorted.get(key) ?? this.#tree.get(key)
  }

  /** The keys in a range in order, or in reverse. Not to be changed meanwhile. */
  *range(from: KeyBytes, to: KeyBytes, direction: 'forward' | 'backward'): Iterable<KeyBytes> {
    const walk = this.#walk(from, to, direction)
    for (let next = walk.next(); next.done !== true; next = walk.next()) {
      const [key] = next.value
      if (direction === 'forward' ? key >= to : key < from) return
      yield key
    }
  }

  /** The same, for the asking: `take` answers false when it has enough. */
  each(
    from: KeyBytes,
    to: KeyBytes,
    direction: 'forward' | 'backward',
    take: (beside: Beside) => boolean,
  ): void {
    const walk = this.#walk(from, to, direction)
    for (let next = walk.next(); next.done !== true; next = walk.next()) {
      const [key, beside] = next.value
      if ((direction === 'forward' ? key >= to : key < from) || !take(beside)) return
    }
  }

  /** Whether there is any key in a range. */
  hasAny(from: KeyBytes, to: KeyBytes): boolean {
    this.#sort()
    const next = this.#tree.getPairOrNextHigher(from)
    return next !== undefined && next[0] < to
  }

  /**
   * From one end of the range, and beyond the other. The tree's `forRange` would look for that end as well, which takes
   * as long as finding this one.
   */
  #walk(from: KeyBytes, to: KeyBytes, direction: 'forward' | 'backward'): Iterator<[KeyBytes, Beside]> {
    this.#sort()
    return direction === 'forward'
      ? this.#tree.entries(from)
      : this.#tree.entriesReversed(to, undefined, true)
  }

  #sort(): void {
    for (const [key, beside] of this.#unsorted) this.#tree.set(key, beside)
    this.#unsorted.clear()
  }
}
