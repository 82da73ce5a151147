// One store in this process: nodes, catalogue and router put together, and the three ways in.
//
//   store.listen()      HTTP  ---\
//   store.client()      AWS SDK --+--> router --> storage nodes
//   store.call()        neither -/
//   store.transactor()  neither /
import { owner } from '../router/request/access.js'
import type { DynamoDB, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreams, DynamoDBStreamsClientConfig } from '@aws-sdk/client-dynamodb-streams'
import type { ForkOptions, OpenOptions, Store, StoreSnapshot } from './store.js'
import { lightClient, type LightClient, type LightClientOptions, type LikeClass } from './light-client.js'
import { inProcessClient, inProcessStreamsClient } from './in-process-client.js'
import type { TableChange, ChangeIterable, ChangesOptions, TransactionChanges } from '../changes/change.js'
import type { StreamHandler } from '../changes/trigger/stream-event.js'
import type { Trigger, TriggerOptions } from '../changes/trigger/trigger-contract.js'
import type { Buckets } from '../buckets/buckets.js'
import { localPlacement } from '../coordinator/placement.js'
import { allRules, noRules, workerRules } from '../rules/item/section-4.js'
import { type Router } from '../router/request/router.js'
import { LoopYield } from '../runtime/loop-yield.js'
import { clientRuntime, realRuntime } from '../runtime/real-runtime.js'
import type { Runtime } from '../runtime/runtime.js'
import { Dispatcher } from '../server/dispatch/dispatch.js'
import { listen, type ListenOptions, type RunningServer } from '../server/http-server.js'
import { serverLimits } from '../server/http/limits.js'
import { Metrics } from '../server/dispatch/metrics.js'
import { DumpRefused } from '../line/errors.js'
import { refusalOf } from '../storage/items/damage.js'
import { openNodesWithLog } from '../storage/folder/open-local-node.js'
import {
  type MemoryImage,
  memoryNodes,
  type MemoryNodes,
  type NodesMemory,
} from '../storage/node/memory-nodes.js'
import { backupFilesOf } from './store-backups.js'
import { type ContentParts, openContent, type StoreContent } from './store-content.js'
import { type StoreLedger, storeLedger } from './store-ledger.js'
import type { StoreInput, StoreOperation, StoreOutput } from './store-operations.js'
import { MemorySnapshot, onlyInMemory } from './store-snapshot.js'
import { refuseOptions } from './open-options.js'
import type { ExtendedEndpoint } from '../toolkit/endpoint/endpoint.js'
import type { endpointTransactor } from '../toolkit/open-transactor.js'
import type { AnyTables, TableMap, Transactor, TransactorOptions } from '../toolkit/unit/transactor.js'
import { fromWire, toWire } from './wire-values.js'
import type { WorkerHub } from './worker-hub.js'

/** As `open` of ./store.ts, which loads this file. A store that is only served does without the code of units of work. */
export async function openLocalStore(options: OpenOptions, units?: Units, hub?: WorkerHub): Promise<Store> {
  const runtime: Runtime = { ...realRuntime(), ...(options.clock && { clock: options.clock }) }
  const onError = options.onError ?? warn
  const rules = options.rules === 'none' ? noRules : hub === undefined ? allRules : workerRules
  const { path, snapshotAgeMs, lockMsMax, memoryMb, shardMinutes, creatingMs, statementScans } = options
  refuseOptions(options)
  const limits = {
    ...(snapshotAgeMs !== undefined && { snapshotAgeMs }),
    ...(lockMsMax !== undefined && { lockMsMax }),
  }
  if (options.engine !== undefined) {
    const { engineParts } = await import('./engine-store.js')
    return openStore({
      runtime,
      clients: { ...clientRuntime(), ...(options.clock && { clock: options.clock }) },
      ...(await engineParts(options.engine, runtime, options.fleet ?? {}, onError)),
      ...(creatingMs !== undefined && { creatingMs }),
      ...(statementScans !== undefined && { statementScans }),
      onError,
      ...(units && { units }),
    })
  }
  const budget = memoryMb !== undefined && { memoryMb }
  const opened =
    path === undefined
      ? memoryNodes({ runtime, rules, units: limits, ...budget, ...(await beginning(options)) })
      : await openNodesWithLog({
          runtime,
          rules,
          units: limits,
          path,
          ...budget,
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
      ...opened,
      placement: localPlacement(opened.nodes.length),
      rules,
      sharedJournal: path !== undefined,
      isSoleOwner: true,
      ...(shardMinutes !== undefined && { shardMinutes }),
      ...(creatingMs !== undefined && { creatingMs }),
      ...(statementScans !== undefined && { statementScans }),
      backupFiles: () => backupFilesOf(options),
      ...(options.ledger !== undefined && { ledger: options.ledger }),
      ...(options.ledgerCopies !== undefined && { copies: options.ledgerCopies }),
      onError,
      ...(options.onProgress && { onProgress: options.onProgress }),
      ...(units && { units }),
      ...(hub && { hub }),
      ...(options.from !== undefined && { isCopy: true }),
      ...(path === undefined && {
        reopen: (image, its) => memoryNodes({ runtime: its, rules, units: limits, ...budget, image }),
      }),
    })
  } catch (error) {
    await Promise.all(opened.nodes.map((node) => node.close()))
    throw refusalOf(error, path ?? '')
  }
}

