// What a node remembers of items that are not there any more, one bucket of the hash ring at a time (§3.3): instead of
// a tombstone for each deleted item, the highest timestamp and LSN of a delete in its partition.
//
// Not durable: after a restart every partition starts with the highest timestamp and LSN the node ever gave out, which
// is above any delete. That may refuse a prepare with an old timestamp; it never changes what a commit does.
import type { Lsn, Timestamp } from '../../model/brand.js'

const BUCKETS = 1024
const BUCKET_SHIFT = 22

export class Partitions {
  readonly #maxDelete: Float64Array
  readonly #deleteLsn: Float64Array

  constructor(start: { readonly timestamp: Timestamp; readonly lsn: Lsn }) {
    this.#maxDelete = new Float64Array(BUCKETS).fill(start.timestamp)
    this.#deleteLsn = new Float64Array(BUCKETS).fill(start.lsn)
  }

  maxDelete(hash: number): Timestamp {
    return this.#maxDelete[hash >>> BUCKET_SHIFT] as Timestamp
  }

  /** Stands for the LSN of an absent item: it changes whenever an item of the partition is deleted. */
  deleteLsn(hash: number): Lsn {
    return this.#deleteLsn[hash >>> BUCKET_SHIFT] as Lsn
  }

  deleted(hash: number, timestamp: Timestamp, lsn: Lsn): void {
    const bucket = hash >>> BUCKET_SHIFT
    if (timestamp > (this.#maxDelete[bucket] as number)) this.#maxDelete[bucket] = timestamp
    this.#deleteLsn[bucket] = lsn
  }
}
