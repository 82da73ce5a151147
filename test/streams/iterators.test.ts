import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Key, key, openKeyed, tableOf } from '../access/keys.js'
import { iteratorOf, openStreams, put, readOn, refusal, shardsOf, streamed } from './support.js'

const INVALID = 'ValidationException: Invalid ShardIterator'

test('streams: an iterator lives for 15 minutes', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  const [shard] = await shardsOf(own, arn)
  const ShardIterator = await iteratorOf(own, arn, shard!.ShardId!)
  await own.advance(15 * 60_000)
  const page = await own.streams.getRecords({ ShardIterator })
  await own.advance(1)
  assert.equal(
    await refusal(own.streams.getRecords({ ShardIterator })),
    'ExpiredIteratorException: The provided iterator exceeds the maximum age allowed',
  )
  // The next one has its own 15 minutes.
  assert.equal(await refusal(own.streams.getRecords({ ShardIterator: page.NextShardIterator })), 'answered')
})

test('streams: an iterator cannot be made up, moved, or used for another stream or shard', async (t) => {
  const own = await openStreams(t)
  const wide = {
    BillingMode: 'PROVISIONED',
    ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2000 },
  } as const
  const arn = await streamed(own, 'Orders', 'KEYS_ONLY', wide)
  const other = await streamed(own, 'Secrets', 'KEYS_ONLY', wide)
  const [one, two] = await shardsOf(own, arn)
  const iterator = await iteratorOf(own, arn, one!.ShardId!)
  const [, start, sealed] = /^(.*\|1\|)(.*)$/.exec(iterator) as unknown as [string, string, string]
  const [body, code] = sealed.split('.') as [string, string]
  const text = Buffer.from(body, 'base64url').toString()
  const forged = (changed: string): string => `${start}${Buffer.from(changed).toString('base64url')}.${code}`
  assert.equal(forged(text), iterator)
  const tries = [
    forged(text.replace(one!.ShardId!, two!.ShardId!)),
    forged(text.replace(' 1 ', ' 9 ')),
    forged(`${text}0`),
    iterator.replace(arn, other),
    `${start}${body}.${'A'.repeat(43)}`,
  ]
  for (const ShardIterator of tries) {
    assert.notEqual(ShardIterator, iterator)
    assert.equal(await refusal(own.streams.getRecords({ ShardIterator })), INVALID)
  }
})

test('streams: a key needs read access to the table, whether or not the table is still there', async (t) => {
  const { as, store } = await openKeyed(t, [
    key('OWNER', ['read', 'write', 'admin']),
    key('READER', ['read'], ['orders']),
    key('WRITER', ['write', 'admin']),
  ])
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' }
  for (const name of ['orders', 'secrets'])
    await as('OWNER').call('CreateTable', { ...tableOf(name), StreamSpecification })
  await as('OWNER').call('PutItem', { TableName: 'orders', Item: Key('a') })
  type Stream = { readonly StreamArn: string; readonly TableName: string }
  const listed = async (id: string): Promise<readonly Stream[]> =>
    (await as(id).call('ListStreams', {}))['Streams'] as readonly Stream[]
  assert.deepEqual(
    (await listed('OWNER')).map(({ TableName }) => TableName),
    ['orders', 'secrets'],
  )
  const check = async (): Promise<void> => {
    const [orders] = await listed('READER')
    assert.deepEqual(
      (await listed('READER')).map(({ TableName }) => TableName),
      ['orders'],
    )
    assert.deepEqual(await listed('WRITER'), [])
    const StreamArn = orders!.StreamArn
    const description = (await as('READER').call('DescribeStream', { StreamArn }))['StreamDescription']
    const [shard] = (description as { Shards: readonly { ShardId: string }[] }).Shards
    const place = { StreamArn, ShardId: shard!.ShardId, ShardIteratorType: 'TRIM_HORIZON' }
    const { ShardIterator } = await as('READER').call('GetShardIterator', place)
    const { Records } = await as('READER').call('GetRecords', { ShardIterator })
    assert.equal((Records as readonly unknown[]).length, 1)
    assert.equal(await as('WRITER').outcome('DescribeStream', { StreamArn }), 'AccessDeniedException')
    assert.equal(await as('WRITER').outcome('GetShardIterator', place), 'AccessDeniedException')
    assert.equal(await as('WRITER').outcome('GetRecords', { ShardIterator }), 'AccessDeniedException')
    // That was given to another key.
    assert.equal(await as('OWNER').outcome('GetRecords', { ShardIterator }), 'ValidationException')
    const [, secrets] = await listed('OWNER')
    assert.equal(
      await as('READER').outcome('DescribeStream', { StreamArn: secrets!.StreamArn }),
      'AccessDeniedException',
    )
  }
  await check()
  await as('OWNER').call('DeleteTable', { TableName: 'orders' })
  await store.idle()
  await check()
})

test('streams: the operations run in the process as they do over the wire', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  const inside = { streams: own.store.streamsClient() }
  assert.deepEqual(await shardsOf(inside, arn), await shardsOf(own, arn))
  const [shard] = await shardsOf(inside, arn)
  const records = async (reader: typeof inside): Promise<unknown> =>
    (await readOn(reader, await iteratorOf(reader, arn, shard!.ShardId!))).records
  assert.deepEqual(await records(inside), await records(own))
  assert.equal(await refusal(inside.streams.getRecords({ ShardIterator: 'something' })), INVALID)
})
