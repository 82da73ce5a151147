// From a request to its answer, whatever layer reads and writes HTTP:
//
//   head --> Host and Origin --> method and path --> content type --> target --> signature present?   (`refusal`)
//   body --> signature --> inflate --> UTF-8, depth, JSON --> router --> answer with id and checksum  (`dispatch`)
//
// The signature is checked before the body is parsed: nothing of an unknown caller reaches the parser. May import:
// model, and of the router only its interface.
import { setTimeout as delay } from 'node:timers/promises'
import { DynamoError } from '../../model/errors.js'
import {
  anyone,
  type Principal,
  type Router,
  type RouterReply,
  type RouterRequest,
} from '../../router/request/router.js'
import {
  bytesReadAtMost,
  operationBoundsOf,
  inWordsOf,
  statementsOnlyRead,
} from '../../router/request/router.js'
import {
  AMZ_JSON,
  edgeAnswer,
  emptyAnswer,
  errorAnswer,
  lostAnswer,
  operationAnswer,
  textAnswer,
  type Answer,
} from '../http/answer.js'
import {
  answerCoding,
  ContentCoder,
  damagedBody,
  noRoomToInflate,
  requestCoding,
  unknownCoding,
} from '../http/content-coding.js'
import { answersFull, type AnswerRoom, type UnsentBytes } from '../http/answer-room.js'
import type { Auth } from '../access/auth.js'
import type { FaultPlan } from '../faults/fault-plan.js'
import {
  conflictError,
  FAULT_HEADER,
  faultFits,
  inProgressError,
  parseFault,
  type Fault,
} from '../faults/faults.js'
import { parseBody } from './json-body.js'
import { asksForConsole, ConsoleFiles } from './console-files.js'
import { ItemTexts } from './item-texts.js'
import { asksForLedgerFile, LEDGER_FILES, ledgerFileAnswer, ledgerFileInput } from './ledger-files.js'
import { bodyBytesMaxOf, type ServerLimits } from '../http/limits.js'
import { type ServerCounts, OperationMetrics, type Metrics } from './metrics.js'
import type { MetricsHistory } from './metrics-history.js'
import { type Admitted, OriginCheck } from '../access/origin.js'
import type { RequestHead, RequestHeaders } from '../http/request-head.js'
import { requestIds } from './request-id.js'
import {
  addressedBy,
  contentTypeOf,
  regionOf,
  TARGET_PREFIX,
  throttled,
  unknownFault,
  unknownTarget,
} from './request-text.js'

/** What `onRequest` is told of a finished request, for a log. */
export interface RequestInfo {
  /** The operation; undefined if the request named none that exists. */
  readonly operation: string | undefined
  /** The HTTP status of the answer. */
  readonly status: number
  /** The name of the error; undefined after success. */
  readonly error: string | undefined
  /** From the end of the request to its answer. */
  readonly durationMs: number
}

export interface DispatcherOptions {
  readonly limits: ServerLimits
  readonly metrics: Metrics
  /** Absent where no answer is kept for a client: in this process. */
  readonly room?: AnswerRoom | undefined
  readonly auth?: Auth | undefined
  /** Which Host and Origin headers are admitted; with `auth` only the origins count. */
  readonly admitted?: Admitted | undefined
  /** Absent: there is none at /metrics/history. */
  readonly history?: MetricsHistory | undefined
  /** Serve the console at /console/. */
  readonly console?: boolean | undefined
  /** Obey the header `x-seriatim-fault`. */
  readonly faults?: boolean | undefined
  /** Faults for requests without that header. */
  readonly faultPlan?: FaultPlan | undefined
  readonly onRequest?: ((info: RequestInfo) => void) | undefined
  /** What the other workers of this server have counted; absent: there are none. */
  readonly otherCounts?: (() => Promise<readonly ServerCounts[]>) | undefined
}

const METRICS_PATH = '/metrics'
const STREAMS_PREFIX = 'DynamoDBStreams_20120810.'
const STREAMS_OPERATIONS = new Set(['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'])

/** Its body is an object, as those of all operations are. */
type Operated = RouterRequest & { readonly input: object }

