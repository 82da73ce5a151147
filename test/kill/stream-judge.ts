// What a reader of a stream was given, compared with what the clients of its table were told:
//
//   acknowledged write --> exactly one record        unacknowledged write --> at most one
//   old image of a record = new image of the record before it, for the same key
//   all changes of a transaction have one commit number, and none is missing
//   the records, applied in order, make the table
import { isDeepStrictEqual } from 'node:util'
import type { Attributes } from './killed-server.js'

export interface ReadRecord {
  readonly eventName: string
  readonly dynamodb: {
    readonly SequenceNumber: string
    readonly Keys: Attributes
    readonly OldImage?: Attributes
    readonly NewImage?: Attributes
  }
}

/** Of the 21 digits of a sequence number: a leading one and the number of the commit. */
const COMMIT_DIGITS = 16

export class StreamJudge {
  readonly problems: string[] = []
  /** For each change that a record showed: the commit it was in. */
  readonly #seen = new Map<string, string>()
  readonly #acknowledged = new Set<string>()
  readonly #items = new Map<string, Attributes>()
  /** Transactions, and the changes that each of them makes. */
  readonly #transactions = new Map<string, readonly string[]>()
  #lastSequence = ''

  get recordCount(): number {
    return this.#seen.size
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size
  }

  get lastSequence(): string {
    return this.#lastSequence
  }

  hasSeen(change: string): boolean {
    return this.#seen.has(change)
  }

  /** A client was told that this change is done. */
  acknowledge(change: string): void {
    this.#acknowledged.add(change)
  }

  /** A client sends these changes in one transaction. */
  sendTogether(transaction: string, changes: readonly string[]): void {
    this.#transactions.set(transaction, changes)
  }

  take({ eventName, dynamodb }: ReadRecord): void {
    const { SequenceNumber: sequence, Keys, OldImage, NewImage } = dynamodb
    const id = String(Keys['id']?.S)
    // Numbers of one width: their order is that of their texts.
    if (sequence <= this.#lastSequence)
      this.problems.push(`record ${sequence} is read after ${this.#lastSequence}`)
    this.#lastSequence = sequence
    const change = changeOf(id, OldImage, NewImage)
    if (this.#seen.has(change)) this.problems.push(`${change} is in the stream twice`)
    this.#seen.set(change, sequence.slice(0, COMMIT_DIGITS))
    if (!isDeepStrictEqual(OldImage, this.#items.get(id)))
      this.problems.push(
        `${change}: its old image is ${JSON.stringify(OldImage)}, ` +
          `the new image before it ${JSON.stringify(this.#items.get(id))}`,
      )
    const expected = NewImage === undefined ? 'REMOVE' : OldImage === undefined ? 'INSERT' : 'MODIFY'
    if (eventName !== expected) this.problems.push(`${change} is called ${eventName}`)
    if (NewImage === undefined) this.#items.delete(id)
    else this.#items.set(id, NewImage)
  }

  /** When everything that was written has been read. */
  compare(table: readonly Attributes[]): void {
    for (const change of this.#acknowledged)
      if (!this.#seen.has(change)) this.problems.push(`${change} was acknowledged and is not in the stream`)
    for (const [transaction, changes] of this.#transactions) {
      const commits = new Set(changes.map((change) => this.#seen.get(change)))
      if (commits.size > 1)
        this.problems.push(`transaction ${transaction} is in halves: ${[...commits].join()}`)
    }
    const found = new Map(table.map((item) => [String(item['id']?.S), item]))
    for (const id of new Set([...found.keys(), ...this.#items.keys()]))
      if (!isDeepStrictEqual(found.get(id), this.#items.get(id)))
        this.problems.push(
          `item ${id} is ${JSON.stringify(found.get(id))}, the stream makes ${JSON.stringify(this.#items.get(id))}`,
        )
  }
}

/** The name of a change: each write leaves a mark of its own in the item, and a removal is named by the mark it removed. */
function changeOf(id: string, old: Attributes | undefined, now: Attributes | undefined): string {
  return now === undefined ? removalOf(id, String(old?.['mark']?.S)) : writeOf(id, String(now['mark']?.S))
}

export const writeOf = (id: string, mark: string): string => `${mark} of item ${id}`
export const removalOf = (id: string, mark: string): string => `removal of ${mark} of item ${id}`
