// Forks, snapshots and dumps of a store in memory.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open, type Store } from '../../src/store/store.js'
import { DumpRefused } from '../../src/line/errors.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'

const START_MS = Date.parse('2030-01-01')

async function createThings(store: Store): Promise<void> {
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'kind', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'ByKind',
        KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    Tags: [{ Key: 'owner', Value: 'tests' }],
  })
}

const put = (store: Store, id: string, n = 0): Promise<unknown> =>
  store.call('PutItem', {
    TableName: 'Things',
    Item: { id: { S: id }, kind: { S: 'plain' }, n: { N: String(n) } },
  })

async function idsIn(store: Store): Promise<readonly string[]> {
  const { Items = [] } = await store.call('Scan', { TableName: 'Things' })
  const { Items: byKind = [] } = await store.call('Query', {
    TableName: 'Things',
    IndexName: 'ByKind',
    KeyConditionExpression: 'kind = :plain',
    ExpressionAttributeValues: { ':plain': { S: 'plain' } },
  })
  const ids = Items.map(({ id }) => id?.S as string).toSorted()
  assert.deepEqual(byKind.map(({ id }) => id?.S as string).toSorted(), ids, 'the index has the same')
  const { Table } = await store.call('DescribeTable', { TableName: 'Things' })
  assert.equal(Table?.ItemCount, ids.length)
  return ids
}

async function sequenceNumbers(store: Store): Promise<readonly string[]> {
  const last = await store.call('Scan', { TableName: 'Things' })
  if (last.Count === 0) return []
  const numbers: string[] = []
  const end = store.changes('Things', { from: 'start' })
  await put(store, 'the end')
  for await (const { keys, sequenceNumber } of end) {
    if (keys['id'] === 'the end') break
    numbers.push(sequenceNumber)
  }
  return numbers
}

