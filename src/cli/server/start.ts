// seriatim start: open a store, serve it, and close both when told to.
import { readFile } from 'node:fs/promises'
import { memoryMbBounds } from '../../model/memory-budget.js'
import { cassandraOptionsOf, type CassandraOptions } from '../../engine/cassandra/options.js'
import { loadAuthFile, type Auth } from '../../server/access/auth.js'
import { type FaultPlan, parseFaultPlan } from '../../server/faults/fault-plan.js'
import { hostRefusal, type RunningServer } from '../../server/http-server.js'
import { originIn } from '../../server/access/origin.js'
import { translateLocalFlags } from './local-flags.js'
import type { WorkerHub } from '../../store/worker-hub.js'
import type { WorkerProcesses } from './worker-processes.js'
import { limitsOfWorker } from './worker-place.js'
import { readTls, Reloads, tlsFiles, warnOfOpenKey } from './tls.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import type { StoreLocation, CommandEnvironment } from '../command/environment.js'

export const help = `seriatim start [options]

  --port PORT    8000; 0 lets the system choose
  --host HOST    127.0.0.1; anything but loopback needs --auth, or --no-auth said expressly
  --path DIR     where the data is kept: ./data unless told otherwise
  --memory       keep the data in memory only; of --path, --memory and --engine the last one counts
  --engine cassandra://HOST,HOST,HOST/KEYSPACE[?datacenter=NAME&replication=3&consistency=global|local&tls=true&timeoutMs=5000]
                 keep the data in a ring of Cassandra 5 nodes, which any number of servers share; needs npm cassandra-driver
  --nodes N      storage nodes in this process: 1
  --workers N    processes that serve the port together: 1. The first one has the data, the others read requests,
                 check and answer them
  --rules all|none
                 section 4 of the paper, or the protocol of section 3 alone, to compare with: all
  --snapshot-age-ms MS
                 how long old versions are kept for units of work that read at a snapshot: 30000
  --lock-ms-max MS
                 the longest that an explicit lock of a unit of work is held: 30000
  --memory-mb N  a budget for what is kept in memory beside the data: writes on their way to the index, old versions for
                 snapshots, caches; 16 to 65536
  --buckets DIR  each folder in this folder is a bucket for exports and imports; without it there is none
  --shard-minutes N
                 after so many minutes the shards of a stream are closed and followed by others: 240
  --creating-ms MS
                 how long tables, and indexes that are added, stay CREATING, for tests of code that waits: 0
  --statement-scans allowed|refused
                 refused: a SELECT that would read a whole table or index is refused: allowed
  --ledger PATTERN
                 new tables with such a name are ledgers, as with the tag seriatim:ledger; * stands for any characters
  --adopt-ledger go on with the ledger of a data folder that was copied or restored: only if the original is gone
  --auth FILE    accept only requests signed with a key of this file:
                 { "keys": [ { "accessKeyId": "...", "secretAccessKey": "...", "name": "...",
                               "tables": ["orders-*"], "access": ["read", "write", "admin"] } ] }
  --tls-cert FILE --tls-key FILE
                 serve HTTPS with this certificate (and those that vouch for it) and its private key, as PEM;
                 on SIGHUP both are read again
  --no-console   do not serve the console, which is at /console/
  --no-auth      every client that reaches the host may do everything: for containers and the like
  --allow-host NAME
                 without --auth: a further name under which clients reach this server, such as
                 host.docker.internal; may be repeated
  --allow-service-names
                 without --auth: names without a dot too, such as those of the services of a compose network
  --allow-origin ORIGIN
                 pages of this origin, such as http://localhost:3000, may use the store; may be repeated
  --faults       obey the header x-seriatim-fault, for tests of clients; loopback only
  --fault-plan FILE|JSON
                 with --faults: what happens to requests without that header, how often, from a seed:
                 { "seed": 1, "faults": [ { "operation": "TransactWriteItems",
                                            "fault": "transaction-conflict", "probability": 0.1 } ] }

The flags of DynamoDB Local are understood as well: -port N, -inMemory, -dbPath DIR, -sharedDb, -cors LIST of origins.

Prints "seriatim listening on http://HOST:PORT" (or https://) when it is ready. On SIGTERM or SIGINT it answers what it has
accepted and closes; a second signal ends it at once.`

const OPTIONS = {
  port: { type: 'string', default: '8000' },
  host: { type: 'string', default: '127.0.0.1' },
  path: { type: 'string' },
  memory: { type: 'boolean' },
  engine: { type: 'string' },
  nodes: { type: 'string' },
  workers: { type: 'string', default: '1' },
  rules: { type: 'string', default: 'all' },
  'snapshot-age-ms': { type: 'string' },
  'memory-mb': { type: 'string' },
  'lock-ms-max': { type: 'string' },
  'shard-minutes': { type: 'string' },
  'creating-ms': { type: 'string' },
  'statement-scans': { type: 'string', default: 'allowed' },
  buckets: { type: 'string' },
  ledger: { type: 'string' },
  'adopt-ledger': { type: 'boolean' },
  auth: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'no-console': { type: 'boolean' },
  'no-auth': { type: 'boolean' },
  'allow-host': { type: 'string', multiple: true },
  'allow-service-names': { type: 'boolean' },
  'allow-origin': { type: 'string', multiple: true },
  faults: { type: 'boolean' },
  'fault-plan': { type: 'string' },
} as const

