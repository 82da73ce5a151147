// Reads a stream over the wire: all its shards, a child only after its parent, until it is told to end.
//
//   shards: DescribeStream --> those whose parent is read to its end --> GetShardIterator --> GetRecords, again and again
//                ^                                                                                |
//                +------------------- a shard has ended: its children --------------------------- +
//
// So the changes of an item come in order, over any number of shards that roll.
import { setTimeout as wait } from 'node:timers/promises'
import { Refused } from '../command/ask-endpoint.js'

export interface WireShard {
  readonly ShardId: string
  readonly ParentShardId?: string
  readonly SequenceNumberRange: {
    readonly StartingSequenceNumber: string
    readonly EndingSequenceNumber?: string
  }
}

export interface WireRecord {
  readonly eventName: string
  readonly dynamodb: {
    readonly ApproximateCreationDateTime: number
    readonly Keys: object
    readonly OldImage?: object
    readonly NewImage?: object
    readonly SequenceNumber: string
  }
}

export interface StreamReading {
  readonly streamArn: string
  /** `start`, `now` or a sequence number, after which it begins. */
  readonly from: string
  readonly signal: AbortSignal
  readonly ask: (operation: string, input: object) => Promise<unknown>
  /** How long it waits when there was nothing new. */
  readonly pauseMs: number
}

/** A shard that is being read. */
interface Reading {
  readonly shard: WireShard
  iterator: string
  /** Sequence number of the last record that was read of it. */
  last: string | undefined
}

const SHARD_PAGES_MAX = 1000

/** Records as they come, those of one round in the order of their sequence numbers; ends when the stream has ended. */
export async function* followStream(options: StreamReading): AsyncGenerator<WireRecord> {
  const { signal, pauseMs } = options
  const finished = new Set<string>()
  const readings = new Map<string, Reading>()
  let shards = await shardsOf(options)
  for (const { ShardId } of shards.filter((shard) => isBefore(shard, options.from))) finished.add(ShardId)
  let isFirst = true
  while (!signal.aborted) {
    for (const shard of nextShards(shards, finished, readings)) {
      const iterator = await iteratorOf(options, shard, shardStart(shard, isFirst ? options.from : 'start'))
      readings.set(shard.ShardId, { shard, iterator, last: undefined })
    }
    isFirst = false
    if (readings.size === 0) return
    const records: WireRecord[] = []
    let hasEnded = false
    for (const reading of readings.values()) {
      const { Records, NextShardIterator } = await nextPage(options, reading)
      records.push(...Records)
      reading.last = Records.at(-1)?.dynamodb.SequenceNumber ?? reading.last
      if (NextShardIterator !== undefined) reading.iterator = NextShardIterator
      else {
        hasEnded = true
        finished.add(reading.shard.ShardId)
        readings.delete(reading.shard.ShardId)
      }
    }
    yield* records.toSorted((one, other) => (before(one, other) ? -1 : 1))
    if (hasEnded) shards = await shardsOf(options)
    else if (records.length === 0) await wait(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

interface ShardPage {
  readonly Records: readonly WireRecord[]
  /** Absent: the shard has ended. */
  readonly NextShardIterator?: string
}

async function nextPage(options: StreamReading, reading: Reading): Promise<ShardPage> {
  try {
    return (await options.ask('GetRecords', { ShardIterator: reading.iterator })) as ShardPage
  } catch (error) {
    // This process was stopped for longer than an iterator lives.
    if (!(error instanceof Refused && error.code === 'ExpiredIteratorException')) throw error
    const from = reading.last ?? options.from
    if (from === 'now') throw new Error('it was stopped for too long; begin again', { cause: error })
    const iterator = await iteratorOf(options, reading.shard, shardStart(reading.shard, from))
    return { Records: [], NextShardIterator: iterator }
  }
}

/** Those that can be read now: not read yet, and without a parent that is still to be read. */
export function nextShards(
  shards: readonly WireShard[],
  finished: ReadonlySet<string>,
  readings: ReadonlyMap<string, unknown>,
): readonly WireShard[] {
  const known = new Set(shards.map(({ ShardId }) => ShardId))
  return shards.filter(
    ({ ShardId, ParentShardId: parent }) =>
      !finished.has(ShardId) &&
      !readings.has(ShardId) &&
      (parent === undefined || finished.has(parent) || !known.has(parent)),
  )
}

/** Whether all of the shard is before the place where reading begins. */
export function isBefore({ SequenceNumberRange: range }: WireShard, from: string): boolean {
  const { EndingSequenceNumber: end } = range
  if (from === 'start' || end === undefined) return false
  return from === 'now' || BigInt(end) <= BigInt(from)
}

/** As GetShardIterator wants it. */
export function shardStart({ SequenceNumberRange: range }: WireShard, from: string): object {
  if (from === 'now') return { ShardIteratorType: 'LATEST' }
  if (from === 'start' || BigInt(range.StartingSequenceNumber) > BigInt(from))
    return { ShardIteratorType: 'TRIM_HORIZON' }
  return { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: from }
}

async function iteratorOf(
  { streamArn, ask }: StreamReading,
  { ShardId }: WireShard,
  start: object,
): Promise<string> {
  const input = { StreamArn: streamArn, ShardId, ...start }
  const { ShardIterator } = (await ask('GetShardIterator', input)) as { readonly ShardIterator: string }
  return ShardIterator
}

async function shardsOf({ streamArn, ask }: StreamReading): Promise<readonly WireShard[]> {
  const shards: WireShard[] = []
  let after: string | undefined
  for (let pages = 0; pages < SHARD_PAGES_MAX; pages++) {
    const input = { StreamArn: streamArn, ...(after !== undefined && { ExclusiveStartShardId: after }) }
    const { StreamDescription: stream } = (await ask('DescribeStream', input)) as {
      readonly StreamDescription: {
        readonly Shards: readonly WireShard[]
        readonly LastEvaluatedShardId?: string
      }
    }
    shards.push(...stream.Shards)
    after = stream.LastEvaluatedShardId
    if (after === undefined) return shards
  }
  throw new Error(`the stream ${streamArn} has more shards than can be listed`)
}

const before = (one: WireRecord, other: WireRecord): boolean =>
  BigInt(one.dynamodb.SequenceNumber) < BigInt(other.dynamodb.SequenceNumber)
