// The history of an item of a ledger table, as a unit of work sees it: up to the version that the unit has read, which is validated
// as every read of it is. What the unit itself is about to write is no version yet.
import type { AttemptPort, ItemAddress, ReadItem } from './protocol.js'
import { type LedgerRevision, revisionOf } from '../values/revision.js'
import { validationError } from '../../model/errors.js'
import type { Rows } from './transactor.js'

/** Reads the item first; `read` is undefined if it never was read, because the unit has replaced it. */
export type ReadFirst = () => Promise<ReadItem | undefined>

export class UnitHistory implements Rows<LedgerRevision> {
  readonly #port: AttemptPort
  readonly #address: ItemAddress
  readonly #readFirst: ReadFirst

  constructor(port: AttemptPort, address: ItemAddress, readFirst: ReadFirst) {
    this.#port = port
    this.#address = address
    this.#readFirst = readFirst
  }

  // As rows are: an array when it is awaited, page by page otherwise.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Fulfilled = LedgerRevision[], Rejected = never>(
    onFulfilled?: ((rows: LedgerRevision[]) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#collect().then(onFulfilled, onRejected)
  }

  async #collect(): Promise<LedgerRevision[]> {
    const all: LedgerRevision[] = []
    for await (const revision of this) all.push(revision)
    return all
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LedgerRevision, void> {
    if (this.#port.revisions === undefined)
      throw validationError('Only ledger tables of Seriatim have a history')
    const read = await this.#readFirst()
    // Of an item that is not there: behind its last deletion nothing is known to the unit.
    let held: LedgerRevision[] = []
    let next: string | undefined
    do {
      const page = await this.#port.revisions(this.#address, next)
      for (const answer of page.revisions) {
        const version = read?.version
        if (typeof version === 'number' && answer.Metadata.Timestamp > version) return
        if (read !== undefined && version === undefined) {
          held.push(revisionOf(answer))
          if (answer.Metadata.Event !== 'REMOVE') continue
          yield* held
          held = []
        } else yield revisionOf(answer)
      }
      next = page.next
    } while (next !== undefined)
  }
}
