// The HTTP edge: DynamoDB's wire protocol on one port.
//
//   socket (--tls-door.ts-->) direct-connection.ts: plain requests, order, limits ---------\
//                  \                                                         dispatch.ts: request to answer --> router
//                   other forms --> node:http --> general-connection.ts ----/
//
// dispatch.ts knows nothing of who reads and writes HTTP. May import: model, and of the router only its interface.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Router } from '../router/request/router.js'
import { AnswerRoom } from './http/answer-room.js'
import type { Auth } from './access/auth.js'
import { DirectConnection, type DirectState } from './connection/direct-connection.js'
import { Dispatcher, type RequestInfo } from './dispatch/dispatch.js'
import type { FaultPlan } from './faults/fault-plan.js'
import { GeneralServer } from './connection/general-server.js'
import { serverLimits, sweepIntervalMs, type ServerLimits } from './http/limits.js'
import { type ServerCounts, Metrics } from './dispatch/metrics.js'
import { MetricsHistory } from './dispatch/metrics-history.js'
import { type Admitted, isLoopbackHost } from './access/origin.js'
import { affordableConnections } from './connection/open-files.js'
import { Outbox } from './http/outbox.js'
import { PlainRequestReader } from './http/plain-request.js'
import type { ServedConnection, ServerState } from './dispatch/server-state.js'
import { TlsDoor, type TlsOptions } from './connection/tls-listener.js'
import { ConnectionHeaders } from './http/write-answer.js'

/** Where and how a store is served over HTTP. */
export interface ListenOptions {
  /** The address to listen on; `127.0.0.1` by default. Any other than loopback needs `auth` or `noAuth`. */
  readonly host?: string | undefined
  /** The port; 8000 by default, 0 for a free one. */
  readonly port?: number | undefined
  /** Serves HTTPS, with this certificate. */
  readonly tls?: TlsOptions | undefined
  /** The keys that may sign requests, and their rights. Without it every client that reaches the port may do everything. */
  readonly auth?: Auth | undefined
  /** Allows a `host` other than loopback without keys: every client that reaches it may do everything. */
  readonly noAuth?: boolean | undefined
  /** Without keys: further names that are accepted in the Host header, such as `host.docker.internal`. */
  readonly allowHosts?: readonly string[] | undefined
  /** Without keys: also accepts names without a dot in the Host header, such as service names of a compose network. */
  readonly allowServiceNames?: boolean | undefined
  /** Web pages of these origins, such as `http://localhost:3000`, may use the store. */
  readonly allowOrigins?: readonly string[] | undefined
  /** Serves the console at `/console/`; true by default. */
  readonly console?: boolean | undefined
  /** Limits of the HTTP server; docs/reference/server.md lists the defaults. */
  readonly limits?: Partial<ServerLimits> | undefined
  /** Injects the faults that requests ask for in the header `x-seriatim-fault`; loopback only. */
  readonly faults?: boolean | undefined
  /** Injects faults into requests without that header; loopback only. */
  readonly faultPlan?: FaultPlan | undefined
  /** Called after each request. It runs in the request path, so keep it short. */
  readonly onRequest?: ((info: RequestInfo) => void) | undefined
}

/** A server that listens. With `await using` it is stopped at the end of its block. */
export interface RunningServer extends AsyncDisposable {
  /** The address of the server, such as `http://127.0.0.1:8000`; `https:` with `tls`. */
  readonly url: string
  /** The port that it listens on. */
  readonly port: number
  /** Uses another certificate for new connections. Throws if it cannot be used, and keeps the old one. */
  renewTls(tls: TlsOptions): void
  /** Accepts no more requests, answers those that were accepted, and closes the connections. */
  stop(): Promise<void>
}

/** How several workers serve one port. */
export interface WorkerEdge {
  /** Whether another worker gets this connection, of which nothing was read. */
  readonly handsOver?: (socket: Socket) => boolean
  /** What the other workers have counted. */
  readonly otherCounts?: () => Promise<readonly ServerCounts[]>
}

/** What serves connections, wherever they come from. */
export interface HttpEdge {
  /** Serves a connection that another worker has accepted. */
  take(socket: Socket): void
  renewTls(tls: TlsOptions): void
  counts(): ServerCounts
  stop(): Promise<void>
}

