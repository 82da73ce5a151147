// Writes and reads of a storage node itself, without router or HTTP.
//   npx tsc && node dist/bench/studies/storage.js [--clients 64] [--seconds 5] [--bytes 900] [--items 100000] [--memory]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    bytes: { type: 'string', default: '900' },
    items: { type: 'string', default: '100000' },
    memory: { type: 'boolean', default: false },
    path: { type: 'string' },
    delay: { type: 'string' },
    changes: { type: 'string' },
  },
})

const table: TableShape = {
  name: 'bench',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
const filler = 'x'.repeat(Number(values.bytes))
const itemOf = (n: number): Item => ({ id: { S: `item-${n}` }, data: { S: filler } })
const items = Number(values.items)

async function measure(name: string, clients: number, operation: () => Promise<unknown>): Promise<void> {
  const latencies: number[] = []
  const begin = performance.now()
  const until = begin + Number(values.seconds) * 1000
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const start = performance.now()
        await operation()
        latencies.push(performance.now() - start)
      }
    }),
  )
  const seconds = (performance.now() - begin) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(3)
  const rate = Math.round(latencies.length / seconds)
  console.log(
    `${name.padEnd(10)} ${String(clients).padStart(4)} clients ${String(rate).padStart(8)}/s  ` +
      `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  p99.9 ${at(0.999)} ms  max ${at(0.99999)} ms  ` +
      `resident ${Math.round(process.memoryUsage.rss() / 1e6)} MB`,
  )
}

const random = (): number => Math.floor(Math.random() * items)
function put(node: StorageNode): Promise<unknown> {
  const item = itemOf(random())
  return node.write({
    table,
    key: itemKey(table.key, item),
    keyAttributes: {},
    mutation: { kind: 'put', item },
  })
}

const folder = values.path ?? mkdtempSync(join(tmpdir(), 'seriatim-bench-'))
const runtime = realRuntime()
const node = await openLocalNode(
  values.memory
    ? { runtime, memory: true }
    : {
        runtime,
        path: folder,
        tuning: {
          ...(values.delay === undefined ? {} : { applyDelayMs: Number(values.delay) }),
          ...(values.changes === undefined ? {} : { applyChangesMax: Number(values.changes) }),
        },
      },
)
try {
  await measure('put', Number(values.clients), () => put(node))
  await measure('put', 1, () => put(node))
  await measure('get', Number(values.clients), () =>
    node.get(table.space, itemKey(table.key, itemOf(random())), true),
  )
} finally {
  await node.close()
  if (values.path === undefined) rmSync(folder, { recursive: true })
}
