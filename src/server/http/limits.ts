// Every bound of the HTTP edge, in one place.
import { limits } from '../../model/limits.js'
import { operationBoundsOf } from '../../router/request/router.js'

/** Limits of the HTTP server: bytes, counts, and times in milliseconds. */
export interface ServerLimits {
  /** DynamoDB's own bound on a request. */
  readonly requestBytesMax: number
  /** Of operations that carry no items and no values of expressions; a valid one has some kilobytes. */
  readonly plainRequestBytesMax: number
  /** Of all headers of one request. */
  readonly headerBytesMax: number
  /** Levels of brackets in a request; the deepest legal item needs about 70. */
  readonly jsonDepthMax: number
  /** Or as many as the system lets this process have open, if those are fewer. */
  readonly connectionsMax: number
  /** Requests received on one connection that wait for an earlier one of it. */
  readonly pipelinedMax: number
  /** Requests that are being worked on at once. */
  readonly requestsInFlightMax: number
  /** Bytes of bodies held for requests not yet answered. */
  readonly bodyBytesInFlightMax: number
  /** Bytes of inflated bodies of requests that came compressed and are not yet answered. */
  readonly inflatedBytesMax: number
  /** An answer is compressed, for a client that asks for it, if it has so many bytes. */
  readonly compressedAnswerBytesMin: number
  /** Bytes of answers that clients have not taken yet. */
  readonly answerBytesUnsentMax: number
  /** As many as the largest answer has: while less room is left, none of that kind is begun. */
  readonly answerBytesMax: number
  /** From the first byte of a request (or the start of the connection) to the end of its headers. */
  readonly headersTimeoutMs: number
  /** From the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number
  /** How long a connection without a request is kept open. */
  readonly keepAliveTimeoutMs: number
  /** A connection on which nothing moves, in either direction, while a request is open. */
  readonly socketIdleMs: number
  /** The same while half of `answerBytesUnsentMax` is taken, for connections that have unsent bytes. */
  readonly crowdedIdleMs: number
  /** From the making of an answer until it has been taken, at that time. */
  readonly crowdedAnswerMs: number
  /** How often the two request timeouts are looked at. */
  readonly timeoutCheckMs: number
  /** After a refusal the rest of a body is thrown away for this long, so that the client can read the answer. */
  readonly lingerMs: number
  /** The most bytes of such a body. */
  readonly lingerBytesMax: number
  /** How long `stop` waits for requests in flight before it closes their connections. */
  readonly stopMs: number
}

export const serverLimits: ServerLimits = {
  requestBytesMax: limits.requestBytesMax,
  plainRequestBytesMax: 2 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  jsonDepthMax: 1000,
  connectionsMax: 16 * 1024,
  pipelinedMax: 1024,
  requestsInFlightMax: 16 * 1024,
  bodyBytesInFlightMax: 512 * 1024 * 1024,
  inflatedBytesMax: 64 * 1024 * 1024,
  compressedAnswerBytesMin: 4 * 1024,
  answerBytesUnsentMax: 96 * 1024 * 1024,
  answerBytesMax: limits.batchGetBytesMax,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  socketIdleMs: 120_000,
  crowdedIdleMs: 2_000,
  crowdedAnswerMs: 20_000,
  timeoutCheckMs: 5_000,
  lingerMs: 1_000,
  lingerBytesMax: 16 * 1024 * 1024,
  stopMs: 10_000,
}

/**
 * DynamoDB documents 16 MB for a request, and nothing smaller for the operations on items: values of expressions alone may
 * have 2 MB, which text multiplies.
 */
export const bodyBytesMaxOf = (operation: string, limits: ServerLimits): number =>
  operationBoundsOf(operation).request === 'plain'
    ? Math.min(limits.plainRequestBytesMax, limits.requestBytesMax)
    : limits.requestBytesMax

const SWEEP_MS_MAX = 1_000
const SWEEP_MS_MIN = 5

/** How often the deadlines of connections are looked at: a small part of the shortest of them. */
export function sweepIntervalMs(limits: ServerLimits): number {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, timeoutCheckMs } = limits
  const { socketIdleMs, crowdedIdleMs } = limits
  const shortest = Math.min(
    headersTimeoutMs,
    requestTimeoutMs,
    keepAliveTimeoutMs,
    socketIdleMs,
    crowdedIdleMs,
  )
  return Math.max(SWEEP_MS_MIN, Math.min(SWEEP_MS_MAX, timeoutCheckMs, shortest / 8))
}
