// One store in this process: nodes, catalogue and router put together, and the three ways in.
//
//   store.listen()      HTTP  ---\
//   store.client()      AWS SDK --+--> router --> storage nodes
//   store.call()        neither -/
//   store.transactor()  neither /
import type { DynamoDB, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { CommitLog } from '../commit-log/commit-log.js'
import type { DynamoDBStreams, DynamoDBStreamsClientConfig } from '@aws-sdk/client-dynamodb-streams'
import type { OpenOptions, Store } from './store.js'
import { ChangeReaders } from './change-readers.js'
import { inProcessClient, inProcessStreamsClient } from './in-process-client.js'
import type { TableChange, ChangeIterable, ChangesOptions, TransactionChanges } from '../changes/change.js'
import type { StreamHandler } from '../changes/trigger/stream-event.js'
import type { Trigger, TriggerOptions } from '../changes/trigger/trigger-contract.js'
import { type Coordinator, openCoordinator } from '../coordinator/coordinator.js'
import { localPlacement, type Placement } from '../coordinator/placement.js'
import type { StatementScans } from '../partiql/partiql.js'
import type { DirectUnits } from '../port/unit-port.js'
import { type Recovery, startRecovery } from '../recovery/recovery.js'
import { openCatalog, type TableCatalog } from '../router/tables/catalog.js'
import { openRouter } from '../router/local-router.js'
import { queryOperations } from '../router/reads/query-operations.js'
import { deleteItem } from '../router/writes/delete-item.js'
import { getItem } from '../router/reads/get-item.js'
import { putItem } from '../router/writes/put-item.js'
import { updateItem } from '../router/writes/update-item.js'
import { ItemWaits } from '../router/reads/item-waits.js'
import { waitForItem } from '../router/reads/wait-for-item.js'
import { laterOperations } from '../router/later-operations.js'
import { LaterTransfers } from '../router/later-transfers.js'
import type { Buckets } from '../buckets/buckets.js'
import { transactionOperations } from '../router/transactions/transaction-operations.js'
import { isShardMinutes, streamLimits } from '../router/lineage/lineage.js'
import { tableOperations } from '../router/tables/tables.js'
import { openDirectUnits } from '../router/units/direct.js'
import { openTickets } from '../router/request/passes.js'
import { unitOperations } from '../router/units/unit-operations.js'
import { allRules, noRules, type TransactionRules } from '../rules/item/section-4.js'
import { owner, type Router } from '../router/request/router.js'
import { LoopYield } from '../runtime/loop-yield.js'
import { realRuntime } from '../runtime/real-runtime.js'
import { clientRuntime } from '../runtime/client-runtime.js'
import { type Runtime, steadyMicros } from '../runtime/runtime.js'
import { Dispatcher } from '../server/dispatch/dispatch.js'
import { listen, type ListenOptions, type RunningServer } from '../server/http-server.js'
import { serverLimits } from '../server/http/limits.js'
import { Metrics } from '../server/dispatch/metrics.js'
import { refusalOf } from '../storage/items/damage.js'
import { openNodesWithLog } from '../storage/folder/open-local-node.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import type { StoreInput, StoreOperation, StoreOutput } from './store-operations.js'
import type { ExtendedEndpoint } from '../toolkit/endpoint/endpoint.js'
import type { endpointTransactor } from '../toolkit/open-transactor.js'
import type { AnyTables, TableMap, Transactor, TransactorOptions } from '../toolkit/unit/transactor.js'
import { fromWire, toWire } from './wire-values.js'

/** As `open` of ./store.ts, which loads this file. A store that is only served does without the code of units of work. */
export async function openLocalStore(options: OpenOptions, units?: Units): Promise<Store> {
  const runtime: Runtime = { ...realRuntime(), ...(options.clock && { clock: options.clock }) }
  const onError = options.onError ?? warn
  const place = 'path' in options && options.path !== undefined ? { path: options.path } : memory(options)
  const rules = options.rules === 'none' ? noRules : allRules
  const { snapshotAgeMs, lockMsMax, shardMinutes, creatingMs, statementScans } = options
  if (snapshotAgeMs !== undefined && !(Number.isSafeInteger(snapshotAgeMs) && snapshotAgeMs >= 1))
    throw new RangeError(`snapshotAgeMs is a whole number from 1 on, not ${snapshotAgeMs}`)
  if (lockMsMax !== undefined && !(Number.isSafeInteger(lockMsMax) && lockMsMax >= 1))
    throw new RangeError(`lockMsMax is a whole number from 1 on, not ${lockMsMax}`)
  if (shardMinutes !== undefined && !isShardMinutes(shardMinutes))
    throw new RangeError(
      `shardMinutes is a whole number from 1 to ${streamLimits.shardMinutesMax}, not ${shardMinutes}`,
    )
  if (creatingMs !== undefined && !(Number.isSafeInteger(creatingMs) && creatingMs >= 0))
    throw new RangeError(`creatingMs is a whole number from 0 on, not ${creatingMs}`)
  const { nodes, log } = await openNodesWithLog({
    runtime,
    rules,
    units: {
      ...(snapshotAgeMs !== undefined && { snapshotAgeMs }),
      ...(lockMsMax !== undefined && { lockMsMax }),
    },
    ...place,
    ...(options.onProgress && { onProgress: options.onProgress }),
    onTrouble: onError,
    ...(options.nodes !== undefined && { nodes: options.nodes }),
  })
  try {
    const buckets = options.buckets === undefined ? undefined : await openBuckets(options.buckets, runtime)
    return await openStore({
      runtime,
      ...(buckets && { buckets }),
      clients: { ...clientRuntime(), ...(options.clock && { clock: options.clock }) },
      nodes,
      log,
      placement: localPlacement(nodes.length),
      rules,
      sharedJournal: 'path' in place,
      isSoleOwner: true,
      ...(shardMinutes !== undefined && { shardMinutes }),
      ...(creatingMs !== undefined && { creatingMs }),
      ...(statementScans !== undefined && { statementScans }),
      onError,
      ...(units && { units }),
    })
  } catch (error) {
    await Promise.all(nodes.map((node) => node.close()))
    throw refusalOf(error, options.path ?? '')
  }
}

async function openBuckets(root: string, runtime: Runtime): Promise<Buckets> {
  const { openFolderBuckets } = await import('../buckets/folder-buckets.js')
  return openFolderBuckets({ root, randomBytes: (count) => runtime.randomBytes(count) })
}

/** Closed with the last of the nodes. */
export interface StoreLog extends CommitLog {
  /** Lets go of what no promise asks for any more. */
  trim(): Promise<void>
}

/** Makes a transactor of an endpoint. */
export type Units = typeof endpointTransactor

export interface StoreParts {
  readonly runtime: Runtime
  /** For the toolkit on this store. */
  readonly clients: Runtime
  /** The store closes them when it is closed. If it cannot be opened they are still the caller's. */
  readonly nodes: readonly StorageNode[]
  /** What is committed at them; absent: no table may ask for it. */
  readonly log?: StoreLog
  readonly placement: Placement
  readonly rules: TransactionRules
  /** All nodes write to one journal. */
  readonly sharedJournal: boolean
  /** No other router uses these nodes: what the one before it has left is taken over at once. */
  readonly isSoleOwner: boolean
  /** When the shards of streams roll. */
  readonly shardMinutes?: number
  /** For how long tables and indexes stay CREATING. */
  readonly creatingMs?: number
  readonly statementScans?: StatementScans
  /** For exports and imports; absent: there is no bucket. */
  readonly buckets?: Buckets
  readonly onError: (error: unknown) => void
  /** Absent: the store has no transactors. */
  readonly units?: Units
}

/** A store on nodes as they are given, whoever owns them. */
export async function openStore(parts: StoreParts): Promise<Store> {
  const { runtime, nodes, log, placement, rules, sharedJournal, isSoleOwner, onError } = parts
  const { shardMinutes, creatingMs } = parts
  const catalog = await openCatalog({
    runtime,
    nodes,
    isSoleOwner,
    ...(log && { log }),
    ...(shardMinutes !== undefined && { shardMinutes }),
    ...(creatingMs !== undefined && { creatingMs }),
    onBackgroundError: onError,
  })
  const recovery = startRecovery({ runtime, nodes, placement, onError })
  for (const [position, node] of nodes.entries()) node.onStalled((tx) => recovery.report(position, tx))
  // The coordinator before this one is gone: what it left need not wait until it looks stalled.
  if (isSoleOwner) await recovery.takeOver()
  const coordinator = openCoordinator({ runtime, nodes, placement, rules, sharedJournal })
  const store = new LocalStore(parts, { catalog, coordinator, recovery })
  if (isSoleOwner) await store.takeOver()
  return store
}

function memory(options: OpenOptions): { readonly memory: true } {
  if (options.memory === true) return { memory: true }
  throw new TypeError('open() needs a place for the data: { path: DIR } or { memory: true }')
}

const warn = (error: unknown): void =>
  process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimError')

interface Opened {
  readonly catalog: TableCatalog
  readonly coordinator: Coordinator
  readonly recovery: Recovery
}

class LocalStore implements Store {
  readonly #nodes: readonly StorageNode[]
  readonly #catalog: TableCatalog
  readonly #coordinator: Coordinator
  readonly #recovery: Recovery
  readonly #router: Router
  readonly #transfers: LaterTransfers
  readonly #direct: DirectUnits
  readonly #log: StoreLog | undefined
  readonly #waits = new ItemWaits()
  readonly #readers: ChangeReaders
  readonly #share: LoopYield
  readonly #clients: Runtime
  readonly #units: Units | undefined
  readonly #statementScans: StatementScans | undefined
  readonly #servers = new Set<RunningServer>()
  #dispatcher: Dispatcher | undefined
  #closed: Promise<void> | undefined

  constructor(
    { runtime, clients, nodes, log, placement, rules, statementScans, buckets, onError, units }: StoreParts,
    { catalog, coordinator, recovery }: Opened,
  ) {
    this.#statementScans = statementScans
    this.#clients = clients
    this.#units = units
    this.#share = new LoopYield(runtime)
    this.#nodes = nodes
    this.#log = log
    this.#catalog = catalog
    this.#coordinator = coordinator
    this.#recovery = recovery
    this.#readers = new ChangeReaders({ runtime, share: this.#share, catalog, ...(log && { log }), onError })
    const context = {
      runtime,
      catalog,
      nodes,
      nodeOf: (hash: number) => nodes[placement.nodeOf(hash)] as StorageNode,
      coordinator,
      rules,
      ...(log && { log }),
      ...(statementScans && { statementScans }),
      startedMicros: steadyMicros(runtime.clock),
      tickets: openTickets({ runtime, coordinator }),
    }
    this.#direct = openDirectUnits(context, onError)
    this.#transfers = new LaterTransfers({ runtime, home: nodes[0] as StorageNode, buckets, onError })
    this.#router = openRouter({
      context,
      operations: [
        getItem,
        putItem,
        updateItem,
        deleteItem,
        ...queryOperations,
        ...transactionOperations,
        ...unitOperations,
        ...tableOperations,
        ...laterOperations,
        ...this.#transfers.operations,
        waitForItem(this.#waits),
      ],
      endWaits: () => this.#waits.endAll(),
      onInternalError: onError,
    })
  }

  /** What the process before this one was at work on. */
  async takeOver(): Promise<void> {
    await this.#transfers.takeOver()
  }

  client(config: DynamoDBClientConfig = {}): DynamoDB {
    return inProcessClient(this.#wire(), this.#share, config)
  }

  streamsClient(config: DynamoDBStreamsClientConfig = {}): DynamoDBStreams {
    return inProcessStreamsClient(this.#wire(), this.#share, config)
  }

  #wire(): Dispatcher {
    this.#assertOpen()
    this.#dispatcher ??= new Dispatcher(this.#router, { limits: serverLimits, metrics: new Metrics() })
    return this.#dispatcher
  }

  changes<Item extends object>(
    tables: string | readonly string[],
    { by = 'record', ...options }: ChangesOptions & { readonly by?: 'record' | 'transaction' } = {},
  ): ChangeIterable<TableChange<Item>> & ChangeIterable<TransactionChanges<Item>> {
    this.#assertOpen()
    const names = typeof tables === 'string' ? [tables] : tables
    if (by === 'transaction') return this.#readers.byTransaction(names, options) as never
    if (by !== 'record') throw new TypeError(`by is record or transaction, not ${String(by)}`)
    const [table, ...more] = names
    if (table === undefined || more.length > 0)
      throw new TypeError("changes() of several tables are read by transaction: { by: 'transaction' }")
    return this.#readers.byRecord(table, options) as never
  }

  trigger(table: string, options: TriggerOptions, handler: StreamHandler): Trigger {
    this.#assertOpen()
    return this.#readers.trigger(table, options, handler)
  }

  call<Name extends StoreOperation>(operation: Name, input: StoreInput<Name>): Promise<StoreOutput<Name>> {
    return this.#share.of(this.#call(operation, input))
  }

  async #call<Name extends StoreOperation>(
    operation: Name,
    input: StoreInput<Name>,
  ): Promise<StoreOutput<Name>> {
    this.#assertOpen()
    const reply = await this.#router.handle({ operation, input: toWire(input), principal: owner })
    if (!reply.ok) throw Object.assign(reply.error, fromWire(reply.error.members))
    return fromWire(parsedBody(reply.body)) as StoreOutput<Name>
  }

  transactor<Tables extends TableMap<Tables> = AnyTables>(
    options: TransactorOptions = {},
  ): Transactor<Tables> {
    this.#assertOpen()
    if (this.#units === undefined) throw new Error('This store was opened only to be served.')
    const scans = this.#statementScans
    const own = { ...(scans && { statementScans: scans }), ...options, protocol: 'seriatim' } as const
    return this.#units(this.#endpoint(), own, this.#clients)
  }

  /** Parsed input goes to the router as it is, and nothing is serialized but the answer. */
  #endpoint(): ExtendedEndpoint {
    const direct = this.#direct
    const extension: ExtendedEndpoint['extension'] = async (operation, input) => {
      this.#assertOpen()
      const reply = await this.#router.handle({ operation, input, principal: owner })
      if (!reply.ok) throw Object.assign(reply.error, reply.error.members)
      return parsedBody(reply.body)
    }
    return {
      losesNoAnswers: true,
      direct: {
        getItems: (request) => {
          this.#assertOpen()
          return this.#share.of(direct.getItems(request))
        },
        commit: (request) => {
          this.#assertOpen()
          return this.#share.of(direct.commit(request))
        },
      },
      call: (operation, input) => this.call(operation, input),
      extension: (operation, input) => this.#share.of(extension(operation, input)),
    }
  }

  async listen(options: ListenOptions = {}): Promise<RunningServer> {
    this.#assertOpen()
    const server = await listen(this.#router, options)
    this.#servers.add(server)
    return server
  }

  async reset(): Promise<void> {
    this.#assertOpen()
    await this.#catalog.change((draft) => {
      for (const record of this.#catalog.records()) draft.remove(record)
    })
    await this.#catalog.idle()
  }

  async idle(): Promise<void> {
    await this.#transfers.idle()
    await this.#coordinator.idle()
    await this.#catalog.idle()
    await this.#log?.trim()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#waits.endAll()
    await this.#readers.close()
    await Promise.all([...this.#servers].map((server) => server.stop()))
    await this.#transfers.close()
    await this.#catalog.close()
    await this.#coordinator.idle()
    await this.#recovery.stop()
    await Promise.all(this.#nodes.map((node) => node.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new Error('This store is closed.')
  }
}

/** Without a copy of the bytes. Some operations answer with nothing at all. */
const parsedBody = (body: Uint8Array): unknown =>
  body.byteLength === 0
    ? {}
    : JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