const NODES_MAX = 64
const WORKERS_MAX = 64
const DAY_MS = 86_400_000
const SHARD_MINUTES_MAX = 1440
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)$/i

export async function run(args: readonly string[], given: CommandEnvironment): Promise<number> {
  // The first worker has said what there is to say.
  const world = given.worker === undefined ? given : { ...given, printError: () => undefined }
  const { args: ours, notes } = translateLocalFlags(args)
  const { values, tokens } = readArguments(ours, OPTIONS)
  const { host, faults } = values
  const port = readInteger('port', values.port, 0, 65_535)
  const nodes = values.nodes === undefined ? undefined : readInteger('nodes', values.nodes, 1, NODES_MAX)
  const workers = readInteger('workers', values.workers, 1, WORKERS_MAX)
  const readMs = (name: 'snapshot-age-ms' | 'lock-ms-max'): number | undefined => {
    const text = values[name]
    return text === undefined ? undefined : readInteger(name, text, 1, DAY_MS)
  }
  const snapshotAgeMs = readMs('snapshot-age-ms')
  const lockMsMax = readMs('lock-ms-max')
  const memoryText = values['memory-mb']
  const memoryMb =
    memoryText === undefined
      ? undefined
      : readInteger('memory-mb', memoryText, memoryMbBounds.min, memoryMbBounds.max)
  const shardMinutesText = values['shard-minutes']
  const shardMinutes =
    shardMinutesText === undefined
      ? undefined
      : readInteger('shard-minutes', shardMinutesText, 1, SHARD_MINUTES_MAX)
  const creatingText = values['creating-ms']
  const creatingMs =
    creatingText === undefined ? undefined : readInteger('creating-ms', creatingText, 0, DAY_MS)
  const { rules, ledger, 'statement-scans': scans } = values
  if (scans !== 'allowed' && scans !== 'refused')
    throw new UsageError(`--statement-scans is allowed or refused, not '${scans}'`)
  if (ledger !== undefined && !/^[\w.*-]{1,255}$/.test(ledger))
    throw new UsageError(`--ledger takes a table name in which * stands for any characters, not '${ledger}'`)
  if (rules !== 'all' && rules !== 'none') throw new UsageError(`--rules is all or none, not '${rules}'`)
  // `npm start` gives --path already; whoever adds --memory to it means that.
  const places = tokens.flatMap((token) =>
    token.kind === 'option' && isPlace(token.name) ? [token.name] : [],
  )
  const where = placeIn(values, places.at(-1))
  if (where.engine !== undefined && workers > 1)
    throw new UsageError('with --engine start several servers instead of --workers: they share the engine')
  const noAuth = values['no-auth'] === true
  const allowHosts = values['allow-host'] ?? []
  for (const name of allowHosts)
    if (!HOST_NAME.test(name))
      throw new UsageError(`--allow-host takes the name of a host without a port, not '${name}'`)
  const allowOrigins = values['allow-origin'] ?? []
  for (const origin of allowOrigins)
    if (originIn(origin) === undefined)
      throw new UsageError(`--allow-origin takes an origin such as http://localhost:3000, not '${origin}'`)
  const allowServiceNames = values['allow-service-names']
  const refusal = hostRefusal(host, { auth: values.auth, noAuth, faults })
  if (refusal !== undefined) throw new UsageError(refusal)
  const auth = values.auth === undefined ? undefined : await readAuth(values.auth, world)
  const files = tlsFiles(values['tls-cert'], values['tls-key'])
  const tls = files && (await readTls(files))
  if (files !== undefined) await warnOfOpenKey(files, world)
  const planText = values['fault-plan']
  if (planText !== undefined && faults !== true) throw new UsageError('--fault-plan needs --faults')
  if (planText !== undefined && workers > 1)
    throw new UsageError('--fault-plan counts the requests of one process: leave out --workers with it')
  const faultPlan = planText === undefined ? undefined : await readFaultPlan(planText)
  const listenOptions = {
    host,
    port,
    tls,
    auth,
    noAuth,
    allowHosts,
    allowServiceNames,
    allowOrigins,
    console: values['no-console'] !== true,
    faults,
    faultPlan,
    ...(workers > 1 && { limits: limitsOfWorker(workers) }),
  }
  if (world.worker !== undefined) {
    const { serveAsWorker } = await import('./worker-process.js')
    return serveAsWorker({ listen: listenOptions, rules, statementScans: scans })
  }

  for (const note of notes) world.printError(`seriatim: ${note}`)
  const signals = countSignals(world)
  const reloads = files && new Reloads(files, world)
  // Without a certificate there is nothing to read again. Said to nobody: stderr may have gone with the terminal.
  const endHangups = files === undefined ? world.onHangup(() => undefined) : undefined
  try {
    const beside = workers === 1 ? undefined : await workersBeside()
    const location: StoreLocation & StartOptions = {
      ...where,
      onProgress: (sentence) => world.printError(`seriatim: ${sentence}`),
      ...(nodes !== undefined && { nodes }),
      ...(rules === 'none' && { rules }),
      ...(snapshotAgeMs !== undefined && { snapshotAgeMs }),
      ...(lockMsMax !== undefined && { lockMsMax }),
      ...(memoryMb !== undefined && { memoryMb }),
      ...(shardMinutes !== undefined && { shardMinutes }),
      ...(creatingMs !== undefined && { creatingMs }),
      ...(scans === 'refused' && { statementScans: scans }),
      ...(values.buckets !== undefined && { buckets: values.buckets }),
      ...(ledger !== undefined && { ledger }),
      ...(values['adopt-ledger'] === true && { ledgerCopies: 'adopt' }),
    }
    const store = await world.openStore(location, beside?.hub)
    try {
      if (signals.received) return 0
      await beside?.processes.start(ours, workers)
      const server = await store
        .listen(listenOptions)
        .catch((error: unknown) => Promise.reject(listenError(error, host, port)))
      reloads?.serve(beside === undefined ? server : renewedEverywhere(server, beside.hub))
      await serve(
        server,
        Promise.race([signals.first, beside?.processes.lost ?? NEVER]),
        world,
        beside?.processes,
      )
      const lost = beside?.processes.lostOne
      if (lost === undefined) return 0
      throw new Error(lost)
    } finally {
      await beside?.processes.stop()
      await store.close()
    }
  } finally {
    reloads?.end()
    endHangups?.()
    signals.end()
  }
}