/** As the client has it, as the service answers. */
const hostOf = ({ headers: { host } }: RequestHead): string =>
  typeof host === 'string' && /^[\w.:[\]-]{1,255}$/.test(host) ? host : 'seriatim'

/** What is known of a request once its body is read. To say it with the answer would take another promise. */
interface Found {
  /** It has statements, and they read. */
  onlyRead: boolean
}

export class Dispatcher {
  readonly #router: Router
  readonly #options: DispatcherOptions
  readonly #metrics: Metrics
  readonly #other: OperationMetrics
  readonly #byTarget = new Map<string, OperationMetrics>()
  readonly #origins: OriginCheck
  /** Without keys: the Host and the Origin of a request are all that tells where it comes from. */
  readonly #checksOrigin: boolean
  readonly #requestId = requestIds()
  readonly #texts = new ItemTexts()
  readonly #coder: ContentCoder
  readonly #console: ConsoleFiles | undefined

  constructor(router: Router, options: DispatcherOptions) {
    this.#router = router
    this.#options = options
    this.#metrics = options.metrics
    this.#coder = new ContentCoder(options.limits)
    this.#other = options.metrics.operation('none')
    for (const operation of router.operations) {
      const usual = STREAMS_OPERATIONS.has(operation) ? STREAMS_PREFIX : TARGET_PREFIX
      const prefix = router.targetPrefixes?.get(operation) ?? usual
      this.#byTarget.set(prefix + operation, options.metrics.operation(operation))
    }
    this.#origins = new OriginCheck(options.admitted)
    this.#checksOrigin = options.auth === undefined
    this.#console = options.console === true ? new ConsoleFiles() : undefined
  }

  /** The answer to a request that needs no body to be answered, such as one that must not be read at all. */
  refusal(head: RequestHead, bodyBytes = 0): Answer | undefined {
    const route = this.#route(head)
    if (!(route instanceof OperationMetrics)) return route
    const { limits } = this.#options
    if (bodyBytes > bodyBytesMaxOf(route.operation, limits) && bodyBytes <= limits.requestBytesMax)
      return this.#tooLarge(route.operation)
    const error = this.#options.auth?.refusesUnread(head.headers)
    return error && this.#withCors(head, errorAnswer(error, AMZ_JSON, this.#requestId()))
  }

  /**
   * Answers a complete request: at once where the router is not asked, otherwise later. Never throws or rejects. No
   * async function on the way: each would cost this path another promise and its turns. `unsent` is what the connection
   * holds of the room: it learns here which key it is for.
   */
  dispatch(head: RequestHead, body: Buffer, unsent?: UnsentBytes): Answer | Promise<Answer> {
    const answer = this.#dispatch(head, body, unsent)
    const accepted = head.headers['accept-encoding']
    return accepted === undefined || head.method !== 'POST' ? answer : this.#compressed(answer, accepted)
  }

  #compressed(answer: Answer | Promise<Answer>, accepted: string | string[]): Answer | Promise<Answer> {
    const coding = answerCoding(accepted)
    if (coding === undefined) return answer
    return answer instanceof Promise
      ? answer.then((made) => this.#coder.compressed(made, coding))
      : this.#coder.compressed(answer, coding)
  }

