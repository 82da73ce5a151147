// Streams as their readers in this process see them.
import type { CommitLogReader } from '../commit-log/commit-log.js'
import type { SpaceId } from '../model/brand.js'
import type { KeySchema, LoggedImages } from '../model/table.js'

/** The stream of a table from when it was enabled until it is disabled, or the table deleted. */
export interface FollowedStream {
  readonly table: string
  /** Among the streams of the table no other has it. */
  readonly label: string
  readonly space: SpaceId
  readonly key: KeySchema
  /** What its readers are shown; the log may have more, for others. */
  readonly images: LoggedImages
  readonly arn: string
  /** Number of the first record of the log that may belong to it. */
  readonly first: number
  /** The table had no other stream before, as far as that is known. */
  readonly isFirst: boolean
}

export interface LogFollowerPage {
  readonly recordsMax: number
  readonly bytesMax: number
}

/** What the changes are read from. */
export interface ChangeSource {
  readonly log: CommitLogReader
  /** The store is closed: nothing more is read. Told as a change of streams. */
  isClosed(): boolean
  /** The stream of that table as it is now. Throws if there is no such table, or if it has none. */
  streamOf(table: string): FollowedStream
  /** The number of the last record that a stream has, if it has ended. */
  lastOf(stream: FollowedStream): number | undefined
  /** Calls back after every change of tables and streams, until the result is called. */
  onStreamsChanged(callback: () => void): () => void
  /** How much is read at once, if not as much as usual. */
  readonly page?: LogFollowerPage
  /** The same answer, in a later turn of the event loop if this one has had its share. */
  inTurn<Answer>(answer: Promise<Answer>): Promise<Answer>
}
