// One line of background work, in bounded steps.
//
//   wake --> a later turn --> one step of each job, a turn between steps --> ... --> no job left
//                                          \--> a step failed: again after a pause
//
// The jobs are asked for before every round and nowhere kept.
import type { SpaceId } from '../../model/brand.js'
import type { Runtime } from '../../runtime/runtime.js'

export interface LaneOptions<Job> {
  readonly runtime: Runtime
  /** Those there are now, each with the space that it is about. */
  readonly jobs: () => readonly Job[]
  readonly step: (job: Job) => Promise<void>
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
    await this.#running
    this.#tell([])
  }

  #able(): readonly Job[] {
    return this.#options.jobs().filter((job) => !this.#failed.has(job.space))
  }

  /** Rounds of one step for each job, until none is left but those that failed: they are tried again later. */
  async #run(): Promise<void> {
    for (let jobs = this.#able(); jobs.length > 0; jobs = this.#able()) {
      for (const job of jobs) {
        if (this.#closed) return
        await this.#step(job)
        await new Promise<void>((resolve) => this.#options.runtime.defer(resolve))
      }
      this.#tell(this.#able())
    }
    this.#tell([])
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
