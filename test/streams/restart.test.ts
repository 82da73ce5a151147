import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { open, type Store } from '../../src/store/store.js'
import { type ManualClock, manualClock } from '../../src/runtime/manual-clock.js'
import { testFolder } from '../support/folder.js'
import { spawnServer } from '../support/spawned-server.js'
import {
  clientsOf,
  HOUR_MS,
  idsOf,
  iteratorOf,
  openStreams,
  put,
  readAll,
  readOn,
  shardsOf,
  START_MS,
  streamed,
  type StreamStore,
} from './support.js'

interface Restartable extends StreamStore {
  restart(): Promise<StreamStore>
}

/** A store on disk that is closed and opened again, each time with other clients. */
async function onDisk(t: TestContext): Promise<Restartable> {
  const path = testFolder()
  const clock = manualClock(START_MS)
  const start = async (): Promise<StreamStore> => {
    const store = await open({ path, clock, nodes: 2 })
    t.after(() => store.close())
    return served(store, clock)
  }
  const first = await start()
  return {
    ...first,
    async restart() {
      await first.store.close()
      return start()
    },
  }
}

async function served(store: Store, clock: ManualClock): Promise<StreamStore> {
  const { url } = await store.listen({ port: 0 })
  return {
    store,
    clock,
    url,
    ...clientsOf(url),
    async advance(ms) {
      clock.advance(ms)
      await store.idle()
    },
  }
}

test('streams: after a restart a stream has the same shards and records, and an iterator goes on', async (t) => {
  const own = await onDisk(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.advance(4 * HOUR_MS)
  await put(own, 'Orders', 'b')
  await put(own, 'Orders', 'c')
  const shards = await shardsOf(own, arn)
  const records = await readAll(own, arn)
  const open = shards.at(-1)!.ShardId!
  const middle = await own.streams.getRecords({ ShardIterator: await iteratorOf(own, arn, open), Limit: 1 })
  const again = await own.restart()
  assert.deepEqual(await shardsOf(again, arn), shards)
  assert.deepEqual(await readAll(again, arn), records)
  await put(again, 'Orders', 'd')
  assert.deepEqual(idsOf((await readOn(again, middle.NextShardIterator!)).records), ['c', 'd'])
  const { SequenceNumber } = middle.Records![0]!.dynamodb!
  const after = await iteratorOf(again, arn, open, { after: SequenceNumber! })
  assert.deepEqual(idsOf((await readOn(again, after)).records), ['c', 'd'])
})

test('streams: shards that were due while the store was closed roll when it is opened', async (t) => {
  const own = await onDisk(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  const [shard] = await shardsOf(own, arn)
  await own.store.close()
  own.clock.advance(5 * HOUR_MS)
  const again = await own.restart()
  await again.advance(0)
  await put(again, 'Orders', 'b')
  const [parent, child] = await shardsOf(again, arn)
  assert.equal(parent!.ShardId, shard!.ShardId)
  assert.equal(child!.ParentShardId, shard!.ShardId)
  assert.deepEqual(idsOf(await readAll(again, arn)), ['a', 'b'])
})

test('streams: that of a deleted table outlives a restart', async (t) => {
  const own = await onDisk(t)
  const arn = await streamed(own, 'Orders')
  await put(own, 'Orders', 'a')
  await own.dynamodb.deleteTable({ TableName: 'Orders' })
  const again = await own.restart()
  const { StreamDescription } = await again.streams.describeStream({ StreamArn: arn })
  assert.equal(StreamDescription!.StreamStatus, 'DISABLED')
  assert.deepEqual(idsOf(await readAll(again, arn)), ['a'])
  await again.advance(24 * HOUR_MS)
  assert.deepEqual((await again.streams.listStreams({})).Streams, [])
})

test('streams: what was answered before a stream was disabled is in it, and what came after it is in none', async (t) => {
  for (const path of [undefined, testFolder()]) {
    const own = await openStreams(t, {
      nodes: 2,
      ...(path !== undefined && ({ path, memory: undefined } as object)),
    })
    const first = await streamed(own, 'Orders', 'KEYS_ONLY')
    const answered: string[] = []
    const write = async (id: string): Promise<void> => {
      await own.dynamodb.transactWriteItems({
        TransactItems: [`${id}-x`, `${id}-y`, `${id}-z`].map((one) => ({
          Put: { TableName: 'Orders', Item: { id: { S: one } } },
        })),
      })
      answered.push(`${id}-x`, `${id}-y`, `${id}-z`)
    }
    for (let round = 0; round < 5; round++) {
      const arn =
        round === 0
          ? first
          : (await own.dynamodb.describeTable({ TableName: 'Orders' })).Table!.LatestStreamArn!
      answered.length = 0
      const writes = Array.from({ length: 30 }, (_, n) => write(`${round}-${n}`))
      await Promise.race(writes)
      const early = [...answered]
      await own.dynamodb.updateTable({ TableName: 'Orders', StreamSpecification: { StreamEnabled: false } })
      const seen = idsOf(await readAll(own, arn))
      for (const id of early) assert.ok(seen.includes(id), `${id} was answered before`)
      await Promise.all(writes)
      // Its end is its end.
      assert.deepEqual(idsOf(await readAll(own, arn)), seen)
      await own.dynamodb.updateTable({
        TableName: 'Orders',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
      })
    }
  }
})

test('streams: after kill -9 a reader goes on where it was', async () => {
  const path = testFolder()
  const read: string[] = []
  const written: string[] = []
  let arn: string | undefined
  let last: { readonly shard: string; readonly number: string } | undefined
  for (let round = 0; round < 3; round++) {
    await using server = await spawnServer(['--path', path])
    const own = clientsOf(server.url)
    arn ??= await streamed(own, 'Orders', 'KEYS_ONLY')
    const shard = (await shardsOf(own, arn))[0]!.ShardId!
    let next: string | undefined =
      last === undefined
        ? await iteratorOf(own, arn, shard)
        : await iteratorOf(own, arn, last.shard, { after: last.number })
    for (let n = 0; n < 20; n++) {
      await Promise.all(
        Array.from({ length: 5 }, async (_, each) => {
          await put(own, 'Orders', `${round}-${n}-${each}`)
          written.push(`${round}-${n}-${each}`)
        }),
      )
      // Not to the end: the rest is read after the restart.
      if (n % 5 !== 0) continue
      const page: Awaited<ReturnType<typeof readOn>> = await readOn(own, next!, 3)
      read.push(...idsOf(page.records))
      const newest = page.records.at(-1)
      if (newest !== undefined) last = { shard, number: newest.dynamodb!.SequenceNumber! }
      next = page.next
    }
    const ended = server.ended
    process.kill(server.pid, 'SIGKILL')
    await ended
    own.dynamodb.destroy()
    own.streams.destroy()
  }
  await using server = await spawnServer(['--path', path])
  const own = clientsOf(server.url)
  read.push(
    ...idsOf((await readOn(own, await iteratorOf(own, arn!, last!.shard, { after: last!.number }))).records),
  )
  assert.equal(new Set(read).size, read.length)
  assert.deepEqual(read.toSorted(), written.toSorted())
  own.dynamodb.destroy()
  own.streams.destroy()
})
