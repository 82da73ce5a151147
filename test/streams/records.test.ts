import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamViewType } from '@aws-sdk/client-dynamodb'
import type { _Record } from '@aws-sdk/client-dynamodb-streams'
import { idsOf, openStreams, put, readAll, START_MS, streamed, type StreamStore } from './support.js'

/** An insert, a change and a delete of one item, and what the stream says of them. */
async function lifeOf(own: StreamStore, view: StreamViewType): Promise<_Record[]> {
  const arn = await streamed(own, `Of_${view}`, view)
  await put(own, `Of_${view}`, '101', { message: { S: 'New item!' } })
  await put(own, `Of_${view}`, '101', { message: { S: 'This item has changed' } })
  await own.dynamodb.deleteItem({ TableName: `Of_${view}`, Key: { id: { S: '101' } } })
  return readAll(own, arn)
}

const Keys = { id: { S: '101' } }
const before = { ...Keys, message: { S: 'New item!' } }
const after = { ...Keys, message: { S: 'This item has changed' } }

const imagesIn = (records: readonly _Record[]): unknown[] =>
  records.map(({ eventName, dynamodb }) => [eventName, dynamodb!.OldImage, dynamodb!.NewImage])

test('streams: a record says what happened, when, and to which item', async (t) => {
  const own = await openStreams(t)
  const [insert, modify, remove] = await lifeOf(own, 'NEW_AND_OLD_IMAGES')
  assert.deepEqual(insert, {
    eventID: insert!.eventID,
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    dynamodb: {
      ApproximateCreationDateTime: new Date(Math.floor(START_MS / 1000) * 1000),
      Keys,
      NewImage: before,
      SequenceNumber: insert!.dynamodb!.SequenceNumber,
      // id and 101, message and its text, id and 101: as DynamoDB counts them.
      SizeBytes: 5 + 16 + 5,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
  })
  assert.match(insert.eventID!, /^[0-9a-f]{32}$/)
  assert.equal(modify!.dynamodb!.SizeBytes, 5 + 28 + 5 + 16 + 5)
  assert.equal(remove!.dynamodb!.SizeBytes, 5 + 28 + 5)
})

test('streams: NEW_AND_OLD_IMAGES has both images', async (t) => {
  assert.deepEqual(imagesIn(await lifeOf(await openStreams(t), 'NEW_AND_OLD_IMAGES')), [
    ['INSERT', undefined, before],
    ['MODIFY', before, after],
    ['REMOVE', after, undefined],
  ])
})

test('streams: NEW_IMAGE has what the item became', async (t) => {
  const records = await lifeOf(await openStreams(t), 'NEW_IMAGE')
  assert.deepEqual(imagesIn(records), [
    ['INSERT', undefined, before],
    ['MODIFY', undefined, after],
    ['REMOVE', undefined, undefined],
  ])
  assert.deepEqual(idsOf(records), ['101', '101', '101'])
})

test('streams: OLD_IMAGE has what the item was', async (t) => {
  const records = await lifeOf(await openStreams(t), 'OLD_IMAGE')
  assert.deepEqual(imagesIn(records), [
    ['INSERT', undefined, undefined],
    ['MODIFY', before, undefined],
    ['REMOVE', after, undefined],
  ])
  assert.deepEqual(idsOf(records), ['101', '101', '101'])
})

test('streams: KEYS_ONLY has neither image', async (t) => {
  const records = await lifeOf(await openStreams(t), 'KEYS_ONLY')
  assert.deepEqual(imagesIn(records), [
    ['INSERT', undefined, undefined],
    ['MODIFY', undefined, undefined],
    ['REMOVE', undefined, undefined],
  ])
  for (const { dynamodb } of records) {
    assert.deepEqual(dynamodb!.Keys, Keys)
    assert.equal(dynamodb!.SizeBytes, 5)
  }
})

test('streams: a record has the sort key too, and images of every type', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Films', 'NEW_IMAGE', {
    AttributeDefinitions: [
      { AttributeName: 'year', AttributeType: 'N' },
      { AttributeName: 'title', AttributeType: 'B' },
    ],
    KeySchema: [
      { AttributeName: 'year', KeyType: 'HASH' },
      { AttributeName: 'title', KeyType: 'RANGE' },
    ],
  })
  const Item = {
    year: { N: '1999' },
    title: { B: Uint8Array.of(0, 255) },
    tags: { SS: ['b', 'ä'] },
    plot: { L: [{ NULL: true as const }, { M: { a: { BOOL: false } } }] },
  }
  await own.dynamodb.putItem({ TableName: 'Films', Item })
  const [record] = await readAll(own, arn)
  assert.deepEqual(record!.dynamodb!.Keys, { year: Item.year, title: Item.title })
  assert.deepEqual(record!.dynamodb!.NewImage, Item)
})