async function openBuckets(root: string, runtime: Runtime): Promise<Buckets> {
  const { openFolderBuckets } = await import('../buckets/folder-buckets.js')
  return openFolderBuckets({ root, randomBytes: (count) => runtime.randomBytes(count) })
}

/** What nodes in memory begin with. */
async function beginning({ nodes, from }: OpenOptions): Promise<{ nodes?: number; image?: MemoryImage }> {
  if (from === undefined) return nodes === undefined ? {} : { nodes }
  const { readDump } = await import('../storage/dump/dump.js')
  const image = await readDump(from)
  const { length } = image.maps
  if (nodes === undefined || nodes === length) return { image }
  throw new DumpRefused(
    `The dump ${from} was made of ${length} ${length === 1 ? 'node' : 'nodes'}, not ${nodes}. Leave nodes out, or say ` +
      `nodes: ${length}.`,
  )
}

/** Makes a transactor of an endpoint. */
export type Units = typeof endpointTransactor

/** The nodes of it are closed with the store. */
export interface StoreParts extends ContentParts {
  /** For the toolkit on this store. */
  readonly clients: Runtime
  /** Opens other nodes in memory, with that content; absent: the store has no copies. */
  readonly reopen?: (image: MemoryImage, runtime: Runtime) => MemoryNodes
  /** Absent: the store has no transactors. */
  readonly units?: Units
}

/** A store on nodes as they are given, whoever owns them. */
export async function openStore(parts: StoreParts): Promise<Store> {
  const share = new LoopYield(parts.runtime)
  return new LocalStore(parts, await openContent(parts, share), share)
}

const warn = (error: unknown): void =>
  process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimError')

/** The same with other nodes in memory, which have that content. */
function reopened(parts: StoreParts, image: MemoryImage): StoreParts {
  if (parts.reopen === undefined) throw new Error('These nodes have no copies.')
  const opened = parts.reopen(image, parts.runtime)
  return { ...parts, ...opened, isCopy: true, placement: localPlacement(opened.nodes.length) }
}

class LocalStore implements Store {
  readonly #parts: StoreParts
  readonly #share: LoopYield
  readonly #servers = new Set<RunningServer>()
  /** To whatever the content is when a request comes. */
  readonly #router: Router
  #content: StoreContent
  #dispatcher: Dispatcher | undefined
  #closed: Promise<void> | undefined

