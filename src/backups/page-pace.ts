// How fast a table is copied: as fast as it goes while nothing else has to be done, and seldom while others are at work.
//
//   page, turn, page, turn ...            nobody writes, and a turn comes back at once: the thread is free
//   pages, turns, rest, pages, turns ...   others are at work: they get most of the time for themselves
//
// A copy is in no hurry, and whoever waits for an answer is (docs/adr/0038).
import { rest, type Runtime, steadyMicros } from '../runtime/runtime.js'

/** A turn that takes longer had something else in it. */
const FREE_TURN_MICROS_MAX = 200
/** What is copied between two rests. */
const REST_AFTER_BYTES = 64 * 1024

export class PagePace {
  readonly #runtime: Runtime
  readonly #changes: () => number
  #seen: number
  /** Copied since the last rest. */
  #bytes = 0
  #othersWork = false

  /** `changes`: how many there have been; it grows while others write. */
  constructor(runtime: Runtime, changes: () => number) {
    this.#runtime = runtime
    this.#changes = changes
    this.#seen = changes()
  }

  /** After each page, of so many bytes: resolves when the next one may be read. */
  async turn(bytes: number): Promise<void> {
    const runtime = this.#runtime
    const since = steadyMicros(runtime.clock)
    await new Promise<void>((resolve) => runtime.defer(resolve))
    const before = this.#seen
    this.#seen = this.#changes()
    if (this.#seen !== before || steadyMicros(runtime.clock) - since > FREE_TURN_MICROS_MAX)
      this.#othersWork = true
    this.#bytes += bytes
    if (this.#bytes < REST_AFTER_BYTES) return
    this.#bytes = 0
    if (!this.#othersWork) return
    this.#othersWork = false
    await new Promise<void>((resolve) => rest(runtime, resolve))
  }
}
