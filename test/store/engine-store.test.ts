// Several servers on one engine, each a store of its own: what one has written the others read, and what it costs the engine.
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { type Engine, EngineUnavailable } from '../../src/engine/engine.js'
import { open, type Store } from '../../src/store/store.js'
import { countedEngine } from '../support/counted-engine.js'

const FLEET = { leaseMs: 50, lateMs: 20, refreshMs: 20 }
const server = (engine: Engine): Promise<Store> => open({ engine, fleet: FLEET })

const accounts: CreateTableCommandInput = {
  TableName: 'Accounts',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

const account = (id: string, balance: number) => ({ id: { S: id }, balance: { N: String(balance) } })
const put = (id: string, balance: number) => ({
  Put: { TableName: 'Accounts', Item: account(id, balance) },
})

test('a table that one server has made is there on the others, and so is what is written to it', async () => {
  const engine = new MemoryEngine()
  await using one = await server(engine)
  await using two = await server(engine)
  await one.call('CreateTable', accounts)
  const { Table } = await two.call('DescribeTable', { TableName: 'Accounts' })
  assert.equal(Table?.TableStatus, 'ACTIVE')
  await two.call('PutItem', { TableName: 'Accounts', Item: account('a', 1) })
  const { Item } = await one.call('GetItem', {
    TableName: 'Accounts',
    Key: { id: { S: 'a' } },
    ConsistentRead: true,
  })
  assert.deepEqual(Item, account('a', 1))
  await two.call('DeleteTable', { TableName: 'Accounts' })
  for (let look = 0; look < 500; look++) {
    const written = one.call('PutItem', { TableName: 'Accounts', Item: account('b', 1) })
    const error = await written.catch((caught: unknown) => caught as Error)
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.fail('the table is still there')
})

test('a statement that one server has begun to answer goes on at another, and after all of them have ended', async () => {
  const engine = new MemoryEngine()
  const page = async (
    store: Store,
    NextToken?: string,
  ): Promise<{ rows: string[]; next: string | undefined }> => {
    const answer = await store.call('ExecuteStatement', {
      Statement: 'SELECT id FROM Accounts',
      Limit: 1,
      ...(NextToken !== undefined && { NextToken }),
    })
    return { rows: (answer.Items ?? []).map((item) => item['id']!.S!), next: answer.NextToken }
  }
  const [one, two] = await Promise.all([server(engine), server(engine)])
  await one.call('CreateTable', accounts)
  for (const id of ['a', 'b', 'c']) await one.call('PutItem', { TableName: 'Accounts', Item: account(id, 1) })
  const first = await page(one)
  const second = await page(two, first.next)
  await Promise.all([one.close(), two.close()])
  await using later = await server(engine)
  const third = await page(later, second.next)
  assert.deepEqual([...first.rows, ...second.rows, ...third.rows].toSorted(), ['a', 'b', 'c'])
})

test('a table that is deleted and made again is the same one to all servers: what one acknowledges the others have', async () => {
  const engine = new MemoryEngine()
  const slow = { leaseMs: 300, lateMs: 20, refreshMs: 1_000_000 }
  // One that has not heard of anything since it last looked.
  await using one = await open({ engine, fleet: slow })
  await using two = await open({ engine, fleet: slow })
  await two.call('CreateTable', accounts)
  const key = { TableName: 'Accounts', Key: { id: { S: 'a' } } }
  await one.call('PutItem', { TableName: 'Accounts', Item: account('a', 1) })
  const written: number[] = []
  for (let made = 2; made < 5; made++) {
    await two.call('DeleteTable', { TableName: 'Accounts' })
    const creating = two.call('CreateTable', accounts)
    // As soon as the new one is there for anybody.
    for (;;) {
      const { Table } = await two.call('DescribeTable', { TableName: 'Accounts' })
      if (Table?.TableStatus === 'ACTIVE') break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const before = await one.call('GetItem', key).catch((error: unknown) => error as Error)
    if (!(before instanceof Error)) assert.equal(before.Item, undefined, 'an item of the table before')
    const put = one.call('PutItem', { TableName: 'Accounts', Item: account('a', made) })
    const isWritten = await put.then(
      () => true,
      ({ name }: Error) => {
        assert.equal(name, 'ResourceNotFoundException')
        return false
      },
    )
    if (isWritten) {
      written.push(made)
      for (const server of [one, two])
        assert.deepEqual((await server.call('GetItem', key)).Item, account('a', made), `made ${made}`)
    }
    await creating
  }
  assert.ok(written.length > 0, 'nothing was written')
})

test('transactions of several servers are all or nothing, and a client token is known to all of them', async () => {
  const engine = new MemoryEngine()
  await using one = await server(engine)
  await using two = await server(engine)
  await one.call('CreateTable', accounts)
  const transfer = {
    TransactItems: [put('a', 90), put('b', 110)],
    ClientRequestToken: 'transfer-1',
  }
  await one.call('TransactWriteItems', transfer)
  await one.call('PutItem', { TableName: 'Accounts', Item: account('a', 0) })
  await two.call('TransactWriteItems', transfer)
  const read = {
    TransactItems: ['a', 'b'].map((id) => ({ Get: { TableName: 'Accounts', Key: { id: { S: id } } } })),
  }
  const { Responses } = await two.call('TransactGetItems', read)
  assert.deepEqual(
    Responses?.map(({ Item }) => Item?.['balance']),
    [{ N: '0' }, { N: '110' }],
  )
  const other = { ...transfer, TransactItems: [put('a', 1), put('b', 2)] }
  await assert.rejects(two.call('TransactWriteItems', other), {
    name: 'IdempotentParameterMismatchException',
  })
})

test('a client that was told of a cancel under its token is told the truth: the request it had sent before ends, too', async () => {
  const engine = new MemoryEngine()
  const held = holding(engine, 'ledger')
  await using one = await server(held.engine)
  await using two = await server(engine)
  await one.call('CreateTable', accounts)
  const transfer = { TransactItems: [put('a', 90), put('b', 110)], ClientRequestToken: 'transfer-1' }
  const ask = (store: Store) =>
    store.call('TransactWriteItems', transfer).then(
      () => 'done',
      ({ name }: Error) => name,
    )
  // Its items are prepared, and its decision is on its way for long.
  const first = ask(one)
  await held.arrived
  // The same request at another server, as SDKs send it after a time-out, meets what the first one has prepared.
  assert.equal(await ask(two), 'TransactionCanceledException')
  held.release()
  assert.equal(await first, 'TransactionInProgressException')
  const { Item } = await two.call('GetItem', { TableName: 'Accounts', Key: { id: { S: 'a' } } })
  assert.equal(Item, undefined)
  // The token was given back.
  let last = ''
  for (let tries = 0; tries < 50 && last !== 'done'; tries++) last = await ask(two)
  assert.equal(last, 'done')
  assert.equal(await ask(one), 'done')
  const { Item: after } = await one.call('GetItem', { TableName: 'Accounts', Key: { id: { S: 'a' } } })
  assert.deepEqual(after, account('a', 90))
})

/** Holds the first compare-and-set in that space until it is released. */
function holding(inner: MemoryEngine, space: string) {
  let arrive = (): void => undefined
  let release = (): void => undefined
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const released = new Promise<void>((resolve) => (release = resolve))
  const engine: Engine = {
    name: inner.name,
    limits: inner.limits,
    scopeOf: (address) => inner.scopeOf(address),
    read: (...args) => inner.read(...args),
    range: (request) => inner.range(request),
    cas: async (changes) => {
      if (changes[0]?.address.space === space) {
        arrive()
        await released
      }
      return inner.cas(changes)
    },
    write: (rows) => inner.write(rows),
    createSpace: (name) => inner.createSpace(name),
    dropSpace: (name) => inner.dropSpace(name),
    close: () => inner.close(),
  }
  return { engine, arrived, release: () => release() }
}

test('many transfers by three servers lose no money and repeat none', async () => {
  const engine = new MemoryEngine()
  const servers = await Promise.all([server(engine), server(engine), server(engine)])
  await servers[0].call('CreateTable', accounts)
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) await servers[0].call('PutItem', { TableName: 'Accounts', Item: account(id, 100) })
  const add = (id: string, amount: number) => ({
    Update: {
      TableName: 'Accounts',
      Key: { id: { S: id } },
      UpdateExpression: 'ADD balance :x',
      ExpressionAttributeValues: { ':x': { N: String(amount) } },
    },
  })
  let done = 0
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const [from, to] = [ids[n % 4]!, ids[(n * 3 + 1) % 4]!]
      if (from === to) return
      const request = { TransactItems: [add(from, -1), add(to, 1)] }
      await servers[n % 3]!.call('TransactWriteItems', request).then(
        () => done++,
        (error: Error) => assert.equal(error.name, 'TransactionCanceledException'),
      )
    }),
  )
  const { Items } = await servers[1].call('Scan', { TableName: 'Accounts', ConsistentRead: true })
  const total = Items?.reduce((sum, item) => sum + Number(item['balance']?.N), 0)
  assert.equal(total, 400)
  assert.ok(done > 0)
  await Promise.all(servers.map((each) => each.close()))
})

