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
import { Metrics } from './dispatch/metrics.js'
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

/**
 * Serves a router over HTTP.
 *
 * @example
 *   await using server = await listen(router, { port: 0 })
 *   console.log(server.url)
 */
export async function listen(router: Router, options: ListenOptions = {}): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1'
  const refusal = hostRefusal(host, {
    ...options,
    faults: options.faults === true || options.faultPlan !== undefined,
  })
  if (refusal !== undefined) throw new Error(refusal)
  const limits = { ...serverLimits, ...options.limits }
  const room = new AnswerRoom(limits)
  const metrics = new Metrics(() => room.bytes)
  const history = new MetricsHistory(metrics)
  const { auth, faults, faultPlan, onRequest } = options
  const admitted: Admitted = {
    hosts: options.allowHosts,
    addresses: isLoopbackHost(host) ? 'loopback' : 'any',
    serviceNames: options.allowServiceNames,
    origins: options.allowOrigins,
    ownPages: options.console !== false,
  }
  const edge = { limits, metrics, room, auth, admitted } as const
  const dispatcher = new Dispatcher(router, {
    ...edge,
    history,
    console: options.console !== false,
    faults,
    faultPlan,
    onRequest,
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
  const sockets = new Sockets(state, auth === undefined ? 'needed' : 'all', options.tls)
  const server = sockets.server
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 8000, host, () => {
      server.off('error', reject)
      resolve()
    })
  }).catch((error: unknown) => {
    sockets.release()
    history.stop()
    throw error
  })
  const { port } = server.address() as AddressInfo
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    router.endWaits?.()
    history.stop()
    return (stopped ??= sockets.stop())
  }
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    renewTls: (tls) => sockets.renewTls(tls),
    stop,
    [Symbol.asyncDispose]: stop,
  }
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

  constructor(state: ServerState, headers: 'needed' | 'all', tls: TlsOptions | undefined) {
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
    if (tls === undefined) {
      this.server = createServer(options, (socket) => this.#accept(socket))
    } else {
      const door = new TlsDoor(state, tls, (socket) => this.#accept(socket))
      this.#door = door
      this.server = createServer(options, (socket) => door.accept(socket))
    }
    this.server.maxConnections = affordableConnections(limits.connectionsMax)
    this.server.on('drop', () => metrics.connectionsRefusedTotal++)
    const intervalMs = sweepIntervalMs(limits)
    this.#sweeper = setInterval(() => this.#sweep(intervalMs), intervalMs).unref()
  }

  async stop(): Promise<void> {
    this.#state.stopping = true
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve())
    })
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

  #sweep(intervalMs: number): void {
    const nowMs = performance.now()
    this.#direct.sweptAtMs = nowMs
    for (const connection of this.#connections.values()) connection.sweep(nowMs, intervalMs)
  }
}
