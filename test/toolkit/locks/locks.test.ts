import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../../src/store/store.js'
import { clientEndpoint, type Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { fenced, LockLost, LockTimeout, stillHeld, type Lock } from '../../../src/toolkit/index.js'
import { Clients, storeEndpoint, TABLE, turns } from './support.js'

async function setUp() {
  const store = await open({ memory: true })
  const endpoint = storeEndpoint(store)
  const clients = new Clients()
  await clients.client(endpoint).locks.setup()
  return { store, endpoint, clients, [Symbol.asyncDispose]: () => store.close() }
}

test('locks: fences grow with every grant, and outlive an empty queue', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  let before = 0n
  for (let times = 0; times < 5; times++) {
    await using lock = await locks.acquire('a')
    assert.ok(lock.fence > before)
    assert.equal(typeof lock.fence, 'bigint')
    before = lock.fence
  }
  assert.equal((await locks.inspect('a')).granted, before)
})

test('locks: first come, first served, with positions told', async () => {
  await using world = await setUp()
  const order: number[] = []
  const all = Array.from({ length: 6 }, () => world.clients.client(world.endpoint))
  const held = await all[0]!.locks.acquire('a', { waitMs: Infinity })
  const waiters: Promise<void>[] = []
  for (const [at, { locks }] of all.entries()) {
    if (at === 0) continue
    waiters.push(locks.withLock('a', () => void order.push(at), { waitMs: Infinity }))
    await world.clients.move(100)
  }
  const report = await all[0]!.locks.inspect('a')
  assert.deepEqual([report.holders.length, report.waiting.length], [1, 5])
  const position = all[5]!.events.find((event) => event.type === 'waiting')
  assert.equal(position?.type === 'waiting' && position.position, 5)
  await held.release()
  await world.clients.until(Promise.all(waiters))
  assert.deepEqual(order, [1, 2, 3, 4, 5])
  assert.deepEqual(await all[0]!.locks.list(), [])
})

test('locks: the late-enqueue race of a queue without compare-and-set: who enqueues late draws again', async () => {
  await using world = await setUp()
  const gate = withGate(world.endpoint, 'PutItem')
  const late = world.clients.client(gate.endpoint)
  const prompt = world.clients.client(world.endpoint)
  // The late one has its ticket, and stands still before its row is written.
  gate.close()
  const first = late.locks.acquire('a', { waitMs: Infinity })
  await turns()
  const second = await prompt.locks.acquire('a')
  gate.open()
  let entered = false
  void first.then(() => (entered = true))
  await world.clients.move(2_000)
  assert.equal(entered, false, 'two are inside')
  assert.deepEqual(
    late.events.flatMap((event) => (event.type === 'drawn-again' ? [event.why] : [])),
    ['late'],
  )
  assert.ok(second.held)
  await second.release()
  const lock = await world.clients.until(first)
  assert.ok(lock.fence > second.fence)
})

test('locks: a repeated heartbeat that arrives late does not make a living holder look dead', async () => {
  await using world = await setUp()
  const repeated: (() => Promise<unknown>)[] = []
  const twice: Endpoint = {
    call: (operation, input) => {
      const beats = operation === 'UpdateItem' && JSON.stringify(input).includes('beat < :beat')
      if (beats) repeated.push(() => world.endpoint.call(operation, input).catch(() => undefined))
      return world.endpoint.call(operation, input)
    },
  }
  const holder = world.clients.client(twice)
  const waiter = world.clients.client(world.endpoint)
  const lock = await holder.locks.acquire('a')
  const waiting = waiter.locks.acquire('a', { waitMs: Infinity })
  let entered = false
  void waiting.then(() => (entered = true))
  await world.clients.move(6_000)
  for (let leases = 0; leases < 8; leases++) {
    // The first beat ever, again, after each further one.
    await world.clients.move(5_000)
    await repeated[0]!()
  }
  assert.ok(lock.held)
  assert.equal(entered, false)
  await lock.release()
  await (await world.clients.until(waiting)).release()
})

