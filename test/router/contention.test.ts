// What the store tells people who look: phases of transactions by node, obstacles, waits, locks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, type Store } from '../../src/store/store.js'

interface Listed {
  readonly InFlight: Listed['Recent']
  readonly Recent: readonly {
    readonly Outcome: string
    readonly BegunDateTime?: number
    readonly DecidedDateTime?: number
    readonly CompletedDateTime?: number
    readonly UnitId?: string
    readonly Nodes?: readonly {
      readonly Node: number
      readonly Items: number
      readonly PreparedDateTime?: number
      readonly FinishedDateTime?: number
    }[]
    readonly Obstacles?: readonly { readonly Kind: string; readonly By?: string; readonly Key?: object }[]
  }[]
  readonly Recovered?: readonly object[]
}

interface Contention {
  readonly Waits: readonly {
    readonly TableName?: string
    readonly Key?: object
    readonly Waiter?: string
    readonly Holders: readonly string[]
    readonly State: string
    readonly WaitedMs?: number
  }[]
  readonly Locks: readonly {
    readonly TableName?: string
    readonly Key?: object
    readonly UnitId: string
    readonly LeftMs: number
  }[]
}

const ask = async <Answer>(store: Store, operation: string): Promise<Answer> =>
  (await store.call(operation as 'ListTables', {})) as unknown as Answer

async function storeWithItems(nodes: number): Promise<Store> {
  const store = await open({ memory: true, nodes })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  return store
}

const put = (id: string) => ({ Put: { TableName: 'Things', Item: { id: { S: id } } } })
const IDS = Array.from({ length: 20 }, (_, at) => `i${at}`)

test('contention: a transaction over several nodes tells when each had prepared and finished, in order', async () => {
  await using store = await storeWithItems(4)
  await store.call('TransactWriteItems', { TransactItems: IDS.map(put) })
  const { InFlight, Recent, Recovered } = await ask<Listed>(store, 'ListTransactions')
  const [transaction] = [...InFlight, ...Recent]
  assert.ok(transaction?.Nodes !== undefined)
  assert.equal(transaction.Nodes.length, 4)
  assert.equal(
    transaction.Nodes.reduce((sum, { Items }) => sum + Items, 0),
    IDS.length,
  )
  const { BegunDateTime = 0, DecidedDateTime = 0 } = transaction
  for (const { PreparedDateTime = 0, FinishedDateTime = 0 } of transaction.Nodes) {
    assert.ok(BegunDateTime <= PreparedDateTime && PreparedDateTime <= DecidedDateTime)
    assert.ok(DecidedDateTime <= FinishedDateTime)
  }
  assert.deepEqual(Recovered, [])
})

test('contention: a unit that read something else than is there now is told of what changed it', async () => {
  await using store = await storeWithItems(1)
  await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' } } })
  const transactor = store.transactor()
  await assert.rejects(
    transactor.transact(
      async (tx) => {
        await tx.get('Things', { id: 'a' })
        await transactor.transact((other) => other.put('Things', { id: 'a', n: 1 }))
        tx.put('Things', { id: 'b' })
      },
      { retry: { limit: 0 } },
    ),
  )
  const { Recent } = await ask<Listed>(store, 'ListTransactions')
  const cancelled = Recent.find(({ Outcome }) => Outcome === 'CANCELLED')
  assert.equal(cancelled?.Obstacles?.[0]?.Kind, 'CHANGED')
  assert.deepEqual(cancelled.Obstacles[0].Key, { id: { S: 'a' } })
  assert.equal(typeof cancelled.UnitId, 'string')
})

test('contention: a lock is listed with its unit, and a write that waits for it with whom it waits for', async () => {
  await using store = await storeWithItems(1)
  await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' } } })
  const transactor = store.transactor()
  let during: Contention | undefined
  await transactor.transact(async (tx) => {
    await tx.get('Things', { id: 'a' }, { lock: true })
    const { Locks } = await ask<Contention>(store, 'ListContention')
    assert.deepEqual(Locks[0]?.Key, { id: { S: 'a' } })
    assert.equal(Locks[0].TableName, 'Things')
    assert.ok(Locks[0].LeftMs > 0)
    await assert.rejects(
      transactor.transact((other) => other.get('Things', { id: 'a' }, { lock: true }), {
        retry: { limit: 0 },
      }),
    )
    during = await ask<Contention>(store, 'ListContention')
    assert.deepEqual(during.Waits[0]?.Holders, [Locks[0].UnitId])
  })
  assert.equal(during?.Waits[0]?.State, 'GAVE_UP')
  assert.deepEqual(during.Waits[0].Key, { id: { S: 'a' } })
  assert.notEqual(during.Waits[0].Waiter, during.Waits[0].Holders[0])
  assert.deepEqual((await ask<Contention>(store, 'ListContention')).Locks, [])
})

test('contention: what is kept of waits is bounded, whatever is asked', async () => {
  await using store = await storeWithItems(1)
  const transactor = store.transactor()
  await transactor.transact(async (tx) => {
    await tx.get('Things', { id: 'a' }, { lock: true })
    await Promise.all(
      Array.from({ length: 300 }, () =>
        assert.rejects(
          transactor.transact((other) => other.get('Things', { id: 'a' }, { lock: true }), {
            retry: { limit: 0 },
          }),
        ),
      ),
    )
  })
  const { Waits } = (await store.call('ListContention' as 'ListTables', {
    Limit: 1000,
  })) as unknown as Contention
  assert.equal(Waits.length, 256)
})
