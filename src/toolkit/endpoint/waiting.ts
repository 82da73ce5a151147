// Waiting: for a while, for a turn, and for an endpoint that has asked for patience. Time and chance are given.
import type { Clock, Runtime } from '../../runtime/runtime.js'
import { unitLimits } from './limits.js'

/** Resolves after that many milliseconds of the clock; rejects when the signal is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error)
    const stop = (): void => {
      cancel()
      reject(signal?.reason as Error)
    }
    const cancel = clock.timer(delayMs, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Evenly between 0 and 1, from four random bytes. */
export function fraction(runtime: Runtime): number {
  const [a = 0, b = 0, c = 0, d = 0] = runtime.randomBytes(4)
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32
}

/** Exponential, with full jitter. */
export const backoffOf =
  (runtime: Runtime, baseMs: number = unitLimits.backoffBaseMs) =>
  (attempt: number): number =>
    fraction(runtime) * Math.min(baseMs * 2 ** attempt, unitLimits.backoffMaxMs)

/** Turns for a bounded number at a time, first come, first served. */
export class ConcurrencyLimit {
  readonly #most: number
  #busy = 0
  #queue: (() => void)[] = []
  #next = 0

  constructor(most: number, option = 'concurrency') {
    if (!(most >= 1)) throw new RangeError(`${option} is a number from 1 on, not ${most}`)
    this.#most = most
  }

  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#busy < this.#most) {
      this.#busy++
      return
    }
    if (this.#queue.length - this.#next >= unitLimits.queueMax)
      throw new RangeError(`more than ${unitLimits.queueMax} units of work wait for their turn`)
    await new Promise<void>((resolve, reject) => {
      let open = true
      const turn = (): void => {
        // Who has given up meanwhile passes the turn on.
        if (!open) return this.give()
        open = false
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const stop = (): void => {
        open = false
        reject(signal?.reason as Error)
      }
      signal?.addEventListener('abort', stop, { once: true })
      this.#queue.push(turn)
    })
  }

  give(): void {
    const turn = this.#queue[this.#next]
    if (turn === undefined) {
      this.#busy--
      return
    }
    this.#next++
    if (this.#next > 1000) {
      this.#queue = this.#queue.slice(this.#next)
      this.#next = 0
    }
    turn()
  }
}

/** A delay before each attempt that grows while the endpoint is overloaded, and shrinks with every success. */
export class Pace {
  #delayMs = 0

  get delayMs(): number {
    return this.#delayMs
  }

  overloaded(): void {
    this.#delayMs = Math.min(Math.max(unitLimits.paceFirstMs, this.#delayMs * 2), unitLimits.paceMaxMs)
  }

  succeeded(): void {
    if (this.#delayMs > 0) this.#delayMs = this.#delayMs < 1 ? 0 : this.#delayMs * 0.8
  }
}
