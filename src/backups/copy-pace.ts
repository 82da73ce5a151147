// How fast a table is copied: as fast as it goes while nothing else has to be done, and with a tenth of the thread while others wait for it.
//
//   page, turn, page, turn ...                       a turn that comes back at once: the thread was free
//   page, turn . . . . . , pause x 9, page, turn     others were at work in the turn: they get nine times what the page took
//
// So the writers of a table wait for a page now and then, and seldom for more than one (docs/adr/0038).
import { awaitedTimer, type Runtime, steadyMicros } from '../runtime/runtime.js'

/** A turn that takes longer had something else in it. */
const FREE_TURN_MICROS_MAX = 300
const PAUSE_FOR_EACH = 9
const PAUSE_MS_MAX = 50

export class CopyPace {
  readonly #runtime: Runtime
  #since: number

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#since = steadyMicros(runtime.clock)
  }

  /** After each page: resolves when the next one may be read. */
  async turn(): Promise<void> {
    const { clock } = this.#runtime
    const done = steadyMicros(clock)
    await new Promise<void>((resolve) => this.#runtime.defer(resolve))
    if (steadyMicros(clock) - done > FREE_TURN_MICROS_MAX) {
      const pauseMs = Math.min(Math.ceil(((done - this.#since) * PAUSE_FOR_EACH) / 1000), PAUSE_MS_MAX)
      await new Promise<void>((resolve) => awaitedTimer(clock, pauseMs, resolve))
    }
    this.#since = steadyMicros(clock)
  }
}
