// The time of one attempt, and its caller's patience: whichever ends first. An AbortSignal is made of it only for those
// who ask, because one costs more than all the rest of a small unit.
import type { Clock } from '../../runtime/runtime.js'

export interface DeadlineOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** The reason, when the time is over. */
  readonly expired: () => unknown
}

export class Deadline {
  readonly #cancelTimer: () => void
  readonly #callers: AbortSignal | undefined
  #listeners: (() => void)[] = []
  #over: { readonly reason: unknown } | undefined
  #controller: AbortController | undefined

  constructor(clock: Clock, { timeoutMs, signal, expired }: DeadlineOptions) {
    this.#callers = signal
    this.#cancelTimer = clock.timer(timeoutMs, () => this.#end(expired()))
    if (signal?.aborted === true) this.#end(signal.reason)
    else signal?.addEventListener('abort', this.#giveUp, { once: true })
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  get reason(): unknown {
    return this.#over?.reason
  }

  throwIfOver(): void {
    if (this.#over !== undefined) throw this.#over.reason
  }

  /** Called once, when it is over; not at all once it is stopped. */
  onOver(listener: () => void): void {
    this.#listeners.push(listener)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#over !== undefined) this.#controller.abort(this.#over.reason)
    }
    return this.#controller.signal
  }

  /** The answer, or the reason if the time is over before. */
  before<Result>(run: () => PromiseLike<Result> | Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.throwIfOver()
      this.#listeners.push(() => reject(this.reason))
      // Not resolved with the promise itself, which nothing could overtake then.
      Promise.resolve(run()).then(resolve, reject)
    })
  }

  /** From now on it never ends. */
  stop(): void {
    this.#cancelTimer()
    this.#callers?.removeEventListener('abort', this.#giveUp)
    this.#listeners = []
  }

  readonly #giveUp = (): void => this.#end(this.#callers?.reason)

  #end(reason: unknown): void {
    if (this.#over !== undefined) return
    this.#over = { reason }
    const listeners = this.#listeners
    this.stop()
    this.#controller?.abort(reason)
    for (const listener of listeners) listener()
  }
}
