// Shards of a stream and how they follow each other. Everything here is a function of the stream's record and the time.
//
//   generation 1   [ shard 0 ][ shard 1 ]                records 1 to 500
//                       |          |
//   generation 2   [ shard 0 ][ shard 1 ]                records 501 to 900
//                     |   \      |   \
//   generation 3   [ 0 ][ 1 ]  [ 2 ][ 3 ]                from record 901 on: the table has more capacity by now
//
// A shard has a part of the hashes of partition keys, so that all changes of an item are in one shard at a time. When shards
// roll, each has its child, or children, in the same moment. There never are fewer shards than before, as partitions of a
// table are not put together again: every shard has one parent.
import { hashBytes, partitionHash } from '../../model/key-bytes.js'
import type { KeyBytes } from '../../model/brand.js'
import type { Generation, StreamRecord } from './stream-record.js'

export const streamLimits = {
  /** For so long a record can be read, and a stream that has ended. */
  retentionMs: 24 * 60 * 60 * 1000,
  shardMinutes: 240,
  shardMinutesMax: 24 * 60,
  /** Of one generation. */
  shardsMax: 8,
  /** Of one stream: with the shortest life of a shard as many as 24 hours need, and those around them. */
  generationsMax: 24 * 60 + 2,
  /** Streams that have ended, of tables of one name: beyond it the oldest is removed before its time. */
  endedOfTableMax: 100,
  /** The same of all tables together, also of those that are deleted. */
  endedMax: 10_000,
} as const

const RETENTION_MICROS = streamLimits.retentionMs * 1000
/** Of one shard, as DynamoDB has them. */
const WRITE_UNITS_OF_SHARD = 1000

export interface Shard {
  readonly id: string
  /** Absent: there was none, or it is not kept any more. */
  readonly parentId?: string
  /** Its part of the hashes: the one at this position, of so many. */
  readonly position: number
  readonly of: number
  /** Numbers of the first record that may be in it, and of the last; without a last one it is open. */
  readonly from: number
  readonly to?: number
}

/** All that are kept, in the order in which they were made, which is that of their ids. There may be thousands. */
export function* shardsOf(stream: StreamRecord, generation = 0): Generator<Shard, undefined> {
  for (let at = generation; at < stream.generations.length; at++) yield* shardsAt(stream, at)
}

/** Those behind that id, also if its shard is not kept any more; none behind what never was an id. */
export function* shardsAfter(stream: StreamRecord, id: string): Generator<Shard, undefined> {
  const bornMs = bornMsIn(id)
  const first = stream.generations.findIndex((generation) => generation.bornMs >= bornMs)
  if (first >= 0) for (const shard of shardsOf(stream, first)) if (shard.id > id) yield shard
}

/** Undefined: there is none, or none any more. */
export const shardOf = (stream: StreamRecord, id: string): Shard | undefined =>
  shardsAt(stream, generationOf(stream, id)).find((shard) => shard.id === id)

/** None if the shard with that id is not kept. */
export function childrenOf(stream: StreamRecord, id: string): readonly Shard[] {
  const generation = generationOf(stream, id)
  return generation < 0 ? [] : shardsAt(stream, generation + 1).filter(({ parentId }) => parentId === id)
}

/** In which a change of that item with this number is. */
export function shardHolding(stream: StreamRecord, number: number, key: KeyBytes): Shard | undefined {
  const generation = stream.generations.findLastIndex(({ from }) => from <= number)
  return shardsAt(stream, generation).find((shard) => hasKey(shard, key) && number <= (shard.to ?? Infinity))
}

/** Those of one generation; none if there is no such one. */
function shardsAt(stream: StreamRecord, at: number): readonly Shard[] {
  const generation = stream.generations[at]
  if (generation === undefined || stream.status === 'ENABLING') return []
  const before = stream.generations[at - 1]
  const to = lastOf(stream, at)
  return Array.from({ length: generation.shards }, (_, position) => ({
    id: shardId(stream, generation, position),
    ...(before !== undefined && {
      parentId: shardId(stream, before, Math.floor((position * before.shards) / generation.shards)),
    }),
    position,
    of: generation.shards,
    from: generation.from,
    ...(to !== undefined && { to }),
  }))
}

const generationOf = ({ generations }: StreamRecord, id: string): number => {
  const born = bornMsIn(id)
  return generations.findIndex(({ bornMs }) => bornMs === born)
}

function lastOf({ generations, ended }: StreamRecord, at: number): number | undefined {
  const next = generations[at + 1]
  return next === undefined ? ended?.last : next.from - 1
}

