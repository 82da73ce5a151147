// The HTTP edge: DynamoDB's wire protocol on one port.
//
//   socket --> node:http --> connection.ts: bodies, order, limits --> dispatch.ts: request to answer --> router
//
// dispatch.ts knows nothing of node:http, so that a leaner HTTP layer can take the place of this file and connection.ts.
// May import: model, and of the router only its interface.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6, Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Router } from '../router/router.js'
import type { Answer } from './answer.js'
import type { Auth } from './auth.js'
import { Connection, type ServerState } from './connection.js'
import type { FaultPlan } from './fault-plan.js'
import { Dispatcher, type RequestInfo } from './dispatch.js'
import { serverLimits, type ServerLimits } from './limits.js'
import { Metrics } from './metrics.js'
import { isLoopbackHost } from './origin.js'
import { Outbox } from './outbox.js'
import { keepAliveHeaders, rawBytes } from './write-answer.js'

export interface ListenOptions {
  /** `127.0.0.1` by default. Anything but loopback needs `auth`. */
  readonly host?: string | undefined
  /** 8000 by default; 0 lets the system choose. */
  readonly port?: number | undefined
  /** Whose signatures are accepted, and what they may do. Without it everybody on this machine may do everything. */
  readonly auth?: Auth | undefined
  readonly limits?: Partial<ServerLimits> | undefined
  /** Obey the header `x-seriatim-fault`; loopback only. */
  readonly faults?: boolean | undefined
  /** What happens to requests without that header; loopback only. */
  readonly faultPlan?: FaultPlan | undefined
  /** Called after each request; keep it short. */
  readonly onRequest?: ((info: RequestInfo) => void) | undefined
}

export interface RunningServer extends AsyncDisposable {
  /** `http://127.0.0.1:8000` */
  readonly url: string
  readonly port: number
  /** Accepts no more, answers what was accepted, and closes. */
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
  const metrics = new Metrics()
  const { auth, faults, faultPlan, onRequest } = options
  const dispatcher = new Dispatcher(router, { limits, metrics, auth, faults, faultPlan, onRequest })
  const state: ServerState = {
    dispatcher,
    limits,
    metrics,
    keepAliveHeaders: keepAliveHeaders(limits.keepAliveTimeoutMs),
    outbox: new Outbox(),
    bodyBytesInFlight: 0,
    stopping: false,
  }
  const connections = new Map<Duplex, Connection>()
  const server = httpServer(state, connections)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 8000, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    router.endWaits?.()
    return (stopped ??= stopServer(server, state, connections))
  }
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    port,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Why that host may not be listened on; undefined if it may. */
export function hostRefusal(
  host: string,
  options: { readonly auth?: unknown; readonly faults?: boolean | undefined },
): string | undefined {
  if (isLoopbackHost(host)) return undefined
  if (options.auth === undefined) {
    return `without authentication everybody who reaches ${host} could read and change everything: listen on 127.0.0.1, or give a file of keys with --auth FILE`
  }
  if (options.faults === true) {
    return `faults can be injected only on loopback: listen on 127.0.0.1 instead of ${host}, or leave out --faults`
  }
  return undefined
}

function httpServer(state: ServerState, connections: Map<Duplex, Connection>): Server {
  const { limits, metrics, dispatcher } = state
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    connections.get(request.socket)?.begin(request, response)
  }
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      noDelay: true,
      // The dispatcher says more about a missing Host than node:http does.
      requireHostHeader: false,
    },
    onRequest,
  )
  // The bytes of all headers are bounded; a bound on their number would drop the last ones without a word.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  server.timeout = limits.socketIdleMs
  // A client that has sent its request and closed its side still gets the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('checkContinue', onRequest)
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(state, socket)
    connections.set(socket, connection)
    metrics.connections++
    metrics.connectionsTotal++
    socket.once('close', () => {
      connections.delete(socket)
      metrics.connections--
      connection.closed()
    })
  })
  server.on('drop', () => metrics.connectionsRefusedTotal++)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    metrics.malformedTotal++
    const answer = clientErrorAnswer(dispatcher, error.code)
    if (answer === undefined || !socket.writable) socket.destroy()
    else connections.get(socket)?.fail(answer)
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(rawBytes(dispatcher.edge(405, 'MethodNotAllowed', 'This is not a proxy.')))
  })
  return server
}

/** What to say to bytes that are not a request; undefined if nobody is there to hear it. */
function clientErrorAnswer(dispatcher: Dispatcher, code: string | undefined): Answer | undefined {
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined
    case 'HPE_HEADER_OVERFLOW':
      return dispatcher.edge(431, 'RequestHeaderFieldsTooLarge', 'The headers of the request are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return dispatcher.edge(408, 'RequestTimeout', 'The request did not arrive in time.')
    case undefined:
    default:
      return dispatcher.edge(400, 'BadRequest', 'This is not a request of HTTP/1.1.')
  }
}

async function stopServer(
  server: Server,
  state: ServerState,
  connections: ReadonlyMap<Duplex, Connection>,
): Promise<void> {
  state.stopping = true
  // The close of node:http would also destroy connections whose last answer is still on its way out.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  for (const connection of connections.values()) connection.stop()
  const deadline = setTimeout(() => server.closeAllConnections(), state.limits.stopMs)
  await closed
  clearTimeout(deadline)
  // Ends the timer of node:http that looks for slow requests; the port has been closed above.
  server.close(() => {})
}
