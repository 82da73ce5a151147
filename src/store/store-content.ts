// What a store consists of upon one set of nodes: catalogue, coordinator, recovery and router put together. A store in memory
// may get another content (`restore`): as a whole, so that no request meets parts of both.
//
//   nodes, log --> catalogue --> recovery takes over --> coordinator --> router, units of work, readers of changes
import { Blocks } from '../blocks/blocks.js'
import { BlockReader } from '../blocks/block-reader.js'
import { ledgerSigner, shelfKeyPlace } from '../blocks/ledger-key.js'
import { renameLedger } from '../blocks/rename.js'
import { openPageThread } from '../blocks/page-thread.js'
import type { Buckets } from '../buckets/buckets.js'
import type { CommitLog } from '../commit-log/commit-log.js'
import { ChangeReaders } from './change-readers.js'
import { type Coordinator, openCoordinator } from '../coordinator/coordinator.js'
import { nodeByHash, type Placement } from '../coordinator/placement.js'
import type { EndedTransaction } from '../coordinator/recent.js'
import { matcherOf } from '../model/name-pattern.js'
import type { StatementScans } from '../partiql/partiql.js'
import type { DirectUnits } from '../port/unit-port.js'
import { type Recovery, startRecovery } from '../recovery/recovery.js'
import { openCatalog, type TableCatalog } from '../router/tables/catalog/catalog.js'
import { LeasedClaim } from '../router/tables/catalog/claims.js'
import { Tending } from '../router/tables/catalog/tending.js'
import { openRouter } from '../router/local-router.js'
import { queryOperations } from '../router/reads/query-operations.js'
import { deleteItem } from '../router/writes/delete-item.js'
import { getItem } from '../router/reads/get-item.js'
import { putItem } from '../router/writes/put-item.js'
import { updateItem } from '../router/writes/update-item.js'
import { ItemWaits } from '../router/reads/item-waits.js'
import { waitForItem } from '../router/reads/wait-for-item.js'
import { laterBackups, laterOperations } from '../router/later-operations.js'
import { LaterTransfers } from '../router/later-transfers.js'
import { transactionOperations } from '../router/transactions/transaction-operations.js'
import { tableOperations } from '../router/tables/tables.js'
import { openDirectUnits } from '../router/units/direct.js'
import { largeReadLine, searchLine } from '../router/request/fair-line.js'
import { openPasses } from '../router/request/passes.js'
import { unitOperations } from '../router/units/unit-operations.js'
import type { TransactionRules } from '../rules/item/section-4.js'
import type { Router } from '../router/request/router.js'
import { type BackupFiles, StoreBackups } from './store-backups.js'
import type { LoopYield } from '../runtime/loop-yield.js'
import { type Runtime, steadyMicros } from '../runtime/runtime.js'
import type { KeyPlace } from '../storage/contract/key-place.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import type { NodesMemory } from '../storage/node/memory-nodes.js'
import type { WorkerHub } from './worker-hub.js'

/** Closed with the last of the nodes. */
export interface StoreLog extends CommitLog {
  /** Lets go of what no promise asks for any more. */
  trim(): Promise<void>
}

export interface ContentParts {
  readonly runtime: Runtime
  /** Closed with the content. If it cannot be opened they are still the caller's. */
  readonly nodes: readonly StorageNode[]
  /** What is committed at them; absent: no table may ask for it. */
  readonly log?: StoreLog
  /** Of nodes in memory. */
  readonly memory?: NodesMemory
  /** Where the key of the ledger is kept; absent: on the shelf. */
  readonly key?: KeyPlace
  /** New tables with such a name are ledgers. */
  readonly ledger?: string
  /** Of data folders with a ledger; absent: they are refused. */
  readonly copies?: 'refuse' | 'adopt'
  /** Of nodes in memory: others go on from the same, so that a ledger needs another name. */
  readonly isCopy?: boolean
  readonly placement: Placement
  readonly rules: TransactionRules
  /** All nodes write to one journal. */
  readonly sharedJournal: boolean
  /** No other router uses these nodes: what the one before it has left is taken over at once. */
  readonly isSoleOwner: boolean
  /** That other routers seal NextTokens with, too; absent: this one makes its own. */
  readonly secret?: string
  /** Snapshots, units of work and waits are served here; absent: they are. Clients do without where they are not. */
  readonly hasUnits?: boolean
  /** As the catalogue has them: how long other routers may be behind, and how often this one looks. */
  readonly leaseMs?: number
  readonly staleMs?: number
  readonly refreshMs?: number
  /** What is counted of the engine, for /metrics. */
  readonly metrics?: () => string
  /** Called once everything is closed. */
  readonly closed?: () => Promise<void>
  /** When the shards of streams roll. */
  readonly shardMinutes?: number
  /** For how long tables and indexes stay CREATING. */
  readonly creatingMs?: number
  readonly statementScans?: StatementScans
  /** For exports and imports; absent: there is no bucket. */
  readonly buckets?: Buckets
  /** Where backups are kept; asked for by the first who needs it. Absent: there are none. */
  readonly backupFiles?: () => BackupFiles
  readonly onError: (error: unknown) => void
  /** Told of a ledger that begins, with its public key. */
  readonly onProgress?: (sentence: string) => void
  /** Other workers of this server, on these nodes; absent: there are none. */
  readonly hub?: WorkerHub
}

