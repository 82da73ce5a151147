// One connection, read by ourselves as long as its requests are of the plain form. Requests are answered one after
// another in the order they came, as HTTP asks for those that write; those behind wait, boundedly.
//
//   bytes --> plain-request.ts --> body --> waiting --> dispatch --> outbox --> write --> next
//                 \
//                  another form: once all before it are answered, the connection goes over to node:http for good
//
// Deadlines are looked at by `sweep`, against a clock that stands still between two sweeps: a request costs no timer.
import type { Socket } from 'node:net'
import type { Answer } from '../http/answer.js'
import { SMALL_ANSWER_BYTES, UnsentBytes } from '../http/answer-room.js'
import { BodyCollector } from '../http/body.js'
import { INCOMPLETE, OTHER_FORM, type PlainRequestReader } from '../http/plain-request.js'
import type { RequestHead } from '../http/request-head.js'
import {
  endWith,
  notHttp,
  tooMuch,
  tooSlow,
  UNREAD_CHECK_BYTES,
  type ServedConnection,
  type ServerState,
} from '../dispatch/server-state.js'
import { writeAnswer, type ConnectionHeaders } from '../http/write-answer.js'

/** What the connections that are read by ourselves share besides. */
export interface DirectState {
  readonly server: ServerState
  readonly reader: PlainRequestReader
  readonly connectionHeaders: ConnectionHeaders
  /** Passes the connection on to node:http, paused, with what is unread of it in its buffer. */
  readonly passOn: (socket: Socket) => void
  /** The time of the last sweep. */
  sweptAtMs: number
}

interface Waiting {
  readonly head: RequestHead
  readonly body: Buffer
}

export class DirectConnection implements ServedConnection {
  readonly #direct: DirectState
  readonly #server: ServerState
  readonly #socket: Socket
  /** The beginning of a head. */
  #partial: Buffer | undefined
  /** A head whose body is on its way. */
  #head: RequestHead | undefined
  #collecting: BodyCollector | undefined
  #missingBytes = 0
  /** A request is being answered; its body has that many bytes. */
  #busy = false
  #bodyBytes = 0
  #answer: Answer | undefined
  readonly #waiting: Waiting[] = []
  /** What to say after the last answer: the bytes behind that request were not HTTP. */
  #failure: Answer | undefined
  /** What comes next is a request of another form, and is back in the buffer of the socket. */
  #leaving = false
  /** No further request is read here. */
  #ending = false
  #closed = false
  /** The client has closed its side. */
  #halfClosed = false
  /** The client has not yet taken what was written. */
  #congested = false
  readonly #unsent: UnsentBytes
  #unsentSinceMs = 0
  /** For how long the socket may stand still with them, if it was told. */
  #standstillMs = 0
  /** When the request that is arriving began, and when the connection last moved. */
  #arrivingSinceMs: number
  #movedAtMs: number
  #used = false

  constructor(direct: DirectState, socket: Socket) {
    this.#direct = direct
    this.#server = direct.server
    this.#socket = socket
    this.#unsent = new UnsentBytes(direct.server.room, socket)
    this.#arrivingSinceMs = direct.sweptAtMs
    this.#movedAtMs = direct.sweptAtMs
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', this.#onError)
  }

