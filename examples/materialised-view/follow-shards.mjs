// Reads a stream of any DynamoDB endpoint, page by page: all its shards, a child only after its parent, so that the changes of
// an item come in order.
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { setTimeout as wait } from 'node:timers/promises'

const RECORDS_MAX = 25
const PAUSE_MS = 50

/**
 * Pages of records, each with the position to store together with what they lead to: the sequence number of the last record
 * of each shard, or 'end'. `start` is a position that was stored, or {} for the oldest records.
 */
export async function* pagesOf(streams, StreamArn, start) {
  let position = start
  let shards = []
  const iterators = new Map()
  for (;;) {
    let isIdle = true
    const open = readable(shards, position)
    // A shard that has ended has children; and of a stream that was disabled nothing more comes.
    if (open.length === 0) shards = await shardsOf(streams, StreamArn)
    for (const { ShardId } of open) {
      const ShardIterator =
        iterators.get(ShardId) ?? (await iteratorAt(streams, StreamArn, ShardId, position[ShardId]))
      const { Records, NextShardIterator } = await streams.send(
        new GetRecordsCommand({ ShardIterator, Limit: RECORDS_MAX }),
      )
      iterators.set(ShardId, NextShardIterator)
      const last = NextShardIterator === undefined ? 'end' : Records.at(-1)?.dynamodb.SequenceNumber
      if (last === undefined) continue
      isIdle = false
      if (last === 'end') {
        iterators.delete(ShardId)
        shards = await shardsOf(streams, StreamArn)
      }
      position = { ...kept(position, shards), [ShardId]: last }
      yield { records: Records, position }
    }
    if (isIdle) await wait(PAUSE_MS)
  }
}

/** Not read to their end, and without a parent that still is to be read. */
function readable(shards, position) {
  const isToBeRead = (id) => shards.some(({ ShardId }) => ShardId === id) && position[id] !== 'end'
  return shards.filter(({ ShardId, ParentShardId }) => isToBeRead(ShardId) && !isToBeRead(ParentShardId))
}

/** Without the shards that are gone. */
const kept = (position, shards) =>
  Object.fromEntries(Object.entries(position).filter(([id]) => shards.some(({ ShardId }) => ShardId === id)))

async function shardsOf(streams, StreamArn) {
  const shards = []
  let ExclusiveStartShardId
  do {
    const { StreamDescription: stream } = await streams.send(
      new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }),
    )
    shards.push(...stream.Shards)
    ExclusiveStartShardId = stream.LastEvaluatedShardId
  } while (ExclusiveStartShardId !== undefined)
  return shards
}

async function iteratorAt(streams, StreamArn, ShardId, SequenceNumber) {
  const place =
    SequenceNumber === undefined
      ? { ShardIteratorType: 'TRIM_HORIZON' }
      : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber }
  const { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId, ...place }))
  return ShardIterator
}