/** What a server takes beyond that. */
interface StartOptions {
  readonly onProgress?: (sentence: string) => void
  readonly snapshotAgeMs?: number
  readonly lockMsMax?: number
  readonly ledger?: string
  readonly ledgerCopies?: 'adopt'
}

const isPlace = (name: string): boolean => ['path', 'memory', 'engine'].includes(name)

function placeIn(
  { path, engine }: { readonly path?: string; readonly engine?: string },
  last: string | undefined,
): StoreLocation {
  if (last === 'memory') return { memory: true }
  if (last === 'engine' && engine !== undefined) return { engine: readEngine(engine) }
  if (path === '') throw new UsageError('--path must name a folder')
  return { path: path ?? './data' }
}

function readEngine(address: string): CassandraOptions {
  try {
    return cassandraOptionsOf(address)
  } catch (error) {
    throw new UsageError(`--engine: ${(error as Error).message}`)
  }
}

const NEVER = new Promise<never>(() => undefined)

async function workersBeside(): Promise<{
  readonly hub: WorkerHub
  readonly processes: WorkerProcesses
}> {
  const { WorkerProcesses: Processes } = await import('./worker-processes.js')
  const processes = new Processes()
  return { hub: processes.hub, processes }
}

/** Where this worker can use a certificate, the others can. */
const renewedEverywhere = (server: RunningServer, hub: WorkerHub): RunningServer => ({
  ...server,
  renewTls: (tls) => {
    server.renewTls(tls)
    void hub.renewTls(tls)
  },
})

async function serve(
  server: RunningServer,
  untilSignal: Promise<unknown>,
  world: CommandEnvironment,
  processes: WorkerProcesses | undefined,
): Promise<void> {
  world.print(`seriatim listening on ${server.url}`)
  await untilSignal
  // Connections of other workers belong to the port, too: it is closed when they have stopped.
  await Promise.all([server.stop(), processes?.stop()])
}

/** The text itself, or the name of a file that holds it. */
async function readFaultPlan(textOrPath: string): Promise<FaultPlan> {
  if (textOrPath.trimStart().startsWith('{')) return parseFaultPlan(textOrPath)
  let text: string
  try {
    text = await readFile(textOrPath, 'utf8')
  } catch (error) {
    throw new Error(`cannot read the fault plan ${textOrPath}: ${(error as Error).message}`, { cause: error })
  }
  return parseFaultPlan(text)
}

async function readAuth(path: string, world: CommandEnvironment): Promise<Auth> {
  const { auth, warnings } = await loadAuthFile(path)
  for (const warning of warnings) world.printError(`seriatim: warning: ${warning}`)
  return auth
}

function countSignals(world: CommandEnvironment) {
  let resolveFirst: () => void
  const first = new Promise<void>((resolve) => (resolveFirst = resolve))
  const state = { first, received: false, end: () => {} }
  state.end = world.onSignal((signal) => {
    if (state.received) world.exitNow(signal === 'SIGINT' ? 130 : 143)
    state.received = true
    resolveFirst()
  })
  return state
}

function listenError(error: unknown, host: string, port: number): Error {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} of ${host} is already in use; choose another with --port`)
    case 'EACCES':
      return new Error(
        `port ${port} needs privileges that this user does not have; choose one above 1023 with --port`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${host} is not an address of this machine; choose another with --host`)
    case undefined:
    default:
      return error instanceof Error ? error : new Error(message)
  }
}