/** @param share the turns that the requests of the store take */
export async function openContent(parts: ContentParts, share: LoopYield): Promise<StoreContent> {
  const { runtime, nodes, log, placement, rules, sharedJournal, isSoleOwner, onError } = parts
  const { shardMinutes, creatingMs, leaseMs, staleMs, refreshMs, hub } = parts
  const catalog = await openCatalog({
    runtime,
    nodes,
    isSoleOwner,
    ...(log && { log }),
    ...(shardMinutes !== undefined && { shardMinutes }),
    ...(creatingMs !== undefined && { creatingMs }),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(staleMs !== undefined && { staleMs }),
    ...(refreshMs !== undefined && { refreshMs }),
    ...(hub && { announce: () => hub.announce() }),
    onBackgroundError: onError,
  })
  const recovery = startRecovery({ runtime, nodes, placement, onError })
  for (const [position, node] of nodes.entries()) node.onStalled((tx) => recovery.report(position, tx))
  // The coordinator before this one is gone: what it left need not wait until it looks stalled.
  if (isSoleOwner) await recovery.takeOver()
  const own = openCoordinator({ runtime, nodes, placement, rules, sharedJournal })
  const coordinator: Coordinator = hub
    ? { ...own, recent: () => newestFirst([...own.recent(), ...hub.recent]) }
    : own
  const blocks = await openBlocks(parts, catalog)
  const content = new StoreContent(parts, {
    catalog,
    coordinator,
    recovery,
    share,
    ...(blocks && { blocks }),
  })
  await content.backups.begin()
  // So do exports and imports that the process before this one was at work on.
  if (isSoleOwner) await content.transfers.takeOver()
  return content
}

/** As one coordinator has them. */
const newestFirst = (ended: readonly EndedTransaction[]): readonly EndedTransaction[] =>
  ended.toSorted((one, other) => other.endedMicros - one.endedMicros)

/** Undefined: no table of such a store can be a ledger. */
async function openBlocks(parts: ContentParts, catalog: TableCatalog): Promise<Blocks | undefined> {
  const { runtime, nodes, log, key, copies = 'refuse', onError, onProgress } = parts
  const shelf = nodes[0]?.shelf
  if (log === undefined || shelf === undefined) return undefined
  const place = key ?? shelfKeyPlace(shelf)
  if (parts.isCopy === true) await renameLedger(runtime, shelf, new BlockReader(shelf))
  const blocks = new Blocks({
    runtime,
    log,
    shelf,
    tables: catalog,
    signer: () =>
      ledgerSigner({
        runtime,
        shelf,
        place,
        copies,
        onMade: onProgress && ((made) => onProgress(`A ledger begins. Its public key: ${made}`)),
      }),
    passNodes: async () => void (await Promise.all(nodes.map((node) => node.writeMeta([PASSING])))),
    // Of a store in memory the writes cost so little that a thread would not be worth it.
    ...(key && { thread: openPageThread() }),
    onTrouble: onError,
  })
  return blocks.open()
}

/** Writes nothing that is there, and is durable only after all that was decided before it. */
const PASSING = { name: 'passing' } as const

interface Opened {
  readonly catalog: TableCatalog
  readonly blocks?: Blocks
  readonly coordinator: Coordinator
  readonly recovery: Recovery
  readonly share: LoopYield
}

export class StoreContent {
  readonly router: Router
  readonly direct: DirectUnits
  readonly readers: ChangeReaders
  readonly catalog: TableCatalog
  /** Exports and imports. */
  readonly transfers: LaterTransfers
  readonly backups: StoreBackups
  /** Of nodes in memory. */
  readonly memory: NodesMemory | undefined
  readonly #nodes: readonly StorageNode[]
  readonly #coordinator: Coordinator
  readonly #recovery: Recovery
  readonly #log: StoreLog | undefined
  readonly #blocks: Blocks | undefined
  readonly #waits = new ItemWaits()
  readonly #closed: ContentParts['closed']
  /** Of nodes that several servers have. */
  readonly #tending: Tending

