import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GetRecordsOutput } from '@aws-sdk/client-dynamodb-streams'
import { iteratorOf, openStreams, put, readOn, refusal, shardsOf, streamed } from './support.js'

const MALFORMED_ARN = 'this-is-not-the-name-of-a-stream-at-all'
const UNKNOWN_ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/Nope/stream/2030-01-01T12:00:00.250'
const UNKNOWN_SHARD = 'shardId-00000000000000000001-00000000'
const one = '1 validation error detected: Value'

test('ListStreams names streams by table name and label, in pages', async (t) => {
  const own = await openStreams(t)
  for (const name of ['Cellar', 'Attic', 'Barn', 'Dairy', 'Earth']) await streamed(own, name)
  const { Streams } = await own.streams.listStreams({})
  assert.deepEqual(Streams![0], {
    StreamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/Attic/stream/2030-01-01T12:00:00.250',
    TableName: 'Attic',
    StreamLabel: '2030-01-01T12:00:00.250',
  })
  const pages: string[][] = []
  for (let start: string | undefined; ;) {
    const page = await own.streams.listStreams({
      Limit: 2,
      ...(start !== undefined && { ExclusiveStartStreamArn: start }),
    })
    pages.push(page.Streams!.map(({ TableName }) => TableName!))
    start = page.LastEvaluatedStreamArn
    assert.equal(start, page.Streams!.length === 2 ? page.Streams![1]!.StreamArn : undefined)
    if (start === undefined) break
  }
  assert.deepEqual(pages, [['Attic', 'Barn'], ['Cellar', 'Dairy'], ['Earth']])
})

test('ListStreams names those of one table, and none of a table that has none', async (t) => {
  const own = await openStreams(t)
  await streamed(own, 'Orders')
  await streamed(own, 'Others')
  const { Streams } = await own.streams.listStreams({ TableName: 'Orders' })
  assert.deepEqual(
    Streams!.map(({ TableName }) => TableName),
    ['Orders'],
  )
  assert.deepEqual((await own.streams.listStreams({ TableName: 'Nope' })).Streams, [])
})

test('ListStreams goes on after a stream that is not there any more', async (t) => {
  const own = await openStreams(t)
  await streamed(own, 'Orders')
  const { Streams } = await own.streams.listStreams({ ExclusiveStartStreamArn: UNKNOWN_ARN })
  assert.deepEqual(
    Streams!.map(({ TableName }) => TableName),
    ['Orders'],
  )
})

test('ListStreams refuses limits and ARNs that are none', async (t) => {
  const { streams } = await openStreams(t)
  assert.equal(
    await refusal(streams.listStreams({ Limit: 0 })),
    `ValidationException: ${one} '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
  )
  assert.equal(
    await refusal(streams.listStreams({ Limit: 101 })),
    `ValidationException: ${one} '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100`,
  )
  assert.equal(
    await refusal(streams.listStreams({ ExclusiveStartStreamArn: MALFORMED_ARN })),
    'ValidationException: Invalid StreamArn',
  )
  assert.equal(
    await refusal(streams.listStreams({ ExclusiveStartStreamArn: 'short' })),
    `ValidationException: ${one} 'short' at 'exclusiveStartStreamArn' failed to satisfy constraint: Member must have length greater than or equal to 37`,
  )
})

test('DescribeStream tells of the stream, its table and its shards', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders', 'OLD_IMAGE')
  const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn })
  const [shard] = StreamDescription!.Shards!
  assert.deepEqual(StreamDescription, {
    StreamArn: arn,
    StreamLabel: '2030-01-01T12:00:00.250',
    StreamStatus: 'ENABLED',
    StreamViewType: 'OLD_IMAGE',
    CreationRequestDateTime: new Date('2030-01-01T12:00:00.250Z'),
    TableName: 'Orders',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    Shards: [
      { ShardId: shard!.ShardId, SequenceNumberRange: { StartingSequenceNumber: '100000000000000100000' } },
    ],
  })
  assert.match(shard!.ShardId!, /^shardId-00000001893499200250-[0-9a-f]{8}$/)
})

test('DescribeStream lists nothing after its last shard, or after an id that is none', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  for (const ExclusiveStartShardId of [shard!.ShardId!, 'z'.repeat(30), 'a'.repeat(30)]) {
    const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn, ExclusiveStartShardId })
    assert.deepEqual(StreamDescription!.Shards, [])
    assert.equal(StreamDescription!.LastEvaluatedShardId, undefined)
  }
})