for (const nodes of [1, 4]) {
  const many = nodes === 1 ? 'one node' : `${nodes} nodes`

  test(`fork: it has what was there, and neither side sees the other's changes, with ${many}`, async () => {
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    for (let n = 0; n < 20; n++) await put(store, `a${n}`)
    const before = await idsIn(store)
    await using fork = await store.fork()
    assert.deepEqual(await idsIn(fork), before)
    await put(store, 'of the store')
    await fork.call('DeleteItem', { TableName: 'Things', Key: { id: { S: 'a0' } } })
    await put(fork, 'of the fork')
    await using second = await fork.fork()
    await put(second, 'of the second')
    assert.deepEqual(await idsIn(store), [...before, 'of the store'].toSorted())
    assert.deepEqual(await idsIn(fork), [...before.slice(1), 'of the fork'].toSorted())
    assert.deepEqual(await idsIn(second), [...before.slice(1), 'of the fork', 'of the second'].toSorted())
  })

  test(`fork: tags, time to live, streams and client tokens are as they were, with ${many}`, async () => {
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    await store.call('UpdateTimeToLive', {
      TableName: 'Things',
      TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
    })
    const request = {
      ClientRequestToken: 'once',
      TransactItems: ['t1', 't2', 't3'].map((id) => ({
        Update: {
          TableName: 'Things',
          Key: { id: { S: id } },
          UpdateExpression: 'ADD n :one SET kind = :plain',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':plain': { S: 'plain' } },
        },
      })),
    }
    await store.call('TransactWriteItems', request)
    const { Table } = await store.call('DescribeTable', { TableName: 'Things' })
    await using fork = await store.fork()
    const { Table: its } = await fork.call('DescribeTable', { TableName: 'Things' })
    assert.deepEqual(its, Table)
    const { Tags } = await fork.call('ListTagsOfResource', { ResourceArn: Table?.TableArn })
    assert.deepEqual(Tags, [{ Key: 'owner', Value: 'tests' }])
    const { TimeToLiveDescription } = await fork.call('DescribeTimeToLive', { TableName: 'Things' })
    assert.equal(TimeToLiveDescription?.AttributeName, 'until')
    await fork.call('TransactWriteItems', request)
    const { Item } = await fork.call('GetItem', { TableName: 'Things', Key: { id: { S: 't1' } } })
    assert.equal(Item?.['n']?.N, '1', 'the token was used before the fork')
    await fork.call('DeleteTable', { TableName: 'Things' })
    await fork.idle()
    assert.deepEqual(await idsIn(store), ['t1', 't2', 't3'])
    await createThings(fork)
    assert.deepEqual(await idsIn(fork), [])
  })

  test(`fork: the stream has what it had, and each side goes on from there, with ${many}`, async () => {
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    for (let n = 0; n < 5; n++) await put(store, `a${n}`)
    await using fork = await store.fork()
    await using later = await store.fork()
    await put(store, 'of the store')
    await put(fork, 'of the fork')
    await put(fork, 'also of the fork')
    const [its, forks, laters] = [
      await sequenceNumbers(store),
      await sequenceNumbers(fork),
      await sequenceNumbers(later),
    ]
    assert.equal(laters.length, 5)
    assert.deepEqual(its.slice(0, 5), laters)
    assert.deepEqual(forks.slice(0, 5), laters)
    assert.equal(its.length, 6)
    assert.equal(forks.length, 7)
    assert.equal(its[5], forks[5], 'the same number may mean another change on each side')
  })

  test(`snapshot: a store goes back to it any number of times, and its clients and servers stay, with ${many}`, async () => {
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    for (let n = 0; n < 5; n++) await put(store, `a${n}`)
    const before = await idsIn(store)
    const snapshot = await store.snapshot()
    assert.equal(snapshot.nodes, nodes)
    const client = store.client()
    const transactor = store.transactor()
    const server = await store.listen({ port: 0 })
    for (let round = 0; round < 3; round++) {
      await put(store, `of round ${round}`)
      await client.deleteItem({ TableName: 'Things', Key: { id: { S: 'a1' } } })
      await transactor.transact((tx) => {
        tx.put('Things', { id: 'by a unit', kind: 'plain' })
      })
      assert.equal((await idsIn(store)).length, 6)
      await store.restore(snapshot)
      assert.deepEqual(await idsIn(store), before)
      const { Items = [] } = await client.scan({ TableName: 'Things' })
      assert.equal(Items.length, 5)
      const answer = await fetch(server.url, {
        method: 'POST',
        headers: {
          'x-amz-target': 'DynamoDB_20120810.Scan',
          'content-type': 'application/x-amz-json-1.0',
          authorization:
            'AWS4-HMAC-SHA256 Credential=a/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
        },
        body: '{"TableName":"Things"}',
      })
      assert.equal(((await answer.json()) as { Count: number }).Count, 5)
    }
    await using other = await open({ memory: true })
    await other.restore(snapshot)
    assert.deepEqual(await idsIn(other), before)
    await using fork = await other.fork()
    assert.deepEqual(await idsIn(fork), before)
  })

  test(`snapshot: a unit of work that has read before a restore commits nothing upon what it has not read, with ${many}`, async () => {
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    await put(store, 'a', 1)
    const snapshot = await store.snapshot()
    await put(store, 'a', 2)
    const reads: unknown[] = []
    await store.transactor().transact(async (tx) => {
      const item = await tx.get('Things', { id: 'a' })
      reads.push(item?.['n'])
      if (reads.length === 1) {
        await store.restore(snapshot)
        await put(store, 'a', 3)
      }
      tx.put('Things', { id: 'a', kind: 'plain', n: (item?.['n'] as number) + 10 })
    })
    assert.deepEqual(reads, [2, 3])
    const { Item } = await store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'a' } } })
    assert.equal(Item?.['n']?.N, '13')
  })

  test(`dump: another store begins with it, stream included, with ${many}`, async () => {
    const file = join(testFolder(), 'things.dump')
    await using store = await open({ memory: true, nodes })
    await createThings(store)
    for (let n = 0; n < 30; n++) await put(store, `a${n}`)
    await store.call('TransactWriteItems', {
      TransactItems: ['t1', 't2'].map((id) => ({
        Put: { TableName: 'Things', Item: { id: { S: id }, kind: { S: 'plain' } } },
      })),
    })
    await store.dump(file)
    await put(store, 'later')
    await using other = await open({ memory: true, from: file })
    assert.deepEqual(
      await idsIn(other),
      (await idsIn(store)).filter((id) => id !== 'later'),
    )
    const first = (await sequenceNumbers(store)).slice(0, 32)
    assert.deepEqual(await sequenceNumbers(other), first)
    await other.dump(file)
    await using third = await open({ memory: true, from: file, nodes })
    assert.deepEqual(await idsIn(third), await idsIn(other))
    assert.deepEqual(readdirSync(join(file, '..')), ['things.dump'], 'nothing else is left')
    await assert.rejects(open({ memory: true, from: file, nodes: 3 }), {
      name: 'DumpRefused',
      message: new RegExp(
        `was made of ${nodes} nodes?, not 3. Leave nodes out, or say nodes: ${nodes}\\.$`,
        'u',
      ),
    })
  })
}

