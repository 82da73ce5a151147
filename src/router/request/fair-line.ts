// Work that takes many turns, one at a time: if each request of many did its part in every turn of the event loop, all other
// requests would wait for all of them in each.
//
//   key a: 1 2 3 ┐
//   key b: 1     ├--> one after the other, keys in turn --> a1 b1 c1 a2 c2 a3
//   key c: 1 2   ┘
import { DynamoError } from '../../model/errors.js'

export class FairLine {
  /** Of one access key. */
  readonly #waitingMax: number
  /** Those who wait, by their access key; the key that comes next stands first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isTaken = false

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax
  }

  /** Does the work when it is its turn; refuses it if too much of that key waits already. */
  async run<Result>(keyId: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) await this.#wait(keyId)
    this.#isTaken = true
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #wait(keyId: string): Promise<void> {
    const line = this.#waiting.get(keyId) ?? []
    if (line.length >= this.#waitingMax)
      throw new DynamoError('ThrottlingException', 'Too many such requests wait for their turn; try again.')
    this.#waiting.set(keyId, line)
    return new Promise((resolve) => line.push(resolve))
  }

  /** The place goes over to the next one, so that nobody comes between. */
  #next(): void {
    for (const [keyId, line] of this.#waiting) {
      this.#waiting.delete(keyId)
      const begin = line.shift()
      if (line.length > 0) this.#waiting.set(keyId, line)
      if (begin !== undefined) return begin()
    }
    this.#isTaken = false
  }
}

/** Searches of one access key that wait. */
const SEARCHES_WAITING_MAX = 64

export const searchLine = (): FairLine => new FairLine(SEARCHES_WAITING_MAX)

/** Large reads of one access key that wait: each takes a part of a second. */
const LARGE_READS_WAITING_MAX = 512

export const largeReadLine = (): FairLine => new FairLine(LARGE_READS_WAITING_MAX)
