// Units of work where answers are lost, servers are overloaded, and time runs out.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { parseFaultPlan } from '../../../src/server/faults/fault-plan.js'
import { open, type OpenOptions, type Store } from '../../../src/store/store.js'
import { OutcomeUnknown, SnapshotTooOld, transactor, UnitExpired } from '../../../src/toolkit/index.js'
import type { OutcomeInfo, Transactor, TransactorOptions } from '../../../src/toolkit/index.js'
import { ACCOUNTS, createTables, plainGet } from '../../suites/transactor.js'

interface Served {
  readonly store: Store
  readonly client: DynamoDBClient
}

interface Fault {
  readonly operation: string
  readonly fault: string
  readonly probability: number
}

async function served(
  t: TestContext,
  faults: readonly Fault[],
  more: Partial<OpenOptions> = {},
): Promise<Served> {
  const store = await open({ memory: true, ...more } as OpenOptions)
  const plan = JSON.stringify({ seed: 7, faults })
  const server = await store.listen({
    port: 0,
    ...(faults.length > 0 && { faults: true, faultPlan: parseFaultPlan(plan) }),
  })
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // Nobody sends again but the toolkit.
    maxAttempts: 1,
  })
  t.after(async () => {
    client.destroy()
    await store.close()
  })
  await createTables({ call: (operation, input) => store.call(operation, input) })
  return { store, client }
}

const patient: TransactorOptions = { retry: { limit: 100, backoffMs: () => 1 } }

test('a lost answer is never a second effect: adds are counted once, whatever is lost', async (t) => {
  const { store, client } = await served(t, [
    { operation: 'UnitCommit', fault: 'lose-after', probability: 0.25 },
    { operation: 'UnitCommit', fault: 'lose-before', probability: 0.1 },
    { operation: 'UnitCommit', fault: 'error-after', probability: 0.1 },
    { operation: 'UnitCommit', fault: 'throttle', probability: 0.1 },
  ])
  const requests: number[] = []
  const units = transactor(client, { ...patient, onOutcome: (info) => void requests.push(info.requests) })
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let times = 0; times < 8; times++) await addOne(units)
    }),
  )
  const plain = { call: store.call.bind(store) } as Parameters<typeof plainGet>[0]
  assert.deepEqual(await plainGet(plain, ACCOUNTS, { id: 'sum' }), { id: 'sum', n: 64 })
  assert.ok(requests.reduce((sum, one) => sum + one, 0) > 64, 'some commits were sent again')
})

/** Where every answer of a commit was lost its caller asks what became of it, and adds again if nothing did. */
async function addOne(units: Transactor): Promise<void> {
  for (;;) {
    try {
      return await units.transact((tx) => tx.update(ACCOUNTS, { id: 'sum' }, { add: { n: 1 } }))
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      if ((await units.outcome(error.id)) === 'committed') return
    }
  }
}

test('where no send is answered the outcome is unknown, and outcome(id) tells it', async (t) => {
  const { store, client } = await served(t, [
    { operation: 'UnitCommit', fault: 'lose-after', probability: 1 },
  ])
  const units = transactor(client)
  let unknown: OutcomeUnknown | undefined
  await assert.rejects(
    units.transact((tx) => tx.put(ACCOUNTS, { id: 'unknown' })),
    (error) => {
      assert.ok(error instanceof OutcomeUnknown, String(error))
      unknown = error
      return true
    },
  )
  assert.equal(await units.outcome(unknown!.id), 'committed')
  assert.equal(await units.outcome('never-heard-of'), 'unknown')
  assert.ok(await store.call('GetItem', { TableName: ACCOUNTS, Key: { id: { S: 'unknown' } } }))
})

test('an overloaded server is asked again, more slowly', async (t) => {
  const { client } = await served(t, [{ operation: 'UnitGetItems', fault: 'throttle', probability: 0.5 }])
  const infos: OutcomeInfo[] = []
  const units = transactor(client, {
    retry: { limit: 50, backoffMs: () => 0 },
    onOutcome: (info) => void infos.push(info),
  })
  for (let times = 0; times < 6; times++) await units.transact((tx) => tx.get(ACCOUNTS, { id: 'a' }))
  assert.ok(infos.some(({ attempts }) => attempts > 1))
})

test('the server refuses a unit that is older than its limit', async (t) => {
  const clock = manualClock(1_900_000_000_000)
  const { client } = await served(t, [], { clock })
  const expired = transactor(client).transact(async (tx) => {
    await tx.get(ACCOUNTS, { id: 'a' })
    clock.advance(30_001)
    tx.put(ACCOUNTS, { id: 'late' })
  })
  await assert.rejects(expired, UnitExpired)
})

test('a snapshot whose versions are gone is begun anew, and surfaces if that does not help', async () => {
  const clock = manualClock(1_900_000_000_000)
  await using store = await open({ memory: true, clock })
  await createTables({ call: (operation, input) => store.call(operation, input) })
  const units = store.transactor({ timeoutMs: 600_000, retry: { backoffMs: () => 0 } })
  const read = async (waits: number): Promise<number> => {
    // Whoever waits on the store's clock is not kept waiting.
    const ticking = setInterval(() => clock.advance(1), 1)
    try {
      return await units.transact(async (tx) => {
        await tx.get(ACCOUNTS, { id: 'a' })
        if (tx.attempt <= waits) clock.advance(40_000)
        await tx.get(ACCOUNTS, { id: 'b' })
        return tx.attempt
      })
    } finally {
      clearInterval(ticking)
    }
  }
  assert.equal(await read(1), 2)
  await assert.rejects(read(99), SnapshotTooOld)
})

test('in one process a unit expires on the clock of its store', async () => {
  const clock = manualClock(1_900_000_000_000)
  await using store = await open({ memory: true, clock })
  await createTables({ call: (operation, input) => store.call(operation, input) })
  const expired = store.transactor().transact(async (tx) => {
    await tx.get(ACCOUNTS, { id: 'a' })
    clock.advance(30_000)
    tx.put(ACCOUNTS, { id: 'late' })
  })
  await assert.rejects(expired, UnitExpired)
})

test('an endpoint that is not Seriatim is told from one that is by its first answer', async (t) => {
  const { client } = await served(t, [])
  assert.equal(await transactor(client).transact(() => 'here'), 'here')
})
