// What a transaction costs beside a single operation, on the same server in the same run, over HTTP and durable:
//
//   one node:    TransactWriteItems of one item against PutItem, TransactGetItems of one item against GetItem
//   four nodes:  three items on three different nodes against the same
//
//   node dist/bench/transactions.js [--rounds 7] [--seconds 1.5] [--memory]
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { fillItemTable } from '../src/bench/fill.js'
import { startTarget } from '../src/bench/targets/target.js'
import { keyText } from '../src/bench/workloads.js'
import { itemKey } from '../src/model/key-bytes.js'
import type { LoadResult } from './http-load.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1.5' },
    memory: { type: 'boolean', default: false },
  },
})

const ITEMS = 10_000
const BODIES = 3000
const NODES = 4
const DATA = 'x'.repeat(860)
const schema = { partition: { name: 'id', type: 'S' } } as const
const TableName = 'Users'
const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))

const keyOf = (number: number): { readonly id: { readonly S: string } } => ({ id: { S: keyText(number) } })
const itemOf = (number: number): object => ({ ...keyOf(number), data: { S: DATA } })
const nodeOf = (number: number): number => Math.floor((itemKey(schema, keyOf(number)).hash / 2 ** 32) * NODES)
const draw = (): number => Math.floor(Math.random() * ITEMS)

/** Keys on that many different nodes. */
function spread(count: number): number[] {
  const keys: number[] = []
  while (keys.length < count) {
    const key = draw()
    if (!keys.some((other) => nodeOf(other) === nodeOf(key))) keys.push(key)
  }
  return keys
}

interface Work {
  readonly name: string
  readonly operation: string
  readonly body: () => object
}

const single: readonly [Work, Work] = [
  { name: 'PutItem', operation: 'PutItem', body: () => ({ TableName, Item: itemOf(draw()) }) },
  { name: 'GetItem', operation: 'GetItem', body: () => ({ TableName, Key: keyOf(draw()) }) },
]

const transactional = (items: number): readonly [Work, Work] => [
  {
    name: `TransactWriteItems of ${items}`,
    operation: 'TransactWriteItems',
    body: () => ({ TransactItems: spread(items).map((key) => ({ Put: { TableName, Item: itemOf(key) } })) }),
  },
  {
    name: `TransactGetItems of ${items}`,
    operation: 'TransactGetItems',
    body: () => ({ TransactItems: spread(items).map((key) => ({ Get: { TableName, Key: keyOf(key) } })) }),
  },
]

for (const [nodes, items, allowed] of [
  [1, 1, [1.3, 1.2]],
  [NODES, 3, [3, 2]],
] as const) {
  const target = await startTarget(values.memory ? 'seriatim-memory' : 'seriatim-disk', [
    '--nodes',
    String(nodes),
  ])
  if ('missing' in target) throw new Error(target.missing)
  try {
    await fillItemTable(target.endpoint, { table: TableName, items: ITEMS, itemBytes: 900, indexes: 0 })
    const port = Number(new URL(target.endpoint).port)
    for (const clients of [1, 16]) {
      for (const which of [0, 1] as const) {
        await compare(port, nodes, clients, single[which], transactional(items)[which], allowed[which])
      }
    }
  } finally {
    await target.stop()
  }
}

async function compare(
  port: number,
  nodes: number,
  clients: number,
  plain: Work,
  transaction: Work,
  allowed: number,
) {
  const medians = new Map<string, number[]>()
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const work of [plain, transaction]) {
      const { latencyMicrosP50 } = await run(port, clients, work)
      medians.set(work.name, [...(medians.get(work.name) ?? []), latencyMicrosP50])
    }
  }
  const [before, after] = [plain, transaction].map((work) => median(medians.get(work.name) ?? []))
  const ratio = (after ?? 0) / (before ?? 1)
  console.log(
    `${nodes} node(s), ${String(clients).padStart(2)} client(s): ${plain.name} ${before} us, ${transaction.name} ${after} us: ` +
      `${ratio.toFixed(2)} times (wanted: at most ${allowed})`,
  )
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

async function run(port: number, clients: number, work: Work): Promise<LoadResult> {
  const bodies = join(folder, `${work.operation}.json`)
  writeFileSync(bodies, JSON.stringify(Array.from({ length: BODIES }, () => JSON.stringify(work.body()))))
  const loader = fileURLToPath(new URL('http-load.js', import.meta.url))
  const args = ['--port', String(port), '--connections', String(clients), '--seconds', values.seconds]
  args.push('--operation', work.operation, '--bodies', bodies)
  const { stdout } = await promisify(execFile)(process.execPath, [loader, ...args])
  const result = JSON.parse(stdout) as LoadResult
  if (result.failures > result.responses / 10) throw new Error(`${work.name}: ${result.failures} failures`)
  return result
}
