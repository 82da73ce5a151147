// One connection that node:http reads, because something on it was not of the plain form. Requests are answered one
// after another in the order they came, as HTTP asks for those that write; those behind wait, boundedly.
//
//   node:http --> begin: into the line, collect the body --> first in line, and whole: dispatch --> write --> next
//                    \--> refused unread: answer, half-close, discard for a while, close
//
// node:http may have read several requests, and that the bytes behind them are none, before it hands out the first body.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from '../http/answer.js'
import { SMALL_ANSWER_BYTES, UnsentBytes } from '../http/answer-room.js'
import { BodyCollector, EMPTY_BODY } from '../http/body.js'
import {
  endWith,
  tooMuch,
  UNREAD_CHECK_BYTES,
  type ServedConnection,
  type ServerState,
} from '../dispatch/server-state.js'
import { writeResponse } from '../http/write-answer.js'

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Undefined once the body is whole, or of no interest any more. */
  collecting: BodyCollector | undefined
  body: Buffer
  /** Set if the answer was known before the body was read: the connection ends with it. */
  refusal: Answer | undefined
  /** The client waits to be told to send its body. */
  awaitsContinue: boolean
}

export class GeneralConnection implements ServedConnection {
  readonly #server: ServerState
  readonly #socket: Socket
  #current: Exchange | undefined
  /** Those behind it. */
  readonly #line: Exchange[] = []
  /** An answer that node:http has not yet written. */
  #response: ServerResponse | undefined
  readonly #unsent: UnsentBytes
  #unsentSinceMs = 0
  #standstillMs = 0
  /** It is the last one, because the client wanted it so. */
  #closing = false
  /** What to say after the last answer: the bytes behind that request were not HTTP. */
  #failure: Answer | undefined
  /** No further request is read from this connection. */
  #ending = false
  #closed = false

  constructor(server: ServerState, socket: Socket) {
    this.#server = server
    this.#socket = socket
    this.#unsent = new UnsentBytes(server.room, socket)
  }

  /** The headers of a request have arrived, and may be enough to refuse it. */
  begin(request: IncomingMessage, response: ServerResponse, refused?: Answer): void {
    if (this.#ending) return
    if (this.#line.length >= this.#server.limits.pipelinedMax) {
      this.#socket.destroy()
      return
    }
    const exchange: Exchange = {
      request,
      response,
      collecting: undefined,
      body: EMPTY_BODY,
      refusal: undefined,
      awaitsContinue: request.headers.expect !== undefined,
    }
    this.#line.push(exchange)
    const length = declaredLength(request)
    const refusal = refused ?? this.#twoHosts(request) ?? this.#unreadRefusal(request, length)
    if (refusal !== undefined) {
      this.#refuse(exchange, refusal)
      return
    }
    if (length !== 0) this.#collect(exchange, length)
    this.#advance()
  }

  /** node:http takes the first one, and a proxy before it may have taken the second (RFC 9112, section 3.2). */
  #twoHosts({ rawHeaders }: IncomingMessage): Answer | undefined {
    let hosts = 0
    for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') hosts++
    if (hosts <= 1) return undefined
    return this.#server.dispatcher.edge(400, 'BadRequest', 'There is more than one Host header.')
  }