test('locks: a holder that dies is followed by the next after a lease; it learns of it when it wakes', async () => {
  await using world = await setUp()
  const dead = world.clients.client(world.endpoint)
  const next = world.clients.client(world.endpoint)
  const lock = await dead.locks.acquire('a')
  const waiting = next.locks.acquire('a', { waitMs: Infinity })
  const second = await world.clients.until(waiting, [dead])
  assert.ok(second.fence > lock.fence)
  assert.ok(next.events.some((event) => event.type === 'removed' && event.dead === lock.fence))
  // Its wall clock jumps to now, as after a sleep of the machine: what it reads first tells.
  dead.runtime.clock.jump(60_000)
  assert.equal(lock.signal.aborted, true)
  assert.ok(lock.signal.reason instanceof LockLost)
  await lock.release()
  assert.equal(second.held, true)
})

test('locks: the signal aborts before the lease is over for others, when heartbeats fail', async () => {
  await using world = await setUp()
  const cut = withGate(world.endpoint, 'UpdateItem')
  const holder = world.clients.client(cut.endpoint)
  const next = world.clients.client(world.endpoint)
  const lock = await holder.locks.acquire('a')
  const waiting = next.locks.acquire('a', { waitMs: Infinity })
  cut.fail()
  let abortedBefore: boolean | undefined
  void waiting.then(() => (abortedBefore = lock.signal.aborted))
  await world.clients.until(waiting)
  assert.equal(abortedBefore, true)
})

test('locks: one failed heartbeat is tried again and not fatal', async () => {
  await using world = await setUp()
  const cut = withGate(world.endpoint, 'UpdateItem')
  const holder = world.clients.client(cut.endpoint)
  const lock = await holder.locks.acquire('a')
  await world.clients.move(4_000)
  cut.fail()
  await world.clients.move(3_000)
  cut.open()
  await world.clients.move(30_000)
  assert.equal(lock.held, true)
  await lock.release()
})

test('locks: waitMs 0 fails at once if anyone is before us, and leaves nothing', async () => {
  await using world = await setUp()
  const one = world.clients.client(world.endpoint)
  const other = world.clients.client(world.endpoint)
  const lock = await one.locks.acquire('a')
  await assert.rejects(other.locks.acquire('a', { waitMs: 0 }), LockTimeout)
  assert.equal(await other.locks.tryAcquire('a'), undefined)
  await lock.release()
  const second = await other.locks.tryAcquire('a')
  assert.ok(second !== undefined)
  assert.equal((await one.locks.inspect('a')).waiting.length, 0)
})

test('locks: an AbortSignal ends the waiting and takes the row away', async () => {
  await using world = await setUp()
  const one = world.clients.client(world.endpoint)
  const other = world.clients.client(world.endpoint)
  const lock = await one.locks.acquire('a')
  const abort = new AbortController()
  const waiting = other.locks.acquire('a', { waitMs: Infinity, signal: abort.signal })
  await world.clients.move(500)
  abort.abort(new Error('enough'))
  await assert.rejects(world.clients.until(waiting), /enough/)
  assert.equal((await one.locks.inspect('a')).waiting.length, 0)
  await lock.release()
})

test('locks: those who give up early leave a suspicion, and together they free a dead lock', async () => {
  await using world = await setUp()
  const dead = world.clients.client(world.endpoint)
  await dead.locks.acquire('a')
  // Nobody waits for a lease of 10 s, and every one is a process of its own.
  let waits = 0
  for (;;) {
    const client = world.clients.client(world.endpoint)
    const lock = await world.clients.until(client.locks.tryAcquire('a', { waitMs: 2_000 }), [dead])
    if (lock !== undefined) break
    assert.ok(++waits < 10, 'a dead lock for ever')
  }
  assert.ok(waits >= 4)
})

test('locks: a heartbeat clears a suspicion', async () => {
  await using world = await setUp()
  const holder = world.clients.client(world.endpoint)
  const lock = await holder.locks.acquire('a')
  for (let times = 0; times < 20; times++) {
    const client = world.clients.client(world.endpoint)
    const got = await world.clients.until(client.locks.tryAcquire('a', { waitMs: 2_000 }))
    assert.equal(got, undefined)
  }
  assert.equal(lock.held, true)
})

