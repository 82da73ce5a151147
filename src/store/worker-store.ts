// A worker beside the first one: a router and a coordinator of its own, on nodes of the first worker.
//
//   edge --> router --+--> items: coordinator, nodes behind the channel
//                     \--> everything else: handed on to the first worker
import { type Coordinator, openCoordinator } from '../coordinator/coordinator.js'
import { localPlacement, nodeByHash } from '../coordinator/placement.js'
import type { StatementScans } from '../partiql/partiql.js'
import { laterOperations } from '../router/later-operations.js'
import { openRouter } from '../router/local-router.js'
import { getItem } from '../router/reads/get-item.js'
import { queryOperations } from '../router/reads/query-operations.js'
import { largeReadLine, searchLine } from '../router/request/fair-line.js'
import { openPasses } from '../router/request/passes.js'
import type { Router, RouterReply, RouterRequest } from '../router/request/router.js'
import { openCatalog, type TableCatalog } from '../router/tables/catalog/catalog.js'
import { transactionOperations } from '../router/transactions/transaction-operations.js'
import { deleteItem } from '../router/writes/delete-item.js'
import { putItem } from '../router/writes/put-item.js'
import { updateItem } from '../router/writes/update-item.js'
import type { TransactionRules } from '../rules/item/section-4.js'
import { type Runtime, steadyMicros } from '../runtime/runtime.js'
import type { ServerCounts } from '../server/dispatch/metrics.js'
import { Channel, type Method } from '../workers/channel.js'
import { handingOnRouter, OWN_OPERATIONS } from '../workers/hand-on.js'
import { remoteNode, SERVICES_OF_NODE } from '../workers/node-calls.js'
import { FIRST_NODE, type Hello, HUB, HUB_METHODS, WORKER_METHODS } from './worker-hub.js'

export interface WorkerStoreOptions {
  readonly runtime: Runtime
  readonly rules: TransactionRules
  readonly statementScans?: StatementScans | undefined
  readonly onError: (error: unknown) => void
  readonly send: (frame: Buffer) => void
  /** Asked of the edge of this worker by the first. */
  readonly edge: WorkerEdgeCalls
}

export interface WorkerEdgeCalls {
  counts(): ServerCounts
  stop(): Promise<void>
  renewTls(tls: unknown): void
}

export interface WorkerStore {
  readonly router: Router
  /** What all other workers have counted. */
  otherCounts(): Promise<readonly ServerCounts[]>
}

interface Opened {
  readonly settling: Settling
  catalog?: TableCatalog
  coordinator?: Coordinator
}

/** A change of tables is being announced: other workers may not follow it yet. */
class Settling {
  #changes = 0
  #waiting: (() => void)[] = []

  begin(): void {
    this.#changes++
  }

  end(): void {
    this.#changes--
    if (this.#changes > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Undefined: nothing is being announced. */
  over(): Promise<void> | undefined {
    if (this.#changes <= 0) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}

/** `channel`: before it is opened, so that messages can be received. */
export function openWorkerChannel({ runtime, send, edge }: WorkerStoreOptions): {
  readonly channel: Channel
  readonly opened: Opened
} {
  const opened: Opened = { settling: new Settling() }
  const methods: Method[] = []
  // Not open yet: what is read then is what was changed.
  methods[WORKER_METHODS.refresh] = () => {
    opened.settling.begin()
    return opened.catalog?.refresh()
  }
  methods[WORKER_METHODS.settled] = () => opened.settling.end()
  methods[WORKER_METHODS.recent] = () => opened.coordinator?.recent() ?? []
  methods[WORKER_METHODS.counts] = () => edge.counts()
  methods[WORKER_METHODS.stop] = async () => {
    await edge.stop()
    await opened.coordinator?.idle()
  }
  methods[WORKER_METHODS.renewTls] = (tls: unknown) => edge.renewTls(tls)
  return { channel: new Channel({ runtime, send, services: [methods] }), opened }
}

export async function openWorkerStore(
  options: WorkerStoreOptions,
  { channel, opened }: ReturnType<typeof openWorkerChannel>,
): Promise<WorkerStore> {
  const { runtime, rules, statementScans, onError } = options
  const hello = (await channel.call(HUB, HUB_METHODS.hello, [])) as Hello
  const nodes = Array.from({ length: hello.nodes }, (_, at) =>
    remoteNode(channel, FIRST_NODE + at * SERVICES_OF_NODE),
  )
  const placement = localPlacement(nodes.length)
  const catalog = await openCatalog({
    runtime,
    nodes,
    isCopy: true,
    creatingMs: hello.creatingMs,
    onBackgroundError: onError,
  })
  opened.catalog = catalog
  // What was changed while it was read.
  await catalog.refresh()
  const coordinator = openCoordinator({
    runtime,
    nodes,
    placement,
    rules,
    sharedJournal: hello.sharedJournal,
  })
  opened.coordinator = coordinator
  const context = {
    runtime,
    catalog,
    nodes,
    nodeOf: nodeByHash(nodes, placement),
    coordinator,
    rules,
    ...(statementScans && { statementScans }),
    startedMicros: steadyMicros(runtime.clock),
    passes: openPasses({ runtime, coordinator, secret: hello.secret }),
    searches: searchLine(),
    largeReads: largeReadLine(),
  }
  const operations = [
    getItem,
    putItem,
    updateItem,
    deleteItem,
    ...queryOperations,
    ...transactionOperations,
    ...laterOperations,
  ].filter(({ name }) => OWN_OPERATIONS.has(name))
  const own = openRouter({ context, operations, onInternalError: onError })
  const handle = async (request: RouterRequest): Promise<RouterReply> => {
    const reply = await own.handle(request)
    const over = opened.settling.over()
    if (over !== undefined) await over
    return reply
  }
  return {
    router: handingOnRouter({
      own: { ...own, handle },
      operations: hello.operations,
      targetPrefixes: hello.targetPrefixes,
      handOn: (request) => channel.call(HUB, HUB_METHODS.handle, [request]) as Promise<RouterReply>,
    }),
    otherCounts: () => channel.call(HUB, HUB_METHODS.otherCounts, []) as Promise<readonly ServerCounts[]>,
  }
}
