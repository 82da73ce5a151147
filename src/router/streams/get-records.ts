// GetRecords: the next records of a shard from the place of an iterator on.
//
//   iterator --> stream, shard, place --> pages of the log, as far as readers may see --> those of the shard --> answer
//
// A page of the log may have nothing for the shard, and a request looks at a bounded number of pages: the answer may be empty
// and still name a place further on.
import { type CommitLog, LogTrimmed } from '../../commit-log/commit-log.js'
import { changesOf, type ChangePosition } from '../../commit-log/sequence-number.js'
import { hasKey, type Shard, shardOf } from '../lineage/lineage.js'
import { streamKey, type StreamRecord } from '../lineage/stream-record.js'
import type { Operation } from '../request/context.js'
import { joinReply } from '../request/reply.js'
import { TurnBudget } from '../request/turns.js'
import { shownRegion, streamArn } from '../shapes/table-name.js'
import { TableCatalog } from '../tables/catalog/catalog.js'
import { arnIn, openIterator, sealIterator } from './iterators.js'
import { recordText, type RecordText } from './record-text.js'
import { streamOf, trimmedData } from './stream-request.js'

const RECORDS_MAX = 1000
const BYTES_MAX = 1024 * 1024
/** Pages of the log that one request looks at. */
const PAGES_MAX = 16

export const getRecords: Operation = {
  name: 'GetRecords',
  shape: {
    kind: 'struct',
    members: {
      ShardIterator: { kind: 'string', required: true, lengthMin: 1, lengthMax: 2048 },
      Limit: { kind: 'integer', valueMin: 1, valueMax: RECORDS_MAX },
    },
  },

  async run({ catalog, runtime }, input, scope) {
    if (!(catalog instanceof TableCatalog)) throw new TypeError('this catalogue has no streams')
    const iterator = input['ShardIterator'] as string
    const recordsMax = (input['Limit'] as number | null | undefined) ?? RECORDS_MAX
    const { stream, log } = streamOf(catalog, arnIn(iterator), scope)
    const { id: principalId } = scope.principal
    const place = openIterator(iterator, { stream, principalId, nowMicros: runtime.clock.nowMicros() })
    const shard = shardOf(stream, place.shardId)
    // An iterator is younger than any shard that is gone: what it points to was there, and was trimmed.
    if (shard === undefined || place.number < (await catalog.keeper.horizon())) throw trimmedData()
    const budget = new TurnBudget(runtime)
    const reading = new ShardReading(stream, shard, shownRegion(scope.addressed.region))
    const next = await reading.from(place, {
      log,
      // Asked for anew before each page: the shard may be closed meanwhile, and nothing behind its end is of it.
      last: () => lastVisible(catalog, stream, shard),
      recordsMax,
      rest: (bytes) => (budget.isDue(bytes) ? budget.next() : undefined),
    })
    const isOver = next.number > (shard.to ?? Infinity)
    const arn = streamArn(stream.tableName, stream.label, scope.addressed.region)
    const sealing = { stream, principalId, nowMicros: runtime.clock.nowMicros() }
    const more = isOver
      ? ''
      : `,"NextShardIterator":"${sealIterator(arn, { shardId: shard.id, ...next }, sealing)}"`
    return joinReply(['{"Records":[', ...reading.pieces, `]${more}}`])
  },
}

/** Number of the last record of the shard that may be shown now. */
function lastVisible(catalog: TableCatalog, stream: StreamRecord, shard: Shard): number {
  if (shard.to !== undefined) return shard.to
  const current = catalog.stream(streamKey(stream)) ?? stream
  return Math.min(catalog.keeper.visible(current), shardOf(current, shard.id)?.to ?? Infinity)
}

interface Bounds {
  readonly log: CommitLog
  readonly last: () => number
  readonly recordsMax: number
  /** After some work: a promise if others should get their turn. */
  readonly rest: (bytes: number) => Promise<void> | undefined
}

/** The records of one answer. */
class ShardReading {
  readonly pieces: (string | Uint8Array)[] = []
  readonly #stream: StreamRecord
  readonly #shard: Shard
  readonly #region: string
  #records = 0
  #bytes = 0

  constructor(stream: StreamRecord, shard: Shard, region: string) {
    this.#stream = stream
    this.#shard = shard
    this.#region = region
  }

  /** Reads on until the answer is full or there is nothing more, for now; resolves to where the next answer begins. */
  async from(place: ChangePosition, { log, last, recordsMax, rest }: Bounds): Promise<ChangePosition> {
    let next: ChangePosition = { number: place.number, position: place.position }
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const end = last()
      if (next.number > end) return next
      // Of the records of a page only those of one shard count.
      const pageMax = Math.min(RECORDS_MAX, recordsMax * this.#shard.of)
      const page = await readPage(log, this.#stream, next.number, pageMax)
      for (const record of page.records) {
        if (record.number > end) return { number: end + 1, position: 0 }
        for (const streamed of changesOf(record, this.#stream.space)) {
          const isBehind = record.number === next.number && streamed.position < next.position
          if (isBehind || !hasKey(this.#shard, streamed.change.key)) continue
          const text = recordText({ ...streamed, timestamp: record.timestamp }, this.#stream, this.#region)
          if (this.#isFull(text, recordsMax)) return { number: streamed.number, position: streamed.position }
          this.#add(text)
          await rest(text.sizeBytes)
        }
      }
      next = { number: Math.min(page.next, end + 1), position: 0 }
    }
    return next
  }

  #isFull({ sizeBytes }: RecordText, recordsMax: number): boolean {
    return this.#records >= recordsMax || (this.#records > 0 && this.#bytes + sizeBytes > BYTES_MAX)
  }

  #add({ pieces, sizeBytes }: RecordText): void {
    if (this.#records > 0) this.pieces.push(',')
    this.pieces.push(...pieces)
    this.#records += 1
    this.#bytes += sizeBytes
  }
}

async function readPage(
  log: CommitLog,
  { space }: StreamRecord,
  from: number,
  recordsMax: number,
): ReturnType<CommitLog['read']> {
  try {
    return await log.read({ from, spaces: new Set([space]), recordsMax, bytesMax: BYTES_MAX })
  } catch (error) {
    if (error instanceof LogTrimmed) throw trimmedData()
    throw error
  }
}
