// Rows of a query or scan: an array when awaited, one page at a time with `for await`. Nothing is sent before.
import type { Item } from '../../model/value.js'
import type { UnitRange, UnitRangeEntry } from './protocol.js'
import { described } from './layout.js'
import type { Rows } from './transactor.js'
import { unmarshallItem } from '../values/values.js'

type Plain = Record<string, unknown>

/** Rows page by page; returns whether all were read, or a limit came before the end. */
export type Batches = AsyncGenerator<readonly Item[], 'all' | 'limit'>

/** A range that a unit reads, and how far it has come: what the unit has not been given, it has not seen. */
export class RangeRead {
  readonly request: UnitRange
  #seen: 'nothing' | 'all' | Item = 'nothing'

  constructor(request: UnitRange) {
    this.request = request
  }

  saw(upTo: 'all' | Item): void {
    this.#seen = upTo
  }

  /** `positionOf` makes the position of a row. */
  entry(positionOf: (row: Item) => Item): UnitRangeEntry | undefined {
    if (this.#seen === 'nothing') return undefined
    return this.#seen === 'all' ? this.request : { ...this.request, end: positionOf(this.#seen) }
  }
}

export interface RowSource {
  /** Begins to read; the rows of an awaited array are held by the unit, those of an iteration are not. */
  open(use: 'array' | 'iteration'): { readonly batches: Batches; readonly range: RangeRead }
}

export class UnitRows implements Rows<Plain> {
  readonly #source: RowSource
  #array: Promise<Plain[]> | undefined

  constructor(source: RowSource) {
    this.#source = source
  }

  // A query is meant to be awaited, as a promise is; that it is sent only then is why it is none.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Fulfilled = Plain[], Rejected = never>(
    onFulfilled?: ((rows: Plain[]) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#array ??= this.#collect()
    return this.#array.then(onFulfilled, onRejected)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Plain, void> {
    const { batches, range } = this.#source.open('iteration')
    for (;;) {
      const batch = await batches.next()
      if (batch.done === true) {
        if (batch.value === 'all') range.saw('all')
        return
      }
      for (const row of batch.value) {
        range.saw(row)
        yield unmarshallItem(row)
      }
    }
  }

  async #collect(): Promise<Plain[]> {
    const { batches, range } = this.#source.open('array')
    const rows: Plain[] = []
    for (;;) {
      const batch = await batches.next()
      if (batch.done === true) {
        if (batch.value === 'all') range.saw('all')
        return rows
      }
      const last = batch.value.at(-1)
      if (last !== undefined) range.saw(last)
      for (const row of batch.value) rows.push(unmarshallItem(row))
    }
  }
}

// Reads of a unit that are under way. A lambda that returns before one is answered has decided without it, and what it
// reads then would be left out of the validation: a mistake (a missing await), told as such.

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