test('DescribeStream refuses what is malformed or not there', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const describe = (input: object): Promise<string> => refusal(own.streams.describeStream(input as never))
  assert.equal(
    await describe({}),
    "ValidationException: 1 validation error detected: Value null at 'streamArn' failed to satisfy constraint: Member must not be null",
  )
  assert.equal(await describe({ StreamArn: MALFORMED_ARN }), 'ValidationException: Invalid StreamArn')
  assert.equal(
    await describe({ StreamArn: UNKNOWN_ARN }),
    `ResourceNotFoundException: Requested resource not found: Stream: ${UNKNOWN_ARN} not found`,
  )
  assert.match(
    await describe({ StreamArn: arn, Limit: 0 }),
    /^ValidationException: .*greater than or equal to 1$/,
  )
  assert.match(
    await describe({ StreamArn: arn, Limit: 101 }),
    /^ValidationException: .*less than or equal to 100$/,
  )
  assert.match(
    await describe({ StreamArn: arn, ExclusiveStartShardId: 'short' }),
    /^ValidationException: .*'exclusiveStartShardId'.*greater than or equal to 28$/,
  )
  assert.match(
    await describe({ StreamArn: arn, ShardFilter: { Type: 'OTHER', ShardId: UNKNOWN_SHARD } }),
    /^ValidationException: .*'shardFilter.type'.*enum value set: \[CHILD_SHARDS\]$/,
  )
  assert.match(
    await describe({ StreamArn: arn, ShardFilter: { ShardId: UNKNOWN_SHARD } }),
    /^ValidationException: .*'shardFilter.type'.*must not be null$/,
  )
  assert.match(
    await describe({ StreamArn: arn, ShardFilter: { Type: 'CHILD_SHARDS' } }),
    /^ValidationException: .*'shardFilter.shardId'.*must not be null$/,
  )
})

test('GetShardIterator needs a sequence number for two types, and refuses one for the others', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  const ask = (ShardIteratorType: string, SequenceNumber?: string): Promise<string> =>
    refusal(
      own.streams.getShardIterator({
        StreamArn: arn,
        ShardId: shard!.ShardId,
        ShardIteratorType,
        ...(SequenceNumber !== undefined && { SequenceNumber }),
      } as never),
    )
  const start = shard!.SequenceNumberRange!.StartingSequenceNumber!
  const invalid = 'ValidationException: One or more parameter values were invalid: '
  for (const type of ['TRIM_HORIZON', 'LATEST']) {
    assert.equal(await ask(type), 'answered')
    assert.equal(
      await ask(type, start),
      `${invalid}SequenceNumber should not be passed for this iterator type`,
    )
  }
  for (const type of ['AT_SEQUENCE_NUMBER', 'AFTER_SEQUENCE_NUMBER']) {
    assert.equal(await ask(type, start), 'answered')
    assert.equal(await ask(type), `${invalid}Invalid SequenceNumber`)
    assert.equal(await ask(type, 'x'.repeat(25)), `${invalid}Invalid SequenceNumber`)
    assert.match(
      await ask(type, '12'),
      /^ValidationException: .*'sequenceNumber'.*greater than or equal to 21$/,
    )
    assert.equal(
      await ask(type, '100000000000009900000'),
      'ValidationException: Invalid SequenceNumber for the shard',
    )
    assert.equal(
      await ask(type, '100000000000000000000'),
      'TrimmedDataAccessException: The data you are trying to access has been trimmed',
    )
  }
  assert.match(await ask('SOME'), /^ValidationException: .*'shardIteratorType'.*enum value set/)
})

test('GetShardIterator refuses streams and shards that are not there', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const ask = (StreamArn: string, ShardId = UNKNOWN_SHARD): Promise<string> =>
    refusal(own.streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'LATEST' }))
  assert.equal(
    await ask(arn),
    `ResourceNotFoundException: Requested resource not found: Shard: ${UNKNOWN_SHARD} in Stream: ${arn} not found`,
  )
  assert.equal(
    await ask(UNKNOWN_ARN),
    `ResourceNotFoundException: Requested resource not found: Stream: ${UNKNOWN_ARN} not found`,
  )
  assert.equal(await ask(MALFORMED_ARN), 'ValidationException: Invalid StreamArn')
  assert.match(await ask(arn, 'short'), /^ValidationException: .*'shardId'.*greater than or equal to 28$/)
})

