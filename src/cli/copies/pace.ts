// How fast a copy goes, and what is told of it.
import type { CommandEnvironment } from '../command/environment.js'

const TELL_EVERY_MS = 2000

export class CopyPace {
  readonly #world: CommandEnvironment
  readonly #perSecond: number
  readonly #startMs = performance.now()
  #toldMs = performance.now()
  #items = 0

  /** `perSecond`: at most so many items; Infinity for as many as there can be. */
  constructor(world: CommandEnvironment, perSecond: number) {
    this.#world = world
    this.#perSecond = perSecond
  }

  /** Counts them, tells of it now and then, and waits until they may have been done. */
  async done(items: number, total: number): Promise<void> {
    this.#items += items
    const nowMs = performance.now()
    if (nowMs - this.#toldMs >= TELL_EVERY_MS) {
      this.#toldMs = nowMs
      const perSecond = Math.round((this.#items * 1000) / (nowMs - this.#startMs))
      this.#world.printError(`${total} items, ${perSecond} a second`)
    }
    const waitMs = this.#startMs + (this.#items * 1000) / this.#perSecond - nowMs
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
