// Records that wait for an invocation, in order: those of one trigger, or with parallelism a part of its partition keys.
import { awaitedTimer, type Clock } from '../../runtime/runtime.js'
import type { TriggerRecord } from './batch.js'

export interface TriggerLaneOptions {
  readonly clock: Clock
  readonly batchSize: number
  readonly batchBytesMax: number
  readonly batchWindowMs: number
}

export class Lane {
  readonly #options: TriggerLaneOptions
  readonly #waiting: TriggerRecord[] = []
  #bytes = 0
  #isOver = false
  #wake: () => void = () => {}

  constructor(options: TriggerLaneOptions) {
    this.#options = options
  }

  /** Two batches at most wait: one that is being collected, and what was read with it. */
  get hasRoom(): boolean {
    return this.#waiting.length < 2 * this.#options.batchSize && this.#bytes < 2 * this.#options.batchBytesMax
  }

  push(record: TriggerRecord): void {
    this.#waiting.push(record)
    this.#bytes += record.json.length
    this.#wake()
  }

  /** Nothing more comes: `drain`, what waits is still to be done; `drop`, it is not. */
  end(rest: 'drain' | 'drop'): void {
    this.#isOver = true
    if (rest === 'drop') {
      this.#waiting.length = 0
      this.#bytes = 0
    }
    this.#wake()
  }

  /** The records of the next invocation, once there are; undefined after the last. One call at a time. */
  async collect(): Promise<readonly TriggerRecord[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#isOver) return undefined
      await this.#woken()
    }
    const { clock, batchWindowMs } = this.#options
    if (batchWindowMs > 0 && !this.#isFull()) {
      const window = { isOver: false }
      const cancel = awaitedTimer(clock, batchWindowMs, () => {
        window.isOver = true
        this.#wake()
      })
      while (!window.isOver && !this.#isFull() && !this.#isOver) await this.#woken()
      cancel()
    }
    const batch = this.#waiting.splice(0, this.#count())
    for (const { json } of batch) this.#bytes -= json.length
    return batch.length === 0 ? undefined : batch
  }

  #isFull(): boolean {
    return this.#waiting.length >= this.#options.batchSize || this.#bytes >= this.#options.batchBytesMax
  }

  /** How many fit into one event; one always does. */
  #count(): number {
    const { batchSize, batchBytesMax } = this.#options
    let bytes = 0
    for (const [at, { json }] of this.#waiting.entries()) {
      bytes += json.length
      if (at >= batchSize || (at > 0 && bytes > batchBytesMax)) return at
    }
    return this.#waiting.length
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = () => {}
        resolve()
      }
    })
  }
}
