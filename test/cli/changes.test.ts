import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../../src/cli/process-environment.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'
import { isBefore, nextShards, shardStart, type WireShard } from '../../src/cli/operate/follow-stream.js'
import { run } from '../../src/cli/run.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open, type Store } from '../../src/store/store.js'

const table = (TableName: string) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
})
const STREAM = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' as const }
const put = (store: Store, id: string, n = 1) =>
  store.call('PutItem', { TableName: 'Orders', Item: { id: { S: id }, n: { N: String(n) } } })

/** The command in this process; `lines(n)` resolves once so many were printed. */
function following(args: readonly string[]) {
  const out: string[] = []
  const errors: string[] = []
  let signal: (name: NodeJS.Signals) => void = () => {}
  let printed: () => void = () => {}
  const world: CommandEnvironment = {
    ...processEnvironment(),
    print: (line) => {
      out.push(line)
      printed()
    },
    printError: (line) => errors.push(line),
    onSignal: (callback) => {
      signal = callback
      return () => (signal = () => {})
    },
  }
  const ended = run(['changes', ...args], world)
  return {
    out,
    errors,
    ended,
    lines: async (count: number): Promise<void> => {
      while (out.length < count) {
        const more = new Promise<void>((resolve) => (printed = resolve))
        const code = await Promise.race([more, ended])
        assert.ok(code === undefined, `it ended with ${String(code)}: ${errors.join(' ')}`)
      }
    },
    interrupt: () => signal('SIGINT'),
  }
}

test('cli: changes follows a table over shards that roll, and ends with SIGINT', async () => {
  const clock = manualClock(Date.parse('2030-01-01'))
  await using store = await open({ memory: true, clock, shardMinutes: 60 })
  await store.call('CreateTable', { ...table('Orders'), StreamSpecification: STREAM })
  const server = await store.listen({ port: 0 })
  await put(store, 'a', 1)
  const command = following(['--endpoint', server.url, 'Orders', '--from', 'start'])
  await command.lines(1)
  for (let roll = 0; roll < 3; roll++) {
    clock.advance(60 * 60_000)
    await store.idle()
    await put(store, 'a', roll + 2)
    await command.lines(roll + 2)
  }
  await store.call('DeleteItem', { TableName: 'Orders', Key: { id: { S: 'a' } } })
  await command.lines(5)
  command.interrupt()
  assert.equal(await command.ended, 0)
  const streams = store.streamsClient()
  const { Streams = [] } = await streams.listStreams({ TableName: 'Orders' })
  const { StreamDescription } = await streams.describeStream({ StreamArn: Streams[0]?.StreamArn })
  assert.equal(StreamDescription?.Shards?.length, 4)
  assert.deepEqual(
    command.out.map((line) => line.split('  ').slice(2).join('  ')),
    [
      'INSERT  {"id":"a"}  new {"id":"a","n":1}',
      'MODIFY  {"id":"a"}  old {"id":"a","n":1}  new {"id":"a","n":2}',
      'MODIFY  {"id":"a"}  old {"id":"a","n":2}  new {"id":"a","n":3}',
      'MODIFY  {"id":"a"}  old {"id":"a","n":3}  new {"id":"a","n":4}',
      'REMOVE  {"id":"a"}  old {"id":"a","n":4}',
    ],
  )
  assert.match(command.out[0] ?? '', /^2030-01-01T00:00:00Z {2}1\d{20} {2}/)

  // From a sequence number on, over the shards that follow it.
  const [, place = ''] = command.out[1]?.split('  ') ?? []
  const rest = following(['--endpoint', server.url, 'Orders', '--from', place, '--json'])
  await rest.lines(3)
  rest.interrupt()
  assert.equal(await rest.ended, 0)
  const records = rest.out.map((line) => JSON.parse(line) as { readonly eventName: string })
  assert.deepEqual(
    records.map(({ eventName }) => eventName),
    ['MODIFY', 'MODIFY', 'REMOVE'],
  )
})