/** Ids grow in the order of creation: by time, then by position, which is in the first digit. */
function shardId({ tableId, label }: StreamRecord, { bornMs }: Generation, position: number): string {
  const mixed = hashBytes(`${tableId}/${label}/${bornMs}/${position}`) & 0x0fff_ffff
  const digits = ((position * 2 ** 28) | mixed) >>> 0
  return `shardId-${String(bornMs).padStart(20, '0')}-${digits.toString(16).padStart(8, '0')}`
}

export const isShardMinutes = (minutes: number): boolean =>
  Number.isSafeInteger(minutes) && minutes >= 1 && minutes <= streamLimits.shardMinutesMax

/** Whether such an id may have been given to a shard. */
export const isShardId = (text: string): boolean => !Number.isNaN(bornMsIn(text))

/** When the shard with that id was made; NaN if it is the id of none. */
const bornMsIn = (id: string): number => Number(/^shardId-(\d{20})-[0-9a-f]{8}$/.exec(id)?.[1])

/** Whether changes of that item are in the shard, as far as it goes. */
export const hasKey = ({ position, of }: Pick<Shard, 'position' | 'of'>, key: KeyBytes): boolean =>
  of === 1 || Math.floor((partitionHash(key) * of) / 2 ** 32) === position

/** As many shards as DynamoDB would have partitions; without provisioned capacity one. */
export function shardsFor(writeUnits: number): number {
  let shards = 1
  while (shards * WRITE_UNITS_OF_SHARD < writeUnits && shards < streamLimits.shardsMax) shards *= 2
  return shards
}

export const firstGeneration = (from: number, nowMicros: number, shards: number): Generation => ({
  from,
  bornMs: Math.floor(nowMicros / 1000),
  shards,
})

/** Every open shard is closed at that number, and its children begin with the next one. */
export function rolled(
  stream: StreamRecord,
  { last, nowMicros, shards }: { readonly last: number; readonly nowMicros: number; readonly shards: number },
): StreamRecord {
  const open = openOf(stream)
  const next: Generation = {
    from: Math.max(open.from, last + 1),
    bornMs: Math.max(Math.floor(nowMicros / 1000), open.bornMs + 1),
    shards: Math.max(open.shards, shards),
  }
  const generations = [...stream.generations, next].slice(-streamLimits.generationsMax)
  return { ...stream, generations }
}

/** What is committed from here on has all its changes in the log: its first record has that number at least. */
export function begun(stream: StreamRecord, from: number): StreamRecord {
  const [first, ...more] = stream.generations as [Generation, ...Generation[]]
  return { ...stream, status: 'ENABLED', generations: [{ ...first, from }, ...more] }
}

/** The table loses it; `last` is the last record so far. */
export function ending(stream: StreamRecord, last: number): StreamRecord {
  const begins = stream.status === 'ENABLING' ? begun(stream, last + 1) : stream
  return { ...begins, status: 'DISABLING', endsAt: last }
}

/** The table writes nothing for it any more, and all that was written before is at most that number. */
export function ended({ endsAt, ...stream }: StreamRecord, written: number, nowMicros: number): StreamRecord {
  const last = Math.min(written, endsAt ?? written)
  return {
    ...stream,
    status: 'DISABLED',
    ended: { last: Math.max(last, openOf(stream).from - 1), atMicros: nowMicros },
  }
}

/** Without the generations that are over for longer than their records are kept; undefined: nothing of it is left. */
export function withoutOld(stream: StreamRecord, nowMicros: number): StreamRecord | undefined {
  const oldest = nowMicros - RETENTION_MICROS
  if (stream.ended !== undefined && stream.ended.atMicros <= oldest) return undefined
  const first = stream.generations.findIndex((_, at) => {
    const next = stream.generations[at + 1]
    return next === undefined || next.bornMs * 1000 > oldest
  })
  return first <= 0 ? stream : { ...stream, generations: stream.generations.slice(first) }
}

export const isRollDue = (stream: StreamRecord, nowMicros: number, shardMs: number): boolean =>
  stream.status === 'ENABLED' && (openOf(stream).bornMs + shardMs) * 1000 <= nowMicros

/** When there is next something to be done for a stream by time; undefined: never. */
export function nextDueMicros(stream: StreamRecord, shardMs: number): number | undefined {
  if (stream.status === 'DISABLING' || stream.status === 'ENABLING') return 0
  const times: number[] = []
  const second = stream.generations[1]
  if (second !== undefined) times.push(second.bornMs * 1000 + RETENTION_MICROS)
  if (stream.ended !== undefined) times.push(stream.ended.atMicros + RETENTION_MICROS)
  if (stream.status === 'ENABLED') times.push((openOf(stream).bornMs + shardMs) * 1000)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The generation whose shards are open, if any are. */
function openOf({ generations }: StreamRecord): Generation {
  const open = generations.at(-1)
  if (open === undefined) throw new Error('a stream without generations')
  return open
}
