// Changes, triggers and the client of streams on whole stores.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DynamoDBBatchResponse, DynamoDBStreamHandler } from 'aws-lambda'
import { test } from 'node:test'
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { testFolder } from '../support/folder.js'
import { ChangesTrimmed, manualClock, NoStream, open, type Store, type StreamEvent } from '../../src/index.js'

const streamed = (TableName: string, StreamViewType = 'NEW_AND_OLD_IMAGES') => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  StreamSpecification: { StreamEnabled: true, StreamViewType: StreamViewType as 'NEW_AND_OLD_IMAGES' },
})

async function storeWith(nodes: number, ...tables: readonly string[]): Promise<Store> {
  const store = await open({ memory: true, nodes })
  for (const table of tables) await store.call('CreateTable', streamed(table))
  return store
}

const put = (store: Store, TableName: string, id: string, n = 0) =>
  store.call('PutItem', { TableName, Item: { id: { S: id }, n: { N: String(n) } } })

for (const nodes of [1, 3]) {
  test(`store.changes, ${nodes} node(s): every change of a table in the order of its commits`, async () => {
    await using store = await storeWith(nodes, 'Orders')
    await put(store, 'Orders', 'a', 1)
    await put(store, 'Orders', 'b', 1)
    await put(store, 'Orders', 'a', 2)
    await put(store, 'Orders', 'a', 2) // changes nothing
    await store.call('DeleteItem', { TableName: 'Orders', Key: { id: { S: 'a' } } })
    await store.call('DeleteItem', { TableName: 'Orders', Key: { id: { S: 'a' } } }) // of nothing
    const seen: string[] = []
    for await (const { event, keys, old, new: item } of store.changes('Orders', { from: 'start' })) {
      seen.push(`${event} ${keys['id']} ${old?.['n']} ${item?.['n']}`)
      if (event === 'REMOVE') break
    }
    assert.deepEqual(seen, [
      'INSERT a undefined 1',
      'INSERT b undefined 1',
      'MODIFY a 1 2',
      'REMOVE a 2 undefined',
    ])
  })

  test(`store.changes, ${nodes} node(s), by transaction: whole commits over several tables`, async () => {
    await using store = await storeWith(nodes, 'Orders', 'Stock')
    const commits = store.changes(['Orders', 'Stock'], { from: 'now', by: 'transaction' })
    const t = store.transactor()
    for (let at = 0; at < 20; at++) {
      await t.transact((tx) => {
        for (let line = 0; line < 5; line++) tx.put('Orders', { id: `${at}-${line}` })
        tx.put('Stock', { id: 'sold', n: at })
      })
      await put(store, 'Stock', 'single', at)
    }
    for (let at = 0; at < 20; at++) {
      const whole = (await commits.next()).value!
      assert.equal(whole.changes.length, 6)
      assert.match(whole.transactionId ?? '', /./)
      const single = (await commits.next()).value!
      assert.equal(single.changes.length, 1)
      assert.equal(single.transactionId, undefined)
    }
    await commits.return()
  })
}

test('store.changes: now never misses the next write, and waits for it', async () => {
  await using store = await storeWith(1, 'Orders')
  for (let at = 0; at < 50; at++) {
    const changes = store.changes('Orders', { from: 'now' })
    await put(store, 'Orders', `x${at}`)
    assert.equal((await changes.next()).value?.keys['id'], `x${at}`)
    const next = changes.next()
    await put(store, 'Orders', `y${at}`)
    assert.equal((await next).value?.keys['id'], `y${at}`)
    await changes.return()
  }
})

test('store.changes: without a stream, or without the table, it says what to do', async () => {
  await using store = await open({ memory: true })
  const { StreamSpecification: _, ...plain } = streamed('Plain')
  await store.call('CreateTable', plain)
  assert.throws(() => store.changes('Plain'), NoStream)
  assert.throws(() => store.changes('Missing'), { name: 'ResourceNotFoundException' })
  assert.throws(() => store.trigger('Plain', {}, () => undefined), NoStream)
  await store.call('UpdateTable', {
    TableName: 'Plain',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
  })
  const changes = store.changes('Plain')
  await put(store, 'Plain', 'a')
  const { value } = await changes.next()
  assert.deepEqual([value?.keys, value?.old, value?.new], [{ id: 'a' }, undefined, undefined])
  await changes.return()
})

test('store.changes: several tables are read by transaction only', async () => {
  await using store = await storeWith(1, 'A1-', 'B1-')
  const wrong = { by: 'record' } as unknown as { readonly by: 'transaction' }
  assert.throws(() => store.changes(['A1-', 'B1-'], wrong), /by: 'transaction'/)
})