test('cli: changes begins with the next one, and ends when the stream does', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', { ...table('Orders'), StreamSpecification: STREAM })
  const server = await store.listen({ port: 0 })
  await put(store, 'before')
  const command = following(['--endpoint', server.url, 'Orders'])
  // It has begun once it sees a write: until then more of them come.
  const seen = command.lines(1)
  for (let at = 0; command.out.length === 0 && at < 1000; at++) {
    await put(store, `later-${at}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await seen
  assert.match(command.out[0] ?? '', /later-/)
  await store.call('UpdateTable', { TableName: 'Orders', StreamSpecification: { StreamEnabled: false } })
  assert.equal(await command.ended, 0)
  assert.deepEqual(command.errors, ['seriatim changes: the stream of Orders has ended'])
})

test('cli: changes says what to do if there is no stream, no table, no server', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', table('Orders'))
  const server = await store.listen({ port: 0 })
  const none = following(['--endpoint', server.url, 'Orders'])
  assert.equal(await none.ended, 1)
  assert.match(none.errors[0] ?? '', /Orders has no stream\. Enable one: aws dynamodb update-table/)
  const missing = following(['--endpoint', server.url, 'Missing'])
  assert.equal(await missing.ended, 1)
  assert.match(missing.errors[0] ?? '', /Requested resource not found: Table: Missing not found/)
  await server.stop()
  const gone = following(['--endpoint', server.url, 'Orders'])
  assert.equal(await gone.ended, 1)
  assert.match(gone.errors[0] ?? '', /does not answer/)
})

for (const args of [
  [],
  ['Orders'],
  ['--endpoint', 'x', 'Orders'],
  ['--endpoint', 'http://127.0.0.1:1', 'Orders', 'Two'],
  ['--endpoint', 'http://127.0.0.1:1', 'Orders', '--from', 'yesterday'],
]) {
  test(`cli: changes ${args.join(' ')} is a wrong usage`, async () => {
    assert.equal(await following(args).ended, 2)
  })
}

test('cli: changes as a process ends cleanly with SIGINT', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', { ...table('Orders'), StreamSpecification: STREAM })
  await put(store, 'a')
  const server = await store.listen({ port: 0 })
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  const args = [main, 'changes', '--endpoint', server.url, 'Orders', '--from', 'start']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    assert.match(line, /INSERT {2}\{"id":"a"\}/)
    child.kill('SIGINT')
    break
  }
  assert.deepEqual(await exited, [0, null])
})

const shard = (ShardId: string, ParentShardId?: string, start = '1', end?: string): WireShard => ({
  ShardId,
  ...(ParentShardId !== undefined && { ParentShardId }),
  SequenceNumberRange: {
    StartingSequenceNumber: start,
    ...(end !== undefined && { EndingSequenceNumber: end }),
  },
})

test('cli: changes reads a shard only after its parent', () => {
  const shards = [shard('a'), shard('b', 'a'), shard('c', 'b'), shard('d', 'trimmed')]
  const ids = (finished: readonly string[], reading: readonly string[] = []): string =>
    nextShards(shards, new Set(finished), new Map(reading.map((id) => [id, id])))
      .map(({ ShardId }) => ShardId)
      .join(' ')
  assert.equal(ids([]), 'a d')
  assert.equal(ids([], ['a', 'd']), '')
  assert.equal(ids(['a'], ['d']), 'b')
  assert.equal(ids(['a', 'b', 'd']), 'c')
})

test('cli: changes begins in the shard that has the place', () => {
  const closed = shard('a', undefined, '100', '200')
  const next = shard('b', 'a', '201')
  assert.deepEqual(
    ['start', 'now', '150', '200', '250'].map((from) => isBefore(closed, from)),
    [false, true, false, true, true],
  )
  assert.deepEqual(shardStart(next, '250'), {
    ShardIteratorType: 'AFTER_SEQUENCE_NUMBER',
    SequenceNumber: '250',
  })
  assert.deepEqual(shardStart(next, '150'), { ShardIteratorType: 'TRIM_HORIZON' })
  assert.deepEqual(shardStart(next, 'start'), { ShardIteratorType: 'TRIM_HORIZON' })
  assert.deepEqual(shardStart(next, 'now'), { ShardIteratorType: 'LATEST' })
})
