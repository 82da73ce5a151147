// How fast a table is copied: as fast as it goes while nothing else has to be done, and seldom while others wait for the thread.
//
//   page, turn, page, turn ...                            a turn that comes back at once: the thread was free
//   page, turn . . . , eight more turns, page, turn       others were at work in the turn: they get some turns for themselves
//
// Turns of the event loop, not times: the busier the thread is, the longer a turn takes. So writers of a table wait for a page now and
// then, and never for two in a row (docs/adr/0038).
import { type Runtime, steadyMicros } from '../runtime/runtime.js'

/** A turn that takes longer had something else in it. */
const FREE_TURN_MICROS_MAX = 200
const TURNS_FOR_OTHERS = 8

export class PagePace {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** After each page: resolves when the next one may be read. */
  async turn(): Promise<void> {
    const { clock } = this.#runtime
    const since = steadyMicros(clock)
    await this.#next()
    if (steadyMicros(clock) - since <= FREE_TURN_MICROS_MAX) return
    for (let turns = 0; turns < TURNS_FOR_OTHERS; turns++) await this.#next()
  }

  #next(): Promise<void> {
    return new Promise((resolve) => this.#runtime.defer(resolve))
  }
}
