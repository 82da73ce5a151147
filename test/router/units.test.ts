// The requests of units of work as a client sends them, on one node and on four.
import assert from 'node:assert/strict'
import type { Principal } from '../../src/router/request/access.js'
import { test } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import type { Item } from '../../src/model/value.js'
import { openTestStore, type TestStore } from './many-support.js'

const TABLE = 'Accounts'
const Key = (id: string): Item => ({ id: { S: id } })
const account = (id: string, owner: string, balance: number): Item => ({
  ...Key(id),
  owner: { S: owner },
  balance: { N: String(balance) },
})

async function openAccounts(nodes: number): Promise<TestStore> {
  const store = await openTestStore(nodes)
  await store.call('CreateTable', {
    TableName: TABLE,
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'owner', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-owner',
        KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  })
  await store.putAll(TABLE, [
    account('a', 'alice', 500),
    account('b', 'alice', 500),
    account('c', 'carol', 7),
  ])
  return store
}

interface Answered {
  readonly ReadTimestamp?: string
  readonly Clock: number
  readonly Began?: string
  readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
}

type Isolation = 'read-uncommitted' | 'read-committed' | 'snapshot' | 'serializable'

/** What a client remembers of a unit. */
class TestUnit {
  readonly #store: TestStore
  readonly id: string
  readonly isolation: Isolation
  began: string | undefined
  readTimestamp: string | undefined
  readonly reads: object[] = []

  constructor(store: TestStore, id: string, isolation: Isolation) {
    this.#store = store
    this.id = id
    this.isolation = isolation
  }

  get unit(): object {
    return {
      Id: this.id,
      Isolation: this.isolation,
      ...(this.readTimestamp !== undefined && { ReadTimestamp: this.readTimestamp }),
      ...(this.began !== undefined && { Began: this.began }),
    }
  }

  async get(id: string, rest: object = {}): Promise<Item | undefined> {
    const input = { Unit: this.unit, Gets: [{ TableName: TABLE, Key: Key(id), ...rest }] }
    const answer = (await this.#store.call('UnitGetItems', input)) as unknown as Answered
    this.#note(answer)
    const [response] = answer.Responses
    this.reads.push({
      TableName: TABLE,
      Key: Key(id),
      ...(response?.Version !== undefined && { Version: response.Version }),
    })
    return response?.Item
  }

  async query(owner: string): Promise<readonly Item[]> {
    const answer = await this.#store.call('UnitQuery', { Unit: this.unit, ...byOwner(owner) })
    this.#note(answer as unknown as Answered)
    return answer.Items ?? []
  }

  async scan(rest: object = {}): Promise<readonly Item[]> {
    const answer = await this.#store.call('UnitScan', { Unit: this.unit, TableName: TABLE, ...rest })
    this.#note(answer as unknown as Answered)
    return answer.Items ?? []
  }

  commit(rest: object): Promise<unknown> {
    return this.#store.call('UnitCommit', { Unit: this.unit, Reads: this.reads, ...rest })
  }

  #note({ ReadTimestamp, Began }: Answered): void {
    this.readTimestamp = ReadTimestamp
    this.began ??= Began
  }
}

const byOwner = (owner: string) => ({
  TableName: TABLE,
  IndexName: 'by-owner',
  KeyConditionExpression: '#o = :o',
  ExpressionAttributeNames: { '#o': 'owner' },
  ExpressionAttributeValues: { ':o': { S: owner } },
})

const Put = (item: Item) => ({ Put: { TableName: TABLE, Item: item } })
const put = (store: TestStore, item: Item) => store.call('TransactWriteItems', { TransactItems: [Put(item)] })
const remove = (store: TestStore, id: string) =>
  store.call('TransactWriteItems', { TransactItems: [{ Delete: { TableName: TABLE, Key: Key(id) } }] })

const balances = (items: readonly Item[]): Record<string, unknown> =>
  Object.fromEntries(
    items
      .map((item) => [(item['id'] as { S: string }).S, Number((item['balance'] as { N: string }).N)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

async function refusalOf(promise: Promise<unknown>): Promise<DynamoError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof DynamoError) return error
    throw error
  }
  throw new Error('it was not refused')
}

