// One connection and the requests on it. Requests are answered one after another in the order they came, as HTTP asks
// for those that write; those behind wait, boundedly.
//
//   node:http --> begin: collect the body --> waiting --> dispatch --> write --> next
//                    \--> refused unread: answer, half-close, discard for a while, close
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './answer.js'
import { BodyCollector, EMPTY_BODY } from './body.js'
import type { Dispatcher } from './dispatch.js'
import type { ServerLimits } from './limits.js'
import type { Metrics } from './metrics.js'
import type { Outbox } from './outbox.js'
import { rawBytes, writeAnswer, writeKeepAlive } from './write-answer.js'

/** What the connections of one server share. */
export interface ServerState {
  readonly dispatcher: Dispatcher
  readonly limits: ServerLimits
  readonly metrics: Metrics
  readonly keepAliveHeaders: () => string
  readonly outbox: Outbox
  bodyBytesInFlight: number
  stopping: boolean
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
  /** Set if the answer was known before the body was read: the connection ends with it. */
  readonly refusal: Answer | undefined
}

/** Bodies longer than this are looked at before they are read. */
const UNREAD_CHECK_BYTES = 64 * 1024

export class Connection {
  readonly #server: ServerState
  readonly #socket: Socket
  #collecting: BodyCollector | undefined
  #current: Exchange | undefined
  readonly #waiting: Exchange[] = []
  /** What to say after the last answer: the bytes behind that request were not HTTP. */
  #failure: Answer | undefined
  /** No further request is read from this connection. */
  #ending = false
  #closed = false

  constructor(server: ServerState, socket: Socket) {
    this.#server = server
    this.#socket = socket
  }

  /** Nothing received is waiting for its answer. */
  get idle(): boolean {
    return this.#current === undefined && this.#collecting === undefined
  }

  /** The headers of a request have arrived. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#ending) return
    const { headers } = request
    const declared = headers['content-length']
    const chunked = headers['transfer-encoding'] !== undefined
    if (declared === undefined && !chunked) {
      this.#enqueue({ request, response, body: EMPTY_BODY, refusal: undefined })
      return
    }
    const length = chunked ? undefined : Number(declared)
    if (length === 0) {
      this.#enqueue({ request, response, body: EMPTY_BODY, refusal: undefined })
      return
    }
    if (length === undefined || length > UNREAD_CHECK_BYTES) {
      const refusal = this.#server.dispatcher.refusal(request) ?? this.#tooMuch(length ?? 0)
      if (refusal !== undefined) {
        this.#refuse(request, response, refusal)
        return
      }
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    this.#collect(request, response, length)
  }

  /** The bytes on the connection are not HTTP, or came too slowly. Answers what came before them, then that. */
  fail(answer: Answer): void {
    if (this.#ending) return
    this.#ending = true
    this.#releaseCollected()
    this.#server.dispatcher.recordUnread(answer)
    if (this.#current === undefined) this.#endWith(answer)
    else this.#failure = answer
  }

  closed(): void {
    this.#closed = true
    this.#ending = true
    this.#releaseCollected()
    for (const { body } of this.#waiting) this.#server.bodyBytesInFlight -= body.length
    this.#waiting.length = 0
  }

  /** Closes at once if nothing is under way; otherwise the answer under way is the last. */
  stop(): void {
    if (this.idle) this.#socket.destroySoon()
  }

  #collect(request: IncomingMessage, response: ServerResponse, length: number | undefined): void {
    const collector = new BodyCollector(length)
    this.#collecting = collector
    const finish = (): void => {
      if (this.#collecting !== collector) return
      this.#collecting = undefined
      this.#enqueue({ request, response, body: collector.bytes(), refusal: undefined })
    }
    request.on('data', (chunk: Buffer) => {
      if (this.#collecting !== collector) return
      this.#server.bodyBytesInFlight += chunk.length
      collector.add(chunk)
      if (length === undefined && collector.length > UNREAD_CHECK_BYTES) {
        const refusal = this.#tooMuch(collector.length)
        if (refusal !== undefined) {
          this.#releaseCollected()
          this.#refuse(request, response, refusal)
          return
        }
      }
      // Not waiting for the end of the stream saves a turn of its machinery.
      if (collector.complete) finish()
    })
    if (length === undefined) request.on('end', finish)
  }

  #tooMuch(length: number): Answer | undefined {
    const { dispatcher, limits, bodyBytesInFlight } = this.#server
    if (length > limits.requestBytesMax) {
      return dispatcher.edge(
        413,
        'RequestEntityTooLarge',
        `The request is larger than ${limits.requestBytesMax} bytes.`,
      )
    }
    if (bodyBytesInFlight + length > limits.bodyBytesInFlightMax) {
      return dispatcher.edge(400, 'ThrottlingException', 'Too many bytes are in flight; try again.')
    }
    return undefined
  }

  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
    this.#server.dispatcher.recordUnread(refusal)
    this.#enqueue({ request, response, body: EMPTY_BODY, refusal })
    this.#ending = true
  }

  #releaseCollected(): void {
    if (this.#collecting === undefined) return
    this.#server.bodyBytesInFlight -= this.#collecting.length
    this.#collecting = undefined
  }

  #enqueue(exchange: Exchange): void {
    if (this.#current === undefined) {
      this.#answer(exchange)
    } else if (this.#waiting.length < this.#server.limits.pipelinedMax) {
      this.#waiting.push(exchange)
    } else {
      this.#server.bodyBytesInFlight -= exchange.body.length
      this.#socket.destroy()
    }
  }

  #answer(exchange: Exchange): void {
    this.#current = exchange
    const { request, body, refusal } = exchange
    if (refusal !== undefined) {
      this.#endWith(refusal)
      this.#discard(request)
      return
    }
    this.#server.metrics.requestBodyBytesTotal += body.length
    const outcome = this.#server.dispatcher.dispatch(request, body)
    if (outcome instanceof Promise) {
      void outcome.then((answer) => this.#server.outbox.add(() => this.#finish(exchange, answer)))
    } else this.#finish(exchange, outcome)
  }

  #finish(exchange: Exchange, answer: Answer): void {
    this.#server.bodyBytesInFlight -= exchange.body.length
    if (!this.#closed) this.#write(exchange, answer)
    this.#current = undefined
    const next = this.#waiting.shift()
    if (next !== undefined) this.#answer(next)
    else if (this.#failure !== undefined) this.#endWith(this.#failure)
  }

  #write({ request, response }: Exchange, answer: Answer): void {
    if (answer.lost === true) {
      this.#socket.destroy()
      return
    }
    const last = this.#server.stopping && this.#waiting.length === 0 && this.#collecting === undefined
    if (last) writeAnswer(response, answer, 'close')
    else if (request.method === 'POST') writeKeepAlive(response, answer, this.#server.keepAliveHeaders())
    else writeAnswer(response, answer, 'keep')
  }

  /** The last answer of this connection, while its client may still be sending. */
  #endWith(answer: Answer): void {
    if (this.#closed) return
    // Closing with unread bytes would reset the connection and take the answer away from the client.
    this.#socket.end(rawBytes(answer))
    const timer = setTimeout(() => this.#socket.destroy(), this.#server.limits.lingerMs)
    this.#socket.once('close', () => clearTimeout(timer))
  }

  #discard(request: IncomingMessage): void {
    const socket = this.#socket
    const bytesReadMax = socket.bytesRead + this.#server.limits.lingerBytesMax
    request.on('data', () => {
      if (socket.bytesRead > bytesReadMax) socket.destroy()
    })
    request.on('end', () => socket.destroySoon())
  }
}