  constructor(
    {
      runtime,
      nodes,
      log,
      memory,
      placement,
      rules,
      statementScans,
      buckets,
      isSoleOwner,
      ...more
    }: ContentParts,
    { catalog, coordinator, recovery, share, blocks }: Opened,
  ) {
    const { onError, ledger, backupFiles: files, hub, secret } = more
    this.#blocks = blocks
    this.catalog = catalog
    this.memory = memory
    this.#nodes = nodes
    this.#log = log
    this.#coordinator = coordinator
    this.#recovery = recovery
    this.readers = new ChangeReaders({ runtime, share, catalog, ...(log && { log }), onError })
    const context = {
      runtime,
      catalog,
      nodes,
      nodeOf: nodeByHash(nodes, placement),
      coordinator,
      recovery,
      rules,
      ...(log && { log }),
      ...(statementScans && { statementScans }),
      ...(blocks && { blocks }),
      ...(ledger !== undefined && { isLedger: matcherOf(ledger) }),
      startedMicros: steadyMicros(runtime.clock),
      passes: openPasses({ runtime, coordinator, ...(secret !== undefined && { secret }) }),
      searches: searchLine(),
      largeReads: largeReadLine(),
    }
    const { nodeOf } = context
    const { snapshots } = coordinator
    this.backups = new StoreBackups({ runtime, nodes, nodeOf, catalog, snapshots, log, files, onError })
    this.direct = openDirectUnits(context, onError)
    this.transfers = new LaterTransfers({
      runtime,
      home: nodes[0] as StorageNode,
      backups: () => this.backups.open(),
      buckets,
      onError,
    })
    const { hasUnits = true } = more
    this.#closed = more.closed
    this.#tending = new Tending({
      runtime,
      nodes,
      tables: () => catalog.shapes(),
      claim: new LeasedClaim({
        runtime,
        home: nodes[0] as StorageNode,
        work: 'tending',
        onTaken: () => catalog.refreshIfChanged(),
      }),
      onError,
    })
    const router = openRouter({
      context,
      operations: [
        getItem,
        putItem,
        updateItem,
        deleteItem,
        ...queryOperations,
        ...transactionOperations,
        ...(hasUnits ? unitOperations : []),
        ...tableOperations,
        ...laterOperations,
        ...this.transfers.operations,
        ...laterBackups(() => this.backups.open()),
        ...(hasUnits ? [waitForItem(this.#waits)] : []),
      ],
      endWaits: () => this.#waits.endAll(),
      onInternalError: onError,
    })
    const { metrics } = more
    this.router = {
      ...(isSoleOwner ? router : withFreshTables(router, catalog)),
      ...(metrics && { metrics }),
    }
    hub?.serve({
      runtime,
      served: nodes,
      router: this.router,
      nodes: nodes.length,
      sharedJournal: more.sharedJournal,
      secret: context.passes.secret,
      operations: this.router.operations,
      targetPrefixes: this.router.targetPrefixes ?? new Map(),
      creatingMs: more.creatingMs ?? 0,
    })
  }

  async idle(): Promise<void> {
    await this.transfers.idle()
    await this.backups.idle()
    await this.#coordinator.idle()
    await this.catalog.idle()
    await this.#log?.trim()
  }

  /** Ends those who wait for changes; resolves when no handler runs any more. */
  async endReaders(): Promise<void> {
    this.#waits.endAll()
    await this.readers.close()
  }

  /** After `endReaders`: completes the requests that were accepted, and closes the nodes. */
  async close(): Promise<void> {
    await this.transfers.close()
    await this.backups.close()
    await this.#blocks?.close()
    await this.#tending.close()
    await this.catalog.close()
    await this.#coordinator.idle()
    await this.#recovery.stop()
    await Promise.all(this.#nodes.map((node) => node.close()))
    await this.#closed?.()
  }
}

/** Another router may have made a table that this one does not know yet: it looks before it says so. */
function withFreshTables(router: Router, catalog: TableCatalog): Router {
  return {
    ...router,
    handle: async (request) => {
      const reply = await router.handle(request)
      if (reply.ok || reply.error.name !== 'ResourceNotFoundException') return reply
      const before = catalog.version
      await catalog.refreshIfChanged().catch(() => undefined)
      return catalog.version === before ? reply : router.handle(request)
    },
  }
}
