// One line of background work, in bounded steps.
//
//   wake --> a later turn --> claim --> one step of each job, a turn between steps --> claim --> ... --> no job left: rest
//                               |                        \--> a step failed: again after a pause
//                               \--> another router has it: again when its lease is over
//
// The jobs are asked for before every round and nowhere kept.
import type { SpaceId } from '../../../model/brand.js'
import type { Runtime } from '../../../runtime/runtime.js'

export interface LaneOptions<Job> {
  readonly runtime: Runtime
  /** Those there are now, each with the space that it is about. */
  readonly jobs: () => readonly Job[]
  readonly step: (job: Job) => Promise<void>
  /** Before each round. Undefined: go; otherwise the time until the next attempt. */
  readonly claim: () => Promise<number | undefined>
  /** The rounds have ended, for now. */
  readonly onRest: () => Promise<void>
  readonly onError: (error: unknown) => void
}

const RETRY_DELAY_MS = 1000

/** Who waits for the jobs of some spaces, whatever comes after them. */
interface Waiter {
  readonly spaces: Set<SpaceId>
  readonly resolve: () => void
}

export class BackgroundLoop<Job extends { readonly space: SpaceId }> {
  readonly #options: LaneOptions<Job>
  /** Not tried again before the pause is over. */
  readonly #failed = new Set<SpaceId>()
  #scheduled = false
  #running: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined
  /** Another router is at work, or whether one is could not be found out: nothing is done before the pause is over. */
  #cancelPause: (() => void) | undefined
  #closed = false
  #waiters: Waiter[] = []

  constructor(options: LaneOptions<Job>) {
    this.#options = options
  }

  /** There may be work. It starts in a later turn of the event loop. */
  wake(): void {
    if (this.#closed || this.#scheduled || this.#running !== undefined || this.#able().length === 0) return
    this.#scheduled = true
    this.#options.runtime.defer(() => {
      this.#scheduled = false
      if (this.#closed) return
      this.#running = this.#run().finally(() => {
        this.#running = undefined
        // A job that came while the last round ended.
        this.wake()
      })
    })
  }

  /** Resolves when the jobs that there are now are done, have become needless, or have failed. */
  async idle(): Promise<void> {
    const spaces = new Set(this.#able().map((job) => job.space))
    if (this.#closed || spaces.size === 0) return
    this.wake()
    await new Promise<void>((resolve) => this.#waiters.push({ spaces, resolve }))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.#cancelPause?.()
    await this.#running
    this.#tell([])
  }

  #able(): readonly Job[] {
    if (this.#cancelPause !== undefined) return []
    return this.#options.jobs().filter((job) => !this.#failed.has(job.space))
  }

  /** Rounds of one step for each job, until none is left but those that failed: they are tried again later. */
  async #run(): Promise<void> {
    while (this.#able().length > 0) {
      await this.#claim()
      // The claim may have come with news of what there is to do.
      for (const job of this.#able()) {
        if (this.#closed) return
        await this.#step(job)
        await new Promise<void>((resolve) => this.#options.runtime.defer(resolve))
      }
      this.#tell(this.#able())
    }
    this.#tell([])
    await this.#options.onRest().catch((error: unknown) => this.#options.onError(error))
  }

  async #claim(): Promise<void> {
    let waitMs: number | undefined
    try {
      waitMs = await this.#options.claim()
    } catch (error) {
      waitMs = RETRY_DELAY_MS
      if (!this.#closed) this.#options.onError(error)
    }
    if (waitMs === undefined || this.#closed) return
    this.#cancelPause = this.#options.runtime.clock.timer(waitMs, () => {
      this.#cancelPause = undefined
      this.wake()
    })
  }

  async #step(job: Job): Promise<void> {
    try {
      await this.#options.step(job)
    } catch (error) {
      if (this.#closed) return
      this.#failed.add(job.space)
      this.#retryLater()
      this.#options.onError(error)
    }
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#options.runtime.clock.timer(RETRY_DELAY_MS, () => {
      this.#cancelRetry = undefined
      this.#failed.clear()
      this.wake()
    })
  }

  /** Lets those go who wait for none of these any more. */
  #tell(left: readonly Job[]): void {
    if (this.#waiters.length === 0) return
    const spaces = new Set(left.map((job) => job.space))
    this.#waiters = this.#waiters.filter((waiter) => {
      for (const space of waiter.spaces) if (!spaces.has(space)) waiter.spaces.delete(space)
      if (waiter.spaces.size === 0) waiter.resolve()
      return waiter.spaces.size > 0
    })
  }
}
