// A short run that anyone can repeat: each round puts each load on each server in turn, so that whatever else the machine
// does meets all of them.
//
//   seriatim bench --> servers: this store in memory and on disk, or an endpoint that is running
//                        |  fill: two tables
//                        v
//                      rounds x loads x servers --> load/: the generator, a process of its own,
//                        |                          over raw keep-alive connections
//                        v
//                      one result each --> a table, a file
//
// Reads the world: it is there to measure it. May import the model and the runtime; only the command line imports it, and
// bench/ beside src/, which compares the store with others and makes the page of figures.
import { dropTables, fillPeerTables } from './fill.js'
import { Generator } from './load/generator-process.js'
import { type Measured, measure } from './measure.js'
import { endpointServer, type MeasuredServer, startServer } from './targets/server.js'
import { TimeLeft } from './time-left.js'
import {
  ITEM_TABLE,
  matches,
  PARTITION_TABLE,
  peerWorkloads,
  type Scale,
  type Workload,
} from './load/workloads.js'

export interface BenchSettings {
  /** A server that is running; without one, this store is started in memory and on disk. */
  readonly endpoint?: string
  readonly operations: readonly string[]
  /** Connections that wait for their answers at once. */
  readonly clients: readonly number[]
  /** Of an open loop, in requests a second; undefined: closed. */
  readonly rate?: number
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
  readonly items: number
  readonly partitions: number
  /** This store is started with each of these numbers of workers; absent: with one. */
  readonly workers?: readonly number[]
}

export interface BenchResult {
  readonly server: string
  readonly workload: string
  readonly clients: number
  /** Of an open loop; null: closed. */
  readonly rate: number | null
  readonly round: number
  /** Of this store; absent: one. */
  readonly workers?: number
  readonly measured: Measured
}

export interface BenchRun {
  /** The script of the command line, which serves a store. */
  readonly script: string
  readonly onProgress: (line: string) => void
  readonly onResult: (results: readonly BenchResult[]) => void
  /** Ends the run after the load that is being measured. */
  readonly signal: AbortSignal
}

const SETUP_MS = 3000
const BETWEEN_MS = 60

/** Workloads that the settings name; all of them if none is named. */
export function workloadsOf({ operations, items, partitions }: BenchSettings): readonly Workload[] {
  return peerWorkloads({ items, partitions }).filter(
    ({ name }) => operations.length === 0 || operations.some((each) => matches(name, each)),
  )
}

export async function runBench(settings: BenchSettings, run: BenchRun): Promise<readonly BenchResult[]> {
  const { endpoint, clients, rounds, warmupMs, durationMs } = settings
  const workloads = workloadsOf(settings)
  const serverCount = endpoint === undefined ? 2 * (settings.workers?.length ?? 1) : 1
  const estimateMs = warmupMs + durationMs + BETWEEN_MS
  const loadCount = rounds * clients.length * workloads.length * serverCount
  const clock = new TimeLeft(SETUP_MS + loadCount * estimateMs)
  const results: BenchResult[] = []
  const generator = new Generator()
  try {
    run.onProgress(`${clock.line()}  setting up`)
    const servers = await clock.take(SETUP_MS, () => openServers(settings, run.script))
    try {
      for (let round = 1; round <= rounds; round++) {
        for (const load of loadsOf(workloads, clients)) {
          for (const server of servers) {
            if (run.signal.aborted) return results
            run.onProgress(`${clock.line()}  round ${round}: ${load.workload.name}, ${server.title}`)
            results.push(
              await clock.take(estimateMs, () => putLoad(settings, generator, server, load, round)),
            )
            run.onResult(results)
          }
        }
      }
      return results
    } finally {
      await closeServers(servers, endpoint)
    }
  } finally {
    await generator.close()
  }
}

interface BenchLoad {
  readonly workload: Workload
  readonly clients: number
}

const loadsOf = (workloads: readonly Workload[], clients: readonly number[]): readonly BenchLoad[] =>
  clients.flatMap((count) => workloads.map((workload) => ({ workload, clients: count })))

async function putLoad(
  { rate, warmupMs, durationMs }: BenchSettings,
  generator: Generator,
  server: MeasuredServer,
  { workload, clients }: BenchLoad,
  round: number,
): Promise<BenchResult> {
  const measured = await measure(generator, server, {
    mix: [{ weight: 1, workload }],
    mode:
      rate === undefined
        ? { kind: 'closed', clients }
        : { kind: 'open', perSecond: rate, connections: clients, spacing: 'poisson' },
    warmupMs,
    durationMs,
    seed: round,
  })
  const workers = Number(/, (\d+) workers$/.exec(server.title)?.[1] ?? 1)
  return {
    server: server.title,
    workload: workload.name,
    clients,
    rate: rate ?? null,
    round,
    ...(workers > 1 && { workers }),
    measured,
  }
}

async function openServers(
  { endpoint, items, partitions, workers: counts = [1] }: BenchSettings,
  script: string,
): Promise<readonly MeasuredServer[]> {
  const scale: Scale = { items, partitions }
  if (endpoint !== undefined) {
    await fillPeerTables(endpoint, scale)
    return [endpointServer(endpoint)]
  }
  const servers: MeasuredServer[] = []
  try {
    for (const [kind, workers] of (['memory', 'disk'] as const).flatMap((each) =>
      counts.map((count) => [each, count] as const),
    )) {
      const server = await startServer({
        name: `${kind}-${workers}`,
        title: `Seriatim, ${kind === 'memory' ? 'memory' : 'disk, durable'}${workers === 1 ? '' : `, ${workers} workers`}`,
        commandAt: ({ port, folder }) => ({
          program: process.execPath,
          args: [
            script,
            'start',
            '--port',
            String(port),
            ...(kind === 'memory' ? ['--memory'] : ['--path', folder]),
            ...(workers === 1 ? [] : ['--workers', String(workers)]),
          ],
        }),
      })
      if ('missing' in server) throw new Error(server.missing)
      servers.push(server)
      await fillPeerTables(server.endpoint, scale)
    }
    return servers
  } catch (error) {
    await closeServers(servers, endpoint)
    throw error
  }
}

/** The tables of an endpoint that is left running are deleted. */
async function closeServers(servers: readonly MeasuredServer[], endpoint: string | undefined): Promise<void> {
  if (endpoint !== undefined) await dropTables(endpoint, [ITEM_TABLE, PARTITION_TABLE])
  await Promise.all(servers.map((server) => server.stop()))
}