/** Serves a router to connections that it is given. */
export function openEdge(router: Router, options: ListenOptions, workers: WorkerEdge = {}): HttpEdge {
  const sockets = openSockets(router, options, workers)
  return {
    take: (socket) => {
      socket.allowHalfOpen = true
      sockets.take(socket)
    },
    renewTls: (tls) => sockets.renewTls(tls),
    counts: () => sockets.counts(),
    stop: () => {
      router.endWaits?.()
      return sockets.stop()
    },
  }
}

/**
 * Serves a router over HTTP.
 *
 * @example
 *   await using server = await listen(router, { port: 0 })
 *   console.log(server.url)
 */
export async function listen(
  router: Router,
  options: ListenOptions = {},
  workers: WorkerEdge = {},
): Promise<RunningServer & Pick<HttpEdge, 'counts'>> {
  const host = options.host ?? '127.0.0.1'
  const refusal = hostRefusal(host, {
    ...options,
    faults: options.faults === true || options.faultPlan !== undefined,
  })
  if (refusal !== undefined) throw new Error(refusal)
  const sockets = openSockets(router, options, workers)
  const server = sockets.server
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 8000, host, () => {
      server.off('error', reject)
      resolve()
    })
  }).catch((error: unknown) => {
    sockets.release()
    throw error
  })
  const { port } = server.address() as AddressInfo
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    router.endWaits?.()
    return (stopped ??= sockets.stop())
  }
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    renewTls: (tls) => sockets.renewTls(tls),
    counts: () => sockets.counts(),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function openSockets(
  router: Router,
  options: ListenOptions,
  { handsOver, otherCounts }: WorkerEdge,
): Sockets {
  const limits = { ...serverLimits, ...options.limits }
  const room = new AnswerRoom(limits)
  const metrics = new Metrics(() => room.bytes)
  const history = new MetricsHistory(metrics)
  const { auth, faults, faultPlan, onRequest } = options
  const admitted: Admitted = {
    hosts: options.allowHosts,
    addresses: isLoopbackHost(options.host ?? '127.0.0.1') ? 'loopback' : 'any',
    serviceNames: options.allowServiceNames,
    origins: options.allowOrigins,
    ownPages: options.console !== false,
  }
  const edge = { limits, metrics, room, auth, admitted } as const
  const dispatcher = new Dispatcher(router, {
    ...edge,
    // Of one worker it would be a part of the truth.
    history: otherCounts === undefined ? history : undefined,
    console: options.console !== false,
    faults,
    faultPlan,
    onRequest,
    otherCounts,
  })
  const state: ServerState = {
    dispatcher,
    limits,
    metrics,
    outbox: new Outbox(),
    room,
    bodyBytesInFlight: 0,
    stopping: false,
  }
  const headers = auth === undefined ? 'needed' : 'all'
  const isAlone = otherCounts === undefined
  return new Sockets(state, { headers, tls: options.tls, handsOver, isAlone, history })
}

/** Why that host may not be listened on; undefined if it may. */
export function hostRefusal(
  host: string,
  options: {
    readonly auth?: unknown
    readonly noAuth?: boolean | undefined
    readonly faults?: boolean | undefined
  },
): string | undefined {
  if (options.auth !== undefined && options.noAuth === true) {
    return 'a file of keys and --no-auth contradict each other: leave out one of them'
  }
  if (isLoopbackHost(host)) return undefined
  if (options.auth === undefined && options.noAuth !== true) {
    return `without authentication every client that reaches ${host} could read and change everything: listen on 127.0.0.1, give a file of keys with --auth FILE, or say --no-auth if that is intended`
  }
  if (options.faults === true) {
    return `faults can be injected only on loopback: listen on 127.0.0.1 instead of ${host}, or leave out --faults`
  }
  return undefined
}

/** The port, and all connections on it. */
class Sockets {
  readonly server: Server
  readonly #state: ServerState
  readonly #general: GeneralServer
  readonly #direct: DirectState
  readonly #door: TlsDoor | undefined
  readonly #connections = new Map<Socket, ServedConnection>()
  readonly #sweeper: NodeJS.Timeout
  #lookedAtMs = performance.now()
  /** All connections of the port are served here. */
  readonly #isAlone: boolean
  readonly #history: MetricsHistory

