// Reads of a unit that are under way. A lambda that returns before one is answered has decided without it, and what it
// reads then would be left out of the validation: a mistake (a missing await), told as such.
import type { Item } from '../../model/value.js'
import { described } from './steps.js'

export interface PendingRead {
  readonly table: string
  readonly key?: Item
}

export class PendingReads {
  readonly #pending = new Set<PendingRead>()
  #told = false

  begin(place: PendingRead): PendingRead {
    const pending = { ...place }
    this.#pending.add(pending)
    return pending
  }

  end(pending: PendingRead): void {
    this.#pending.delete(pending)
  }

  /**
   * What becomes of a read that has failed. Once the unit was refused for it, nobody waits for the read: a rejection would
   * only end the process as unhandled.
   */
  failed(error: unknown): Promise<never> {
    return this.#told ? NEVER : Promise.reject(error)
  }

  assertDone(): void {
    const [first] = this.#pending
    if (first === undefined) return
    this.#told = true
    const { table, key } = first
    const place = key === undefined ? table : described({ table, key })
    throw new TypeError(
      `A read of ${place} was still under way when the lambda returned, or when commit() or detach() was called: await it. Nothing was written.`,
    )
  }
}

const NEVER = new Promise<never>(() => undefined)
