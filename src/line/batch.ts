// What a node has decided since the last batch was taken by its journal, until it is durable or lost.
import type { KeyBytes, Lsn, SpaceId, Timestamp } from '../model/brand.js'
import type { LogEntry } from '../commit-log/entries.js'
import type { SpaceCount } from './spaces.js'

export interface Batch {
  readonly number: number
  readonly changes: Map<KeyBytes, Uint8Array | undefined>
  /** Keys that had no value before, with the length of one that is made when the batch is taken, about. */
  readonly fresh: Map<KeyBytes, number>
  /** Counts of the spaces that it changed, as they were before. */
  readonly countsBefore: Map<SpaceId, SpaceCount>
  /** By how much changes that readers see at once have changed them. */
  readonly countsVisible: Map<SpaceId, SpaceCount>
  /** For the log of commits, in the order of the steps. */
  readonly noted: LogEntry[]
  /** Those among them that tell of changes which readers see before the batch is durable. */
  readonly notedVisible: LogEntry[]
  readonly durable: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  /** What its changes take in memory until they are in the index. */
  bytes: number
  /** What is noted takes until the batch is durable; then the log of commits counts it. */
  notedBytes: number
  /** Readers do not see all of it before it is durable. */
  hidden: boolean
  /** Somebody waits for it. */
  hurried: boolean
  /** The highest timestamp and LSN given out when it was taken. */
  timestamp: Timestamp
  lsn: Lsn
  /** Offset of the journal after it, once it is durable. */
  end: number
}

/** Of what was put and taken back a frame is written, too: its time is what the node must not forget. */
export const isEmpty = ({ bytes, notedBytes }: Batch): boolean => bytes + notedBytes === 0

export function newBatch(number: number): Batch {
  const { promise, resolve, reject } = withResolvers()
  // Who waits for the batch hears of a failure; if nobody does, there is nobody to tell.
  promise.catch(() => undefined)
  return {
    number,
    changes: new Map(),
    fresh: new Map(),
    countsBefore: new Map(),
    countsVisible: new Map(),
    noted: [],
    notedVisible: [],
    durable: promise,
    resolve,
    reject,
    bytes: 0,
    notedBytes: 0,
    hidden: false,
    hurried: false,
    timestamp: 0 as Timestamp,
    lsn: 0 as Lsn,
    end: 0,
  }
}

function withResolvers(): {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
} {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((res, rej) => {
    resolve = res
    reject = rej
  })
  return { promise, resolve, reject }
}
