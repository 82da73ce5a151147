// Readers of changes in this process, put together: what the catalogue knows of streams, the log of commits, and the readers.
import type { CommitLogReader } from '../commit-log/commit-log.js'
import type { CommitRecord } from '../commit-log/commit-record.js'
import { changesOf, sequenceNumberOf } from '../commit-log/sequence-number.js'
import type { TableChange, ChangeIterable, ChangesOptions, TransactionChanges } from '../changes/change.js'
import { changesByRecord, changesByTransaction, follow } from '../changes/changes.js'
import { noStream } from '../changes/errors.js'
import { startOf } from '../changes/start.js'
import type { ChangeSource, FollowedStream } from '../changes/stream.js'
import { msOf } from '../changes/times.js'
import type { TriggerRecord } from '../changes/trigger/batch.js'
import type { StreamEventRecord, StreamHandler } from '../changes/trigger/stream-event.js'
import { RunningTrigger } from '../changes/trigger/trigger.js'
import type { Trigger, TriggerOptions } from '../changes/trigger/trigger-contract.js'
import { hashBytes } from '../model/key-bytes.js'
import { shardHolding } from '../router/lineage/lineage.js'
import { imagesOf, streamKey, type StreamRecord } from '../router/lineage/stream-record.js'
import { shownRegion, streamArn } from '../router/shapes/table-name.js'
import { recordText } from '../router/streams/record-text.js'
import type { TableCatalog } from '../router/tables/catalog/catalog.js'
import type { LoopYield } from '../runtime/loop-yield.js'
import type { Runtime } from '../runtime/runtime.js'

export interface ChangeReadersOptions {
  readonly runtime: Runtime
  readonly share: LoopYield
  readonly catalog: TableCatalog
  /** Absent: on nodes that keep none. */
  readonly log?: CommitLogReader
  readonly onError: (error: unknown) => void
}

/** Of a key its hash of the partition key: model/key-bytes.ts. */
const PARTITION_HASH_BYTES = 4

export class ChangeReaders {
  readonly #options: ChangeReadersOptions
  readonly #triggers = new Set<Trigger>()
  readonly #onStreamsChanged = new Set<() => void>()
  #isClosed = false

  constructor(options: ChangeReadersOptions) {
    this.#options = options
    options.catalog.onChanged(() => this.#tell())
  }

  byRecord(table: string, options: ChangesOptions): ChangeIterable<TableChange> {
    return changesByRecord(this.#source(), table, options)
  }

  byTransaction(tables: readonly string[], options: ChangesOptions): ChangeIterable<TransactionChanges> {
    return changesByTransaction(this.#source(), tables, options)
  }

  trigger(table: string, options: TriggerOptions, handler: StreamHandler): Trigger {
    const source = this.#source()
    const stream = source.streamOf(table)
    const { startingPosition = 'TRIM_HORIZON' } = options
    if (startingPosition !== 'TRIM_HORIZON' && startingPosition !== 'LATEST')
      throw new RangeError(`startingPosition is TRIM_HORIZON or LATEST, not ${String(startingPosition)}`)
    const start = startingPosition === 'LATEST' ? 'now' : 'start'
    const { runtime, onError } = this.#options
    const trigger: Trigger = new RunningTrigger(
      {
        runtime,
        stream,
        region: shownRegion(),
        last: () => source.log.last,
        follow: (from = start) => follow(source, [stream], startOf(source.log, [stream], from)),
        recordsOf: (record) => this.#recordsOf(record, stream),
        onError,
        onEnd: () => this.#triggers.delete(trigger),
      },
      options,
      handler,
    )
    this.#triggers.add(trigger)
    return trigger
  }

  /** Ends all readers; resolves when no handler runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#tell()
    await Promise.all(Array.from(this.#triggers, (trigger) => trigger.stop()))
  }

  #tell(): void {
    for (const callback of this.#onStreamsChanged) callback()
  }

  #source(): ChangeSource {
    const { log } = this.#options
    if (log === undefined) throw new Error('The nodes of this store keep no log of commits.')
    return {
      log,
      inTurn: (answer) => this.#options.share.of(answer),
      isClosed: () => this.#isClosed,
      streamOf: (table) => this.#streamOf(table),
      lastOf: (stream) => {
        const record = this.#recordOf(stream)
        // One that is not even remembered has ended long ago.
        return record === undefined ? stream.first - 1 : record.ended?.last
      },
      onStreamsChanged: (callback) => {
        this.#onStreamsChanged.add(callback)
        return () => this.#onStreamsChanged.delete(callback)
      },
    }
  }

  #streamOf(table: string): FollowedStream {
    const { catalog } = this.#options
    const { name, space, stream } = catalog.record(table)
    if (stream?.viewType === undefined) throw noStream(table)
    const record = catalog.stream(streamKey({ tableName: name, label: stream.label }))
    const first = record?.generations[0]?.from
    if (first === undefined || record?.status === 'ENABLING') throw noStream(table)
    return {
      table: name,
      label: stream.label,
      space,
      key: catalog.table(name).shape.key,
      images: imagesOf(stream.viewType),
      arn: streamArn(name, stream.label),
      first,
      isFirst: !catalog.streams().some((other) => other.space === space && other.label !== stream.label),
    }
  }

  #recordOf({ table, label }: FollowedStream): StreamRecord | undefined {
    return this.#options.catalog.stream(streamKey({ tableName: table, label }))
  }

  #recordsOf(record: CommitRecord, followed: FollowedStream): readonly TriggerRecord[] {
    const stream = this.#recordOf(followed)
    if (stream === undefined) return []
    return changesOf(record, followed.space).map(({ number, position, change }) => ({
      number,
      sequenceNumber: sequenceNumberOf({ number, position }),
      timestampMs: msOf(record.timestamp),
      json: eventText({ number, position, change, timestamp: record.timestamp }, stream, followed.arn),
      hash: hashBytes(change.key.slice(0, PARTITION_HASH_BYTES)),
      shardId: shardHolding(stream, number, change.key)?.id ?? '',
    }))
  }
}

/** A record of the stream as Lambda hands it on: with the stream's name, and other capitals. */
function eventText(streamed: Parameters<typeof recordText>[0], stream: StreamRecord, arn: string): string {
  const { pieces } = recordText(streamed, stream, shownRegion())
  const text = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
  const { userIdentity, ...event } = JSON.parse(text.toString()) as Omit<
    StreamEventRecord,
    'userIdentity'
  > & {
    readonly userIdentity?: { readonly PrincipalId: string; readonly Type: string }
  }
  return JSON.stringify({
    ...event,
    eventSourceARN: arn,
    ...(userIdentity && { userIdentity: { principalId: userIdentity.PrincipalId, type: userIdentity.Type } }),
  })
}
