// What a stream, or a ledger, costs the writers of its table, on disk, in turns of one run:
//
//   node dist/bench/studies/streams.js [--part costs,lag,start] [--rounds 9] [--seconds 1] [--before FOLDER] [--records 1000000] [--starts 5]
//     [--kinds 'no stream,stream,ledger']
//
//   costs   PutItem of 900 bytes by 64 clients, each put another item than the one before: without a stream, with
//           NEW_AND_OLD_IMAGES, as a ledger, and, with --before, by an earlier build of the project; rate and bytes written
//   lag     from the answer of a write until it can be read, at half of the peak
//   start   from the start of the process to the first answer after kill -9, with that many records in the log and with none
//
// Medians of the rounds; only ratios within one run mean anything.
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
import { type Lag, lagsWhile } from './stream-lag.js'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'costs,lag,start' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    items: { type: 'string', default: '10000' },
    records: { type: 'string', default: '1000000' },
    starts: { type: 'string', default: '5' },
    before: { type: 'string' },
    kinds: { type: 'string', default: 'no stream,stream' },
  },
})
const rounds = Number(values.rounds)
const items = Number(values.items)
const CLIENTS = 64
const WARM_UP_MS = 4000
/** Longer than the index waits for more after the last write, and its commit. */
const STILL_MS = 1500
const STILL_LOOKS_MAX = 30
const starts = Number(values.starts)

const HERE = fileURLToPath(new URL('../../..', import.meta.url))
/** `indexes: 1` without an index: an attribute that is drawn anew, since a put that changes nothing leaves no record. */
const PUTS: Workload = {
  name: 'PutItem',
  operation: 'PutItem',
  items: 1,
  itemBytes: ITEM_BYTES,
  table: ITEM_TABLE,
  keys: { from: 0, to: items },
  indexes: 1,
}
type Kind = 'before' | 'no stream' | 'stream' | 'ledger'
type Mode = LoadJob['mode']
const CLOSED: Mode = { kind: 'closed', clients: CLIENTS }

async function started(kind: Kind): Promise<MeasuredServer> {
  const root = kind === 'before' ? (values.before as string) : HERE
  const server = await startServer({
    name: kind,
    title: kind,
    commandAt: ({ port, folder }) => ({
      program: process.execPath,
      args: [join(root, 'dist/src/cli/main.js'), 'start', '--port', String(port), '--path', folder],
    }),
  })
  if ('missing' in server) throw new Error(server.missing)
  await post(server.endpoint, 'CreateTable', {
    TableName: ITEM_TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    ...(kind === 'stream' && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
    ...(kind === 'ledger' && { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] }),
  })
  await addItems(server.endpoint, { table: ITEM_TABLE, items, itemBytes: ITEM_BYTES, indexes: 1 }, 0)
  return server
}

const generator = new Generator()
const run = (server: MeasuredServer, mode: Mode, seed: number, durationMs: number): Promise<LoadResult> =>
  generator.run({
    endpoint: server.endpoint,
    mix: [{ weight: 1, workload: PUTS }],
    mode,
    warmupMs: 0,
    durationMs,
    seed,
  })

/** Bytes written so far, when index and log have caught up. */
async function writtenWhenStill(server: MeasuredServer): Promise<number> {
  let before = -1
  for (let looks = 0; looks < STILL_LOOKS_MAX; looks++) {
    const written = server.usage()?.writtenBytes ?? NaN
    if (written === before) return written
    before = written
    await new Promise((resolve) => setTimeout(resolve, STILL_MS))
  }
  return before
}

const durationMs = Number(values.seconds) * 1000

async function costs(servers: readonly MeasuredServer[]): Promise<void> {
  const found = new Map(
    servers.map(({ name }) => [
      name,
      { perSecond: [] as number[], bytes: [] as number[], cpu: [] as number[] },
    ]),
  )
  for (let round = 1; round <= rounds; round++) {
    // Every other round in the other order: what one leaves to do must not always fall to the same one.
    for (const server of round % 2 === 0 ? servers.toReversed() : servers) {
      const writtenBefore = await writtenWhenStill(server)
      const cpuBefore = server.usage()?.cpuMicros ?? NaN
      const result = await run(server, CLOSED, round, durationMs)
      const of = found.get(server.name)!
      of.perSecond.push(result.perSecond)
      of.bytes.push(((await writtenWhenStill(server)) - writtenBefore) / result.answersSinceMeasuring)
      of.cpu.push(((server.usage()?.cpuMicros ?? NaN) - cpuBefore) / result.answersSinceMeasuring)
    }
  }
  const plain = found.get('no stream')!
  const ratios = (one: readonly number[], other: readonly number[]): string =>
    fixed(median(one.map((value, at) => value / other[at]!)), 2)
  const rows = [...found].map(([name, { perSecond, bytes, cpu }]) => [
    name,
    whole(median(perSecond)),
    ratios(perSecond, plain.perSecond),
    whole(median(bytes)),
    ratios(bytes, plain.bytes),
    whole(median(cpu)),
    ratios(cpu, plain.cpu),
  ])
  const columns = ['', 'a second', 'ratio', 'bytes written for a put', 'ratio', 'CPU us for a put', 'ratio']
  print(
    `PutItem, ${CLIENTS} clients, medians of ${rounds} rounds and of their ratios to no stream`,
    columns,
    rows,
  )
}

