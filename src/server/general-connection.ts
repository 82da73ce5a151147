// One connection that node:http reads, because something on it was not of the plain form. Requests are answered one
// after another in the order they came, as HTTP asks for those that write; those behind wait, boundedly.
//
//   node:http --> begin: collect the body --> waiting --> dispatch --> write --> next
//                    \--> refused unread: answer, half-close, discard for a while, close
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './answer.js'
import { BodyCollector, EMPTY_BODY } from './body.js'
import {
  endWith,
  tooMuch,
  UNREAD_CHECK_BYTES,
  type ServedConnection,
  type ServerState,
} from './server-state.js'
import { writeResponse } from './write-answer.js'

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
  /** Set if the answer was known before the body was read: the connection ends with it. */
  readonly refusal: Answer | undefined
}

export class GeneralConnection implements ServedConnection {
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
      const refusal = this.#server.dispatcher.refusal(request) ?? tooMuch(this.#server, length ?? 0)
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
        const refusal = tooMuch(this.#server, collector.length)
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
      void outcome.then((answer) => {
        this.#server.outbox.add({ send: () => this.#finish(exchange, answer) })
      })
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

  #write({ response }: Exchange, answer: Answer): void {
    if (answer.lost === true) {
      this.#socket.destroy()
      return
    }
    const last = this.#server.stopping && this.#waiting.length === 0 && this.#collecting === undefined
    writeResponse(response, answer, last ? 'close' : 'keep')
  }

  #endWith(answer: Answer): void {
    if (!this.#closed) endWith(this.#server, this.#socket, answer)
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
