import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  HOUR_MS,
  clientsOf,
  idsOf,
  openStreams,
  put,
  readAll,
  refusal,
  shardsOf,
  streamed,
  table,
} from './support.js'

const ENABLED = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } as const

test('streams: the description of a table has its stream', async (t) => {
  const own = await openStreams(t)
  const { TableDescription: created } = await own.dynamodb.createTable(table('Orders', 'NEW_IMAGE'))
  const { Table: described } = await own.dynamodb.describeTable({ TableName: 'Orders' })
  for (const description of [created!, described!]) {
    assert.deepEqual(description.StreamSpecification, ENABLED)
    assert.equal(description.LatestStreamLabel, '2030-01-01T12:00:00.250')
    assert.equal(
      description.LatestStreamArn,
      'arn:aws:dynamodb:us-east-1:000000000000:table/Orders/stream/2030-01-01T12:00:00.250',
    )
  }
})

test('streams: ARNs carry the region that a request was signed for', async (t) => {
  const own = await openStreams(t)
  await streamed(own, 'Orders')
  const { streams } = clientsOf(own.url, 'eu-west-1')
  t.after(() => streams.destroy())
  const { Streams } = await streams.listStreams({})
  const { StreamArn } = Streams![0]!
  assert.match(StreamArn!, /^arn:aws:dynamodb:eu-west-1:/)
  const { StreamDescription } = await streams.describeStream({ StreamArn })
  assert.equal(StreamDescription!.StreamArn, StreamArn)
  await put(own, 'Orders', 'a')
  assert.equal((await readAll({ streams }, StreamArn!))[0]!.awsRegion, 'eu-west-1')
})

test('streams: a table without a stream has none in its description', async (t) => {
  const own = await openStreams(t)
  await own.dynamodb.createTable(table('Plain', undefined, { StreamSpecification: { StreamEnabled: false } }))
  const { Table } = await own.dynamodb.describeTable({ TableName: 'Plain' })
  assert.equal(Table!.StreamSpecification, undefined)
  assert.equal(Table!.LatestStreamArn, undefined)
  assert.deepEqual((await own.streams.listStreams({})).Streams, [])
})

test('streams: a view type is needed to enable a stream, and refused without', async (t) => {
  const { dynamodb } = await openStreams(t)
  const invalid = 'ValidationException: One or more parameter values were invalid: '
  const create = (StreamSpecification: object): Promise<string> =>
    refusal(dynamodb.createTable(table('Orders', undefined, { StreamSpecification } as object)))
  assert.equal(
    await create({ StreamEnabled: true }),
    `${invalid}Table is being created with a stream enabled, UpdateViewType is required`,
  )
  assert.equal(
    await create({ StreamEnabled: false, StreamViewType: 'KEYS_ONLY' }),
    `${invalid}Table is being created with a stream disabled, UpdateViewType should not be specified`,
  )
  assert.match(
    await create({ StreamEnabled: true, StreamViewType: 'SOME' }),
    /^ValidationException: 1 validation error detected: Value 'SOME' at 'streamSpecification.streamViewType' failed to satisfy constraint: Member must satisfy enum value set/,
  )
  await dynamodb.createTable(table('Orders'))
  const update = (StreamSpecification: object): Promise<string> =>
    refusal(dynamodb.updateTable({ TableName: 'Orders', StreamSpecification } as never))
  assert.equal(
    await update({ StreamEnabled: true }),
    `${invalid}If stream is being enabled then UpdateViewType is required`,
  )
  assert.equal(
    await update({ StreamEnabled: false, StreamViewType: 'KEYS_ONLY' }),
    `${invalid}If stream is being disabled, then UpdateViewType must not be specified`,
  )
})

