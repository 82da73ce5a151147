// Would nodes be faster in worker threads? What one call costs in this thread, and what the same call costs across a
// message port, for a single-item get and put of 900 bytes with 64 calls in flight.
//
//   node dist/bench/studies/worker-threads.js [calls]
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { fileURLToPath } from 'node:url'

const table: TableShape = {
  name: 'users',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
const ITEMS = 10_000
const IN_FLIGHT = 64
const item = (number: number) => ({ id: { S: `user-${number % ITEMS}` }, data: { S: 'x'.repeat(860) } })

type Call = {
  readonly id: number
  readonly method: 'get' | 'put'
  readonly number: number
  readonly value?: object
}

async function perform(node: StorageNode, { method, number }: Call): Promise<unknown> {
  const attributes = item(number)
  const key = itemKey(table.key, attributes)
  if (method === 'get') return node.get(table.space, key, true)
  return node.write({ table, key, keyAttributes: attributes, mutation: { kind: 'put', item: attributes } })
}

async function measure(
  name: string,
  calls: number,
  call: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const client = async (): Promise<void> => {
    while (next < calls) await call(next++)
  }
  const cpu = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: IN_FLIGHT }, client))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const micros = (user + system) / calls
  console.log(
    `${name.padEnd(24)} ${Math.round(calls / seconds)
      .toString()
      .padStart(8)}/s  ${micros.toFixed(1).padStart(6)} us of processor`,
  )
}

if (isMainThread) {
  const calls = Number(process.argv[2] ?? 100_000)
  const node = await openLocalNode({ runtime: realRuntime(), memory: true })
  const worker = new Worker(fileURLToPath(import.meta.url))
  const waiting = new Map<number, (answer: unknown) => void>()
  worker.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  let id = 0
  const remote = (method: Call['method']) => (number: number) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve)
      worker.postMessage({ id, method, number, ...(method === 'put' && { value: item(number) }) })
    })
  const local = (method: Call['method']) => (number: number) => perform(node, { id: 0, method, number })
  for (const round of [1, 2, 3]) {
    console.log(`round ${round}`)
    await measure('put, this thread', calls, local('put'))
    await measure('put, worker thread', calls, remote('put'))
    await measure('get, this thread', calls, local('get'))
    await measure('get, worker thread', calls, remote('get'))
  }
  await worker.terminate()
  await node.close()
} else {
  const node = await openLocalNode({ runtime: realRuntime(), memory: true })
  parentPort?.on('message', (call: Call) => {
    void perform(node, call).then((answer) => parentPort?.postMessage({ id: call.id, answer }))
  })
}
