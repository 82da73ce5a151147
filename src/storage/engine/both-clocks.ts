// How long ago something was, on a machine that may have been suspended, where the clock that is not set may stand still, or whose
// clock of the wall may have been set: the longer one of what the two say (point 25 of the design).
import { type Clock, steadyMicros } from '../../runtime/runtime.js'

export class BothClocks {
  readonly #clock: Clock
  readonly #steadyMicros: number
  readonly #wallMicros: number

  /** From now on. */
  constructor(clock: Clock) {
    this.#clock = clock
    this.#steadyMicros = steadyMicros(clock)
    this.#wallMicros = clock.nowMicros()
  }

  get passedMs(): number {
    const steady = steadyMicros(this.#clock) - this.#steadyMicros
    return Math.max(steady, this.#clock.nowMicros() - this.#wallMicros) / 1000
  }
}
