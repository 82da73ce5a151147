// Time as leases need it. A holder must not count too little, an observer not too much.
import { awaitedTimer, type Clock, steadyMicros } from '../../runtime/runtime.js'

export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

export class LockClock {
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Never set and never ahead of time; it may stand still while the machine sleeps. For observers. */
  monotonicMs(): number {
    return steadyMicros(this.#clock) / 1000
  }

  /** May be set to anything. For display, for TTL, and beyond all skew. */
  wallMs(): number {
    return this.#clock.nowMicros() / 1000
  }

  now(): Moment {
    return { monotonicMs: this.monotonicMs(), wallMs: this.wallMs() }
  }

  /** For holders: the larger progress of the two clocks, for the monotonic one stops in suspend. */
  sinceMs(moment: Moment): number {
    return Math.max(this.monotonicMs() - moment.monotonicMs, this.wallMs() - moment.wallMs)
  }

  /** In the background: it does not keep the process alive. */
  timer(delayMs: number, callback: () => void): () => void {
    return this.#clock.timer(delayMs, callback)
  }

  /** Somebody waits for it: the process stays alive. Ends early when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const end = (): void => {
        cancel()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const clock = this.#clock
      const cancel = awaitedTimer(clock, delayMs, end)
      signal?.addEventListener('abort', end, { once: true })
    })
  }
}
