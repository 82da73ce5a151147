// How fast a table is copied: as fast as it goes while nothing else has to be done, and seldom while others are at work.
//
//   page, turn, page, turn ...            nobody writes, and a turn comes back at once: the thread is free
//   page, turn, rest, page, turn, rest    others are at work: they get about ten times what a page takes for themselves
//
// A copy is in no hurry, and whoever waits for an answer is (docs/adr/0038).
import { rest, type Runtime, steadyMicros } from '../runtime/runtime.js'

/** A turn that takes longer had something else in it. */
const FREE_TURN_MICROS_MAX = 200

export class PagePace {
  readonly #runtime: Runtime
  readonly #changes: () => number
  #seen: number

  /** `changes`: how many there have been; it grows while others write. */
  constructor(runtime: Runtime, changes: () => number) {
    this.#runtime = runtime
    this.#changes = changes
    this.#seen = changes()
  }

  /** After each page: resolves when the next one may be read. */
  async turn(): Promise<void> {
    const runtime = this.#runtime
    const since = steadyMicros(runtime.clock)
    await new Promise<void>((resolve) => runtime.defer(resolve))
    const before = this.#seen
    this.#seen = this.#changes()
    const isBusy = this.#seen !== before || steadyMicros(runtime.clock) - since > FREE_TURN_MICROS_MAX
    if (isBusy) await new Promise<void>((resolve) => rest(runtime, resolve))
  }
}
