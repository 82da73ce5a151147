// seriatim bench: puts a load on this store, or on any endpoint, and shows how it is answered.
import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Machine, thisMachine } from '../bench/machine.js'
import { resultTable } from '../bench/result-table.js'
import { type BenchResult, type BenchSettings, runBench, workloadsOf } from '../bench/run.js'
import { workersTable } from '../bench/workers-table.js'
import { terminalLines } from '../bench/table.js'
import { peerWorkloads } from '../bench/load/workloads.js'
import { readArguments, readInteger, UsageError } from './command/arguments.js'
import { version } from './command/version.js'
import type { CommandEnvironment } from './command/environment.js'

export const help = `seriatim bench [options]

  --endpoint URL     measure a running server that checks no signatures, instead of this store; it gets two tables,
                     seriatim-bench-*, which are deleted at the end
  --operation LIST   only these, such as GetItem or 'TransactWriteItems of 3'; all: every operation
  --clients LIST     connections that wait for their answers at once (64)
  --rate N           requests a second that arrive whether or not others are answered (open loop), instead
  --rounds N         how often everything is measured; the table has the medians (3)
  --seconds S        how long each load is measured, after the warm-up (1)
  --items N          in the table (10000)
  --workers LIST     start this store with these numbers of workers, such as 1,2, and show what a request costs of
                     each, and what is full first (1)
  --json FILE        keep what was measured, after each step

Starts this store in memory and on disk, each in a process of its own, with the load from another one, and measures them
in turn. Only ratios within one run mean anything.`

const OPTIONS = {
  endpoint: { type: 'string' },
  operation: { type: 'string' },
  clients: { type: 'string' },
  rate: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  items: { type: 'string' },
  json: { type: 'string' },
  workers: { type: 'string' },
} as const

const DEFAULTS: BenchSettings = {
  operations: [
    'GetItem',
    'PutItem',
    'UpdateItem',
    'Query',
    'TransactGetItems of 3',
    'TransactWriteItems of 3',
  ],
  clients: [64],
  rounds: 3,
  warmupMs: 250,
  durationMs: 1000,
  items: 10_000,
  partitions: 100,
}

const CLIENTS_MAX = 10_000
const WORKERS_MAX = 64
const RATE_MAX = 10_000_000
const ROUNDS_MAX = 1000
const SECONDS_MAX = 3600
const ITEMS_MIN = 100
const ITEMS_MAX = 100_000_000

/** What `--json` keeps. */
export interface BenchFile {
  readonly format: 'seriatim-bench-results-1'
  readonly seriatim: string
  readonly command: string
  readonly startedAt: string
  readonly machine: Machine
  readonly results: readonly BenchResult[]
}

/** Flat beside this file in the package as well. */
const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const settings = settingsOf(values)
  const { json } = values
  const file: Omit<BenchFile, 'results'> = {
    format: 'seriatim-bench-results-1',
    seriatim: version(),
    command: ['seriatim bench', ...args].join(' '),
    startedAt: new Date().toISOString(),
    machine: thisMachine(),
  }
  const interrupted = new AbortController()
  const off = world.onSignal(() => {
    if (interrupted.signal.aborted) world.exitNow(130)
    interrupted.abort()
    world.printError('seriatim bench: stopping after this step; once more to stop at once')
  })
  try {
    const results = await runBench(settings, {
      script: MAIN,
      onProgress: (line) => world.printError(line),
      onResult: (all) => {
        if (json !== undefined) writeWhole(json, { ...file, results: all })
      },
      signal: interrupted.signal,
    })
    const { cpu, cores, node } = file.machine
    world.print(`${file.command}: Seriatim ${file.seriatim}, Node ${node}, ${cores} cores of ${cpu}`)
    for (const line of terminalLines(resultTable(results))) world.print(line)
    const ofWorkers = workersTable(results)
    if (ofWorkers !== undefined) for (const line of terminalLines(ofWorkers)) world.print(line)
  } finally {
    off()
  }
  return interrupted.signal.aborted ? 1 : 0
}

/** Whole, or as it was. */
function writeWhole(path: string, file: BenchFile): void {
  writeFileSync(`${path}.new`, JSON.stringify(file, undefined, 1))
  renameSync(`${path}.new`, path)
}

/** What the options ask for. */
export function settingsOf(values: LoadValues & { readonly operation?: string }): BenchSettings {
  const settings: BenchSettings = {
    ...DEFAULTS,
    ...loadOptionsOf(values),
    ...(values.operation !== undefined && {
      operations: values.operation === 'all' ? [] : values.operation.split(','),
    }),
  }
  const unknown = settings.operations.find(
    (name) => workloadsOf({ ...settings, operations: [name] }).length === 0,
  )
  if (unknown !== undefined) {
    const known = peerWorkloads(settings).map(({ name }) => name)
    throw new UsageError(`--operation knows ${known.join('; ')}, not '${unknown}'`)
  }
  return settings
}

type LoadOption = 'workers' | 'endpoint' | 'clients' | 'rate' | 'rounds' | 'seconds' | 'items'
export type LoadValues = { readonly [name in LoadOption]?: string | undefined }
export type LoadOptions = Partial<
  Pick<BenchSettings, 'endpoint' | 'clients' | 'rate' | 'rounds' | 'durationMs' | 'items' | 'workers'>
>

/** The options that every measurement has; only those that were given. */
export function loadOptionsOf({
  endpoint,
  clients,
  rate,
  rounds,
  seconds,
  items,
  workers,
}: LoadValues): LoadOptions {
  if (endpoint !== undefined && workers !== undefined)
    throw new UsageError(
      '--workers is for this store, which --endpoint does not start: leave out one of them',
    )
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  }
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(clients !== undefined && {
      clients: clients.split(',').map((text) => readInteger('clients', text, 1, CLIENTS_MAX)),
    }),
    ...(workers !== undefined && {
      workers: workers.split(',').map((text) => readInteger('workers', text, 1, WORKERS_MAX)),
    }),
    ...(rate !== undefined && { rate: readInteger('rate', rate, 1, RATE_MAX) }),
    ...(rounds !== undefined && { rounds: readInteger('rounds', rounds, 1, ROUNDS_MAX) }),
    ...(seconds !== undefined && { durationMs: secondsOf(seconds) * 1000 }),
    ...(items !== undefined && { items: readInteger('items', items, ITEMS_MIN, ITEMS_MAX) }),
  }
}

function secondsOf(text: string): number {
  const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN
  if (!(value > 0 && value <= SECONDS_MAX)) {
    throw new UsageError(`--seconds must be a number up to ${SECONDS_MAX}, not '${text}'`)
  }
  return value
}
