// What a reader is given of the records that are looked at for it, wherever they are kept.
import type { SpaceId } from '../model/brand.js'
import { LogTrimmed, type LogPage, type LogRead } from './commit-log.js'
import { recordBytes, type CommitRecord } from './commit-record.js'

/** Collects a page, record by record. */
export class LogPageBuilder {
  readonly #request: LogRead
  readonly #records: CommitRecord[] = []
  #bytes = 0
  #next: number

  constructor(request: LogRead) {
    this.#request = request
    this.#next = request.from
  }

  /** Where to go on. */
  get next(): number {
    return this.#next
  }

  get isFull(): boolean {
    const { recordsMax, bytesMax } = this.#request
    return (
      this.#records.length >= recordsMax || (this.#records.length > 0 && this.#bytes >= Math.max(1, bytesMax))
    )
  }

  /** Looks at the record that is next. */
  add(record: CommitRecord): void {
    this.#next = record.number + 1
    const shown = onlyOf(record, this.#request.spaces)
    if (shown === undefined) return
    this.#records.push(shown)
    this.#bytes += recordBytes(shown)
  }

  /** Up to that number there is nothing for this reader. */
  skipTo(number: number): void {
    this.#next = Math.max(this.#next, number)
  }

  page(): LogPage {
    return { records: this.#records, next: this.#next }
  }
}

/** Whether a reader of these tables finds anything where those are touched. */
export const logConcerns = (spaces: LogRead['spaces'], touched: Iterable<SpaceId>): boolean => {
  if (spaces === undefined) return true
  for (const space of touched) if (spaces.has(space)) return true
  return false
}

export const trimmed = (from: number, first: number): LogTrimmed =>
  new LogTrimmed(
    `Record ${from} of the log of commits is not kept any more; the first that is has number ${first}.`,
  )

/** A page that ends before anything was looked at: there is nothing yet. */
export const emptyPage = (from: number): LogPage => ({ records: [], next: from })

function onlyOf(record: CommitRecord, spaces: LogRead['spaces']): CommitRecord | undefined {
  if (spaces === undefined) return record
  const changes = record.changes.filter(({ space }) => spaces.has(space))
  if (changes.length === record.changes.length) return record
  return changes.length === 0 ? undefined : { ...record, changes }
}

/** The invariant of the log: its numbers have no holes. */
export function assertFollows(last: number, number: number): void {
  if (number !== last + 1)
    throw new Error(`The log of commits has record ${last}, and was given ${number} to follow it.`)
}
