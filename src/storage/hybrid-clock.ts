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

  nextTimestamp(): Timestamp {
    this.#timestamp = Math.max(this.#clock.nowMicros(), this.#timestamp + 1) as Timestamp
    return this.#timestamp
  }

  nextLsn(): Lsn {
    this.#lsn = (this.#lsn + 1) as Lsn
    return this.#lsn
  }

  /** From here on everything is above these. */
  raise(to: { readonly timestamp: Timestamp; readonly lsn: Lsn }): void {
    this.#timestamp = Math.max(this.#timestamp, to.timestamp) as Timestamp
    this.#lsn = Math.max(this.#lsn, to.lsn) as Lsn
  }
}
