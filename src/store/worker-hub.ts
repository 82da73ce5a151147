// What the first worker offers to the others, and asks of them. It owns the nodes, the journal, the log of commits and the
// catalogue; the others have routers and coordinators of their own on its nodes.
//
//   worker 2: router, coordinator --calls, handed-on requests--> hub --> nodes, router
//             copy of the catalogue <--refresh, awaited before a change of tables is answered-- hub
import { DynamoError } from '../model/errors.js'
import { anyone, type Principal } from '../router/request/access.js'
import type { EndedTransaction } from '../coordinator/recent.js'
import { type Router, type RouterReply } from '../router/request/router.js'
import type { Runtime } from '../runtime/runtime.js'
import type { ServerCounts } from '../server/dispatch/metrics.js'
import type { WorkerEdge } from '../server/http-server.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import { Channel, type Method, type Service } from '../workers/channel.js'
import { type HandedOn, principalOf } from '../workers/hand-on.js'
import { nodeServices } from '../workers/node-calls.js'

/** Numbers of services and methods. */
export const HUB = 0
export const HUB_METHODS = { hello: 0, handle: 1, otherCounts: 2 } as const
export const FIRST_NODE = 1
export const WORKER_METHODS = { refresh: 0, settled: 1, recent: 2, counts: 3, stop: 4, renewTls: 5 } as const

/** What a worker is told first. */
export interface Hello {
  readonly nodes: number
  readonly sharedJournal: boolean
  readonly secret: string
  readonly operations: readonly string[]
  readonly targetPrefixes: ReadonlyMap<string, string>
  readonly creatingMs: number
}

export interface HubOptions extends Hello {
  readonly runtime: Runtime
  readonly served: readonly StorageNode[]
  readonly router: Router
}

/** One of the other workers, as the first sees it. */
export interface HubWorker {
  readonly channel: Channel
  receive(message: Buffer): void
  /** The other side has gone. */
  end(why: string): void
  stop(): Promise<void>
}

export class WorkerHub {
  readonly #workers = new Set<HubWorker>()
  #recent: readonly EndedTransaction[] = []
  #options: HubOptions | undefined
  #announcing: Promise<unknown> | undefined
  /** How the edge of the first worker shares its port. */
  edge: WorkerEdge = {}
  /** Who may ask, by access key; undefined: there are no keys. */
  holderOf: ((id: string) => Principal | undefined) | undefined
  /** Of the first worker. */
  ownCounts: () => ServerCounts | undefined = () => undefined

  /** Before a worker joins. */
  serve(options: HubOptions): void {
    this.#options = options
  }

  join(send: (frame: Buffer) => void, isFull?: () => boolean): HubWorker {
    const options = this.#options
    if (options === undefined) throw new Error('the store is not open yet')
    const { runtime, served } = options
    const services: Service[] = [
      this.#hubService(options, (): HubWorker => worker),
      ...served.flatMap((node) => nodeServices(node)),
    ]
    const channel = new Channel({ runtime, send, services, ...(isFull && { isFull }) })
    const worker: HubWorker = {
      channel,
      receive: (message) => channel.receive(message),
      end: (why) => {
        this.#workers.delete(worker)
        channel.end(why)
      },
      stop: async () => void (await channel.call(HUB, WORKER_METHODS.stop, [])),
    }
    this.#workers.add(worker)
    return worker
  }

  /**
   * A change of tables is in force at the nodes: it is answered when every router follows it. Until then no answer leaves a
   * worker that may rest upon it: who has seen the change at one worker finds it at every other.
   */
  async announce(): Promise<void> {
    if (this.#workers.size === 0) return
    const announced = this.#ask(WORKER_METHODS.refresh, []).finally(() => {
      for (const { channel } of this.#workers) channel.tell(HUB, WORKER_METHODS.settled, [])
      if (this.#announcing === announced) this.#announcing = undefined
    })
    this.#announcing = announced
    await announced
  }

  /** Transactions that ended at other workers, as of the last time they were asked. */
  get recent(): readonly EndedTransaction[] {
    return this.#recent
  }

  /** What the other workers have counted. */
  async otherCounts(): Promise<readonly ServerCounts[]> {
    return (await this.#ask(WORKER_METHODS.counts, [])) as readonly ServerCounts[]
  }

  async renewTls(tls: object): Promise<void> {
    await this.#ask(WORKER_METHODS.renewTls, [tls])
  }

  /** They answer what they have accepted, and close their connections. */
  async stop(): Promise<void> {
    await Promise.allSettled(Array.from(this.#workers, (worker) => worker.stop()))
  }

  async handle(request: HandedOn): Promise<RouterReply> {
    const { operation, text, principal, addressed } = request
    let { input } = request
    if (text !== undefined) {
      try {
        input = await this.#options!.router.readLarge!(operation, text)
      } catch (error) {
        if (error instanceof DynamoError) return { ok: false, error }
        throw error
      }
    }
    const reply = await this.asked({
      operation,
      input,
      principal: principalOf(principal, this.holderOf, anyone),
      addressed,
    })
    // The room in front of a body stays here: where it arrives other messages stand before it.
    return reply.ok ? { ok: true, body: reply.body } : reply
  }

  /** A request of a client of this worker, or of another. */
  async asked(request: Parameters<Router['handle']>[0]): Promise<RouterReply> {
    if (request.operation === 'ListTransactions' && this.#workers.size > 0)
      this.#recent = ((await this.#ask(WORKER_METHODS.recent, [])) as EndedTransaction[][]).flat()
    const reply = await this.#options!.router.handle(request)
    // One after another: a change is announced before the next is decided.
    if (this.#announcing !== undefined) await this.#announcing.catch(() => undefined)
    return reply
  }

  #hubService(options: HubOptions, asking: () => HubWorker): Service {
    const { nodes, sharedJournal, secret, operations, targetPrefixes, creatingMs } = options
    const methods: Method[] = []
    methods[HUB_METHODS.hello] = (): Hello => ({
      nodes,
      sharedJournal,
      secret,
      operations,
      targetPrefixes,
      creatingMs,
    })
    methods[HUB_METHODS.handle] = (request: HandedOn) => this.handle(request)
    methods[HUB_METHODS.otherCounts] = async (): Promise<readonly ServerCounts[]> => {
      const own = this.ownCounts()
      const others = Array.from(this.#workers).filter((worker) => worker !== asking())
      const counts = others.map(({ channel }) => channel.call(HUB, WORKER_METHODS.counts, []))
      return [
        ...(own === undefined ? [] : [own]),
        ...((await Promise.all(counts)) as readonly ServerCounts[]),
      ]
    }
    return methods
  }

  #ask(method: number, args: readonly unknown[]): Promise<unknown[]> {
    return Promise.all(Array.from(this.#workers, ({ channel }) => channel.call(HUB, method, args)))
  }
}