  /** The bytes on the connection are not HTTP, or came too slowly. Answers what came before them, then that. */
  fail(answer: Answer): void {
    if (this.#ending) return
    this.#ending = true
    this.#server.dispatcher.recordUnread(answer)
    this.#failure = answer
    const last = this.#line.at(-1)
    if (last?.collecting !== undefined && !last.request.complete) {
      this.#line.pop()
      this.#release(last)
    }
    this.#advance()
  }

  closed(): void {
    this.#closed = true
    this.#ending = true
    for (const exchange of this.#line) this.#release(exchange)
    this.#line.length = 0
    this.#unsent.end()
  }

  /** node:http looks at the other deadlines. */
  sweep(nowMs: number): void {
    if (this.#unsent.bytes === 0) {
      this.#unsentSinceMs = nowMs
      return
    }
    const { room, limits } = this.#server
    if (room.isOverdue(this.#unsent, nowMs - this.#unsentSinceMs)) {
      this.#socket.destroy()
      return
    }
    const standstillMs = room.standstillMs(this.#unsent)
    if (standstillMs === (this.#standstillMs || limits.socketIdleMs)) return
    this.#standstillMs = standstillMs
    // node:http closes a connection of which its socket says that it stands still.
    this.#socket.setTimeout(standstillMs)
  }

  /** Counts an answer that the client has yet to take. */
  #made({ body }: Answer): void {
    this.#unsent.made(body.length)
  }

  stop(): void {
    if (this.#current === undefined && this.#line.length === 0) this.#socket.destroySoon()
  }

  #unreadRefusal(request: IncomingMessage, length: number | undefined): Answer | undefined {
    if (length !== undefined && length <= UNREAD_CHECK_BYTES) return undefined
    return this.#server.dispatcher.refusal(request, length) ?? tooMuch(this.#server, length ?? 0)
  }

  #collect(exchange: Exchange, length: number | undefined): void {
    const { request } = exchange
    const collector = new BodyCollector(length)
    exchange.collecting = collector
    const finish = (): void => {
      if (exchange.collecting === undefined) return
      exchange.collecting = undefined
      exchange.body = collector.bytes()
      this.#advance()
    }
    request.on('data', (chunk: Buffer) => {
      if (exchange.collecting === undefined) return
      this.#server.bodyBytesInFlight += chunk.length
      collector.add(chunk)
      if (length === undefined && collector.length > UNREAD_CHECK_BYTES) {
        const refusal = tooMuch(this.#server, collector.length)
        if (refusal !== undefined) {
          this.#release(exchange)
          this.#refuse(exchange, refusal)
          return
        }
      }
      // Not waiting for the end of the stream saves a turn of its machinery.
      if (collector.complete) finish()
    })
    if (length === undefined) request.on('end', finish)
  }

  /** Answers it when its turn comes, as the last of this connection. */
  #refuse(exchange: Exchange, refusal: Answer): void {
    this.#server.dispatcher.recordUnread(refusal)
    exchange.refusal = refusal
    this.#ending = true
    for (const behind of this.#line.splice(this.#line.indexOf(exchange) + 1)) this.#release(behind)
    this.#advance()
  }

  /** Gives back what it holds. */
  #release(exchange: Exchange): void {
    this.#server.bodyBytesInFlight -= exchange.collecting?.length ?? exchange.body.length
    exchange.collecting = undefined
    exchange.body = EMPTY_BODY
  }

  /** Answers the next one, if it is its turn and it is whole. */
  #advance(): void {
    if (this.#current !== undefined || this.#closed) return
    // A client gets no more answers than it takes.
    if (this.#unsent.bytes > SMALL_ANSWER_BYTES) return
    const next = this.#line[0]
    if (next === undefined) {
      if (this.#failure !== undefined) this.#endWith(this.#failure)
    } else if (next.awaitsContinue && next.refusal === undefined) {
      this.#afterResponse(() => this.#continue(next))
    } else if (next.collecting === undefined) {
      this.#line.shift()
      this.#answer(next)
    }
  }

  /**
   * Not before its turn, when node:http would put it into the middle of an answer that waits; and even if the body is
   * there, because node:http would close the connection without it.
   */
  #continue(exchange: Exchange): void {
    if (!exchange.awaitsContinue || this.#closed) return
    exchange.awaitsContinue = false
    exchange.response.writeContinue()
    this.#advance()
  }

  /** Acts once node:http has written the last answer. */
  #afterResponse(act: () => void): void {
    if (this.#response === undefined) act()
    else this.#response.once('finish', act)
  }

  #answer(exchange: Exchange): void {
    this.#current = exchange
    const { request, body, refusal } = exchange
    if (refusal !== undefined) {
      this.#endWith(refusal, request)
      return
    }
    this.#server.metrics.requestBodyBytesTotal += body.length
    const outcome = this.#server.dispatcher.dispatch(request, body, this.#unsent)
    if (outcome instanceof Promise) {
      void outcome.then((answer) => {
        this.#made(answer)
        this.#server.outbox.add({ send: () => this.#finish(exchange, answer) })
      })
    } else {
      this.#made(outcome)
      this.#finish(exchange, outcome)
    }
  }

  #finish(exchange: Exchange, answer: Answer): void {
    this.#server.bodyBytesInFlight -= exchange.body.length
    if (!this.#closed) this.#write(exchange.response, answer)
    this.#current = undefined
    this.#advance()
  }

  #write(response: ServerResponse, answer: Answer): void {
    if (answer.lost === true) {
      this.#socket.destroy()
      return
    }
    const last = this.#server.stopping && this.#line.length === 0
    this.#response = response
    this.#closing = !response.shouldKeepAlive
    response.once('finish', () => {
      if (this.#response === response) this.#response = undefined
      if (this.#closed) return
      this.#unsent.taken(answer.body.length)
      this.#advance()
    })
    writeResponse(response, answer, last ? 'close' : 'keep')
  }

  /** As plain bytes, once node:http has written all before them. After an answer that closes there is nothing to say. */
  #endWith(answer: Answer, unread?: IncomingMessage): void {
    if (this.#closing) return
    this.#afterResponse(() => {
      endWith(this.#server, this.#socket, answer)
      if (unread !== undefined) this.#discard(unread)
    })
  }

  #discard(request: IncomingMessage): void {
    const socket = this.#socket
    const bytesReadMax = socket.bytesRead + this.#server.limits.lingerBytesMax
    request.on('data', () => {
      if (socket.bytesRead > bytesReadMax) socket.destroy()
    })
    if (request.readableEnded) socket.destroySoon()
    else request.on('end', () => socket.destroySoon())
  }
}

/** Undefined if only the end of the body will tell. */
function declaredLength({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}
