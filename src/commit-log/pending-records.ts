// Records that the storage does not have yet: collected as they come, and kept together by one append.
import type { KeyBytes, SpaceId, Timestamp } from '../model/brand.js'
import { type CommitRecord, recordBytes } from './commit-record.js'

export interface PendingRecords extends Iterable<CommitRecord> {
  readonly length: number
  /** What they take in memory, about. */
  readonly bytes: number
  add(record: CommitRecord): void
  /** The nth of them, from 0. Its images may be copies. */
  at(nth: number): CommitRecord
  /** Which of them is the first of that commit timestamp or a later one. */
  firstAt(timestamp: Timestamp): number | undefined
  /** Numbers of those that changed the item, in order. */
  numbersOf(space: SpaceId, key: KeyBytes): readonly number[]
}

/** As they are given: for a log in memory, which keeps them so. */
export class ListedRecords implements PendingRecords {
  bytes = 0
  readonly #records: CommitRecord[] = []

  get length(): number {
    return this.#records.length
  }

  add(record: CommitRecord): void {
    this.#records.push(record)
    this.bytes += recordBytes(record)
  }

  at(nth: number): CommitRecord {
    return this.#records[nth] as CommitRecord
  }

  firstAt(timestamp: Timestamp): number | undefined {
    const nth = this.#records.findIndex((record) => record.timestamp >= timestamp)
    return nth < 0 ? undefined : nth
  }

  numbersOf(space: SpaceId, key: KeyBytes): readonly number[] {
    return this.#records
      .filter(({ changes }) => changes.some((change) => change.space === space && change.key === key))
      .map(({ number }) => number)
  }

  [Symbol.iterator](): Iterator<CommitRecord> {
    return this.#records[Symbol.iterator]()
  }
}
