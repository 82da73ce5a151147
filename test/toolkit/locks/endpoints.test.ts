// The same on every endpoint that is at hand: nothing but what all of them have is used.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { open } from '../../../src/store/store.js'
import { clientEndpoint, type Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { type LockEvent, LockTimeout, locks } from '../../../src/toolkit/index.js'
import { findDynamoDbLocal } from '../../../bench/targets/dynamodb-local.js'
import { localDatabase } from '../../differential/peers.js'
import { sharedEngines } from '../../fleet/shared-engines.js'
import { dynalite } from '../../support/dynalite.js'
import { findMoto, moto } from '../../support/moto.js'

interface Place extends AsyncDisposable {
  readonly url: string
  readonly accessKeyId?: string
}

async function seriatim(): Promise<Place> {
  const store = await open({ memory: true })
  const { url } = await store.listen({ port: 0 })
  return { url, [Symbol.asyncDispose]: () => store.close() }
}

async function onEngine(): Promise<Place> {
  const [engine] = sharedEngines(1)
  const store = await open({ engine: engine! })
  const { url } = await store.listen({ port: 0 })
  return { url, [Symbol.asyncDispose]: () => store.close() }
}

const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])

const motoProgram = findMoto()

interface PlaceToTry {
  readonly name: string
  readonly start: () => Promise<Place>
  readonly skip: boolean
}

const places: readonly PlaceToTry[] = [
  { name: 'Seriatim', start: seriatim, skip: false },
  { name: 'Seriatim on an engine', start: onEngine, skip: false },
  { name: 'dynalite', start: dynalite, skip: false },
  { name: 'DynamoDB Local', start: () => localDatabase(localFolder!), skip: localFolder === undefined },
  { name: 'moto', start: () => moto(motoProgram!), skip: motoProgram === undefined },
]

const clientOf = ({ url, accessKeyId = 'A' }: Place): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 's' },
  })

for (const { name, start, skip } of places) {
  test(
    `locks, ${name}: order, shared ones, several names, giving up, breaking, sweeping`,
    { skip },
    async () => {
      await using place = await start()
      const client = clientOf(place)
      const table = 'Locks'
      const events: LockEvent[] = []
      const admin = locks(client, { table, waitMs: Infinity, onEvent: (event) => events.push(event) })
      await admin.setup()
      await admin.setup()

      const first = await admin.acquire('a')
      const order: number[] = []
      const waiters: Promise<void>[] = []
      for (const at of [1, 2, 3]) {
        const one = locks(client, { table, waitMs: Infinity, pollMs: 20 })
        waiters.push(one.withLock('a', () => void order.push(at), { shared: at === 3 }))
        while ((await admin.inspect('a')).waiting.length < at);
      }
      await assert.rejects(admin.acquire('a', { waitMs: 500 }), LockTimeout)
      await first.heartbeat()
      await first.release()
      await Promise.all(waiters)
      assert.deepEqual(order, [1, 2, 3])

      const both = await admin.acquire(['b', 'c'])
      assert.equal(await admin.tryAcquire('c'), undefined)
      assert.ok(both.fence > first.fence)
      assert.deepEqual(await admin.break('c'), [both.fence])
      await assert.rejects(both.heartbeat(), { name: 'LockLost' })
      await both.release()

      const shared = [await admin.acquire('d', { shared: true }), await admin.acquire('d', { shared: true })]
      assert.equal((await admin.inspect('d')).holders.length, 2)
      for (const lock of shared) await lock.release()

      // A holder whose heartbeats nobody sends any more. Each of its requests has a quarter of the lease.
      await admin.acquire('e', { leaseMs: name === 'moto' ? 4_000 : 2_000, heartbeat: 'manual' })
      assert.deepEqual(await admin.sweep(), { removed: 1 })
      assert.deepEqual(await admin.list(), [])
      client.destroy()
    },
  )
}

for (const { name, start, skip } of places.filter((place) => place.name !== 'Seriatim')) {
  test(
    `locks, ${name}: a client learns once that nobody wakes it, and never sends WaitForItem`,
    { skip },
    async () => {
      await using place = await start()
      const client = clientOf(place)
      const inner = clientEndpoint(client)
      const extensions: string[] = []
      const endpoint: Endpoint = {
        call: (operation, input, options) => inner.call(operation, input, options),
        extension: (operation, input, options) => {
          extensions.push(operation)
          return inner.extension(operation, input, options)
        },
      }
      const waiters = locks(endpoint, { table: 'Locks', waitMs: Infinity, pollMs: 5 })
      await waiters.setup()
      const lock = await waiters.acquire('a')
      const waiting = [1, 2, 3].map(() => waiters.withLock('a', () => undefined))
      while ((await waiters.inspect('a')).waiting.length < waiting.length);
      while (extensions.length === 0) await waiters.inspect('a')
      await lock.release()
      await Promise.all(waiting)
      assert.deepEqual(extensions, ['UnitOutcome'])
      client.destroy()
    },
  )
}
