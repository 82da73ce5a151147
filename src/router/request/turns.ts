// Lets other requests have their turn while one works through much.
import type { Runtime } from '../../runtime/runtime.js'

/** Worked through before others get their turn: some milliseconds, of the smallest values some tens. */
const BYTES_PER_TURN = 256 * 1024
/** An element of a list takes as long as so many bytes of an item, however little is in it. */
export const ELEMENT_BYTES = 256

export class TurnBudget {
  readonly #runtime: Runtime
  #bytes = 0

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Counts what was worked through; whether it is time to wait for `next`. */
  isDue(bytes: number): boolean {
    this.#bytes += bytes
    return this.#bytes >= BYTES_PER_TURN
  }

  next(): Promise<void> {
    this.#bytes = 0
    return new Promise((resolve) => this.#runtime.defer(resolve))
  }
}
