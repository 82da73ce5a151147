// Several holders of one lock, what they show, the warning before a lease ends, and locks in a table with other names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../../src/store/store.js'
import { stillHeld, type LocksOptions } from '../../../src/toolkit/index.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { Clients, storeEndpoint, TABLE, turns } from './support.js'

async function setUp(options: Partial<LocksOptions> = {}) {
  const store = await open({ memory: true })
  const endpoint = storeEndpoint(store)
  const clients = new Clients()
  await clients.client(endpoint, options).locks.setup()
  return { store, endpoint, clients, [Symbol.asyncDispose]: () => store.close() }
}

test('locks, limit: up to N hold at once, in the order in which they came', async () => {
  await using world = await setUp()
  const all = Array.from({ length: 6 }, () => world.clients.client(world.endpoint).locks)
  const held = []
  for (const locks of all.slice(0, 3)) held.push(await locks.acquire('pool', { limit: 3 }))
  assert.deepEqual(
    held.map(({ limit }) => limit),
    [3, 3, 3],
  )
  const entered: number[] = []
  const waiters = all.slice(3).map(async (locks, at) => {
    const lock = await locks.acquire('pool', { limit: 3, waitMs: Infinity })
    entered.push(at)
    return lock
  })
  await world.clients.move(5_000)
  assert.deepEqual(entered, [])
  const report = await all[0]!.inspect('pool')
  assert.deepEqual([report.holders.length, report.waiting.length], [3, 3])
  // Not the row directly before the first waiter: any of the three makes room.
  await held[0]!.release()
  await world.clients.until(waiters[0]!)
  assert.equal(entered.length, 1)
  await held[2]!.release()
  await held[1]!.release()
  await world.clients.until(Promise.all(waiters))
  assert.deepEqual(
    (await Promise.all(waiters)).map(({ fence }) => fence).toSorted((a, b) => Number(a - b)).length,
    3,
  )
})

test('locks, limit: who is alone stays alone, whatever limit another asks with', async () => {
  await using world = await setUp()
  const [one, other, third] = Array.from({ length: 3 }, () => world.clients.client(world.endpoint).locks)
  const alone = await one!.acquire('a')
  assert.equal(await other!.tryAcquire('a', { limit: 5 }), undefined)
  await alone.release()
  const two = [await one!.acquire('a', { limit: 2 }), await other!.acquire('a', { limit: 2 })]
  assert.equal(await third!.tryAcquire('a', { limit: 5 }), undefined)
  assert.equal(await third!.tryAcquire('a'), undefined)
  assert.equal(await third!.tryAcquire('a', { shared: true }), undefined)
  await two[0]!.release()
  assert.ok(await third!.tryAcquire('a', { limit: 2 }))
})

test('locks, limit: an entry whose answer was lost is recognised, though another has entered since', async () => {
  await using world = await setUp()
  let losing = true
  const loses: Endpoint = {
    call: async (operation, input) => {
      const answer = await world.endpoint.call(operation, input)
      const enters = operation === 'UpdateItem' && JSON.stringify(input).includes('inside')
      if (!enters || !losing) return answer
      losing = false
      await other.locks.acquire('a', { limit: 2 })
      throw Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })
    },
  }
  const client = world.clients.client(loses)
  const other = world.clients.client(world.endpoint)
  const lock = await world.clients.until(client.locks.acquire('a', { limit: 2 }))
  assert.equal(lock.fence, 1n)
  assert.deepEqual(
    client.events.filter(({ type }) => type === 'drawn-again'),
    [],
  )
})

test('locks, limit: wrong limits are refused', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  for (const limit of [0, -1, 1.5, 1001, Number.NaN])
    await assert.rejects(locks.acquire('a', { limit }), RangeError)
  await assert.rejects(locks.acquire('a', { limit: 2, shared: true }), TypeError)
})

test('locks, data: what a holder shows is read by others, and may change', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  const other = world.clients.client(world.endpoint).locks
  const data = { host: 'worker-7', bytes: new Uint8Array([1, 2]), tags: new Set(['a']) }
  const lock = await locks.acquire(['a', 'b'], { data })
  assert.deepEqual((await other.inspect('a')).holders[0]?.data, data)
  await lock.show({ done: 0.5 })
  for (const name of ['a', 'b']) assert.deepEqual((await other.inspect(name)).holders[0]?.data, { done: 0.5 })
  await assert.rejects(lock.show('x'.repeat(5000)), /at most 4096 bytes, not 5000/)
  await other.break('a')
  await assert.rejects(lock.show({ done: 1 }), { name: 'LockLost' })
  await assert.rejects(locks.acquire('c', { data: 'x'.repeat(5000) }), /at most 4096 bytes/)
})