test('locks: one that only ever tries frees a dead lock by its own memory', async () => {
  await using world = await setUp()
  const dead = world.clients.client(world.endpoint)
  const trying = world.clients.client(world.endpoint)
  await dead.locks.acquire('a')
  let lock: Lock | undefined
  for (let tries = 0; lock === undefined && tries < 10; tries++) {
    lock = await trying.locks.tryAcquire('a')
    await world.clients.move(3_000, [dead])
  }
  assert.ok(lock !== undefined)
})

test('locks: when everybody only tries, once, wall clocks tell beyond all skew', async () => {
  await using world = await setUp()
  const dead = world.clients.client(world.endpoint)
  await dead.locks.acquire('a')
  const try_ = async (hours: number): Promise<Lock | undefined> => {
    const client = world.clients.client(world.endpoint)
    client.runtime.clock.jump(hours * 3_600_000)
    return client.locks.tryAcquire('a')
  }
  assert.equal(await try_(0), undefined)
  assert.equal(await try_(2), undefined)
  assert.notEqual(await try_(5), undefined)
})

test('locks: several names under one ticket, without deadlock, given back together', async () => {
  await using world = await setUp()
  const one = world.clients.client(world.endpoint)
  const other = world.clients.client(world.endpoint)
  const both = await one.locks.acquire(['b', 'a', 'b'], { waitMs: Infinity })
  assert.deepEqual(both.names, ['a', 'b'])
  const reverse = other.locks.acquire(['a', 'c', 'b'], { waitMs: Infinity })
  await world.clients.move(1_000)
  await both.release()
  const lock = await world.clients.until(reverse)
  assert.deepEqual(lock.names, ['a', 'b', 'c'])
  await lock.release()
  assert.deepEqual(await one.locks.list(), [])
})

test('locks: shared ones stand beside each other, in order with exclusive ones', async () => {
  await using world = await setUp()
  const [writer, ...readers] = Array.from({ length: 5 }, () => world.clients.client(world.endpoint))
  const first = await readers[0]!.locks.acquire('a', { shared: true })
  const second = await readers[1]!.locks.acquire('a', { shared: true })
  const order: string[] = []
  const writing = writer!.locks.withLock('a', () => void order.push('writer'), { waitMs: Infinity })
  await world.clients.move(300)
  const later = [2, 3].map((at) =>
    readers[at]!.locks.withLock('a', () => void order.push('reader'), { shared: true, waitMs: Infinity }),
  )
  await world.clients.move(1_000)
  assert.deepEqual(order, [])
  await first.release()
  await world.clients.move(1_000)
  assert.deepEqual(order, [])
  await second.release()
  await world.clients.until(Promise.all([writing, ...later]))
  assert.deepEqual(order, ['writer', 'reader', 'reader'])
})

test('locks: namespaces of one name have nothing to do with each other', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  const one = await locks.acquire('a', { namespace: 'read/ers' })
  const two = await locks.tryAcquire('a', { namespace: 'read' })
  assert.ok(two !== undefined)
  assert.equal(await locks.tryAcquire('a', { namespace: 'read/ers' }), undefined)
  assert.equal((await locks.inspect('a', { namespace: 'read/ers' })).holders.length, 1)
  await Promise.all([one.release(), two.release()])
})

test('locks: break takes the lock away; its holder learns with the next heartbeat, and its release harms nobody', async () => {
  await using world = await setUp()
  const one = world.clients.client(world.endpoint)
  const other = world.clients.client(world.endpoint)
  const lock = await one.locks.acquire('a')
  assert.deepEqual(await other.locks.break('a'), [lock.fence])
  const next = await other.locks.acquire('a')
  await assert.rejects(lock.heartbeat(), LockLost)
  assert.equal(lock.signal.aborted, true)
  await lock.release()
  await lock.release()
  await next.heartbeat()
  assert.equal(next.held, true)
})