test('streams: what changes nothing leaves no record', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const Key = { id: { S: 'a' } }
  await own.dynamodb.deleteItem({ TableName: 'Orders', Key })
  await put(own, 'Orders', 'a', { x: { N: '2' } })
  await put(own, 'Orders', 'a', { x: { N: '2.0' } })
  await own.dynamodb.updateItem({
    TableName: 'Orders',
    Key,
    UpdateExpression: 'SET x = :x',
    ExpressionAttributeValues: { ':x': { N: '2' } },
  })
  await assert.rejects(
    own.dynamodb.putItem({
      TableName: 'Orders',
      Item: { ...Key, x: { N: '9' } },
      ConditionExpression: 'attribute_not_exists(id)',
    }),
  )
  assert.deepEqual(
    (await readAll(own, arn)).map(({ eventName }) => eventName),
    ['INSERT'],
  )
})

test('streams: an update that makes an item is an insert, and one that changes it has both whole images', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const Key = { id: { S: 'a' } }
  const update = (name: string): Promise<unknown> =>
    own.dynamodb.updateItem({
      TableName: 'Orders',
      Key,
      UpdateExpression: 'SET #n = :v',
      ExpressionAttributeNames: { '#n': name },
      ExpressionAttributeValues: { ':v': { N: '4' } },
    })
  await update('b')
  await update('x')
  assert.deepEqual(imagesIn(await readAll(own, arn)), [
    ['INSERT', undefined, { ...Key, b: { N: '4' } }],
    ['MODIFY', { ...Key, b: { N: '4' } }, { ...Key, b: { N: '4' }, x: { N: '4' } }],
  ])
})

for (const nodes of [1, 3]) {
  test(`streams: changes of an item stand in the order in which they were made, each on the one before, ${nodes} nodes`, async (t) => {
    const own = await openStreams(t, { nodes })
    const arn = await streamed(own, 'Counts')
    const ids = ['a', 'b', 'c', 'd']
    const add = (id: string): Promise<unknown> =>
      own.dynamodb.updateItem({
        TableName: 'Counts',
        Key: { id: { S: id } },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      })
    await Promise.all(Array.from({ length: 100 }, (_, n) => add(ids[n % ids.length]!)))
    const records = await readAll(own, arn)
    assert.equal(records.length, 100)
    for (const id of ids) {
      const of = records.filter((record) => record.dynamodb!.Keys!['id']!.S === id)
      const values = of.map(({ dynamodb }) => [dynamodb!.OldImage?.['n']?.N, dynamodb!.NewImage!['n']!.N])
      assert.deepEqual(
        values,
        Array.from({ length: 25 }, (_, n) => [n === 0 ? undefined : String(n), String(n + 1)]),
      )
    }
    const numbers = records.map((record) => BigInt(record.dynamodb!.SequenceNumber!))
    assert.ok(numbers.every((number, at) => at === 0 || number > numbers[at - 1]!))
    assert.equal(new Set(records.map((record) => record.eventID)).size, 100)
    // The same whenever they are read.
    assert.deepEqual(await readAll(own, arn), records)
  })

  test(`streams: the changes of a transaction stand together and in one order, ${nodes} nodes`, async (t) => {
    const own = await openStreams(t, { nodes })
    const arn = await streamed(own, 'Orders')
    const other = await streamed(own, 'Others', 'KEYS_ONLY')
    await put(own, 'Orders', 'old')
    const transact = (n: number): Promise<unknown> =>
      own.dynamodb.transactWriteItems({
        TransactItems: [
          { Put: { TableName: 'Orders', Item: { id: { S: `${n}-put` } } } },
          { Put: { TableName: 'Others', Item: { id: { S: `${n}-other` } } } },
          {
            Update: {
              TableName: 'Orders',
              Key: { id: { S: `${n}-update` } },
              UpdateExpression: 'SET x = :x',
              ExpressionAttributeValues: { ':x': { N: '1' } },
            },
          },
          { Put: { TableName: 'Orders', Item: { id: { S: `${n}-third` } } } },
        ],
      })
    await Promise.all(Array.from({ length: 20 }, (_, n) => transact(n)))
    const records = (await readAll(own, arn)).slice(1)
    assert.equal(records.length, 60)
    const numberOf = (record: _Record): string => record.dynamodb!.SequenceNumber!.slice(0, 16)
    for (let at = 0; at < records.length; at += 3) {
      const whole = records.slice(at, at + 3)
      assert.equal(new Set(whole.map(numberOf)).size, 1)
      assert.equal(new Set(idsOf(whole).map((id) => id.split('-')[0])).size, 1)
      assert.deepEqual(
        whole.map((record) => record.dynamodb!.SequenceNumber!.slice(16)),
        ['00000', '00001', '00002'],
      )
    }
    const others = await readAll(own, other)
    assert.equal(others.length, 20)
    // Of one transaction the records of all its tables have the same number.
    assert.deepEqual(
      new Set(others.map((record) => `${numberOf(record)} ${idsOf([record])[0]!.split('-')[0]}`)),
      new Set(records.map((record) => `${numberOf(record)} ${idsOf([record])[0]!.split('-')[0]}`)),
    )
  })
}