test('locks, onExpiring: told before the lease ends, while heartbeats are not confirmed, once for each stretch', async () => {
  await using world = await setUp()
  let cut = false
  const link: Endpoint = {
    call: (operation, input) =>
      cut
        ? Promise.reject(Object.assign(new Error('cut off'), { code: 'ECONNRESET' }))
        : world.endpoint.call(operation, input),
  }
  const client = world.clients.client(link)
  const told: number[] = []
  const lock = await client.locks.acquire('a', {
    leaseMs: 10_000,
    expiringMs: 3_000,
    onExpiring: (held) => told.push(held.remainingMs),
  })
  await world.clients.move(60_000)
  assert.deepEqual(told, [], 'heartbeats are confirmed')
  cut = true
  for (let ms = 0; ms < 10_000 && told.length === 0; ms += 100) await world.clients.move(100)
  assert.equal(told.length, 1)
  assert.ok(told[0]! > 0 && told[0]! <= 3_000 && lock.held)
  cut = false
  await world.clients.move(20_000)
  assert.ok(lock.held)
  assert.equal(told.length, 1)
  cut = true
  await world.clients.move(30_000)
  assert.equal(told.length, 2)
  assert.ok(!lock.held)
})

test('locks, attributes: locks live in a table that is there already, with its own names', async () => {
  await using world = await setUp({ table: 'Locks' })
  const attributes = { pk: 'PK', sk: 'SK', expiresAt: 'ttl', owner: 'lockOwner', beat: 'lockBeat' }
  await world.store.call('CreateTable', {
    TableName: 'App',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'PK', AttributeType: 'S' },
      { AttributeName: 'SK', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ],
  })
  for (const SK of ['order#1', '50%/lock'])
    await world.store.call('PutItem', {
      TableName: 'App',
      Item: { PK: { S: 'a' }, SK: { S: SK }, owner: { S: 'alice' } },
    })
  const options = { table: 'App', attributes }
  const one = world.clients.client(world.endpoint, options).locks
  const other = world.clients.client(world.endpoint, options).locks
  await one.setup()
  const { TimeToLiveDescription } = await world.store.call('DescribeTimeToLive', { TableName: 'App' })
  assert.equal(TimeToLiveDescription?.AttributeName, 'ttl')

  const lock = await one.acquire('a', { data: { at: 1 } })
  assert.equal(await other.tryAcquire('a'), undefined)
  const waiting = other.acquire('a', { waitMs: Infinity })
  await world.clients.move(15_000)
  assert.ok(lock.held, 'heartbeats find their row')
  assert.deepEqual((await other.inspect('a')).holders[0]?.data, { at: 1 })
  assert.deepEqual(
    (await other.list()).map(({ name }) => name),
    ['a'],
  )
  await world.store.call('TransactWriteItems', {
    TransactItems: [
      { Put: { TableName: 'App', Item: { PK: { S: 'invoice' }, SK: { S: '1' } } } },
      ...stillHeld(lock),
    ],
  })
  await lock.release()
  const next = await world.clients.until(waiting)
  assert.ok(next.fence > lock.fence)
  await other.break('a')
  const { Items } = await world.store.call('Scan', { TableName: 'App' })
  assert.deepEqual(
    Items?.filter(({ PK }) => PK?.S === 'a').map(({ SK }) => SK?.S),
    ['/lock', '50%/lock', 'order#1'],
  )
  for (const item of Items ?? [])
    for (const usual of Object.keys(attributes).filter((name) => name !== 'owner'))
      assert.equal(item[usual], undefined)
  assert.deepEqual((await one.sweep()).removed, 0)
})

test('locks, attributes: names that clash or do not exist, and a table with another key, are refused', async () => {
  await using world = await setUp()
  assert.throws(() => world.clients.client(world.endpoint, { attributes: { pk: 'x', sk: 'x' } }), /called x/)
  const wrong = { color: 'red' } as Partial<LocksOptions>['attributes']
  assert.throws(() => world.clients.client(world.endpoint, { attributes: wrong! }), /no attribute color/)
  const { locks } = world.clients.client(world.endpoint, { table: TABLE, attributes: { pk: 'PK' } })
  await assert.rejects(locks.setup(), /the strings PK HASH, sk RANGE/)
  await turns()
})