test('fork: a clock of its own moves it alone', async () => {
  const clock = manualClock(START_MS)
  await using store = await open({ memory: true, clock })
  await createThings(store)
  await store.call('UpdateTimeToLive', {
    TableName: 'Things',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await store.call('PutItem', {
    TableName: 'Things',
    Item: { id: { S: 'a' }, kind: { S: 'plain' }, until: { N: String(START_MS / 1000 + 60) } },
  })
  const own = manualClock(START_MS)
  await using fork = await store.fork({ clock: own })
  own.advance(2 * 60 * 60 * 1000)
  await fork.idle()
  assert.deepEqual(await idsIn(fork), [])
  assert.deepEqual(await idsIn(store), ['a'])
})

test('fork: forks of forks do not run ahead of the clock', async () => {
  const clock = manualClock(START_MS)
  let store = await open({ memory: true, clock })
  await createThings(store)
  for (let generation = 0; generation < 50; generation++) {
    // A read in a transaction leaves a mark, and a ceiling above it.
    await put(store, 'a')
    await store.call('TransactGetItems', {
      TransactItems: [{ Get: { TableName: 'Things', Key: { id: { S: 'a' } } } }],
    })
    const fork = await store.fork()
    await store.close()
    store = fork
  }
  const times: number[] = []
  await put(store, 'last')
  for await (const { keys, timestamp } of store.changes('Things', { from: 'start' })) {
    times.push(timestamp.getTime())
    if (keys['id'] === 'last') break
  }
  assert.ok(
    times.every((time) => time - START_MS < 1000),
    String(times.at(-1)),
  )
  await store.close()
})

test('fork: a store on disk is refused, with what to do', async () => {
  await using store = await open({ path: testFolder() })
  const words = /is for stores in memory.*Make a backup of its tables, or copy its folder/u
  await assert.rejects(store.fork(), words)
  await assert.rejects(store.snapshot(), words)
  await assert.rejects(store.dump(join(testFolder(), 'x')), words)
  await using memory = await open({ memory: true })
  await assert.rejects(store.restore(await memory.snapshot()), words)
  await assert.rejects(memory.restore({ nodes: 1 }), /needs a snapshot/u)
})

test('fork: a store that is closed has none, and a fork outlives the store it was made of', async () => {
  const store = await open({ memory: true })
  await createThings(store)
  const fork = await store.fork()
  const snapshot = await store.snapshot()
  await store.close()
  await assert.rejects(store.fork(), /closed/u)
  await assert.rejects(store.restore(snapshot), /closed/u)
  await put(fork, 'a')
  assert.deepEqual(await idsIn(fork), ['a'])
  await fork.close()
})

test('dump: a damaged one is refused with a sentence, whichever byte is wrong or missing', async () => {
  const file = join(testFolder(), 'things.dump')
  await using store = await open({ memory: true, nodes: 2 })
  await createThings(store)
  for (let n = 0; n < 3; n++) await put(store, `a${n}`)
  await store.dump(file)
  const bytes = readFileSync(file)
  const refused = async (content: Uint8Array, words: RegExp): Promise<void> => {
    writeFileSync(file, content)
    const error: unknown = await open({ memory: true, from: file }).catch((caught: unknown) => caught)
    assert.ok(error instanceof DumpRefused, String(error))
    assert.match(error.message, words, `${error.message} ${content.length} of ${bytes.length}`)
    assert.match(error.message, /^The (file|dump) .*\.$/u)
  }
  for (let at = 0; at < bytes.length; at += sized(5, 1)) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8))
    await refused(flipped, at < 16 ? /is not a dump|is a dump of format|is damaged/u : /is damaged/u)
    await refused(bytes.subarray(0, at), at < 16 ? /is not a dump/u : /is damaged: it ends/u)
  }
  await refused(Buffer.concat([bytes, Buffer.from('more')]), /is damaged/u)
  await refused(Buffer.from('seriatim dump 2\n'), /is a dump of format 2, and this version reads format 1/u)
  writeFileSync(file, bytes)
  await (await open({ memory: true, from: file })).close()
  await assert.rejects(open({ memory: true, from: `${file}.missing` }), /cannot be read: ENOENT/u)
  await assert.rejects(store.dump(join(file, 'below a file')), /^DumpRefused: .*cannot be written: ENOTDIR/u)
})
