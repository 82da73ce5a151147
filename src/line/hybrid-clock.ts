// Timestamps and LSNs of one node. A timestamp follows the wall clock where it can and is always above the last one;
// what was given out before a restart is known from the journal and the index.
import { type Lsn, type Timestamp, lsn, timestamp } from '../model/brand.js'
import type { Clock } from '../runtime/runtime.js'

export class HybridClock {
  readonly #clock: Clock
  #timestamp: Timestamp = timestamp(0)
  #lsn: Lsn = lsn(0)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The last ones given out. */
  get timestamp(): Timestamp {
    return this.#timestamp
  }
  get lsn(): Lsn {
    return this.#lsn
  }

  /**
   * The time, without giving it out: never behind what was given out, witnessed or told before. It is remembered, so that
   * what is kept for a time is not lost when somebody sets the clock back.
   */
  now(): Timestamp {
    this.#timestamp = Math.max(this.#clock.nowMicros(), this.#timestamp) as Timestamp
    return this.#timestamp
  }

  nextTimestamp(): Timestamp {
    this.#timestamp = Math.max(this.#clock.nowMicros(), this.#timestamp + 1) as Timestamp
    return this.#timestamp
  }

  nextLsn(): Lsn {
    this.#lsn = (this.#lsn + 1) as Lsn
    return this.#lsn
  }

  /** A timestamp that came from elsewhere: what is given out from here on is above it. */
  witness(timestamp: Timestamp): void {
    if (timestamp > this.#timestamp) this.#timestamp = timestamp
  }

  /** From here on everything is above these. */
  raise(to: { readonly timestamp: Timestamp; readonly lsn: Lsn }): void {
    this.#timestamp = Math.max(this.#timestamp, to.timestamp) as Timestamp
    this.#lsn = Math.max(this.#lsn, to.lsn) as Lsn
  }
}