test('streams: an enabled stream cannot be enabled or given another view type, and a disabled one not be disabled', async (t) => {
  const { dynamodb } = await openStreams(t)
  await dynamodb.createTable(table('Orders', 'NEW_IMAGE'))
  await dynamodb.createTable(table('Plain'))
  const update = (TableName: string, StreamSpecification: object): Promise<string> =>
    refusal(dynamodb.updateTable({ TableName, StreamSpecification } as never))
  const already = 'ValidationException: Table already has an enabled stream: TableName: Orders'
  assert.equal(await update('Orders', ENABLED), already)
  assert.equal(await update('Orders', { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' }), already)
  assert.equal(
    await update('Plain', { StreamEnabled: false }),
    'ValidationException: Table has no stream to disable: TableName: Plain',
  )
  assert.equal(
    await update('Nope', ENABLED),
    'ResourceNotFoundException: Requested resource not found: Table: Nope not found',
  )
})

test('streams: a stream has what is written while it is enabled, and a later one begins where it is enabled', async (t) => {
  const own = await openStreams(t)
  await own.dynamodb.createTable(table('Orders'))
  await put(own, 'Orders', 'before')
  const enabled = await own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification: ENABLED })
  const first = enabled.TableDescription!.LatestStreamArn!
  assert.deepEqual(enabled.TableDescription!.StreamSpecification, ENABLED)
  await put(own, 'Orders', 'one')
  const disabled = await own.dynamodb.updateTable({
    TableName: 'Orders',
    StreamSpecification: { StreamEnabled: false },
  })
  assert.equal(disabled.TableDescription!.StreamSpecification, undefined)
  assert.equal(disabled.TableDescription!.LatestStreamArn, first)
  await put(own, 'Orders', 'between')
  const again = await own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification: ENABLED })
  const second = again.TableDescription!.LatestStreamArn!
  assert.ok(second > first)
  await put(own, 'Orders', 'two')
  assert.deepEqual(idsOf(await readAll(own, first)), ['one'])
  assert.deepEqual(idsOf(await readAll(own, second)), ['two'])
  const listed = await own.streams.listStreams({ TableName: 'Orders' })
  assert.deepEqual(
    listed.Streams!.map(({ StreamArn }) => StreamArn),
    [first, second],
  )
})

test('streams: other changes of a table leave its stream as it is', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.dynamodb.updateTable({ TableName: 'Orders', DeletionProtectionEnabled: true })
  await own.dynamodb.tagResource({
    ResourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders',
    Tags: [{ Key: 'k', Value: 'v' }],
  })
  await put(own, 'Orders', 'b')
  assert.deepEqual(idsOf(await readAll(own, arn)), ['a', 'b'])
  assert.equal((await own.streams.listStreams({})).Streams!.length, 1)
})

test('streams: that of a deleted table is read to its end for 24 hours, and is then gone', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.dynamodb.deleteTable({ TableName: 'Orders' })
  const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn })
  assert.equal(StreamDescription!.StreamStatus, 'DISABLED')
  assert.ok(StreamDescription!.Shards![0]!.SequenceNumberRange!.EndingSequenceNumber)
  // A table of the same name is another one.
  const next = await streamed(own, 'Orders')
  assert.notEqual(next, arn)
  await put(own, 'Orders', 'b')
  assert.deepEqual(idsOf(await readAll(own, arn)), ['a'])
  assert.deepEqual(idsOf(await readAll(own, next)), ['b'])
  await own.advance(24 * HOUR_MS - 1)
  assert.equal((await own.streams.listStreams({})).Streams!.length, 2)
  await own.advance(1)
  assert.deepEqual(
    (await own.streams.listStreams({})).Streams!.map(({ StreamArn }) => StreamArn),
    [next],
  )
  assert.equal(
    await refusal(own.streams.describeStream({ StreamArn: arn })),
    `ResourceNotFoundException: Requested resource not found: Stream: ${arn} not found`,
  )
})

test('streams: reset ends all streams', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.store.reset()
  const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn })
  assert.equal(StreamDescription!.StreamStatus, 'DISABLED')
  assert.deepEqual(idsOf(await readAll(own, arn)), ['a'])
})

test('streams: of streams that have ended, tables of one name keep the latest hundred', async (t) => {
  const own = await openStreams(t)
  for (let n = 0; n < 103; n++) {
    await streamed(own, 'Orders')
    await own.dynamodb.deleteTable({ TableName: 'Orders' })
  }
  const { Streams } = await own.streams.listStreams({ TableName: 'Orders', Limit: 100 })
  assert.equal(Streams!.length, 100)
  assert.equal(Streams![0]!.StreamLabel, '2030-01-01T12:00:00.253')
})

test('streams: a table with more write capacity has more shards, and each item is in one of them', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Wide', 'KEYS_ONLY', {
    BillingMode: 'PROVISIONED',
    ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 4000 },
  })
  const ids = Array.from({ length: 40 }, (_, n) => `item-${n}`)
  for (const id of ids) await put(own, 'Wide', id)
  const shards = await shardsOf(own, arn)
  assert.equal(shards.length, 4)
  assert.ok(shards.every(({ ParentShardId }) => ParentShardId === undefined))
  const read = idsOf(await readAll(own, arn))
  assert.notDeepEqual(read, ids)
  assert.deepEqual(read.toSorted(), ids.toSorted())
})
