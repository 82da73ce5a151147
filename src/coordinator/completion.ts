// Taking finished transactions off the list of the unfinished, behind their answers and several at a time: by then most
// of what they left at the nodes has become durable along with the writes of others, and nobody waits for a sync.
//
// What is not completed when the coordinator vanishes is completed by recovery.
import type { Clock } from '../runtime/runtime.js'
import type { Calls } from './calls.js'
import type { CoordinatedNode } from './coordinator.js'
import { type Finished, completeRecords } from './finish.js'

/** Much shorter than what recovery takes for stalled. */
const DELAY_MS = 20

export class Completion {
  readonly #nodes: readonly CoordinatedNode[]
  readonly #calls: Calls
  readonly #clock: Clock
  readonly #waitingMax: number
  #waiting: Finished[] = []
  #cancelTimer: (() => void) | undefined
  readonly #running = new Set<Promise<unknown>>()

  constructor(nodes: readonly CoordinatedNode[], calls: Calls, clock: Clock, waitingMax: number) {
    this.#waitingMax = waitingMax
    this.#nodes = nodes
    this.#calls = calls
    this.#clock = clock
  }

  add(finished: Finished): void {
    this.#waiting.push(finished)
    if (this.#waiting.length >= this.#waitingMax) this.#start()
    else this.#cancelTimer ??= this.#clock.timer(DELAY_MS, () => this.#start())
  }

  /** Other work behind an answer; nobody minds if it fails. */
  behind(work: Promise<unknown>): void {
    const running: Promise<unknown> = work.catch(() => undefined).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves once what there is now has been completed, or could not be. */
  async idle(): Promise<void> {
    if (this.#waiting.length > 0) this.#start()
    await Promise.all(this.#running)
  }

  #start(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const finished = this.#waiting
    this.#waiting = []
    this.behind(completeRecords(this.#nodes, finished, this.#calls))
  }
}