test('an index is added while two servers write: known everywhere, then filled, then ACTIVE', async () => {
  const engine = new MemoryEngine()
  await using one = await server(engine)
  await using two = await server(engine)
  await one.call('CreateTable', accounts)
  const write = (store: Store, n: number) =>
    store.call('PutItem', {
      TableName: 'Accounts',
      Item: { ...account(`i${n}`, n), color: { S: n % 2 === 0 ? 'red' : 'blue' } },
    })
  for (let n = 0; n < 20; n++) await write(n % 3 === 0 ? one : two, n)
  await one.call('UpdateTable', {
    TableName: 'Accounts',
    AttributeDefinitions: [...accounts.AttributeDefinitions!, { AttributeName: 'color', AttributeType: 'S' }],
    GlobalSecondaryIndexUpdates: [
      {
        Create: {
          IndexName: 'by-color',
          KeySchema: [{ AttributeName: 'color', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      },
    ],
  })
  let n = 20
  for (; n < 400; n++) {
    await write(n % 2 === 0 ? one : two, n)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const { Table } = await two.call('DescribeTable', { TableName: 'Accounts' })
    if (Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus === 'ACTIVE') break
  }
  assert.ok(n < 400)
  const { Items } = await two.call('Query', {
    TableName: 'Accounts',
    IndexName: 'by-color',
    KeyConditionExpression: 'color = :c',
    ExpressionAttributeValues: { ':c': { S: 'red' } },
  })
  assert.equal(Items?.length, Math.floor(n / 2) + 1)
})

test('while the hosts of an engine do not agree on a new index, its server goes on answering for the other tables', async () => {
  const engine = new MemoryEngine()
  let agree = (): void => undefined
  const agreed = new Promise<void>((resolve) => (agree = resolve))
  let isSlow = false
  const slow: Engine = Object.assign(Object.create(engine) as Engine, {
    read: engine.read.bind(engine),
    range: engine.range.bind(engine),
    write: engine.write.bind(engine),
    cas: engine.cas.bind(engine),
    scopeOf: engine.scopeOf.bind(engine),
    createSpace: async (space: string) => {
      if (isSlow) await agreed
      return engine.createSpace(space)
    },
  })
  await using store = await server(slow)
  await store.call('CreateTable', accounts)
  await store.call('CreateTable', { ...accounts, TableName: 'Others' })
  isSlow = true
  const updated = store.call('UpdateTable', {
    TableName: 'Accounts',
    AttributeDefinitions: [
      ...(accounts.AttributeDefinitions ?? []),
      { AttributeName: 'owner', AttributeType: 'S' },
    ],
    GlobalSecondaryIndexUpdates: [
      {
        Create: {
          IndexName: 'by-owner',
          KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      },
    ],
  })
  // Several leases, of which none could be renewed behind the change.
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setTimeout(resolve, 2 * FLEET.leaseMs))
    await store.call('PutItem', { TableName: 'Others', Item: account('a', n) })
  }
  agree()
  await updated
})

test('items that expire are removed by one of the servers, and from their indexes', async () => {
  const engine = new MemoryEngine()
  await using one = await server(engine)
  await using two = await server(engine)
  await one.call('CreateTable', accounts)
  await one.call('UpdateTimeToLive', {
    TableName: 'Accounts',
    TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
  })
  await two.call('PutItem', {
    TableName: 'Accounts',
    Item: { ...account('old', 1), until: { N: String(Math.floor(Date.now() / 1000) - 100) } },
  })
  await two.call('PutItem', { TableName: 'Accounts', Item: account('young', 1) })
  for (let look = 0; look < 500; look++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { Items } = await two.call('Scan', { TableName: 'Accounts' })
    if (Items?.length === 1) return
  }
  assert.fail('it is still there')
})

const costed = async (): Promise<{
  store: Store
  take: () => ReturnType<ReturnType<typeof countedEngine>['take']>
}> => {
  const { engine, take } = countedEngine(new MemoryEngine())
  const store = await open({ engine, fleet: { refreshMs: 1_000_000, leaseMs: 1_000_000 } })
  await store.call('CreateTable', accounts)
  await store.call('PutItem', { TableName: 'Accounts', Item: account('warm', 0) })
  await store.idle()
  take()
  return { store, take }
}

test('GetItem is one read; a blind PutItem one compare-and-set; one with a condition a read more', async () => {
  const { store, take } = await costed()
  await store.call('PutItem', { TableName: 'Accounts', Item: account('a', 1) })
  assert.deepEqual(take(), { read: 0, cas: 1, write: 0, range: 0, rounds: 1 })
  await store.call('PutItem', { TableName: 'Accounts', Item: account('a', 2) })
  assert.deepEqual(take(), { read: 0, cas: 1, write: 0, range: 0, rounds: 1 })
  await store.call('GetItem', { TableName: 'Accounts', Key: { id: { S: 'a' } } })
  assert.deepEqual(take(), { read: 1, cas: 0, write: 0, range: 0, rounds: 1 })
  await store.call('PutItem', {
    TableName: 'Accounts',
    Item: account('a', 3),
    ConditionExpression: 'attribute_exists(id)',
  })
  assert.deepEqual(take(), { read: 1, cas: 1, write: 0, range: 0, rounds: 2 })
  await store.close()
})

test('a blind PutItem over what another server wrote comes to cost a read and one compare-and-set', async () => {
  const shared = new MemoryEngine()
  const { engine, take } = countedEngine(shared)
  const fleet = { refreshMs: 1_000_000, leaseMs: 1_000_000 }
  const [one, two] = [await open({ engine: shared, fleet }), await open({ engine, fleet })]
  await one.call('CreateTable', accounts)
  const items = Array.from({ length: 10 }, (_, n) => account(`i${n}`, n))
  for (const Item of items) await one.call('PutItem', { TableName: 'Accounts', Item })
  await two.call('DescribeTable', { TableName: 'Accounts' })
  const costs = async (ids: readonly string[]): Promise<unknown[]> => {
    const found: unknown[] = []
    for (const id of ids) {
      take()
      await two.call('PutItem', { TableName: 'Accounts', Item: account(id, 100) })
      const { read, cas } = take()
      found.push([read, cas])
    }
    return found
  }
  const [first, ...others] = await costs(items.map(({ id }) => id.S))
  assert.deepEqual(first, [0, 2])
  assert.deepEqual(
    others,
    Array.from({ length: 9 }, () => [1, 1]),
  )
  // And of new ones, after a while, no read any more.
  const ofNew = await costs(Array.from({ length: 12 }, (_, n) => `new${n}`))
  assert.deepEqual(ofNew[0], [1, 1])
  assert.deepEqual(ofNew.at(-1), [0, 1])
  await Promise.all([one.close(), two.close()])
})

test('a transaction of P partitions is at most 2P + 2 compare-and-sets, and 4 rounds before its answer', async () => {
  const { store, take } = await costed()
  for (const partitions of [2, 3, 10])
    for (const token of [undefined, `token ${partitions}`]) {
      const items = Array.from({ length: partitions }, (_, n) => put(`t${partitions}-${n}`, n))
      await store.call('TransactWriteItems', {
        TransactItems: items,
        ...(token && { ClientRequestToken: token }),
      })
      const answered = take()
      assert.ok(answered.rounds <= 4, `${answered.rounds} rounds`)
      await store.idle()
      const { cas } = take()
      assert.equal(answered.cas + cas, 2 * partitions + 2)
      // Of a token the slot is read, while the items are.
      assert.equal(answered.read, token === undefined ? partitions : partitions + 1)
    }
  await store.close()
})

test('the decision of a transaction takes no read, whatever else was written to its items and much as that was', async () => {
  const { store, take } = await costed()
  const filler = { S: 'x'.repeat(300_000) }
  const large = Array.from({ length: 40 }, (_, n) => ({
    Put: { TableName: 'Accounts', Item: { ...account(`l${n % 10}`, n), filler } },
  }))
  // More than a server remembers of the rows that it wrote, records of transactions among them.
  for (let at = 0; at < large.length; at += 10) {
    const TransactItems = large.slice(at, at + 10)
    await Promise.all(
      [1, 2, 3].map((n) => store.call('TransactWriteItems', { TransactItems: [put(`s${n}`, n)] })),
    )
    await store.call('TransactWriteItems', { TransactItems })
  }
  await store.idle()
  take()
  await store.call('TransactWriteItems', { TransactItems: [put('a', 1), put('b', 1)] })
  const answered = take()
  assert.equal(answered.read, 2)
  assert.ok(answered.rounds <= 4, `${answered.rounds} rounds`)
  await store.close()
})

test('writers of one partition share compare-and-sets: at least five times what each alone would reach', async () => {
  const { store, take } = await costed()
  const writers = 200
  const increase = {
    TableName: 'Accounts',
    Key: { id: { S: 'hot' } },
    UpdateExpression: 'ADD balance :x',
    ExpressionAttributeValues: { ':x': { N: '1' } },
  }
  await Promise.all(Array.from({ length: writers }, () => store.call('UpdateItem', increase)))
  const { rounds } = take()
  const { Item } = await store.call('GetItem', { TableName: 'Accounts', Key: { id: { S: 'hot' } } })
  assert.equal(Item?.['balance']?.N, String(writers))
  // Alone, each is a read and a compare-and-set, one after another.
  assert.ok(rounds <= (2 * writers) / 5, `${rounds} rounds`)
  await store.close()
})

test('/metrics tells of the engine: calls by result, steps that share them, and what nobody knows', async () => {
  const engine = new MemoryEngine()
  const lossy: Engine = Object.assign(Object.create(engine) as Engine, {
    read: engine.read.bind(engine),
    range: engine.range.bind(engine),
    write: engine.write.bind(engine),
    scopeOf: engine.scopeOf.bind(engine),
    createSpace: engine.createSpace.bind(engine),
    cas: async (changes: Parameters<Engine['cas']>[0]) => {
      const outcome = await engine.cas(changes)
      const isItem = changes.some(({ address }) => address.space.startsWith('t'))
      return isItem ? { outcome: 'unknown' as const, cause: new Error('lost') } : outcome
    },
  })
  await using store = await server(lossy)
  await store.call('CreateTable', accounts)
  // The timers of a store keep no process alive, as the sockets of an engine would.
  const alive = setInterval(() => undefined, 1000)
  await store.call('PutItem', { TableName: 'Accounts', Item: account('a', 1) })
  clearInterval(alive)
  const { url } = await store.listen({ port: 0 })
  const text = await (await fetch(`${url}/metrics`)).text()
  assert.match(text, /^seriatim_engine_calls_total\{call="cas",result="unknown"\} 1$/m)
  assert.match(text, /^seriatim_engine_calls_total\{call="cas",result="ok"\} \d+$/m)
  assert.match(text, /^seriatim_engine_call_duration_seconds_count\{call="read"\} \d+$/m)
  assert.match(text, /^seriatim_engine_steps_total \d+$/m)
  assert.match(text, /^seriatim_engine_unresolved_total 0$/m)
})

test('what an engine does not have is refused with a sentence when a table asks for it', async () => {
  await using store = await server(new MemoryEngine())
  const refusal = async (more: Partial<CreateTableCommandInput>): Promise<string> => {
    const made = store.call('CreateTable', { ...accounts, ...more })
    return made.then(
      () => 'made',
      (error: Error) => error.message,
    )
  }
  const stream = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } as const
  assert.match(await refusal({ StreamSpecification: stream }), /^Streams are not supported by this store/)
  const ledger = [{ Key: 'seriatim:ledger', Value: 'true' }]
  assert.match(await refusal({ Tags: ledger }), /^Ledger tables are not supported by this store/)
  const vector = {
    IndexName: 'near',
    VectorAttribute: { AttributeName: 'place' },
    Dimensions: 2,
    DistanceFunction: 'COSINE',
    Projection: { ProjectionType: 'ALL' },
  }
  const withVectors = { VectorIndexes: [vector] } as Partial<CreateTableCommandInput>
  assert.match(await refusal(withVectors), /^Vector indexes are not supported by this store/)
  assert.equal(await refusal({}), 'made')
})

test('a client is told which host of the engine did not answer', async () => {
  const engine = new MemoryEngine()
  let isDown = false
  const failing: Engine = Object.assign(Object.create(engine) as Engine, {
    cas: engine.cas.bind(engine),
    range: engine.range.bind(engine),
    write: engine.write.bind(engine),
    scopeOf: engine.scopeOf.bind(engine),
    createSpace: engine.createSpace.bind(engine),
    read: (...args: Parameters<Engine['read']>) =>
      isDown
        ? Promise.reject(new EngineUnavailable('Cassandra at a,b: no host answers (10.0.0.1:9042: refused)'))
        : engine.read(...args),
  })
  await using store = await open({ engine: failing, fleet: { refreshMs: 1_000_000, leaseMs: 1_000_000 } })
  await store.call('CreateTable', accounts)
  isDown = true
  await assert.rejects(store.call('GetItem', { TableName: 'Accounts', Key: { id: { S: 'a' } } }), {
    name: 'InternalServerError',
    message: /no host answers \(10\.0\.0\.1:9042: refused\)/,
  })
})