test('store.changes: ends when the stream is disabled, when the table is deleted, and when the store is closed', async () => {
  const store = await storeWith(1, 'Disabled', 'Deleted', 'Closed')
  const waiting = ['Disabled', 'Deleted', 'Closed'].map((table) => store.changes(table))
  const ends = waiting.map((changes) => changes.next())
  const disabled = { StreamEnabled: false }
  await store.call('UpdateTable', { TableName: 'Disabled', StreamSpecification: disabled })
  assert.equal((await ends[0])?.done, true)
  await store.call('DeleteTable', { TableName: 'Deleted' })
  assert.equal((await ends[1])?.done, true)
  await store.close()
  assert.equal((await ends[2])?.done, true)
  assert.throws(() => store.changes('Closed'), /This store is closed/)
})

test('store.changes: what was committed before the stream ended is still read', async () => {
  await using store = await storeWith(2, 'Orders')
  for (let at = 0; at < 10; at++) await put(store, 'Orders', String(at))
  const changes = store.changes('Orders', { from: 'start' })
  await store.call('DeleteTable', { TableName: 'Orders' })
  let count = 0
  for await (const _ of changes) count++
  assert.equal(count, 10)
})

test('store.changes: a position of a stream that was enabled anew is ChangesTrimmed', async () => {
  await using store = await storeWith(1, 'Orders')
  await put(store, 'Orders', 'a')
  const { value } = await store.changes('Orders', { from: 'start' }).next()
  for (const StreamSpecification of [{ StreamEnabled: false }, streamed('').StreamSpecification])
    await store.call('UpdateTable', { TableName: 'Orders', StreamSpecification })
  assert.throws(() => store.changes('Orders', { from: value!.sequenceNumber }), ChangesTrimmed)
})

test('store.changes: an expired item is a REMOVE with the cause expiry; a handler sees who deleted it', async () => {
  const clock = manualClock(Date.parse('2030-01-01'))
  await using store = await open({ memory: true, clock })
  await store.call('CreateTable', streamed('Sessions'))
  await store.call('UpdateTimeToLive', {
    TableName: 'Sessions',
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'until' },
  })
  const until = String(Date.parse('2030-01-01') / 1000 + 60)
  await store.call('PutItem', { TableName: 'Sessions', Item: { id: { S: 's' }, until: { N: until } } })
  const changes = store.changes('Sessions')
  const events: StreamEvent[] = []
  await using trigger = store.trigger('Sessions', { startingPosition: 'LATEST' }, (event) => {
    events.push(event)
  })
  clock.advance(3_600_000)
  await store.idle()
  const { value } = await changes.next()
  assert.equal(value?.event, 'REMOVE')
  assert.equal(value?.cause, 'expiry')
  await trigger.idle()
  assert.deepEqual(events[0]?.Records[0]?.userIdentity, {
    principalId: 'dynamodb.amazonaws.com',
    type: 'Service',
  })
  await changes.return()
})

test('store.changes: a reader of much leaves turns of the event loop to others', async () => {
  await using store = await storeWith(1, 'Orders')
  for (let at = 0; at < 2000; at++) await put(store, 'Orders', String(at))
  let turns = 0
  const count = (): void => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  let read = 0
  for await (const _ of store.changes('Orders', { from: 'start' })) if (++read === 2000) break
  clearImmediate(immediate)
  assert.ok(turns >= 20, `${turns} turns`)
})

test('store.streamsClient: an official client without a socket', async () => {
  await using store = await storeWith(1, 'Orders')
  await put(store, 'Orders', 'a', 1)
  const client = store.streamsClient({ region: 'eu-central-1' })
  const { Streams = [] } = await client.listStreams({ TableName: 'Orders' })
  const StreamArn = Streams[0]?.StreamArn
  assert.match(StreamArn ?? '', /^arn:aws:dynamodb:eu-central-1:/)
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  )
  const { Records = [] } = await client.send(new GetRecordsCommand({ ShardIterator }))
  assert.deepEqual(
    Records.map(({ eventName, dynamodb }) => [eventName, dynamodb?.NewImage?.['n']?.N]),
    [['INSERT', '1']],
  )
  const { value } = await store.changes('Orders', { from: 'start' }).next()
  assert.equal(Records[0]?.dynamodb?.SequenceNumber, value?.sequenceNumber)
  await assert.rejects(client.getRecords({ ShardIterator: 'none' }), { name: 'ValidationException' })
})

test('store.trigger: the event is that of Lambda', async () => {
  await using store = await storeWith(1, 'Orders')
  const events: StreamEvent[] = []
  await using trigger = store.trigger('Orders', {}, (event) => {
    events.push(event)
  })
  await put(store, 'Orders', 'a', 1)
  await trigger.idle()
  const [record] = events[0]?.Records ?? []
  const { eventID, dynamodb, eventSourceARN, ...rest } = record!
  assert.match(eventID, /^[0-9a-f]{32}$/)
  assert.match(eventSourceARN, /^arn:aws:dynamodb:us-east-1:\d{12}:table\/Orders\/stream\/20/)
  assert.deepEqual(rest, {
    eventName: 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
  })
  const { ApproximateCreationDateTime: seconds, SequenceNumber, ...image } = dynamodb
  assert.ok(Math.abs(seconds - Date.now() / 1000) < 3600)
  assert.equal(SequenceNumber, trigger.position)
  assert.deepEqual(image, {
    Keys: { id: { S: 'a' } },
    NewImage: { id: { S: 'a' }, n: { N: '1' } },
    SizeBytes: 9,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  })
})

