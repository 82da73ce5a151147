// The index of a simulated machine: what was applied survives every crash, and what was being applied may or may not have. While
// its disk has no room (shortage.ts) it takes nothing, or says that it has not.
import { memoryMap } from '../src/ordered-map/memory-map.js'
import type { IndexChange, OrderedMap } from '../src/ordered-map/ordered-map.js'
import type { Knobs } from '../src/model/knobs.js'
import type { Life, Surroundings } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'
import type { Shortage } from './shortage.js'

export class SimIndex {
  readonly #around: Surroundings
  readonly #random: Random
  readonly #index: OrderedMap
  readonly #shortage: Shortage
  #applying: { readonly changes: readonly IndexChange[]; readonly upTo: number } | undefined

  constructor(around: Surroundings, knobs: Knobs, shortage: Shortage) {
    this.#around = around
    this.#shortage = shortage
    this.#index = memoryMap(knobs)
    this.#random = around.random.fork()
  }

  /** What one life of a process sees of it. */
  layer(life: Life): OrderedMap {
    const index = this.#index
    return {
      get: (key) => index.get(key),
      range: (range) => index.range(range),
      scan: (range, look) => index.scan(range, look),
      apply: (changes, upTo) => {
        const taken = { changes: [...changes], upTo }
        if (!life.reach('before-apply')) return new Promise(() => undefined)
        this.#applying = taken
        return new Promise((resolve, reject) => {
          const { scheduler } = this.#around
          scheduler.after(this.#random.skewed(100, 20_000), `apply ${life.process.name}`, () => {
            if (!life.alive) return
            this.#applying = undefined
            const refused = this.#shortage.refused()
            if (refused?.isWritten !== false) void index.apply(taken.changes, taken.upTo)
            if (!life.reach('after-apply')) return
            if (refused === undefined) resolve()
            else reject(refused.error)
          })
        })
      },
      get appliedUpTo() {
        return index.appliedUpTo
      },
      close: () => Promise.resolve(),
    }
  }

  crash(): void {
    const applying = this.#applying
    this.#applying = undefined
    if (applying !== undefined && this.#random.chance(0.5))
      void this.#index.apply(applying.changes, applying.upTo)
  }
}
