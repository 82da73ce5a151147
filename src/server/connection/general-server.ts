// node:http for the connections that carry something else than plain requests: pages, chunked bodies, Expect, and
// whatever is hardly HTTP at all. It listens on no port: connections are passed on to it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Answer } from '../http/answer.js'
import { GeneralConnection } from './general-connection.js'
import { notHttp, tooSlow, type ServerState } from '../dispatch/server-state.js'
import { closingBytes } from '../http/write-answer.js'

export class GeneralServer {
  readonly #state: ServerState
  readonly #server: Server
  readonly #connections = new WeakMap<Duplex, GeneralConnection>()

  constructor(state: ServerState) {
    this.#state = state
    this.#server = this.#open()
  }

  /** Reads the connection from now on. */
  take(socket: Socket): GeneralConnection {
    const connection = new GeneralConnection(this.#state, socket)
    this.#connections.set(socket, connection)
    this.#server.emit('connection', socket)
    socket.resume()
    return connection
  }

  close(): void {
    // Ends the timer that looks for slow requests.
    this.#server.close(() => {})
  }

  #open(): Server {
    const { limits } = this.#state
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      this.#connections.get(request.socket)?.begin(request, response)
    }
    const server = createServer(
      {
        maxHeaderSize: limits.headerBytesMax,
        headersTimeout: limits.headersTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        keepAliveTimeout: limits.keepAliveTimeoutMs,
        connectionsCheckingInterval: limits.timeoutCheckMs,
        // The dispatcher says more about a missing Host than node:http does.
        requireHostHeader: false,
      },
      onRequest,
    )
    // The bytes of all headers are bounded; a bound on their number would drop the last ones without a word.
    server.maxHeadersCount = 0
    server.timeout = limits.socketIdleMs
    // A client that has sent its request and closed its side still gets the answer.
    Object.assign(server, { httpAllowHalfOpen: true })
    server.on('checkContinue', onRequest)
    server.on('checkExpectation', (request, response) => {
      const answer = this.#state.dispatcher.edge(
        417,
        'ExpectationFailed',
        'Only 100-continue can be expected.',
      )
      this.#connections.get(request.socket)?.begin(request, response, answer)
    })
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#onClientError(error, socket))
    server.on('connect', (_request, socket) => {
      socket.on('error', () => socket.destroy())
      socket.end(closingBytes(this.#state.dispatcher.edge(405, 'MethodNotAllowed', 'This is not a proxy.')))
    })
    // node:http begins to look for slow requests when it listens.
    server.emit('listening')
    return server
  }

  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    this.#state.metrics.malformedTotal++
    const answer = this.#answerTo(error.code)
    if (answer === undefined || !socket.writable) socket.destroy()
    else this.#connections.get(socket)?.fail(answer)
  }

  /** What to say to bytes that are not a request; undefined if nobody is there to hear it. */
  #answerTo(code: string | undefined): Answer | undefined {
    switch (code) {
      case 'ECONNRESET':
      case 'EPIPE':
        return undefined
      case 'HPE_HEADER_OVERFLOW':
        return this.#state.dispatcher.edge(
          431,
          'RequestHeaderFieldsTooLarge',
          'The headers of the request are too large.',
        )
      case 'ERR_HTTP_REQUEST_TIMEOUT':
        return tooSlow(this.#state)
      case undefined:
      default:
        return notHttp(this.#state)
    }
  }
}
