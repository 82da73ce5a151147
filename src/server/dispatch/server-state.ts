// What the connections of one server share, and what all of them do alike.
import type { Socket } from 'node:net'
import type { Answer } from '../http/answer.js'
import type { AnswerRoom } from '../http/answer-room.js'
import type { Dispatcher } from './dispatch.js'
import type { ServerLimits } from '../http/limits.js'
import type { Metrics } from './metrics.js'
import type { Outbox } from '../http/outbox.js'
import { closingBytes } from '../http/write-answer.js'

export interface ServerState {
  readonly dispatcher: Dispatcher
  readonly limits: ServerLimits
  readonly metrics: Metrics
  readonly outbox: Outbox
  readonly room: AnswerRoom
  bodyBytesInFlight: number
  stopping: boolean
}

/** A connection, whoever reads it. */
export interface ServedConnection {
  /** Closes at once if nothing is under way; otherwise the answer under way is the last. */
  stop(): void
  /** The socket is gone. */
  closed(): void
  /** Looks at its deadlines. */
  sweep(nowMs: number, intervalMs: number): void
}

/** Bodies longer than this are looked at before they are read. */
export const UNREAD_CHECK_BYTES = 64 * 1024

/** Why a body of that many bytes is not taken; undefined if it is. */
export function tooMuch(server: ServerState, length: number): Answer | undefined {
  const { dispatcher, limits, bodyBytesInFlight } = server
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

/** Where the bytes of a connection stop being HTTP. */
export const notHttp = (server: ServerState): Answer =>
  server.dispatcher.edge(400, 'BadRequest', 'This is not a request of HTTP/1.1.')

export const tooSlow = (server: ServerState): Answer =>
  server.dispatcher.edge(408, 'RequestTimeout', 'The request did not arrive in time.')

/** The last answer of a connection, while its client may still be sending. */
export function endWith(server: ServerState, socket: Socket, answer: Answer): void {
  // Closing with unread bytes would reset the connection and take the answer away from the client.
  socket.end(closingBytes(answer))
  const timer = setTimeout(() => socket.destroy(), server.limits.lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