  #dispatch(head: RequestHead, body: Buffer, unsent: UnsentBytes | undefined): Answer | Promise<Answer> {
    const start = performance.now()
    let operation = this.#other
    this.#metrics.inFlight++
    try {
      const route = this.#route(head)
      if (!(route instanceof OperationMetrics)) {
        const { otherCounts } = this.#options
        if (otherCounts === undefined || head.url !== METRICS_PATH || route.status !== 200)
          return this.#finish(head, operation, start, unsent, route)
        return otherCounts().then(
          (others) => this.#finish(head, operation, start, unsent, this.#metricsPage(others)),
          (error: unknown) => this.#finish(head, operation, start, unsent, this.#broken(error)),
        )
      }
      operation = route
      const found: Found = { onlyRead: false }
      const outcome = this.#operate(route.operation, head, body, unsent, found)
      if (!(outcome instanceof Promise)) return this.#finish(head, route, start, unsent, outcome, found)
      return outcome.then(
        (result) => this.#finish(head, route, start, unsent, this.#answerOf(head.headers, result), found),
        (error: unknown) => this.#finish(head, route, start, unsent, this.#broken(error)),
      )
    } catch (error) {
      return this.#finish(head, operation, start, unsent, this.#broken(error))
    }
  }

  /** For the HTTP layer: something that never became a request, or was refused unread. */
  edge(status: number, error: string, message: string): Answer {
    return edgeAnswer(status, error, message, this.#requestId())
  }

  #tooLarge(operation: string): Answer {
    const bytesMax = bodyBytesMaxOf(operation, this.#options.limits)
    return this.edge(
      413,
      'RequestEntityTooLarge',
      `A request for ${operation} has at most ${bytesMax} bytes.`,
    )
  }

  recordUnread(answer: Answer): void {
    this.#record(this.#other, answer, 0)
  }

  #finish(
    head: RequestHead,
    operation: OperationMetrics,
    start: number,
    unsent: UnsentBytes | undefined,
    answer: Answer,
    found?: Found,
  ): Answer {
    this.#metrics.inFlight--
    const { room } = this.#options
    const sent =
      room === undefined ||
      unsent === undefined ||
      room.holds(operation.operation, answer, unsent, found?.onlyRead)
        ? answer
        : this.#error(answersFull(), AMZ_JSON)
    this.#record(operation, sent, performance.now() - start)
    return head.headers['origin'] === undefined ? sent : this.#withCors(head, sent)
  }

  /** An invariant of ours is broken: the client cannot know whether its operation was done, and 500 says so. */
  #broken(error: unknown): Answer {
    process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimInternalError')
    return this.#error(new DynamoError('InternalServerError', 'Internal server error'), AMZ_JSON)
  }

  #record(metrics: OperationMetrics, answer: Answer, durationMs: number): void {
    metrics.record(durationMs, answer.error)
    this.#metrics.responseBodyBytesTotal += answer.body.length
    const { onRequest } = this.#options
    if (onRequest === undefined) return
    const operation = metrics === this.#other ? undefined : metrics.operation
    try {
      onRequest({ operation, status: answer.status, error: answer.error, durationMs })
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimLogError')
    }
  }

  #route(head: RequestHead): OperationMetrics | Answer {
    const { headers } = head
    const isConsole = this.#console !== undefined && asksForConsole(head)
    const foreign = this.#checksOrigin
      ? this.#origins.refusal(headers, isConsole ? 'fixed file' : 'store')
      : undefined
    if (foreign !== undefined) return this.edge(403, 'AccessDeniedException', `Refused: ${foreign}.`)
    if (isConsole) return this.#console.answer(head)
    if (asksForLedgerFile(head)) return this.#metrics.operation(LEDGER_FILES)
    if (head.method !== 'POST') return this.#page(head)
    if (head.url !== '/') {
      return this.edge(404, 'UnknownOperationException', 'Operations are posted to the path /.')
    }
    if (contentTypeOf(headers) === undefined) {
      // What the service says, including its line feed.
      return textAnswer(404, 'application/xml', '<UnknownOperationException/>\n', 'UnknownOperationException')
    }
    const target = headers['x-amz-target']
    const route = typeof target === 'string' ? this.#byTarget.get(target) : undefined
    return route ?? this.#error(unknownTarget(target), contentTypeOf(headers)!)
  }

  #operate(
    operation: string,
    head: RequestHead,
    body: Buffer,
    unsent: UnsentBytes | undefined,
    found: Found,
  ): Answer | Promise<Answer | RouterReply> {
    const { headers } = head
    const { auth, limits, room } = this.#options
    const contentType = contentTypeOf(headers) ?? AMZ_JSON
    let principal: Principal = anyone
    if (auth !== undefined) {
      const claimed = auth.authenticate(head, body, Date.now())
      if (claimed instanceof DynamoError) return this.#error(claimed, contentType)
      principal = claimed
      if (room !== undefined) unsent?.billTo(room.shareOf(principal.id))
    }
    if (this.#metrics.inFlight > limits.requestsInFlightMax) return this.#error(throttled(), contentType)
    if (body.length > bodyBytesMaxOf(operation, limits)) return this.#tooLarge(operation)
    if (head.method !== 'POST')
      return this.#whenAdmitted(
        operation,
        bytesReadAtMost(operation, ledgerFileInput(head)),
        unsent,
        contentType,
        () =>
          ledgerFileAnswer(this.#router, head, principal, (error, status) =>
            this.edge(status, error.name, error.message),
          ),
      )
    const coding = requestCoding(headers['content-encoding'])
    if (coding === 'none') return this.#read(operation, headers, body, principal, unsent, found)
    if (coding === 'unknown') return this.#error(unknownCoding(), contentType)
    return this.#coder
      .inflated(coding, body, bodyBytesMaxOf(operation, limits), (plain) =>
        this.#read(operation, headers, plain, principal, unsent, found),
      )
      .then((result) => {
        if (result === 'too-large') return this.#tooLarge(operation)
        if (result === 'no-room') return this.#error(noRoomToInflate(), contentType)
        return result === 'damaged' ? this.#error(damagedBody(coding), contentType) : result
      })
  }

  /** The body as plain JSON. */
  #read(
    operation: string,
    headers: RequestHeaders,
    body: Buffer,
    principal: Principal,
    unsent: UnsentBytes | undefined,
    found: Found,
  ): Answer | Promise<Answer | RouterReply> {
    const contentType = contentTypeOf(headers) ?? AMZ_JSON
    const { limits } = this.#options
    const router = this.#router
    const large = router.readLarge === undefined ? 'parse' : 'leave'
    const parsed = parseBody(body, limits.jsonDepthMax, large, { operation, texts: this.#texts })
    if (!parsed.ok) return this.#error(parsed.error, contentType)
    const addressed = addressedBy(operation, headers)
    if ('input' in parsed) {
      return this.#admit(
        { operation, input: parsed.input, principal, addressed },
        headers,
        contentType,
        unsent,
        found,
      )
    }
    return router.readLarge!(operation, parsed.large).then(
      (input) =>
        this.#admit(
          { operation, input: input as object, principal, addressed },
          headers,
          contentType,
          unsent,
          found,
        ),
      (error: unknown) => {
        if (error instanceof DynamoError) return this.#error(error, contentType)
        throw error
      },
    )
  }

  /** What reads many items begins when there is room for them. What statements do is known now that they are read. */
  #admit(
    request: Operated,
    headers: RequestHeaders,
    contentType: string,
    unsent: UnsentBytes | undefined,
    found: Found,
  ): Answer | Promise<Answer | RouterReply> {
    const { operation, input } = request
    const { reads, byStatement } = operationBoundsOf(operation)
    if (reads === undefined || reads === 'item') return this.#perform(request, headers, contentType)
    if (byStatement === true) {
      if (!statementsOnlyRead(input)) return this.#perform(request, headers, contentType)
      found.onlyRead = true
    }
    return this.#whenAdmitted(operation, bytesReadAtMost(operation, input), unsent, contentType, () =>
      this.#perform(request, headers, contentType),
    )
  }

  #whenAdmitted(
    operation: string,
    readBytes: number,
    unsent: UnsentBytes | undefined,
    contentType: string,
    perform: () => Answer | Promise<Answer | RouterReply>,
  ): Answer | Promise<Answer | RouterReply> {
    const { room } = this.#options
    if (room === undefined || unsent === undefined) return perform()
    const begins = room.admits(operation, unsent, readBytes)
    if (begins === true) return perform()
    if (begins === false) return this.#error(answersFull(), contentType)
    return begins.then((isAdmitted) => (isAdmitted ? perform() : this.#error(answersFull(), contentType)))
  }

  #perform(
    request: Operated,
    headers: RequestHeaders,
    contentType: string,
  ): Answer | Promise<Answer | RouterReply> {
    const { operation } = request
    const { faults, faultPlan } = this.#options
    const faultText = headers[FAULT_HEADER]
    if (faults === true && typeof faultText === 'string') {
      const fault = parseFault(faultText)
      if (fault === undefined || !faultFits(fault, operation)) {
        return this.#error(unknownFault(faultText, operation), contentType)
      }
      return this.#operateWith(fault, request, contentType)
    }
    const planned = faultPlan?.next(operation)
    if (planned !== undefined) {
      return this.#operateWith(planned, request, contentType)
    }
    return this.#router.handle(request)
  }

  /** What the router says becomes an answer only here, which spares the common way a promise. */
  #answerOf(headers: RequestHeaders, result: Answer | RouterReply): Answer {
    if (!('ok' in result)) return result
    const contentType = contentTypeOf(headers) ?? AMZ_JSON
    if (result.ok) return this.#replied(result, contentType)
    return this.#error(inWordsOf(regionOf(headers), result.error), contentType)
  }

  #replied(reply: RouterReply, contentType: string): Answer {
    return reply.ok
      ? operationAnswer(200, contentType, this.#requestId(), reply.body, undefined, reply.headroomBytes)
      : this.#error(reply.error, contentType)
  }

  async #ask(request: RouterRequest, contentType: string): Promise<Answer> {
    return this.#replied(await this.#router.handle(request), contentType)
  }

  async #operateWith(fault: Fault, request: Operated, contentType: string): Promise<Answer> {
    const { operation, input } = request
    if (fault.kind === 'throttle') return this.#error(throttled(), contentType)
    if (fault.kind === 'transaction-conflict')
      return this.#error(conflictError(operation, input), contentType)
    if (fault.kind === 'transaction-in-progress') return this.#error(inProgressError(), contentType)
    if (fault.kind === 'delay') await delay(fault.delayMs)
    if (fault.kind === 'delay' || fault.when === 'after') {
      const answer = await this.#ask(request, contentType)
      if (fault.kind === 'delay') return answer
    }
    if (fault.kind === 'lose') return lostAnswer()
    return this.#error(
      new DynamoError('InternalServerError', 'Internal server error (injected)'),
      contentType,
    )
  }

  #page(head: RequestHead): Answer {
    const { method, url } = head
    if (method === 'OPTIONS') return this.#preflight(head)
    if (method !== 'GET' && method !== 'HEAD') {
      const answer = this.edge(405, 'MethodNotAllowed', 'Operations are posted to the path /.')
      answer.headers.push('allow', 'POST, GET, HEAD, OPTIONS')
      return answer
    }
    if (url === '/') return textAnswer(200, 'text/plain', `healthy: ${hostOf(head)} `)
    if (url === '/health') return textAnswer(200, 'application/json', '{"status":"ok"}')
    if (url === METRICS_PATH) return this.#metricsPage()
    const { history } = this.#options
    if (url === '/metrics/history' && history !== undefined)
      return textAnswer(200, 'application/json', history.render())
    return this.edge(404, 'NotFound', 'There are /, /health, /metrics, /ledger/ and /console/.')
  }

  #metricsPage(others: readonly ServerCounts[] = []): Answer {
    return textAnswer(
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      this.#metrics.render(others) + (this.#router.metrics?.() ?? ''),
    )
  }

  #preflight(head: RequestHead): Answer {
    const wanted = head.headers['access-control-request-headers']
    const headers = ['allow', 'POST, GET, HEAD, OPTIONS']
    const admits = this.#checksOrigin || this.#mayRead(head.headers['origin'])
    if (admits && typeof wanted === 'string' && /^[\w, -]{1,2000}$/.test(wanted)) {
      headers.push('access-control-allow-methods', 'POST, GET', 'access-control-allow-headers', wanted)
      headers.push('access-control-max-age', '600')
    }
    return emptyAnswer(204, headers)
  }

  /** With keys in use, only pages of the origins that were named: those of this machine are not trusted for being there. */
  #mayRead(origin: string | string[] | undefined): origin is string {
    if (typeof origin !== 'string') return false
    return this.#checksOrigin ? this.#origins.allowsOrigin(origin) : this.#origins.lists(origin)
  }

  /** Lets such a page read its answers. */
  #withCors(head: RequestHead, answer: Answer): Answer {
    const { origin } = head.headers
    if (this.#mayRead(origin)) {
      answer.headers.push('access-control-allow-origin', origin, 'vary', 'origin')
      answer.headers.push('access-control-expose-headers', 'x-amzn-requestid, x-amz-crc32, date')
    }
    return answer
  }

  #error(error: DynamoError, contentType: string): Answer {
    return errorAnswer(error, contentType, this.#requestId())
  }
}