  stop(): void {
    if (this.#busy || this.#waiting.length > 0) return
    if (this.#collecting === undefined && !this.#leaving) this.#socket.destroySoon()
  }

  closed(): void {
    this.#closed = true
    this.#ending = true
    this.#releaseCollected()
    for (const { body } of this.#waiting) this.#server.bodyBytesInFlight -= body.length
    this.#waiting.length = 0
    this.#unsent.end()
  }

  /** Looks at the deadlines. A moment may lie as far back as the sweep before it, so that much is added. */
  sweep(nowMs: number, intervalMs: number): void {
    if (this.#congested) this.#watchUnsent(nowMs)
    if (this.#ending) return
    const { limits } = this.#server
    const past = (sinceMs: number, timeoutMs: number): boolean => nowMs - sinceMs >= timeoutMs + intervalMs
    if (this.#collecting !== undefined) {
      if (past(this.#arrivingSinceMs, limits.requestTimeoutMs)) this.#fail(tooSlow(this.#server))
      else if (past(this.#movedAtMs, limits.socketIdleMs)) this.#socket.destroy()
    } else if (this.#partial !== undefined || !this.#used) {
      if (past(this.#arrivingSinceMs, limits.headersTimeoutMs)) this.#fail(tooSlow(this.#server))
    } else if (
      !this.#congested &&
      past(this.#movedAtMs, this.#busy ? limits.socketIdleMs : limits.keepAliveTimeoutMs)
    ) {
      this.#socket.destroy()
    }
  }

  /** The socket itself knows whether the client takes anything at all. */
  #watchUnsent(nowMs: number): void {
    const { room } = this.#server
    if (room.isOverdue(this.#unsent, nowMs - this.#unsentSinceMs)) {
      this.#socket.destroy()
      return
    }
    const standstillMs = room.standstillMs(this.#unsent)
    if (standstillMs === this.#standstillMs) return
    if (this.#standstillMs === 0) this.#socket.on('timeout', this.#onStandstill)
    this.#standstillMs = standstillMs
    this.#socket.setTimeout(standstillMs)
  }

  /** Its turn to write. */
  send(): void {
    const answer = this.#answer!
    this.#answer = undefined
    this.#server.bodyBytesInFlight -= this.#bodyBytes
    this.#busy = false
    if (this.#closed) {
      this.#unsent.taken()
      return
    }
    if (answer.lost === true) {
      this.#socket.destroy()
      return
    }
    this.#movedAtMs = this.#direct.sweptAtMs
    const { connectionHeaders } = this.#direct
    const last = this.#isLast()
    const taken = writeAnswer(this.#socket, answer, last ? connectionHeaders.close : connectionHeaders.keep)
    if (taken) {
      this.#unsent.taken()
    } else {
      this.#congested = true
      this.#unsentSinceMs = this.#direct.sweptAtMs
    }
    if (last) {
      this.#ending = true
      this.#socket.destroySoon()
    } else if (taken) this.#next()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#ending) return
    // Nobody gets more answers than he takes: what else he asks for waits in his own buffers.
    if (this.#congested) this.#socket.pause()
    this.#movedAtMs = this.#direct.sweptAtMs
    let at = 0
    if (this.#collecting !== undefined) {
      at = this.#collect(chunk, 0)
      if (this.#collecting !== undefined) return
    }
    this.#read(chunk, at)
  }

  #read(chunk: Buffer, from: number): void {
    const { reader } = this.#direct
    const again = this.#partial !== undefined
    let bytes = chunk
    let at = from
    if (this.#partial !== undefined) {
      bytes = Buffer.concat([this.#partial, chunk])
      this.#partial = undefined
    }
    while (at < bytes.length) {
      const headEnd = reader.read(bytes, at)
      if (headEnd === INCOMPLETE && !again) {
        this.#arrivingSinceMs = this.#direct.sweptAtMs
        this.#partial = at === 0 ? bytes : bytes.subarray(at)
        return
      }
      // A head in more than two pieces is read by node:http, which looks at no byte twice.
      if (headEnd === INCOMPLETE || headEnd === OTHER_FORM) {
        this.#leave(bytes.subarray(at))
        return
      }
      const head = reader.head()
      const length = reader.contentLength
      if (length > UNREAD_CHECK_BYTES && this.#refuses(head, length)) {
        this.#leave(bytes.subarray(at))
        return
      }
      this.#used = true
      const bodyEnd = headEnd + length
      if (bodyEnd > bytes.length) {
        this.#arrivingSinceMs = this.#direct.sweptAtMs
        this.#head = head
        this.#collecting = new BodyCollector(length)
        this.#missingBytes = length
        if (headEnd < bytes.length) this.#collect(bytes, headEnd)
        return
      }
      this.#server.bodyBytesInFlight += length
      this.#accept(head, bytes.subarray(headEnd, bodyEnd))
      if (this.#ending) return
      at = bodyEnd
    }
  }

  /** Whether that body would not be read; node:http then says so, and reads no more of it than it must. */
  #refuses(head: RequestHead, length: number): boolean {
    return (this.#server.dispatcher.refusal(head, length) ?? tooMuch(this.#server, length)) !== undefined
  }

  /** Takes what belongs to the body; the position behind that. */
  #collect(chunk: Buffer, from: number): number {
    const collector = this.#collecting!
    const to = Math.min(chunk.length, from + this.#missingBytes)
    collector.add(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to))
    this.#missingBytes -= to - from
    this.#server.bodyBytesInFlight += to - from
    if (this.#missingBytes === 0) {
      const head = this.#head!
      this.#head = undefined
      this.#collecting = undefined
      this.#accept(head, collector.bytes())
    }
    return to
  }

  /** A request is here. */
  #accept(head: RequestHead, body: Buffer): void {
    if (!this.#busy && !this.#congested) {
      this.#dispatch(head, body)
    } else if (this.#waiting.length < this.#server.limits.pipelinedMax) {
      this.#waiting.push({ head, body })
    } else {
      this.#server.bodyBytesInFlight -= body.length
      this.#ending = true
      this.#socket.destroy()
    }
  }

  #dispatch(head: RequestHead, body: Buffer): void {
    this.#busy = true
    this.#bodyBytes = body.length
    this.#server.metrics.requestBodyBytesTotal += body.length
    const outcome = this.#server.dispatcher.dispatch(head, body, this.#unsent)
    if (outcome instanceof Promise) void outcome.then(this.#answered)
    else this.#answered(outcome)
  }

  readonly #answered = (answer: Answer): void => {
    this.#answer = answer
    const { length } = answer.body
    this.#unsent.made(length)
    // The large ones of a turn would come to much: they leave at once.
    if (length > SMALL_ANSWER_BYTES) this.send()
    else this.#server.outbox.add(this)
  }

  /** All before it is answered, and the client takes what it gets. */
  #next(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) this.#dispatch(next.head, next.body)
    else if (this.#failure !== undefined) endWith(this.#server, this.#socket, this.#failure)
    else if (this.#leaving) this.#passOn()
    else if (this.#halfClosed) this.#socket.end()
  }

  /** The answer under way is the last one. */
  #isLast(): boolean {
    if (this.#waiting.length > 0 || this.#collecting !== undefined) return false
    if (this.#leaving || this.#failure !== undefined) return false
    return this.#halfClosed || this.#server.stopping
  }

  /** What comes now is not for us. With bytes in its buffer the socket does not tell of its end before they are read. */
  #leave(unread: Buffer): void {
    this.#leaving = true
    this.#socket.pause()
    this.#socket.unshift(unread)
    if (!this.#busy && !this.#congested && this.#waiting.length === 0) this.#passOn()
  }

  #passOn(): void {
    const socket = this.#socket
    this.#ending = true
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('drain', this.#onDrain)
    socket.off('error', this.#onError)
    if (this.#standstillMs > 0) socket.off('timeout', this.#onStandstill)
    this.#direct.passOn(socket)
  }

  /** The bytes on the connection are not HTTP, or came too slowly. Answers what came before them, then that. */
  #fail(answer: Answer): void {
    this.#ending = true
    this.#partial = undefined
    this.#releaseCollected()
    this.#server.metrics.malformedTotal++
    this.#server.dispatcher.recordUnread(answer)
    this.#failure = answer
    if (!this.#busy && !this.#congested) endWith(this.#server, this.#socket, answer)
  }

  #releaseCollected(): void {
    if (this.#collecting === undefined) return
    this.#server.bodyBytesInFlight -= this.#collecting.length
    this.#collecting = undefined
    this.#head = undefined
  }

  readonly #onEnd = (): void => {
    if (this.#ending) return
    this.#halfClosed = true
    if (this.#partial !== undefined || this.#collecting !== undefined) this.#fail(notHttp(this.#server))
    else if (!this.#busy && !this.#congested) this.#socket.end()
  }

  readonly #onDrain = (): void => {
    if (!this.#congested) return
    this.#congested = false
    this.#unsent.taken()
    this.#movedAtMs = this.#direct.sweptAtMs
    if (this.#standstillMs > 0) {
      this.#standstillMs = 0
      this.#socket.off('timeout', this.#onStandstill)
      this.#socket.setTimeout(0)
    }
    if (!this.#leaving && this.#socket.isPaused()) this.#socket.resume()
    if (!this.#busy) this.#next()
  }

  readonly #onStandstill = (): void => {
    this.#socket.destroy()
  }

  readonly #onError = (): void => {
    this.#server.metrics.malformedTotal++
  }
}