test('streams: a reader that stops within a transaction goes on within it', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  await own.dynamodb.transactWriteItems({
    TransactItems: ['a', 'b', 'c'].map((id) => ({ Put: { TableName: 'Orders', Item: { id: { S: id } } } })),
  })
  const { StreamDescription } = await own.streams.describeStream({ StreamArn: arn })
  const { ShardIterator } = await own.streams.getShardIterator({
    StreamArn: arn,
    ShardId: StreamDescription!.Shards![0]!.ShardId,
    ShardIteratorType: 'TRIM_HORIZON',
  })
  const first = await own.streams.getRecords({ ShardIterator, Limit: 2 })
  const second = await own.streams.getRecords({ ShardIterator: first.NextShardIterator, Limit: 2 })
  assert.deepEqual([...idsOf(first.Records!), ...idsOf(second.Records!)].toSorted(), ['a', 'b', 'c'])
})

test('streams: a transaction that is refused, and one that is repeated, leave nothing more', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Orders')
  const transact = (condition: string): Promise<unknown> =>
    own.dynamodb.transactWriteItems({
      ClientRequestToken: condition,
      TransactItems: [
        { Put: { TableName: 'Orders', Item: { id: { S: 'a' } } } },
        {
          ConditionCheck: {
            TableName: 'Orders',
            Key: { id: { S: 'b' } },
            ConditionExpression: condition,
          },
        },
      ],
    })
  await assert.rejects(transact('attribute_exists(id)'))
  await transact('attribute_not_exists(id)')
  await transact('attribute_not_exists(id)')
  assert.deepEqual(idsOf(await readAll(own, arn)), ['a'])
})

test('streams: an item that has expired is removed by the service, and one that was deleted is not', async (t) => {
  const own = await openStreams(t)
  const arn = await streamed(own, 'Sessions')
  await own.dynamodb.updateTimeToLive({
    TableName: 'Sessions',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await own.store.idle()
  await put(own, 'Sessions', 'expires', { until: { N: String(Math.floor(START_MS / 1000) + 10) } })
  await put(own, 'Sessions', 'deleted', { until: { N: String(Math.floor(START_MS / 1000) + 10) } })
  await own.dynamodb.deleteItem({ TableName: 'Sessions', Key: { id: { S: 'deleted' } } })
  await own.advance(60_000)
  const removed = (await readAll(own, arn)).filter(({ eventName }) => eventName === 'REMOVE')
  assert.deepEqual(
    removed.map(({ dynamodb, userIdentity }) => [dynamodb!.Keys!['id']!.S, userIdentity]),
    [
      ['deleted', undefined],
      ['expires', { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' }],
    ],
  )
})
