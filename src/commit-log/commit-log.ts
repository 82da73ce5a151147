// The log of commits: what the journal forgets. One record for each commit that touched a table which asks for it, in the
// order in which commits took effect.
//
//   step --entries--> batch --journal, one sync--> assembler --records--> files, written behind the answers
//                                                     |                     |    synced before the journal forgets
//                                                     v                     v
//                                       readers: by number, by time, by item (streams, history, restore)
//
// A record is readable as soon as the journal has made it durable: the files follow, and after a crash they are brought up
// from the journal as an index is. The same journal always gives the same records with the same numbers, so what a reader
// has seen means the same after a restart.
//
// Records are kept for as long as the slowest promise asks (`keepFrom`), never by who has read them. What is gone is told as
// gone, never as empty.
//
// May import: model, runtime (its interfaces). Knows nothing of streams, of journals and of requests.
import type { KeyBytes, SpaceId, Timestamp } from '../model/brand.js'
import type { CommitRecord } from './commit-record.js'

export interface LogPage {
  readonly records: readonly CommitRecord[]
  /** Where to go on: the number after the last record that was looked at, whether or not it was answered. */
  readonly next: number
}

export interface LogRead {
  /** Inclusive. */
  readonly from: number
  /** Only records with a change of one of these tables, and of them only those changes; absent: all. */
  readonly spaces?: ReadonlySet<SpaceId>
  readonly recordsMax: number
  /** Stop after the record with which the page reaches this many bytes. */
  readonly bytesMax: number
}

/** Which records of an item are asked for. */
export interface LogItemRead {
  readonly space: SpaceId
  readonly key: KeyBytes
  /** Inclusive, both. */
  readonly from: number
  readonly to: number
  readonly reverse: boolean
  readonly entriesMax: number
}

/** What readers have of the log. */
export interface CommitLogReader {
  /** Number of the last record that can be read; 0 if there never was one. */
  readonly last: number
  /** Number of the first record that is kept; one more than `last` if none is. */
  readonly first: number

  /**
   * The next records from that number on, in order; a page may be empty though more follow, when what was looked at
   * concerned other tables.
   * @throws LogTrimmed if `from` is below `first`; LogDamaged if what is there cannot be read
   */
  read(request: LogRead): Promise<LogPage>

  /** The number of the first record that may have this commit timestamp or a later one; `last` + 1 if none has. */
  numberAt(timestamp: Timestamp): Promise<number>

  /** Numbers of the records that are kept and changed this item, in order (or the newest first). */
  ofItem(request: LogItemRead): Promise<readonly number[]>

  /** Calls back, soon after, whenever there is something new to read, until the result is called. */
  onAppended(callback: () => void): () => void
}

export interface CommitLog extends CommitLogReader {
  /**
   * Resolves when everything that was durable before the call can be read. What a transaction over several nodes has done at
   * some of them is held back, with what came after it, until it has ended at all of them.
   */
  settled(): Promise<void>

  /** Resolves when the log exists: before a shape that asks for it is in force. */
  begin(): Promise<void>

  /**
   * Records with this commit timestamp or a later one are kept, however old they are; undefined: as long as streams need them.
   * Until it is called for the first time all are kept.
   */
  holdFrom(timestamp: Timestamp | undefined): void

  /** Commits at or below it may be gone though they were to be kept: a log in memory is bounded. */
  readonly lostUpTo: Timestamp

  /** Bytes of the changes of a table that came into the log since it was opened. */
  bytesOf(space: SpaceId): number

  /** From now on it lets go of nothing that the follower has not taken, and writers wait while that is far behind. */
  follow(follower: RecordFollower): void
}

/** One that needs every record: the log waits for it. */
export interface RecordFollower {
  /** The first record that it has not taken for good. */
  readonly next: number
  /** How many records it may be behind. */
  readonly behindMax: number
  /** Why it cannot go on; it tries again. */
  readonly failure: Error | undefined
  /** Calls back whenever it has moved, or could not. */
  onMoved(callback: () => void): void
}

/** The record that was asked for is not kept any more. */
export class LogTrimmed extends Error {
  override readonly name = 'LogTrimmed'
}

/** A part of the log cannot be read: its bytes are not what was written. */
export class LogDamaged extends Error {
  override readonly name = 'LogDamaged'
}
