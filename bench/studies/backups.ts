// What a backup costs the writers of its table, on disk:
//
//   node dist/bench/studies/backups.js [--items 1000000] [--rounds 5] [--share 0.5]
//
// PutItem of 900 bytes at a share of the peak that was found before, with an open arrival of requests: rounds without a backup, and
// rounds that end when a backup of the table is AVAILABLE, in turns. Latencies at the median and the 99th percentile, and how long a
// backup and a restore took. Medians of the rounds; only ratios within one run mean anything.
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { addItems } from '../../src/bench/fill.js'
import { Generator } from '../../src/bench/load/generator-process.js'
import type { LoadJob, LoadResult } from '../../src/bench/load/load.js'
import { ITEM_BYTES, ITEM_TABLE, type Workload } from '../../src/bench/load/workloads.js'
import { median } from '../../src/bench/statistics.js'
import { post } from '../../src/bench/targets/post.js'
import { type MeasuredServer, startServer } from '../../src/bench/targets/server.js'
import { fixed, terminalLines, whole } from '../../src/bench/table.js'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    share: { type: 'string', default: '0.5' },
    seconds: { type: 'string', default: '10' },
  },
})
const items = Number(values.items)
const CLIENTS = 64
const PEAK_MS = 5000
const LOOK_MS = 100
const HERE = fileURLToPath(new URL('../../..', import.meta.url))
const PUTS: Workload = {
  name: 'PutItem',
  operation: 'PutItem',
  items: 1,
  itemBytes: ITEM_BYTES,
  table: ITEM_TABLE,
  keys: { from: 0, to: items },
  indexes: 1,
}

const generator = new Generator()
const run = (
  server: MeasuredServer,
  mode: LoadJob['mode'],
  seed: number,
  durationMs: number,
): Promise<LoadResult> =>
  generator.run({
    endpoint: server.endpoint,
    mix: [{ weight: 1, workload: PUTS }],
    mode,
    warmupMs: 0,
    durationMs,
    seed,
  })

async function started(): Promise<MeasuredServer> {
  const server = await startServer({
    name: 'backups',
    title: 'backups',
    commandAt: ({ port, folder }) => ({
      program: process.execPath,
      args: [join(HERE, 'dist/src/cli/main.js'), 'start', '--port', String(port), '--path', folder],
    }),
  })
  if ('missing' in server) throw new Error(server.missing)
  await post(server.endpoint, 'CreateTable', {
    TableName: ITEM_TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await addItems(server.endpoint, { table: ITEM_TABLE, items, itemBytes: ITEM_BYTES, indexes: 1 }, 0)
  return server
}

const waitFor = async (isOver: () => Promise<boolean>): Promise<void> => {
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

/** How long it took until it was AVAILABLE. */
async function backUp({ endpoint }: MeasuredServer): Promise<{ readonly ms: number; readonly arn: string }> {
  const begun = performance.now()
  const made = (await post(endpoint, 'CreateBackup', { TableName: ITEM_TABLE, BackupName: 'study' })) as {
    readonly BackupDetails: { readonly BackupArn: string }
  }
  const { BackupArn: arn } = made.BackupDetails
  await waitFor(async () => {
    const told = (await post(endpoint, 'DescribeBackup', { BackupArn: arn })) as {
      readonly BackupDescription: { readonly BackupDetails: { readonly BackupStatus: string } }
    }
    return told.BackupDescription.BackupDetails.BackupStatus === 'AVAILABLE'
  })
  return { ms: performance.now() - begun, arn }
}

async function restored({ endpoint }: MeasuredServer, BackupArn: string): Promise<number> {
  const begun = performance.now()
  await post(endpoint, 'RestoreTableFromBackup', { BackupArn, TargetTableName: 'restored' })
  await waitFor(async () => {
    const { Table } = (await post(endpoint, 'DescribeTable', { TableName: 'restored' })) as {
      readonly Table: { readonly TableStatus: string }
    }
    return Table.TableStatus === 'ACTIVE'
  })
  return performance.now() - begun
}

const server = await started()
try {
  const peak = await run(server, { kind: 'closed', clients: CLIENTS }, 1, PEAK_MS)
  const perSecond = Math.floor(peak.perSecond * Number(values.share))
  const mode: LoadJob['mode'] = { kind: 'open', perSecond, connections: CLIENTS, spacing: 'poisson' }
  const found = { without: [] as LoadResult[], with: [] as LoadResult[] }
  const times: number[] = []
  let arn = ''
  for (let round = 1; round <= Number(values.rounds); round++) {
    found.without.push(await run(server, mode, round, Number(values.seconds) * 1000))
    // As long as the load lasts there is a backup that is being made.
    const load = run(server, mode, round, Number(values.seconds) * 1000)
    const running = new Set([load])
    void load.finally(() => running.clear())
    do {
      const made = await backUp(server)
      times.push(made.ms)
      if (arn !== '') await post(server.endpoint, 'DeleteBackup', { BackupArn: arn })
      arn = made.arn
    } while (running.size > 0)
    found.with.push(await load)
  }
  const of = (results: readonly LoadResult[], at: 'p50Micros' | 'p99Micros'): number =>
    median(results.map(({ latency }) => latency[at]))
  const rows = (['p50Micros', 'p99Micros'] as const).map((at) => [
    at,
    whole(of(found.without, at)),
    whole(of(found.with, at)),
    fixed(of(found.with, at) / of(found.without, at), 2),
  ])
  const columns = ['', 'without', 'with a backup', 'ratio']
  for (const line of terminalLines({ title: 'Latency of PutItem', columns, rows })) console.log(line)
  console.log(
    `${whole(items)} items, ${perSecond} puts a second; a backup takes ${whole(median(times))} ms, ` +
      `its restore ${whole(await restored(server, arn))} ms; load average ${fixed(loadavg()[0] ?? 0, 1)}`,
  )
} finally {
  await generator.close()
  await server.stop()
}
