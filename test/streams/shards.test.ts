import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Shard } from '@aws-sdk/client-dynamodb-streams'
import {
  HOUR_MS,
  idsOf,
  iteratorOf,
  openStreams,
  put,
  readAll,
  readOn,
  refusal,
  shardsOf,
  streamed,
  type StreamStore,
} from './support.js'

const TRIMMED = 'TrimmedDataAccessException: The data you are trying to access has been trimmed'
const range = ({ SequenceNumberRange }: Shard): (string | undefined)[] => [
  SequenceNumberRange!.StartingSequenceNumber,
  SequenceNumberRange!.EndingSequenceNumber,
]

/** Reads as a consumer does: a shard to its end, then its children. */
async function follow(own: StreamStore, arn: string): Promise<string[]> {
  const ids: string[] = []
  const queue = (await shardsOf(own, arn)).filter(({ ParentShardId }) => ParentShardId === undefined)
  for (let shard = queue.shift(); shard !== undefined; shard = queue.shift()) {
    const { records, next } = await readOn(own, await iteratorOf(own, arn, shard.ShardId!))
    ids.push(...idsOf(records))
    if (next !== undefined) continue
    const { StreamDescription } = await own.streams.describeStream({
      StreamArn: arn,
      ShardFilter: { Type: 'CHILD_SHARDS', ShardId: shard.ShardId },
    })
    assert.ok(StreamDescription!.StreamStatus !== 'ENABLED' || StreamDescription!.Shards!.length > 0)
    queue.push(...StreamDescription!.Shards!)
  }
  return ids
}

test('streams: after four hours every shard is closed, and its child follows it', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await put(own, 'Orders', 'b')
  await own.advance(4 * HOUR_MS - 1)
  assert.equal((await shardsOf(own, arn)).length, 1)
  await own.advance(1)
  await put(own, 'Orders', 'c')
  const [parent, child, ...more] = await shardsOf(own, arn)
  assert.equal(more.length, 0)
  assert.deepEqual(range(parent!), ['100000000000000100000', '100000000000000299999'])
  assert.deepEqual(range(child!), ['100000000000000300000', undefined])
  assert.equal(child!.ParentShardId, parent!.ShardId)
  assert.ok(child!.ShardId! > parent!.ShardId!)
  const first = await readOn(own, await iteratorOf(own, arn, parent!.ShardId!))
  assert.deepEqual(idsOf(first.records), ['a', 'b'])
  assert.equal(first.next, undefined)
  const second = await readOn(own, await iteratorOf(own, arn, child!.ShardId!))
  assert.deepEqual(idsOf(second.records), ['c'])
  assert.ok(second.next)
  assert.deepEqual(await follow(own, arn), ['a', 'b', 'c'])
})

test('streams: an iterator of an open shard reads it to its end after it was closed', async (t) => {
  const own = await openStreams(t, { shardMinutes: 10 })
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  const iterator = await iteratorOf(own, arn, shard!.ShardId!, 'LATEST')
  await put(own, 'Orders', 'a')
  await own.advance(10 * 60_000)
  await put(own, 'Orders', 'b')
  const { records, next } = await readOn(own, iterator)
  assert.deepEqual(idsOf(records), ['a'])
  assert.equal(next, undefined)
  assert.deepEqual((await readOn(own, await iteratorOf(own, arn, shard!.ShardId!, 'LATEST'))).next, undefined)
})

test('streams: shards that nothing was written to roll, too', async (t) => {
  const own = await openStreams(t, { shardMinutes: 1 })
  const arn = await streamed(own, 'Orders')
  for (let n = 0; n < 3; n++) await own.advance(60_000)
  await put(own, 'Orders', 'a')
  const shards = await shardsOf(own, arn)
  assert.equal(shards.length, 4)
  for (const [at, shard] of shards.entries()) {
    assert.equal(shard.ParentShardId, shards[at - 1]?.ShardId)
    const [first, last] = range(shard)
    assert.ok(last === undefined || last >= first!)
  }
  assert.deepEqual(await follow(own, arn), ['a'])
})

test('streams: a table that has got more capacity has more shards from the next roll on', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Wide', 'KEYS_ONLY', {
    BillingMode: 'PROVISIONED',
    ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1500 },
  })
  const ids = Array.from({ length: 30 }, (_, n) => `item-${n}`)
  for (const id of ids) await put(own, 'Wide', id, { n: { N: '1' } })
  await own.dynamodb.updateTable({
    TableName: 'Wide',
    ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 4000 },
  })
  assert.equal((await shardsOf(own, arn)).length, 2)
  await own.advance(4 * HOUR_MS)
  for (const id of ids) await put(own, 'Wide', id, { n: { N: '2' } })
  const shards = await shardsOf(own, arn)
  assert.equal(shards.length, 6)
  assert.deepEqual(
    shards.map(({ ShardId }) => ShardId),
    shards.map(({ ShardId }) => ShardId!).toSorted(),
  )
  for (const parent of shards.slice(0, 2))
    assert.equal(shards.filter(({ ParentShardId }) => ParentShardId === parent.ShardId).length, 2)
  // What was in a shard before goes on in its children.
  for (const parent of shards.slice(0, 2)) {
    const { records } = await readOn(own, await iteratorOf(own, arn, parent.ShardId!))
    const below: string[] = []
    for (const { ShardId } of shards.filter(({ ParentShardId }) => ParentShardId === parent.ShardId))
      below.push(...idsOf((await readOn(own, await iteratorOf(own, arn, ShardId!))).records))
    assert.deepEqual(below.toSorted(), idsOf(records).toSorted())
  }
  assert.equal((await follow(own, arn)).length, 60)
  // And never less again: partitions are not put together.
  await own.dynamodb.updateTable({ TableName: 'Wide', BillingMode: 'PAY_PER_REQUEST' })
  await own.advance(4 * HOUR_MS)
  assert.equal((await shardsOf(own, arn)).length, 10)
})

