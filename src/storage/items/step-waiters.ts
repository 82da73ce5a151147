// Who waits for a pending transaction on an item to be decided. Bounded in number and in time.
import type { KeyBytes } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import type { Clock } from '../../runtime/runtime.js'

export class StepWaiters {
  readonly #clock: Clock
  readonly #waitersMax: number
  readonly #waiters = new Map<KeyBytes, Set<() => void>>()
  #count = 0

  constructor(clock: Clock, { waitersMax }: Pick<Knobs, 'waitersMax'> = knobs) {
    this.#clock = clock
    this.#waitersMax = waitersMax
  }

  /** Something changed about what is pending on this item. */
  changed(item: KeyBytes): void {
    const waiters = this.#waiters.get(item)
    if (waiters !== undefined) for (const wake of waiters) wake()
  }

  changedAll(): void {
    for (const item of this.#waiters.keys()) this.changed(item)
  }

  /** True after a change of one of these items; false if there was none for that long, or too many wait already. */
  until(items: readonly KeyBytes[], waitMs: number): Promise<boolean> {
    if (this.#count >= this.#waitersMax || waitMs <= 0) return Promise.resolve(false)
    return new Promise((resolve) => {
      this.#count++
      const end = (changed: boolean): void => {
        cancelTimer()
        this.#count--
        for (const item of items) this.#remove(item, wake)
        resolve(changed)
      }
      const wake = (): void => end(true)
      const cancelTimer = this.#clock.timer(waitMs, () => end(false))
      for (const item of items) this.#add(item, wake)
    })
  }

  #add(item: KeyBytes, wake: () => void): void {
    const waiters = this.#waiters.get(item)
    if (waiters === undefined) this.#waiters.set(item, new Set([wake]))
    else waiters.add(wake)
  }

  #remove(item: KeyBytes, wake: () => void): void {
    const waiters = this.#waiters.get(item)
    waiters?.delete(wake)
    if (waiters?.size === 0) this.#waiters.delete(item)
  }
}
