// The changes of tables for programs in this process: an async iterator over the log of commits, and triggers.
//
//   log of commits --pages, as they are asked for--> LogFollower --records--> ChangeIterator   store.changes()
//        ^                                             |                 \--> trigger/         store.trigger()
//        +-- wakes it: there is something new          +-- ends where the stream of a table ends
//
// A follower holds one page, and reads the next one only when that is used up: a slow reader slows down nothing, and costs a
// page of memory. What it has not read in time is gone, and told as gone (ChangesTrimmed), never skipped.
//
// May import: model, runtime, commit-log, toolkit (its values). What a stream is, it is told by the store.
import type { CommitRecord } from '../commit-log/commit-record.js'
import type { TableChange, ChangeIterable, ChangesOptions, TransactionChanges } from './change.js'
import { ChangeIterator } from './change-iterator.js'
import { changesIn, lastPosition } from './converted.js'
import { LogFollower } from './log-follower.js'
import { type ReadStart, startOf } from './start.js'
import type { ChangeSource, FollowedStream } from './stream.js'

/** Changes one by one, in the order of their commits. */
export function changesByRecord(
  source: ChangeSource,
  table: string,
  options: ChangesOptions,
): ChangeIterable<TableChange> {
  const streams = [source.streamOf(table)]
  const start = startOf(source.log, streams, options.from)
  const { after } = start
  return new ChangeIterator(source, follow(source, streams, start), options.signal, (record) => {
    const changes = changesIn(record, streams)
    return record.number === after?.number ? changes.slice(after.position + 1) : changes
  })
}

/** All changes of a commit together, of one table or several. */
export function changesByTransaction(
  source: ChangeSource,
  tables: readonly string[],
  options: ChangesOptions,
): ChangeIterable<TransactionChanges> {
  const streams = [...new Set(tables)].map((table) => source.streamOf(table))
  if (streams.length === 0) throw new TypeError('changes() needs the name of a table, or several')
  const start = startOf(source.log, streams, options.from)
  const { after } = start
  return new ChangeIterator(source, follow(source, streams, start), options.signal, (record) => {
    // A transaction is never seen in halves: one of which a part was read comes again as a whole.
    if (record.number === after?.number && after.position >= lastPosition(record, streams)) return []
    return [wholeCommit(record, streams)]
  })
}

function wholeCommit(record: CommitRecord, streams: readonly FollowedStream[]): TransactionChanges {
  const changes = changesIn(record, streams)
  const { sequenceNumber, timestamp, transactionId } = changes.reduce((last, change) =>
    change.sequenceNumber > last.sequenceNumber ? change : last,
  )
  return { sequenceNumber, timestamp, ...(transactionId !== undefined && { transactionId }), changes }
}

/** From that record on, until one of the streams has ended. */
export function follow(
  source: ChangeSource,
  streams: readonly FollowedStream[],
  { from, isFromStart = false }: ReadStart,
): LogFollower {
  return new LogFollower({
    log: source.log,
    spaces: new Set(streams.map(({ space }) => space)),
    from,
    isFromStart,
    ...(source.page && { page: source.page }),
    tables: streams.map(({ table }) => table),
    lastOf: () => {
      let last: number | undefined
      for (const stream of streams) {
        const own = source.lastOf(stream)
        if (own !== undefined) last = Math.min(last ?? own, own)
      }
      return last
    },
    isClosed: () => source.isClosed(),
    onStreamsChanged: (callback) => source.onStreamsChanged(callback),
  })
}