test('streams: writes while shards roll are each in one shard', async (t) => {
  const own = await openStreams(t, { shardMinutes: 1 })
  const arn = await streamed(own, 'Orders', 'KEYS_ONLY')
  const ids: string[] = []
  const read: string[] = []
  for (let round = 0; round < 20; round++) {
    const writes = Array.from({ length: 10 }, (_, n) => `${round}-${n}`)
    ids.push(...writes)
    const written = writes.map((id) => put(own, 'Orders', id))
    own.clock.advance(60_000)
    const looking = follow(own, arn)
    await Promise.all(written)
    const seen = await looking
    // What a reader has seen stays where it was.
    assert.deepEqual(seen.slice(0, read.length), read)
    assert.equal(new Set(seen).size, seen.length)
    read.splice(0, read.length, ...seen)
    await own.store.idle()
  }
  assert.deepEqual((await follow(own, arn)).toSorted(), ids.toSorted())
  assert.ok((await shardsOf(own, arn)).length > 15)
})

test('streams: after 24 hours a record is trimmed, and never told as nothing', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'old')
  const [old] = await readAll(own, arn)
  const number = old!.dynamodb!.SequenceNumber!
  await own.advance(2 * HOUR_MS)
  await put(own, 'Orders', 'young')
  await own.advance(22 * HOUR_MS - 1)
  const [first] = await shardsOf(own, arn)
  const iterator = await iteratorOf(own, arn, first!.ShardId!)
  assert.deepEqual(idsOf(await readAll(own, arn)), ['old', 'young'])
  await own.advance(10 * 60_000)
  // Told as trimmed at the place where it was, and begun behind it.
  assert.equal(await refusal(own.streams.getRecords({ ShardIterator: iterator })), TRIMMED)
  assert.equal(await refusal(iteratorOf(own, arn, first!.ShardId!, { at: number })), TRIMMED)
  assert.equal(await refusal(iteratorOf(own, arn, first!.ShardId!, { after: number })), TRIMMED)
  assert.deepEqual(idsOf(await readAll(own, arn)), ['young'])
})

test('streams: a shard whose records are all too old is gone, and its children have no parent', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.advance(4 * HOUR_MS)
  const [parent, child] = await shardsOf(own, arn)
  await own.advance(24 * HOUR_MS - 10 * 60_000)
  const iterator = await iteratorOf(own, arn, parent!.ShardId!)
  await own.advance(10 * 60_000)
  const shards = await shardsOf(own, arn)
  assert.equal(shards[0]!.ShardId, child!.ShardId)
  assert.equal(shards[0]!.ParentShardId, undefined)
  assert.equal(await refusal(own.streams.getRecords({ ShardIterator: iterator })), TRIMMED)
  assert.match(
    await refusal(iteratorOf(own, arn, parent!.ShardId!)),
    /^ResourceNotFoundException: Requested resource not found: Shard: /,
  )
  assert.ok(shards.length <= 8)
})

test('streams: a disabled stream is read to its end, and its shards are closed', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  const [shard] = await shardsOf(own, arn)
  const iterator = await iteratorOf(own, arn, shard!.ShardId!)
  await own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification: { StreamEnabled: false } })
  await put(own, 'Orders', 'b')
  const page = await own.streams.getRecords({ ShardIterator: iterator })
  assert.deepEqual(idsOf(page.Records!), ['a'])
  assert.equal('NextShardIterator' in page, false)
  const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn })
  assert.equal(StreamDescription!.StreamStatus, 'DISABLED')
  assert.deepEqual(range(StreamDescription!.Shards![0]!), ['100000000000000100000', '100000000000000199999'])
  // It does not roll any more, and goes with its last record.
  await own.advance(20 * HOUR_MS)
  assert.equal((await shardsOf(own, arn)).length, 1)
  await own.advance(4 * HOUR_MS)
  assert.deepEqual((await own.streams.listStreams({})).Streams, [])
})

test('streams: writes that were on their way when the stream was disabled are in it or not, and in no other', async (t) => {
  const own = await openStreams(t, { nodes: 2 })
  const first = await streamed(own, 'Orders', 'KEYS_ONLY')
  const update = (StreamSpecification: object): Promise<unknown> =>
    own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification } as never)
  const early = Array.from({ length: 50 }, (_, n) => put(own, 'Orders', `early-${n}`))
  await Promise.all([...early.slice(0, 10), update({ StreamEnabled: false })])
  await update({ StreamEnabled: true, StreamViewType: 'KEYS_ONLY' })
  await Promise.all(early)
  await put(own, 'Orders', 'late')
  const { Table } = await own.dynamodb.describeTable({ TableName: 'Orders' })
  const firstIds = idsOf(await readAll(own, first))
  const secondIds = idsOf(await readAll(own, Table!.LatestStreamArn!))
  assert.equal(new Set([...firstIds, ...secondIds]).size, firstIds.length + secondIds.length)
  assert.ok(firstIds.every((id) => id.startsWith('early')))
  assert.equal(secondIds.at(-1), 'late')
})
