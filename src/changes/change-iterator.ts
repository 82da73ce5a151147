// The iterator that readers hold.
import type { CommitRecord } from '../commit-log/commit-record.js'
import type { ChangeIterable } from './change.js'
import type { LogFollower } from './log-follower.js'
import type { ChangeSource } from './stream.js'

export class ChangeIterator<T> implements ChangeIterable<T> {
  readonly #inTurn: ChangeSource['inTurn']
  readonly #follower: LogFollower
  readonly #elementsOf: (record: CommitRecord) => readonly T[]
  readonly #signal: AbortSignal | undefined
  /** Of the record that was read last. */
  #elements: readonly T[] = []
  #used = 0
  /** Calls of `next` are answered in order, one at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    source: Pick<ChangeSource, 'inTurn'>,
    follower: LogFollower,
    signal: AbortSignal | undefined,
    elementsOf: (record: CommitRecord) => readonly T[],
  ) {
    this.#inTurn = (answer) => source.inTurn(answer)
    this.#follower = follower
    this.#elementsOf = elementsOf
    this.#signal = signal
    if (signal?.aborted === true) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => undefined)
    return this.#inTurn(result)
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    try {
      for (;;) {
        if (this.#used < this.#elements.length) {
          return { done: false, value: this.#elements[this.#used++] as T }
        }
        const record = await this.#follower.next()
        if (record === undefined) break
        this.#elements = this.#elementsOf(record)
        this.#used = 0
      }
    } catch (error) {
      this.#end()
      throw error
    }
    this.#end()
    return { done: true, value: undefined }
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  #end(): void {
    this.#elements = []
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#follower.end()
  }

  readonly #onAbort = (): void => {
    this.#elements = []
    this.#follower.end({ reason: this.#signal?.reason })
  }
}