test('GetShardIterator: each type begins where it says', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  const id = shard!.ShardId!
  const latest = await iteratorOf(own, arn, id, 'LATEST')
  for (const name of ['a', 'b', 'c']) await put(own, 'Orders', name)
  const numbersFrom = async (iterator: string): Promise<string[]> =>
    (await readOn(own, iterator)).records.map((record) => record.dynamodb!.SequenceNumber!)
  const all = await numbersFrom(await iteratorOf(own, arn, id))
  assert.equal(all.length, 3)
  assert.deepEqual(await numbersFrom(latest), all)
  assert.deepEqual(await numbersFrom(await iteratorOf(own, arn, id, { at: all[1]! })), all.slice(1))
  assert.deepEqual(await numbersFrom(await iteratorOf(own, arn, id, { after: all[1]! })), all.slice(2))
  assert.deepEqual(await numbersFrom(await iteratorOf(own, arn, id, { after: all[2]! })), [])
  assert.deepEqual(await numbersFrom(await iteratorOf(own, arn, id, 'LATEST')), [])
  const start = shard!.SequenceNumberRange!.StartingSequenceNumber!
  assert.deepEqual(await numbersFrom(await iteratorOf(own, arn, id, { at: start })), all)
})

test('GetShardIterator: LATEST never misses the next write', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  for (let n = 0; n < 50; n++) {
    // Others write at the same time.
    const noise = Array.from({ length: 4 }, (_, each) => put(own, 'Orders', `noise-${n}-${each}`))
    const iterator = await iteratorOf(own, arn, shard!.ShardId!, 'LATEST')
    await put(own, 'Orders', `next-${n}`)
    const { records } = await readOn(own, iterator)
    assert.ok(records.some((record) => record.dynamodb!.Keys!['id']!.S === `next-${n}`))
    await Promise.all(noise)
  }
})

test('GetRecords: an open shard has an iterator for what comes next, also when there is nothing', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  const first = await readOn(own, await iteratorOf(own, arn, shard!.ShardId!))
  assert.deepEqual(first.records, [])
  await put(own, 'Orders', 'a')
  const second = await readOn(own, first.next!)
  assert.equal(second.records.length, 1)
  assert.deepEqual((await readOn(own, second.next!)).records, [])
  // An iterator is a place, which can be read again.
  assert.deepEqual((await readOn(own, first.next!)).records, second.records)
})

test('GetRecords: at most as many records as are asked for, and 1,000', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders', 'KEYS_ONLY')
  for (let n = 0; n < 41; n++) {
    const writes = Array.from({ length: 25 }, (_, each) => ({
      PutRequest: { Item: { id: { S: `${n}-${each}` } } },
    }))
    await own.dynamodb.batchWriteItem({ RequestItems: { Orders: writes } })
  }
  const [shard] = await shardsOf(own, arn)
  const ShardIterator = await iteratorOf(own, arn, shard!.ShardId!)
  assert.equal((await own.streams.getRecords({ ShardIterator, Limit: 7 })).Records!.length, 7)
  const page = await own.streams.getRecords({ ShardIterator })
  assert.equal(page.Records!.length, 1000)
  const rest = await own.streams.getRecords({ ShardIterator: page.NextShardIterator! })
  assert.equal(rest.Records!.length, 25)
  assert.equal((await readOn(own, ShardIterator, 100)).records.length, 1025)
})

test('GetRecords: an answer has at most 1 MB, and at least one record', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  for (const letter of ['a', 'b', 'c', 'd'])
    await put(own, 'Orders', 'large', { text: { S: letter.repeat(300_000) } })
  const [shard] = await shardsOf(own, arn)
  const sizes: number[] = []
  let next: string | undefined = await iteratorOf(own, arn, shard!.ShardId!)
  for (let pages = 0; pages < 3; pages++) {
    const page: GetRecordsOutput = await own.streams.getRecords({ ShardIterator: next! })
    sizes.push(page.Records!.length)
    next = page.NextShardIterator
  }
  assert.deepEqual(sizes, [2, 1, 1])
})

test('GetRecords refuses limits and iterators that are none', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const [shard] = await shardsOf(own, arn)
  const ShardIterator = await iteratorOf(own, arn, shard!.ShardId!)
  const ask = (input: object): Promise<string> => refusal(own.streams.getRecords(input as never))
  assert.match(await ask({ ShardIterator, Limit: 0 }), /^ValidationException: .*greater than or equal to 1$/)
  assert.match(
    await ask({ ShardIterator, Limit: 1001 }),
    /^ValidationException: .*less than or equal to 1000$/,
  )
  assert.match(await ask({}), /^ValidationException: .*'shardIterator'.*must not be null$/)
  assert.match(await ask({ ShardIterator: '' }), /^ValidationException: .*greater than or equal to 1$/)
  const invalid = 'ValidationException: Invalid ShardIterator'
  assert.equal(await ask({ ShardIterator: 'something' }), invalid)
  assert.equal(await ask({ ShardIterator: `${ShardIterator}A` }), invalid)
  assert.equal(await ask({ ShardIterator: ShardIterator.slice(0, -1) }), invalid)
})