async function lag(server: MeasuredServer): Promise<void> {
  const lags: Lag[] = []
  const rates: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const { perSecond: peak } = await run(server, CLOSED, round, durationMs)
    const perSecond = peak / 2
    rates.push(perSecond)
    const mode: Mode = { kind: 'open', perSecond, connections: CLIENTS, spacing: 'poisson' }
    let isRunning = true
    const load = run(server, mode, round, durationMs * 2).finally(() => (isRunning = false))
    const [, seen] = await Promise.all([load, lagsWhile(server.endpoint, () => isRunning)])
    lags.push(...seen)
  }
  const row = (title: string, of: (lag: Lag) => number): readonly string[] => {
    const sorted = lags.map(of).toSorted((a, b) => a - b)
    const at = (share: number): string => fixed(sorted[Math.floor((sorted.length - 1) * share)], 2)
    return [title, at(0.5), at(0.9), at(0.99)]
  }
  const atFirst = lags.filter(({ looks }) => looks === 1).length
  print(
    `From answer to readable, ${whole(median(rates))} puts a second, ${atFirst} of ${lags.length} changes at the first look, ms`,
    ['', 'p50', 'p90', 'p99'],
    [
      row('until the answer of GetRecords that has it', ({ seenMs }) => seenMs),
      row('until that GetRecords was sent', ({ askedMs }) => askedMs),
      row('a GetItem in the same load', ({ turnMs }) => turnMs),
    ],
  )
}

async function start(servers: readonly MeasuredServer[]): Promise<void> {
  const records = Number(values.records)
  for (const server of servers) await overwrite(server, records)
  for (const server of servers) await writtenWhenStill(server)
  const times = new Map(servers.map(({ name }) => [name, [] as number[]]))
  for (let round = 1; round <= starts; round++)
    for (const server of servers) times.get(server.name)!.push(await server.restart())
  const rows = [...times].map(([name, all]) => [name, whole(median(all)), all.map(whole).join(' ')])
  print(
    `First answer after kill -9 and ${whole(records)} writes, ms, median of ${starts}`,
    ['', 'ms', 'all'],
    rows,
  )
}

/** As many changes as that, in batches: each item again and again, with another content. */
async function overwrite(server: MeasuredServer, changes: number): Promise<void> {
  let left = changes
  let content = 0
  const size = 25
  const writer = async (first: number): Promise<void> => {
    for (let at = first; left > 0; at++) {
      left -= size
      content += 1
      const from = (at * size) % (items - size)
      const puts = Array.from({ length: size }, (_, each) => ({
        PutRequest: { Item: { id: { S: `user-${from + each}` }, content: { N: String(content) } } },
      }))
      await post(server.endpoint, 'BatchWriteItem', { RequestItems: { [ITEM_TABLE]: puts } })
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, at) => writer(at * 40)))
}

const busy: number[] = []
function print(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): void {
  busy.push(loadavg()[0]!)
  for (const line of terminalLines({ title, columns, rows })) console.log(line)
  console.log(`  load average of the machine at the end: ${busy.at(-1)!.toFixed(1)}`)
}

const kinds: readonly Kind[] = [
  ...(values.before === undefined ? [] : (['before'] as const)),
  ...(values.kinds.split(',') as Kind[]),
]
const servers: MeasuredServer[] = []
try {
  for (const kind of kinds) servers.push(await started(kind))
  const parts = values.part.split(',')
  for (const server of servers) await run(server, CLOSED, 0, Math.min(WARM_UP_MS, 4 * durationMs))
  if (parts.includes('costs')) await costs(servers)
  if (parts.includes('lag')) await lag(servers.at(-1)!)
  if (parts.includes('start')) await start(servers.filter(({ name }) => name !== 'before'))
} finally {
  await generator.close()
  for (const server of servers) await server.stop()
}
