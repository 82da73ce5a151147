// How a waiter waits: woken where the endpoint can, polling elsewhere.
import { type EndpointKind, Probe } from '../endpoint/probe.js'
import { isUnauthorized } from '../endpoint/refusals.js'
import type { CallParts } from './calls.js'
import { goneRequest, type LockName, type QueueRow } from './rows.js'

export interface Wait {
  /** The row whose end makes it our turn; absent where there is not one such row. */
  readonly behind?: QueueRow
  readonly position: number
  readonly maxMs: number
  readonly signal: AbortSignal | undefined
}

export interface WaitingOptions {
  readonly table: string
  /** Between two looks of the waiter that is next; longer behind. */
  readonly pollMs: number
  readonly pollMaxMs: number
  /** Waits under way at once. */
  readonly wakesMax: number
}

/** What the wire allows (docs/reference/wire.md), and what proxies between usually bear. */
const WAKE_TIMEOUT_MS_MAX = 20_000

export class Waiting {
  readonly #parts: CallParts
  readonly #options: WaitingOptions
  readonly #probe: Probe
  #wakesInFlight = 0
  #canWake = true

  constructor(parts: CallParts, options: WaitingOptions) {
    this.#parts = parts
    this.#options = options
    this.#probe = new Probe(parts.endpoint)
  }

  /** Resolves when it is worth looking again: the row is gone, time has passed, or the signal aborts. */
  async until(name: LockName, { behind, position, maxMs, signal }: Wait): Promise<void> {
    const pauseMs = Math.min(maxMs, this.#pollMs(position))
    const mayWake = (): boolean => this.#canWake && this.#wakesInFlight < this.#options.wakesMax
    if (behind !== undefined && mayWake()) {
      const kind = await this.#kind(pauseMs, signal)
      if (kind === 'not-yet') return
      if (kind === 'foreign') this.#canWake = false
    }
    if (behind !== undefined && mayWake()) {
      const woken = await this.#wake(name, behind, Math.min(maxMs, WAKE_TIMEOUT_MS_MAX), signal)
      if (woken) return
    }
    await this.#parts.clock.sleep(pauseMs, signal)
  }

  /** What the endpoint is; `not-yet` if nothing was decided within the time, which is as good as a pause then. */
  async #kind(pauseMs: number, signal: AbortSignal | undefined): Promise<EndpointKind | 'not-yet'> {
    const kind = this.#probe.kind()
    if (typeof kind === 'string') return kind
    const over = new AbortController()
    const pause = this.#parts.clock.sleep(
      pauseMs,
      signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
    )
    pause.catch(() => undefined)
    const decided = kind.catch((error: unknown) => {
      // The lock table may be used all the same. Other trouble passes.
      if (isUnauthorized(error)) this.#canWake = false
      return pause.then(() => 'not-yet' as const)
    })
    try {
      return await Promise.race([decided, pause.then(() => 'not-yet' as const)])
    } finally {
      over.abort()
    }
  }

  /** True if the row is gone or the time is over; false if the endpoint did not wait. */
  async #wake(
    name: LockName,
    behind: QueueRow,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { endpoint, clock } = this.#parts
    const request = goneRequest(this.#options.table, name, behind.ticket, Math.max(1, Math.floor(timeoutMs)))
    const startMs = clock.monotonicMs()
    this.#wakesInFlight++
    try {
      const asked = endpoint.extension!('WaitForItem', request, signal && { signal })
      const answer = (await this.#inTime(asked, timeoutMs)) as { readonly Met?: boolean } | undefined
      return answer?.Met === true || clock.monotonicMs() - startMs >= timeoutMs / 2
    } catch (error) {
      // It may not wait there: poll from now on. Other trouble passes.
      if (isUnauthorized(error)) this.#canWake = false
      return false
    } finally {
      this.#wakesInFlight--
    }
  }

  /** An answer that was lost on its way must not be waited for. */
  async #inTime(asked: Promise<unknown>, timeoutMs: number): Promise<unknown> {
    const over = new AbortController()
    asked.catch(() => undefined)
    try {
      return await Promise.race([
        asked,
        this.#parts.clock.sleep(timeoutMs + this.#options.pollMaxMs, over.signal),
      ])
    } finally {
      over.abort()
    }
  }

  #pollMs(position: number): number {
    const { pollMs, pollMaxMs } = this.#options
    return Math.min(pollMaxMs, pollMs * position) * (0.5 + this.#parts.random())
  }
}