for (const nodes of [1, 3]) {
  test(`store.changes, ${nodes} node(s): goes on exactly after a position when a folder is opened again`, async () => {
    const path = testFolder()
    const positions: string[] = []
    for (let opened = 0; opened < 4; opened++) {
      await using store = await open({ path, nodes })
      if (opened === 0) await store.call('CreateTable', streamed('Orders'))
      for (let at = 0; at < 10; at++) await put(store, 'Orders', `${opened}-${at}`)
      await store.transactor().transact((tx) => {
        for (let line = 0; line < 5; line++) tx.put('Orders', { id: `${opened}-tx-${line}` })
      })
      // From each place so far, and from the start, all that follows and nothing else.
      const all: string[] = []
      for await (const change of store.changes('Orders', { from: 'start' })) {
        all.push(change.sequenceNumber)
        if (all.length === 15 * (opened + 1)) break
      }
      assert.deepEqual(all.slice(0, positions.length), positions)
      positions.splice(0, Infinity, ...all)
      for (let from = 0; from + 1 < all.length; from += 7) {
        const rest: string[] = []
        for await (const change of store.changes('Orders', { from: all[from]! })) {
          rest.push(change.sequenceNumber)
          if (rest.length === all.length - from - 1) break
        }
        assert.deepEqual(rest, all.slice(from + 1))
      }
    }
  })
}

test('store.changes: a reader that is killed again and again sees each change once and in order', async () => {
  const path = testFolder()
  const seen = join(path, '..', `${path.split('/').at(-1)}-seen`)
  writeFileSync(seen, '')
  const program = `
    import { appendFileSync, readFileSync } from 'node:fs'
    import { open } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)}
    const store = await open({ path: ${JSON.stringify(path)} })
    const { TableNames } = await store.call('ListTables', {})
    if (TableNames.length === 0) await store.call('CreateTable', ${JSON.stringify(streamed('Orders'))})
    const before = readFileSync(${JSON.stringify(seen)}, 'utf8').trim().split('\\n').at(-1)
    const write = async () => {
      for (;;) await store.call('UpdateItem', { TableName: 'Orders', Key: { id: { S: 'a' } },
        UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } })
    }
    void write()
    let count = 0
    for await (const change of store.changes('Orders', { from: before === '' ? 'start' : before.split(' ')[0] })) {
      appendFileSync(${JSON.stringify(seen)}, change.sequenceNumber + ' ' + change.new.n + '\\n')
      if (++count === 20) console.log('twenty')
    }`
  for (let kills = 0; kills < 5; kills++) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    for await (const _ of createInterface({ input: child.stdout })) child.kill('SIGKILL')
    assert.deepEqual(await exited, [null, 'SIGKILL'])
  }
  const counts = readFileSync(seen, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[1]))
  assert.ok(counts.length >= 100)
  assert.deepEqual(
    counts,
    counts.map((_, at) => at + 1),
  )
})

test('store.trigger: a handler with the types of @types/aws-lambda compiles and runs', async () => {
  await using store = await storeWith(1, 'Orders')
  const images: unknown[] = []
  // eslint-disable-next-line typescript/require-await -- as handlers are
  const handler: DynamoDBStreamHandler = async (event, context): Promise<DynamoDBBatchResponse> => {
    assert.ok(context.getRemainingTimeInMillis() > 0)
    for (const { dynamodb } of event.Records) images.push(dynamodb?.NewImage)
    return { batchItemFailures: [] }
  }
  await using trigger = store.trigger('Orders', { reportBatchItemFailures: true }, handler)
  await put(store, 'Orders', 'a', 1)
  await trigger.idle()
  assert.deepEqual(images, [{ id: { S: 'a' }, n: { N: '1' } }])
})

test('store.trigger: closing the store stops it, and a handler that runs is waited for', async () => {
  const store = await storeWith(1, 'Orders')
  let end: () => void = () => {}
  const began = new Promise<void>((resolve) => {
    store.trigger('Orders', {}, () => {
      resolve()
      return new Promise<void>((done) => (end = done))
    })
  })
  await put(store, 'Orders', 'a')
  await began
  let isClosed = false
  const closed = store.close().then(() => (isClosed = true))
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isClosed, false)
  end()
  await closed
})

test('store.trigger: a handler may write to the store, also to its own table', async () => {
  await using store = await storeWith(1, 'Orders')
  await using trigger = store.trigger(
    'Orders',
    { filter: { Filters: [{ Pattern: { dynamodb: { Keys: { id: { S: ['a'] } } } } }] } },
    async () => {
      await put(store, 'Orders', 'copy of a')
    },
  )
  await put(store, 'Orders', 'a')
  await trigger.idle()
  const { Item } = await store.call('GetItem', { TableName: 'Orders', Key: { id: { S: 'copy of a' } } })
  assert.ok(Item)
})