test('locks: manual heartbeats keep a lock, and without them it is lost', async () => {
  await using world = await setUp()
  const { locks, events } = world.clients.client(world.endpoint)
  const lock = await locks.acquire('a', { heartbeat: 'manual' })
  for (let beats = 0; beats < 5; beats++) {
    await world.clients.move(6_000)
    await lock.heartbeat()
  }
  assert.equal(lock.held, true)
  await world.clients.move(10_000)
  assert.equal(lock.signal.aborted, true)
  await assert.rejects(lock.heartbeat(), LockLost)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['acquired', 'lost'],
  )
})

test('locks: withLock rejects with LockLost when the lock was lost before its function ended', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  const work = locks.withLock('a', () => world.clients.move(20_000), { heartbeat: 'manual' })
  await assert.rejects(work, LockLost)
})

test('locks: sweep removes what is dead and nothing else', async () => {
  await using world = await setUp()
  const dead = world.clients.client(world.endpoint)
  const alive = world.clients.client(world.endpoint)
  const sweeper = world.clients.client(world.endpoint)
  await dead.locks.acquire(['a', 'b'])
  const lock = await alive.locks.acquire('c')
  assert.deepEqual(await world.clients.until(sweeper.locks.sweep(), [dead]), { removed: 2 })
  assert.equal(lock.held, true)
  assert.deepEqual(
    (await sweeper.locks.list()).map(({ name }) => name),
    ['c'],
  )
})

test('locks: rows expire at least a day ahead, lock rows a month, the counter never', async () => {
  await using world = await setUp()
  const { locks, runtime } = world.clients.client(world.endpoint)
  await locks.acquire('a', { label: 'a clerk' })
  const { Items = [] } = await world.store.call('Scan', { TableName: TABLE })
  const nowSeconds = runtime.clock.nowMicros() / 1e6
  const ahead = Object.fromEntries(
    Items.map((item) => [item['sk']?.S, (Number(item['expiresAt']?.N) - nowSeconds) / 86_400]),
  )
  assert.ok(Math.abs(ahead[`/queue/${'1'.padStart(38, '0')}`]! - 2) < 0.01)
  assert.ok(Math.abs(ahead['/lock']! - 30) < 0.01)
  assert.ok(Number.isNaN(ahead['.tickets']))
  const { TimeToLiveDescription } = await world.store.call('DescribeTimeToLive', { TableName: TABLE })
  assert.equal(TimeToLiveDescription?.AttributeName, 'expiresAt')
})

test('locks: an uncontended acquire takes five requests, and a release one', async () => {
  await using world = await setUp()
  const sent: string[] = []
  const counting: Endpoint = {
    call: (operation, input) => {
      sent.push(operation)
      return world.endpoint.call(operation, input)
    },
  }
  const { locks, events } = world.clients.client(counting)
  const lock = await locks.acquire('a')
  assert.deepEqual(sent.splice(0), ['UpdateItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'])
  assert.equal(events[0]?.type === 'acquired' && events[0].requests, 5)
  await lock.release()
  assert.deepEqual(sent, ['DeleteItem'])
})

/** Requests of one operation wait while the gate is closed, or fail. */
function withGate(
  inner: Endpoint,
  gated: string,
): { readonly endpoint: Endpoint; open(): void; close(): void; fail(): void } {
  let state: 'open' | 'closed' | 'failing' = 'open'
  let waiting: (() => void)[] = []
  return {
    endpoint: {
      async call(operation, input) {
        if (operation === gated && state === 'failing')
          throw Object.assign(new Error('cut'), { name: 'TimeoutError' })
        if (operation === gated && state === 'closed')
          await new Promise<void>((resolve) => waiting.push(resolve))
        return inner.call(operation, input)
      },
    },
    open: () => {
      state = 'open'
      for (const go of waiting) go()
      waiting = []
    },
    close: () => void (state = 'closed'),
    fail: () => void (state = 'failing'),
  }
}

