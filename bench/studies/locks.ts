// What locks cost: requests, and the time from a release to the next one inside, woken and polled.
//   node dist/bench/studies/locks.js [--waiters N] [--rounds N] [--endpoint URL]
// Without an endpoint a server in memory is started as users start it. Against another endpoint only polling is measured,
// unless it can wake.
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { clientEndpoint, type Endpoint } from '../../src/toolkit/endpoint/endpoint.js'
import { locks } from '../../src/toolkit/index.js'
import { spawnServer } from '../../test/support/spawned-server.js'

const { values } = parseArgs({
  options: {
    waiters: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '20' },
    endpoint: { type: 'string' },
  },
})
const waiters = Number(values.waiters)
const rounds = Number(values.rounds)
const HOLD_MS = 5
const IDLE_MS = 10_000
const TABLE = 'BenchLocks'

const server = values.endpoint === undefined ? await spawnServer() : undefined
const client = new DynamoDBClient({
  endpoint: values.endpoint ?? server!.url,
  region: 'us-east-1',
  credentials: { accessKeyId: 'A', secretAccessKey: 's' },
})
const whole = clientEndpoint(client)
const endpoints: Readonly<Record<string, Endpoint>> = {
  woken: whole,
  polled: { call: whole.call.bind(whole) },
}

interface Counted {
  readonly endpoint: Endpoint
  readonly counts: Map<string, number>
}

function counted(inner: Endpoint): Counted {
  const counts = new Map<string, number>()
  const count = (operation: string): void => void counts.set(operation, (counts.get(operation) ?? 0) + 1)
  return {
    counts,
    endpoint: {
      call: (operation, input, options) => {
        count(operation)
        return inner.call(operation, input, options)
      },
      ...(inner.extension && {
        extension: (operation: string, input: object, options?: object) => {
          count(operation)
          return inner.extension!(operation, input, options)
        },
      }),
    },
  }
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0)
const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const at = (sorted: readonly number[], part: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN).toFixed(1)

await locks(client, { table: TABLE }).setup()

{
  // What one request takes here and now: the times below are some of these.
  const took: number[] = []
  const Key = { pk: { S: 'nothing' }, sk: { S: 'nothing' } }
  for (let round = 0; round < 500; round++) {
    const start = performance.now()
    await whole.call('GetItem', { TableName: TABLE, Key })
    took.push(performance.now() - start)
  }
  took.sort((a, b) => a - b)
  console.log(`one GetItem: p50 ${at(took, 0.5)} ms, p99 ${at(took, 0.99)} ms`)
}

{
  const { endpoint, counts } = counted(whole)
  const alone = locks(endpoint, { table: TABLE })
  await (await alone.acquire('warm')).release()
  counts.clear()
  const took: number[] = []
  for (let round = 0; round < 200; round++) {
    const start = performance.now()
    const lock = await alone.acquire('alone')
    await lock.release()
    took.push(performance.now() - start)
  }
  took.sort((a, b) => a - b)
  console.log(
    `nobody else: ${total(counts) / 200} requests for acquire and release (${listed(counts)} in 200), p50 ${at(took, 0.5)} ms, p99 ${at(took, 0.99)} ms`,
  )
}

for (const [way, inner] of Object.entries(endpoints)) {
  const { endpoint, counts } = counted(inner)
  const handovers: number[] = []
  let releasedAt: number | undefined
  const one = async (): Promise<void> => {
    // A process of its own has a client of its own.
    const mine = locks(endpoint, { table: TABLE, waitMs: Infinity })
    for (let round = 0; round < rounds; round++) {
      const lock = await mine.acquire(`queue ${way}`)
      if (releasedAt !== undefined) handovers.push(performance.now() - releasedAt)
      await pause(HOLD_MS)
      await lock.release()
      releasedAt = performance.now()
    }
  }
  const cpu = process.cpuUsage()
  await Promise.all(Array.from({ length: waiters }, one))
  const { user, system } = process.cpuUsage(cpu)
  handovers.sort((a, b) => a - b)
  const grants = waiters * rounds
  console.log(
    `${way}: ${waiters} contenders, ${grants} grants held for ${HOLD_MS} ms: hand-over p50 ${at(handovers, 0.5)} ms, ` +
      `p99 ${at(handovers, 0.99)} ms; ${(total(counts) / grants).toFixed(1)} requests a grant (${listed(counts)}); ` +
      `${((user + system) / grants).toFixed(0)} us of CPU a grant in the client`,
  )

  const holder = locks(inner, { table: TABLE })
  const lock = await holder.acquire(`idle ${way}`)
  counts.clear()
  const end = new AbortController()
  const waiting = Array.from({ length: waiters }, () =>
    locks(endpoint, { table: TABLE, waitMs: Infinity, signal: end.signal })
      .acquire(`idle ${way}`)
      .catch(() => undefined),
  )
  await pause(IDLE_MS)
  const meanwhile = new Map(counts)
  end.abort()
  await Promise.all(waiting)
  await lock.release()
  console.log(
    `${way}: ${waiters} waiting for ${IDLE_MS / 1000} s behind one holder: ${(total(meanwhile) / waiters / (IDLE_MS / 1000)).toFixed(2)} requests a second and waiter (${listed(meanwhile)})`,
  )
}
client.destroy()
await server?.stop()