  constructor(parts: StoreParts, content: StoreContent, share: LoopYield) {
    this.#parts = parts
    this.#content = content
    this.#share = share
    this.#router = {
      ...content.router,
      handle: (request) => this.#content.router.handle(request),
      endWaits: () => this.#content.router.endWaits?.(),
    }
  }

  client(config: DynamoDBClientConfig = {}): DynamoDB {
    return inProcessClient(this.#wire(), this.#share, config)
  }

  streamsClient(config: DynamoDBStreamsClientConfig = {}): DynamoDBStreams {
    return inProcessStreamsClient(this.#wire(), this.#share, config)
  }

  lightClient<Client extends object = LightClient>(
    options: LightClientOptions & { readonly as?: LikeClass<Client> | undefined } = {},
  ): Client {
    this.#assertOpen()
    return lightClient<Client>(
      (operation, input, region) => this.#share.of(this.#run(operation, input, region)),
      options,
    )
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
    if (by === 'transaction') return this.#content.readers.byTransaction(names, options) as never
    if (by !== 'record') throw new TypeError(`by is record or transaction, not ${String(by)}`)
    const [table, ...more] = names
    if (table === undefined || more.length > 0)
      throw new TypeError("changes() of several tables are read by transaction: { by: 'transaction' }")
    return this.#content.readers.byRecord(table, options) as never
  }

  trigger(table: string, options: TriggerOptions, handler: StreamHandler): Trigger {
    this.#assertOpen()
    return this.#content.readers.trigger(table, options, handler)
  }

  readonly ledger: StoreLedger = storeLedger((operation, input) =>
    this.#share.of(this.#extension(operation, input)),
  )

  call<Name extends StoreOperation>(operation: Name, input: StoreInput<Name>): Promise<StoreOutput<Name>> {
    return this.#share.of(this.#run(operation, input)) as Promise<StoreOutput<Name>>
  }

  /** Input and output in the SDK's shapes. */
  async #run(operation: string, input: unknown, region?: string): Promise<object> {
    this.#assertOpen()
    const request = { operation, input: toWire(input), principal: owner }
    const reply = await this.#router.handle(
      region === undefined ? request : { ...request, addressed: { region } },
    )
    if (!reply.ok) throw Object.assign(reply.error, fromWire(reply.error.members))
    return fromWire(parsedBody(reply.body)) as object
  }

  transactor<Tables extends TableMap<Tables> = AnyTables>(
    options: TransactorOptions = {},
  ): Transactor<Tables> {
    this.#assertOpen()
    const { units, clients, statementScans } = this.#parts
    if (units === undefined) throw new Error('This store was opened only to be served.')
    const { hasUnits = true } = this.#parts
    const own = { ...(statementScans && { statementScans }), ...options }
    return hasUnits
      ? units(this.#endpoint(), { ...own, protocol: 'seriatim' }, clients)
      : units(this.#plainEndpoint(), own, clients)
  }

  /** Parsed input goes to the router as it is, and nothing is serialized but the answer. */
  #endpoint(): ExtendedEndpoint {
    return {
      losesNoAnswers: true,
      direct: {
        layout: (table) => {
          this.#assertOpen()
          return this.#content.direct.layout(table)
        },
        getItems: (request) => {
          this.#assertOpen()
          return this.#share.of(this.#content.direct.getItems(request))
        },
        commit: (request) => {
          this.#assertOpen()
          return this.#share.of(this.#content.direct.commit(request))
        },
      },
      call: (operation, input) => this.call(operation, input),
      extension: (operation, input) => this.#share.of(this.#extension(operation, input)),
    }
  }

  /** Of a store that serves no units: those of the toolkit are made of plain requests. */
  #plainEndpoint(): ExtendedEndpoint {
    const { direct: _, ...plain } = this.#endpoint()
    return plain
  }

  async #extension(operation: string, input: unknown): Promise<unknown> {
    this.#assertOpen()
    const reply = await this.#router.handle({ operation, input, principal: owner })
    if (!reply.ok) throw Object.assign(reply.error, reply.error.members)
    return parsedBody(reply.body)
  }

  async listen(options: ListenOptions = {}): Promise<RunningServer> {
    this.#assertOpen()
    const { hub } = this.#parts
    if (hub === undefined) {
      const server = await listen(this.#router, options)
      this.#servers.add(server)
      return server
    }
    const { auth } = options
    if (auth !== undefined) hub.holderOf = (id) => auth.holderOf?.(id)
    const router: Router = { ...this.#router, handle: (request) => hub.asked(request) }
    const server = await listen(router, options, hub.edge)
    hub.ownCounts = () => server.counts()
    this.#servers.add(server)
    return server
  }

  async fork({ clock }: ForkOptions = {}): Promise<Store> {
    const image = this.#inMemory('fork').image()
    const { runtime, clients } = this.#parts
    const parts = clock
      ? { ...this.#parts, runtime: { ...runtime, clock }, clients: { ...clients, clock } }
      : this.#parts
    return openStore(reopened(parts, image))
  }

  // eslint-disable-next-line typescript/require-await -- an exception must reject
  async snapshot(): Promise<StoreSnapshot> {
    return new MemorySnapshot(this.#inMemory('snapshot').image())
  }

  async restore(snapshot: StoreSnapshot): Promise<void> {
    this.#inMemory('restore')
    const content = await openContent(reopened(this.#parts, MemorySnapshot.imageOf(snapshot)), this.#share)
    if (this.#closed !== undefined) {
      await content.close()
      this.#assertOpen()
    }
    const before = this.#content
    // What was given out is not given out again: a unit of work that has read before commits nothing upon what is here now.
    if (before.memory !== undefined) content.memory?.raise(before.memory.clock)
    this.#content = content
    await before.endReaders()
    await before.close()
  }

  async dump(file: string): Promise<void> {
    const image = this.#inMemory('dump').image()
    // Opened once more, so that transactions which concern several nodes are finished or cancelled in what is written.
    const copy = await openContent({ ...reopened(this.#parts, image), isCopy: false }, this.#share)
    try {
      const { writeDump } = await import('../storage/dump/dump.js')
      await writeDump(file, (copy.memory as NodesMemory).image())
    } finally {
      await copy.close()
    }
  }

  #inMemory(method: string): NodesMemory {
    this.#assertOpen()
    const { memory } = this.#content
    if (memory === undefined) throw onlyInMemory(method)
    return memory
  }

  async reset(): Promise<void> {
    this.#assertOpen()
    const { catalog } = this.#content
    for (const record of catalog.records()) await catalog.keeper.written(record)
    await catalog.change((draft) => {
      for (const record of catalog.records()) draft.remove(record)
    })
    await catalog.idle()
  }

  async idle(): Promise<void> {
    await this.#content.idle()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const content = this.#content
    await content.endReaders()
    await Promise.all([...this.#servers].map((server) => server.stop()))
    await content.close()
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