test('locks: on a Seriatim store a waiter is woken, and asks for nothing meanwhile', async () => {
  await using store = await open({ memory: true })
  const sent: string[] = []
  const inner = clientEndpoint(store.client())
  const endpoint: Endpoint = {
    call: (operation, input, options) => {
      sent.push(operation)
      return inner.call(operation, input, options)
    },
    extension: (operation, input, options) => {
      sent.push(operation)
      return inner.extension(operation, input, options)
    },
  }
  const clients = new Clients()
  const holder = clients.client(storeEndpoint(store))
  await holder.locks.setup()
  const waiter = clients.client(endpoint)
  const lock = await holder.locks.acquire('a')
  const waiting = waiter.locks.acquire('a', { waitMs: Infinity })
  while (!sent.includes('WaitForItem')) await turns()
  assert.deepEqual(sent.splice(0), [
    'UpdateItem',
    'GetItem',
    'PutItem',
    'Query',
    'UnitOutcome',
    'WaitForItem',
  ])
  await clients.move(4_000)
  assert.deepEqual(sent.splice(0), [])
  await lock.release()
  // No clock moves: nothing but being woken can bring it in.
  await (await waiting).release()
  assert.deepEqual(sent, ['Query', 'UpdateItem', 'DeleteItem'])
})

test('locks: where nobody wakes, a waiter polls, and has asked to be woken once only', async () => {
  await using world = await setUp()
  let asked = 0
  const endpoint: Endpoint = {
    ...world.endpoint,
    extension: () => {
      asked++
      return Promise.reject(Object.assign(new Error('unknown'), { name: 'UnknownOperationException' }))
    },
  }
  const holder = world.clients.client(world.endpoint)
  const waiter = world.clients.client(endpoint)
  const lock = await holder.locks.acquire('a')
  const waiting = waiter.locks.acquire('a', { waitMs: Infinity })
  await world.clients.move(3_000)
  await lock.release()
  await (await world.clients.until(waiting)).release()
  assert.equal(asked, 1)
})

test('locks: a write that carries the fence is refused once a later holder has written', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  const protect = (lock: Lock): Promise<unknown> =>
    world.store.call('UpdateItem', {
      TableName: TABLE,
      Key: { pk: { S: 'protected' }, sk: { S: 'protected' } },
      UpdateExpression: 'SET #seriatimFence = :seriatimFence',
      ...fenced(lock),
    })
  const first = await locks.acquire('a')
  await protect(first)
  await protect(first)
  await locks.break('a')
  const second = await locks.acquire('a')
  await protect(first)
  await protect(second)
  await assert.rejects(protect(first), { name: 'ConditionalCheckFailedException' })
  await protect(second)
})

test('locks: a transaction with stillHeld happens only while the lock is held', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  const lock = await locks.acquire(['a', 'b'])
  const write = (): Promise<unknown> =>
    world.store.call('TransactWriteItems', {
      TransactItems: [
        { Put: { TableName: TABLE, Item: { pk: { S: 'protected' }, sk: { S: 'protected' } } } },
        ...stillHeld(lock),
      ],
    })
  await write()
  await locks.break('b')
  await assert.rejects(write(), { name: 'TransactionCanceledException' })
})

test('locks: while waiting, heartbeats are sent even for a lock with manual ones', async () => {
  await using world = await setUp()
  const holder = world.clients.client(world.endpoint)
  const waiter = world.clients.client(world.endpoint)
  const lock = await holder.locks.acquire('a')
  const waiting = waiter.locks.acquire('a', { waitMs: Infinity, heartbeat: 'manual' })
  await world.clients.move(35_000)
  await lock.release()
  await world.clients.until(waiting)
  assert.ok(waiter.events.every(({ type }) => type !== 'drawn-again'))
})

test('locks: setup refuses a table with another key, and can be repeated', async () => {
  await using world = await setUp()
  const { locks } = world.clients.client(world.endpoint)
  await locks.setup()
  await world.store.call('CreateTable', {
    TableName: 'Other',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const other = world.clients.client(world.endpoint, { table: 'Other' })
  await assert.rejects(other.locks.setup(), /has the key \(id HASH\)/)
})