  constructor(
    state: ServerState,
    {
      headers,
      tls,
      handsOver,
      isAlone,
      history,
    }: {
      readonly headers: 'needed' | 'all'
      readonly tls: TlsOptions | undefined
      readonly handsOver: WorkerEdge['handsOver']
      readonly isAlone: boolean
      readonly history: MetricsHistory
    },
  ) {
    const { limits, metrics } = state
    this.#state = state
    this.#general = new GeneralServer(state)
    this.#direct = {
      server: state,
      reader: new PlainRequestReader(limits.headerBytesMax, headers),
      connectionHeaders: new ConnectionHeaders(limits.keepAliveTimeoutMs),
      passOn: (socket) => this.#passOn(socket),
      sweptAtMs: performance.now(),
    }
    // A client that has sent its request and closed its side still gets the answer.
    const options = { allowHalfOpen: true, noDelay: true }
    this.#isAlone = isAlone
    this.#history = history
    if (tls !== undefined) this.#door = new TlsDoor(state, tls, (socket) => this.#accept(socket))
    const begin = this.#begin
    this.server =
      handsOver === undefined
        ? createServer(options, begin)
        : // What another worker is to read must not be read here.
          createServer({ ...options, pauseOnConnect: true }, (socket) => {
            if (handsOver(socket)) return
            begin(socket)
            socket.resume()
          })
    this.server.maxConnections = affordableConnections(limits.connectionsMax)
    this.server.on('drop', () => metrics.connectionsRefusedTotal++)
    const intervalMs = sweepIntervalMs(limits)
    this.#sweeper = setInterval(() => this.#sweep(intervalMs), intervalMs).unref()
  }

  readonly #begin = (socket: Socket): void => {
    if (this.#door === undefined) this.#accept(socket)
    else this.#door.accept(socket)
  }

  /** One that was accepted elsewhere. */
  take(socket: Socket): void {
    const { stopping, metrics } = this.#state
    if (stopping || this.#connections.size >= this.server.maxConnections) {
      metrics.connectionsRefusedTotal++
      socket.destroy()
      return
    }
    this.#begin(socket)
  }

  counts(): ServerCounts {
    return this.#state.metrics.counts()
  }

  async stop(): Promise<void> {
    this.#state.stopping = true
    this.#history.stop()
    const portClosed = new Promise<void>((resolve) => {
      this.server.close(() => resolve())
    })
    const closed = Promise.all([
      // A port that is shared would wait for connections of workers that may be gone.
      this.#isAlone && portClosed,
      ...Array.from(this.#connections.keys(), gone),
    ])
    this.#door?.stop()
    for (const connection of this.#connections.values()) connection.stop()
    const deadline = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy()
    }, this.#state.limits.stopMs)
    await closed
    clearTimeout(deadline)
    this.release()
  }

  renewTls(tls: TlsOptions): void {
    if (this.#door === undefined) throw new Error('this server was started without a certificate')
    this.#door.renew(tls)
  }

  /** Ends the timers. */
  release(): void {
    clearInterval(this.#sweeper)
    this.#history.stop()
    this.#general.close()
  }

  #accept(socket: Socket): void {
    const { metrics } = this.#state
    this.#connections.set(socket, new DirectConnection(this.#direct, socket))
    metrics.connections++
    metrics.connectionsTotal++
    socket.once('close', () => {
      this.#connections.get(socket)?.closed()
      this.#connections.delete(socket)
      metrics.connections--
    })
  }

  #passOn(socket: Socket): void {
    const connection = this.#general.take(socket)
    this.#connections.set(socket, connection)
    // It may be that no request ever begins there.
    if (this.#state.stopping) setImmediate(() => connection.stop())
  }

  /**
   * The time of connections is the time in which this process has looked at them: one that was stopped, or had no processor, finds
   * every deadline over and what clients have sent meanwhile unread.
   */
  #sweep(intervalMs: number): void {
    const lookMs = performance.now()
    const nowMs = this.#direct.sweptAtMs + Math.min(lookMs - this.#lookedAtMs, 2 * intervalMs)
    this.#lookedAtMs = lookMs
    this.#direct.sweptAtMs = nowMs
    for (const connection of this.#connections.values()) connection.sweep(nowMs, intervalMs)
  }
}

const gone = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))
