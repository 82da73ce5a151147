// Explicit locks of units of work, in memory, each until its unit's deadline (docs/adr/0011-units-of-work.md).
//
//   nobody holds it, or a younger unit does   --> taken; the younger one finds out when it commits
//   an older unit holds it                    --> the younger one waits, boundedly, then begins anew
//
// Who waits is always younger than whom it waits for, so nobody waits in a circle.
import type { KeyBytes, Timestamp } from '../model/brand.js'
import { knobs } from '../model/knobs.js'
import { type Clock, steadyMicros } from '../runtime/runtime.js'
import type { UnitIdentity } from './units.js'

interface Lock {
  readonly unit: UnitIdentity
  /** By a clock that is not set while it runs: one that is set back must not make it last. */
  readonly untilMicros: number
}

export class UnitLocks {
  readonly #locks = new Map<KeyBytes, Lock>()
  readonly #clock: Clock
  readonly #locksMax: number

  /** A deadline is a time, not a place in the serial order, which may be ahead of it. */
  constructor(clock: Clock, locksMax: number = knobs.unitLocksMax) {
    this.#clock = clock
    this.#locksMax = locksMax
  }

  get size(): number {
    return this.#locks.size
  }

  /** The unit that holds a lock on the item. */
  holder(item: KeyBytes): string | undefined {
    return this.#locks.size === 0 ? undefined : this.#live(item)?.unit.id
  }

  /** The older unit that keeps this one from the item. */
  keptBy(item: KeyBytes, unit: UnitIdentity): string | undefined {
    const lock = this.#live(item)
    return lock === undefined || lock.unit.id === unit.id || isOlder(unit, lock.unit)
      ? undefined
      : lock.unit.id
  }

  /** False if there is no room for so many. The caller has seen that no older unit holds one of them. */
  take(items: readonly KeyBytes[], unit: UnitIdentity, until: Timestamp): boolean {
    if (this.#locks.size + items.length > this.#locksMax) this.#forgetExpired()
    if (this.#locks.size + items.length > this.#locksMax) return false
    const untilMicros = steadyMicros(this.#clock) + (until - this.#clock.nowMicros())
    for (const item of items) this.#locks.set(item, { unit, untilMicros })
    return true
  }

  /** True if the unit had held it. */
  release(item: KeyBytes, unit: string): boolean {
    return this.#locks.get(item)?.unit.id === unit && this.#locks.delete(item)
  }

  #live(item: KeyBytes): Lock | undefined {
    const lock = this.#locks.get(item)
    if (lock === undefined || lock.untilMicros > steadyMicros(this.#clock)) return lock
    this.#locks.delete(item)
    return undefined
  }

  #forgetExpired(): void {
    const now = steadyMicros(this.#clock)
    for (const [item, { untilMicros }] of this.#locks) if (untilMicros <= now) this.#locks.delete(item)
  }
}

const isOlder = (one: UnitIdentity, other: UnitIdentity): boolean =>
  one.began < other.began || (one.began === other.began && one.id < other.id)