for (const nodes of [1, 4]) {
  const on = `units on ${nodes} node${nodes > 1 ? 's' : ''}:`

  test(`${on} a snapshot sees neither later writes nor half a transaction, in gets, queries and scans`, async () => {
    await using store = await openAccounts(nodes)
    const alice = new TestUnit(store, 'u1', 'snapshot')
    assert.deepEqual(await alice.get('a'), account('a', 'alice', 500))
    await store.call('TransactWriteItems', {
      TransactItems: [Put(account('a', 'alice', 600)), Put(account('b', 'alice', 400))],
    })
    await put(store, account('d', 'alice', 1))
    await remove(store, 'c')
    assert.deepEqual(await alice.get('b'), account('b', 'alice', 500))
    assert.equal(await alice.get('d'), undefined)
    assert.deepEqual(balances(await alice.query('alice')), { a: 500, b: 500 })
    assert.deepEqual(balances(await alice.scan()), { a: 500, b: 500, c: 7 })
    const later = new TestUnit(store, 'u2', 'snapshot')
    assert.deepEqual(balances(await later.scan()), { a: 600, b: 400, d: 1 })
  })

  test(`${on} read-committed sees what is committed by each read`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'read-committed')
    assert.deepEqual(await unit.get('a'), account('a', 'alice', 500))
    await put(store, account('a', 'alice', 1))
    assert.deepEqual(await unit.get('a'), account('a', 'alice', 1))
    assert.deepEqual(balances(await unit.query('alice')), { a: 1, b: 500 })
    await unit.commit({ TransactItems: [Put(account('a', 'alice', 2))] })
  })

  test(`${on} serializable refuses a commit upon an item that was changed, and names it`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'serializable')
    await unit.get('a')
    await put(store, account('a', 'alice', 1))
    const error = await refusalOf(unit.commit({ TransactItems: [Put(account('b', 'alice', 2))] }))
    assert.equal(error.name, 'UnitConflictException')
    const [conflict] = error.members['Conflicts'] as { TableName: string; Key: Item }[]
    assert.deepEqual([conflict?.TableName, conflict?.Key], [TABLE, Key('a')])
    assert.deepEqual(balances(await new TestUnit(store, 'u2', 'snapshot').scan()), { a: 1, b: 500, c: 7 })
  })

  test(`${on} serializable commits where nothing that was read has changed, absent items included`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'serializable')
    await unit.get('a')
    await unit.get('z')
    await put(store, account('c', 'carol', 8))
    await unit.commit({ TransactItems: [Put(account('a', 'alice', 1)), Put(account('z', 'zoe', 1))] })
    assert.deepEqual(balances(await new TestUnit(store, 'u2', 'snapshot').scan()), {
      a: 1,
      b: 500,
      c: 8,
      z: 1,
    })
  })

  test(`${on} serializable refuses a commit if an item that was absent is there`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'serializable')
    await unit.get('z')
    await put(store, account('z', 'zoe', 9))
    const error = await refusalOf(unit.commit({ TransactItems: [Put(account('y', 'zoe', 1))] }))
    assert.equal(error.name, 'UnitConflictException')
  })

  test(`${on} snapshot: the first committer wins, and reads alone are no conflict`, async () => {
    await using store = await openAccounts(nodes)
    const [one, two, three] = ['u1', 'u2', 'u3'].map((id) => new TestUnit(store, id, 'snapshot'))
    for (const unit of [one, two, three]) await unit?.get('a')
    await one?.commit({ TransactItems: [Put(account('a', 'alice', 1))] })
    const error = await refusalOf(two!.commit({ TransactItems: [Put(account('a', 'alice', 2))] }))
    assert.equal(error.name, 'UnitConflictException')
    await three?.commit({ TransactItems: [Put(account('b', 'alice', 3))] })
  })

  test(`${on} snapshot: units that only add to the same item do not conflict`, async () => {
    await using store = await openAccounts(nodes)
    const Add = {
      Update: {
        TableName: TABLE,
        Key: Key('a'),
        UpdateExpression: 'ADD balance :n',
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
    }
    const units = ['u1', 'u2'].map((id) => new TestUnit(store, id, 'snapshot'))
    for (const unit of units) await unit.get('c')
    for (const unit of units) await unit.commit({ TransactItems: [Add] })
    assert.deepEqual(await new TestUnit(store, 'u3', 'snapshot').get('a'), account('a', 'alice', 502))
  })

  test(`${on} a query conflicts with a write that enters or leaves its result, and with no other`, async () => {
    await using store = await openAccounts(nodes)
    const filtered = {
      ...byOwner('alice'),
      FilterExpression: 'balance > :b',
      ExpressionAttributeValues: { ':o': { S: 'alice' }, ':b': { N: '100' } },
    }
    const commits = async (change: () => Promise<unknown>): Promise<boolean> => {
      const unit = new TestUnit(store, 'u1', 'serializable')
      await unit.query('alice')
      await change()
      try {
        await unit.commit({ Predicates: [filtered], TransactItems: [Put(account('x', 'xenia', 1))] })
        return true
      } catch (error) {
        assert.equal((error as Error).name, 'UnitConflictException')
        return false
      }
    }
    assert.equal(await commits(() => put(store, account('n', 'nobody', 900))), true, 'another owner')
    assert.equal(await commits(() => put(store, account('p', 'alice', 50))), true, 'left out by the filter')
    assert.equal(await commits(() => put(store, account('q', 'alice', 150))), false, 'enters')
    assert.equal(await commits(() => put(store, account('q', 'alice', 5))), false, 'leaves by the filter')
    assert.equal(await commits(() => put(store, account('b', 'carol', 500))), false, 'leaves by its owner')
    assert.equal(await commits(() => remove(store, 'a')), false, 'is deleted')
    assert.equal(await commits(() => remove(store, 'q')), true, 'was not in the result')
  })

  test(`${on} a scan that ended early is not concerned with what lies behind`, async () => {
    await using store = await openAccounts(nodes)
    const order = (await new TestUnit(store, 'u0', 'snapshot').scan()).map(
      (item) => (item['id'] as { S: string }).S,
    )
    const [first, , last] = order as [string, string, string]
    for (const [changed, expected] of [
      [last, true],
      [first, false],
    ] as const) {
      const unit = new TestUnit(store, 'u1', 'serializable')
      await unit.scan({ Limit: 1 })
      await put(store, account(changed, 'changed', 1))
      const commit = unit.commit({
        Predicates: [{ TableName: TABLE, LastEvaluatedKey: Key(first) }],
        TransactItems: [Put(account('x', 'xenia', 1))],
      })
      if (expected) await commit
      else assert.equal((await refusalOf(commit)).name, 'UnitConflictException')
      await remove(store, 'x')
    }
  })

  test(`${on} a failed condition is DynamoDB's, unless the unit has decided upon what is no longer so`, async () => {
    await using store = await openAccounts(nodes)
    const failing = {
      TransactItems: [
        { ...Put(account('b', 'alice', 1)).Put, ConditionExpression: 'attribute_not_exists(id)' },
      ].map((each) => ({ Put: each })),
    }
    const unit = new TestUnit(store, 'u1', 'serializable')
    await unit.get('a')
    const error = await refusalOf(unit.commit(failing))
    assert.equal(error.name, 'TransactionCanceledException')
    assert.deepEqual(
      (error.members['CancellationReasons'] as { Code: string }[]).map(({ Code }) => Code),
      ['ConditionalCheckFailed'],
    )
    const stale = new TestUnit(store, 'u2', 'serializable')
    await stale.get('a')
    await put(store, account('a', 'alice', 3))
    assert.equal((await refusalOf(stale.commit(failing))).name, 'UnitConflictException')
  })

  test(`${on} the same token commits once, and another request under it is refused`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'serializable')
    await unit.get('a')
    const request = {
      ClientRequestToken: 'token-1',
      TransactItems: [
        {
          Update: {
            TableName: TABLE,
            Key: Key('a'),
            UpdateExpression: 'ADD balance :n',
            ExpressionAttributeValues: { ':n': { N: '1' } },
          },
        },
      ],
    }
    await unit.commit(request)
    await unit.commit(request)
    assert.deepEqual(await new TestUnit(store, 'u2', 'snapshot').get('a'), account('a', 'alice', 501))
    const other = { ...request, TransactItems: [Put(account('a', 'alice', 0))] }
    assert.equal((await refusalOf(unit.commit(other))).name, 'IdempotentParameterMismatchException')
  })

  test(`${on} a lock keeps others out until the commit; the older unit takes it from the younger`, async () => {
    await using store = await openAccounts(nodes)
    const old = new TestUnit(store, 'old', 'read-committed')
    const young = new TestUnit(store, 'young', 'read-committed')
    await old.get('c')
    await young.get('c')
    const Locks = [{ TableName: TABLE, Key: Key('a') }]
    await young.get('a', { Lock: true })
    await old.get('a', { Lock: true })
    const wounded = await refusalOf(young.commit({ Locks, TransactItems: [Put(account('a', 'young', 1))] }))
    assert.equal(wounded.name, 'UnitConflictException')
    await old.commit({ Locks, TransactItems: [Put(account('a', 'old', 1))] })
    assert.deepEqual(await old.get('a'), account('a', 'old', 1))
    await put(store, account('a', 'anyone', 1))
  })

  test(`${on} a lost lock that a late copy of its request takes again does not hide what was written between`, async () => {
    for (const isolation of ['read-committed', 'snapshot', 'serializable'] as const) {
      await using store = await openAccounts(nodes)
      const unit = new TestUnit(store, 'unit', isolation)
      const Locks = [{ TableName: TABLE, Key: Key('a') }]
      const request = { Unit: unit.unit, Gets: [{ TableName: TABLE, Key: Key('a'), Lock: true }] }
      await unit.get('a', { Lock: true })
      await store.call('UnitEnd', { Unit: { Id: 'unit', Isolation: isolation }, Locks })
      await put(store, account('a', 'anyone', 1))
      await store.call('UnitGetItems', request)
      const refused = await refusalOf(unit.commit({ Locks, TransactItems: [Put(account('a', 'unit', 2))] }))
      assert.equal(refused.name, 'UnitConflictException')
      const after = new TestUnit(store, 'after', 'read-committed')
      assert.deepEqual(await after.get('a'), account('a', 'anyone', 1))
    }
  })

  test(`${on} a unit older than its limit is refused`, async () => {
    await using store = await openAccounts(nodes)
    const error = await refusalOf(
      store.call('UnitCommit', {
        Unit: { Id: 'u1', Isolation: 'serializable', AttemptBegan: 1, TimeoutMs: 5 },
        TransactItems: [Put(account('a', 'late', 1))],
      }),
    )
    assert.equal(error.name, 'UnitExpiredException')
  })

  test(`${on} a snapshot that was given back is too old`, async () => {
    await using store = await openAccounts(nodes)
    const unit = new TestUnit(store, 'u1', 'snapshot')
    await unit.get('a')
    await store.call('UnitEnd', { Unit: unit.unit, Released: [unit.readTimestamp] })
    assert.equal((await refusalOf(unit.get('b'))).name, 'SnapshotTooOldException')
  })

  test(`${on} who may write but not read is not told what has changed`, async () => {
    await using store = await openAccounts(nodes)
    const writer: Principal = { id: 'writer', name: 'writer', allows: (access) => access === 'write' }
    const Unit = { Id: 'u1', Isolation: 'serializable' }
    const refusal = await store.refusal(
      'UnitCommit',
      { Unit, Reads: [{ TableName: TABLE, Key: Key('a') }], TransactItems: [Put(account('x', 'x', 1))] },
      writer,
    )
    assert.match(refusal, /^AccessDeniedException/)
  })
}

test('units: a ReadTimestamp that was not given is no snapshot, and one from the future moves no clock', async () => {
  await using store = await openAccounts(1)
  const Unit = { Id: 'u1', Isolation: 'snapshot', ReadTimestamp: Number.MAX_SAFE_INTEGER - 1 }
  const request = { Unit, TransactItems: [Put(account('a', 'anyone', 1))] }
  assert.match(await store.refusal('UnitCommit', request), /^SnapshotTooOldException/)
  assert.equal((await new TestUnit(store, 'u2', 'snapshot').scan()).length, 3)
})
