// Explicit locks of units of work, in memory, each until its unit's deadline (docs/adr/0011-units-of-work.md).
//
//   nobody holds it, or a younger unit does   --> taken; the younger one finds out when it commits
//   an older unit holds it                    --> the younger one waits, boundedly, then begins anew
//
// Who waits is always younger than whom it waits for, so nobody waits in a circle.
//
// How long a lock holds, and how many one unit and one key have, is bounded here, whatever a client asks for. Asking again
// for a lock that is held does not make it last.
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { knobs } from '../../model/knobs.js'
import { type Clock, steadyMicros } from '../../runtime/runtime.js'
import type { UnitIdentity } from '../contract/units.js'

export interface LockLimits {
  /** The longest that a lock is held, whatever its unit's deadline is. */
  readonly lockMsMax?: number
  readonly locksOfUnitMax?: number
  /** Of all units of one access key; the program itself, and clients without keys, have all there are. */
  readonly locksOfKeyMax?: number
  /** Of this node. */
  readonly unitLocksMax?: number
}

export const lockLimits = { lockMsMax: 30_000, locksOfUnitMax: 10_000, locksOfKeyMax: 20_000 } as const

interface Lock {
  readonly unit: UnitIdentity
  /** By a clock that is not set while it runs: one that is set back must not make it last. */
  readonly untilMicros: number
  readonly sinceMicros: number
}

/** One lock, for people who look. */
export interface UnitLockEntry {
  /** With its space. */
  readonly item: KeyBytes
  readonly unit: string
  /** Since the epoch; when it was taken, and how long it is held at most. */
  readonly sinceMicros: number
  readonly leftMicros: number
}

export class UnitLocks {
  readonly #locks = new Map<KeyBytes, Lock>()
  readonly #ofUnit = new Counts()
  readonly #ofKey = new Counts()
  readonly #clock: Clock
  readonly #limits: Required<LockLimits>

  /** A deadline is a time, not a place in the serial order, which may be ahead of it. */
  constructor(clock: Clock, limits: LockLimits = {}) {
    this.#clock = clock
    const {
      lockMsMax = lockLimits.lockMsMax,
      locksOfUnitMax = lockLimits.locksOfUnitMax,
      locksOfKeyMax = lockLimits.locksOfKeyMax,
      unitLocksMax = knobs.unitLocksMax,
    } = limits
    this.#limits = { lockMsMax, locksOfUnitMax, locksOfKeyMax, unitLocksMax }
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
    const wanted = items.filter((item) => this.#live(item)?.unit.id !== unit.id)
    if (!this.#hasRoom(wanted.length, unit)) this.#forgetExpired()
    if (!this.#hasRoom(wanted.length, unit)) return false
    const leftMicros = Math.min(until - this.#clock.nowMicros(), this.#limits.lockMsMax * 1000)
    const untilMicros = steadyMicros(this.#clock) + leftMicros
    const sinceMicros = this.#clock.nowMicros()
    for (const item of wanted) {
      this.#delete(item)
      this.#locks.set(item, { unit, untilMicros, sinceMicros })
      this.#ofUnit.add(unit.id, 1)
      if (isCounted(unit)) this.#ofKey.add(unit.key, 1)
    }
    return true
  }

  /** Some of those that are held. */
  held(entriesMax: number): readonly UnitLockEntry[] {
    const now = steadyMicros(this.#clock)
    const held: UnitLockEntry[] = []
    for (const [item, { unit, untilMicros, sinceMicros }] of this.#locks) {
      if (held.length >= entriesMax) break
      const leftMicros = untilMicros - now
      if (leftMicros > 0) held.push({ item, unit: unit.id, sinceMicros, leftMicros })
    }
    return held
  }

  /** True if the unit had held it. */
  release(item: KeyBytes, unit: string): boolean {
    return this.#locks.get(item)?.unit.id === unit && this.#delete(item)
  }

  #hasRoom(count: number, unit: UnitIdentity): boolean {
    const { unitLocksMax, locksOfUnitMax, locksOfKeyMax } = this.#limits
    return (
      this.#locks.size + count <= unitLocksMax &&
      this.#ofUnit.of(unit.id) + count <= locksOfUnitMax &&
      (!isCounted(unit) || this.#ofKey.of(unit.key) + count <= locksOfKeyMax)
    )
  }

  #live(item: KeyBytes): Lock | undefined {
    const lock = this.#locks.get(item)
    if (lock === undefined || lock.untilMicros > steadyMicros(this.#clock)) return lock
    this.#delete(item)
    return undefined
  }

  #forgetExpired(): void {
    const now = steadyMicros(this.#clock)
    for (const [item, { untilMicros }] of this.#locks) if (untilMicros <= now) this.#delete(item)
  }

  #delete(item: KeyBytes): boolean {
    const lock = this.#locks.get(item)
    if (lock === undefined) return false
    const { unit } = lock
    this.#ofUnit.add(unit.id, -1)
    if (isCounted(unit)) this.#ofKey.add(unit.key, -1)
    return this.#locks.delete(item)
  }
}

/** How many there are of each name; none are not listed. */
class Counts {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, change: number): void {
    const count = this.of(name) + change
    if (count === 0) this.#counts.delete(name)
    else this.#counts.set(name, count)
  }
}

const isCounted = (unit: UnitIdentity): unit is UnitIdentity & { readonly key: string } =>
  unit.key !== undefined && unit.key !== ''

const isOlder = (one: UnitIdentity, other: UnitIdentity): boolean =>
  one.began < other.began || (one.began === other.began && one.id < other.id)
