// In doubt: what was pending when the node was opened may have been committed and seen before the crash. Until it is
// decided again, and readers see that, nobody reads these items.
import type { KeyBytes, TxId } from '../../model/brand.js'
import type { PendingItems } from './pending-items.js'

export class InDoubtItems {
  readonly #pendings: PendingItems
  /** Items with what was pending on them. */
  readonly #doubtful: Map<KeyBytes, ReadonlySet<TxId>>

  constructor(pendings: PendingItems) {
    this.#pendings = pendings
    this.#doubtful = new Map(
      [...pendings.items()].map((item) => [item, new Set(pendings.of(item).pending.map(({ tx }) => tx))]),
    )
  }

  get size(): number {
    return this.#doubtful.size
  }

  has(item: KeyBytes): boolean {
    return this.#doubtful.has(item)
  }

  items(): readonly KeyBytes[] {
    return [...this.#doubtful.keys()]
  }

  /** Readers see what has been decided about these items: those of which nothing is left to decide can be read. */
  dispel(items: Iterable<KeyBytes>): readonly KeyBytes[] {
    if (this.#doubtful.size === 0) return []
    return [...items].filter((item) => {
      const doubtful = this.#doubtful.get(item)
      if (doubtful === undefined) return false
      if (this.#pendings.of(item).pending.some(({ tx }) => doubtful.has(tx))) return false
      return this.#doubtful.delete(item)
    })
  }
}
