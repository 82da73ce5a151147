// The index of a simulated machine: what was applied survives every crash, and what was being applied may or may not have.
import { memoryMap } from '../src/ordered-map/memory-map.js'
import type { IndexChange, OrderedMap } from '../src/ordered-map/ordered-map.js'
import type { Knobs } from '../src/model/knobs.js'
import type { Life, Surroundings } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'

export class SimIndex {
  readonly #around: Surroundings
  readonly #random: Random
  readonly #index: OrderedMap
  #applying: { readonly changes: readonly IndexChange[]; readonly upTo: number } | undefined

  constructor(around: Surroundings, knobs: Knobs) {
    this.#around = around
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
        return new Promise((resolve) => {
          const { scheduler } = this.#around
          scheduler.after(this.#random.skewed(100, 20_000), `apply ${life.process.name}`, () => {
            if (!life.alive) return
            this.#applying = undefined
            void index.apply(taken.changes, taken.upTo)
            if (life.reach('after-apply')) resolve()
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
