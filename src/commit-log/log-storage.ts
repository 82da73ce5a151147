// Where the records of the log are kept: files of a data folder, or memory.
import type { Timestamp } from '../model/brand.js'
import type { CommitRecord } from './commit-record.js'
import type { CommitLogReader } from './commit-log.js'
import type { PendingRecords } from './pending-records.js'

/** How far the journal has been taken into the log. */
export interface LogPosition {
  /** Offset of the journal: everything before it is in the records up to `number`. */
  readonly upTo: number
  /** Records behind this one, if there are any, come again when the journal is read from `upTo` on. */
  readonly number: number
}

/** Records as they are kept, without those that are still on their way here. */
export interface LogStorage extends Omit<CommitLogReader, 'onAppended'> {
  /** Of the last records that were kept. */
  readonly position: LogPosition

  /** Collects records for an append, in the form in which they are kept. */
  collect(): PendingRecords

  /**
   * Keeps the records that follow `last`, all of them or none, and makes them durable. Called once at a time. After a
   * rejection nothing is kept of them, and the same records may be appended again.
   */
  append(records: PendingRecords | readonly CommitRecord[], position: LogPosition): Promise<void>

  /** Nobody looks at them any more: their room may be used for others. */
  release(records: PendingRecords): void

  /**
   * Lets go of the oldest records, as far as all their commit timestamps are below that one and their removal frees room;
   * the newest part always stays, so that numbers go on. Resolves to the number of the first record that is kept.
   */
  trim(before: Timestamp): Promise<number>

  /** The newest commit timestamp among records that went for lack of room, and not because they were trimmed. */
  readonly lostUpTo?: Timestamp

  /** Nothing from that number on is let go, whatever its time and whatever room it takes. */
  hold(from: number): void

  /** What is kept, in bytes. */
  readonly bytes: number

  close(): Promise<void>
}
