// The loop around a lambda.
//
//   attempt --> lambda --> commit --> committed: callbacks, result
//      ^          |           |
//      |          |           '--> Conflict, SnapshotTooOld, Overloaded, AnswerLost: may succeed another time
//      |          '--> threw, aborted: the caller's business, unless its reads were not consistent
//      '-- wait: full jitter, and longer while the endpoint is overloaded
//
// All attempts of a unit have one id, which is the token of their commits: whatever is lost on the way, one of them takes
// effect, once.
import type { Runtime, Clock } from '../../runtime/runtime.js'
import { Conflict, OutcomeUnknown, UnitExpired } from '../endpoint/errors.js'
import {
  EarlierCommitted,
  type AttemptPort,
  type AttemptStart,
  type CommitReport,
  type Protocol,
} from './protocol.js'
import { isRetriableAttempt, Overloaded, surfaced } from '../endpoint/refusals.js'
import type { CommitProtocol, TransactOptions, TransactorOptions } from './transactor.js'
import { UnitAttempt } from './unit.js'
import { backoffOf, fraction, type Pace, sleep } from '../endpoint/waiting.js'

export interface AttemptSettings extends Required<Pick<TransactOptions, 'isolation' | 'timeoutMs'>> {
  readonly limit: number
  /** Absent: as the protocol has it. */
  readonly backoffMs: ((attempt: number) => number) | undefined
  readonly signal: AbortSignal | undefined
  readonly unitBytesMax: number | undefined
  readonly statementScans: TransactorOptions['statementScans']
}

export interface AttemptParts {
  readonly protocol: Protocol
  readonly runtime: Runtime
  readonly pace: Pace
}

/** A unit that was committed. */
export interface Committed<Result> {
  readonly result: Result
  readonly callbacks: UnitAttempt['callbacks']
  readonly protocol: CommitProtocol
  readonly attempts: number
  readonly requests: number
  readonly capacity: number
}

/** Tries until it is committed, or until trying again would not help or is no longer wanted. */
export async function commitEventually<Result>(
  parts: AttemptParts,
  settings: AttemptSettings,
  id: string,
  lambda: (unit: UnitAttempt) => PromiseLike<Result> | Result,
): Promise<Committed<Result>> {
  const { runtime, pace } = parts
  const doubtful: Finished<Result>[] = []
  let requests = 0
  let capacity = 0
  let carried: unknown
  for (let attempt = 1; ; attempt++) {
    const wait = pace.delayMs
    if (wait > 0) await sleep(runtime.clock, wait * (0.5 + fraction(runtime) / 2), settings.signal)
    const running = startAttempt(parts, settings, { id, attempt, carried })
    const end = await running.run(lambda)
    requests += running.port.usage.requests
    capacity += running.port.usage.capacity
    const counts = { attempts: attempt, requests, capacity }
    if (end.type === 'committed') {
      pace.succeeded()
      return { result: end.result, callbacks: end.callbacks, protocol: end.report.protocol, ...counts }
    }
    const { error } = end
    if (error instanceof EarlierCommitted)
      return { ...theOne(doubtful, id, error), protocol: 'seriatim', ...counts }
    if (error instanceof Overloaded) pace.overloaded()
    if (!isRetriableAttempt(error)) throw error
    if (attempt > settings.limit) throw lastWord(error, attempt)
    if (end.type === 'refused' && running.port.isDoubtful === true) doubtful.push(end)
    carried = running.port.carry?.() ?? carried
    const backoffMs = settings.backoffMs ?? backoffOf(runtime, parts.protocol.backoffBaseMs)
    await sleep(runtime.clock, backoffMs(attempt), settings.signal)
  }
}

interface Finished<Result> {
  readonly result: Result
  readonly callbacks: UnitAttempt['callbacks']
}

type AttemptEnd<Result> =
  | ({ readonly type: 'committed'; readonly report: CommitReport } & Finished<Result>)
  /** The commit was refused. */
  | ({ readonly type: 'refused'; readonly error: unknown } & Finished<Result>)
  /** There was nothing to commit: the lambda has failed. */
  | { readonly type: 'failed'; readonly error: unknown }

/** One attempt with its deadline. */
export interface RunningAttempt {
  readonly unit: UnitAttempt
  readonly port: AttemptPort
  readonly start: AttemptStart
  run<Result>(lambda: (unit: UnitAttempt) => PromiseLike<Result> | Result): Promise<AttemptEnd<Result>>
  /** The rest of it, after the lambda; throws what stands in the way. */
  commit(): Promise<CommitReport>
  /** Gives up. */
  end(why: string): void
}

export function startAttempt(
  { protocol, runtime }: AttemptParts,
  settings: AttemptSettings,
  which: Pick<AttemptStart, 'id' | 'attempt' | 'carried' | 'once'>,
): RunningAttempt {
  const { isolation, timeoutMs, signal } = settings
  const deadline = new Deadline(runtime.clock, { timeoutMs, signal, expired: () => expired(timeoutMs) })
  const start: AttemptStart = { ...which, isolation, timeoutMs, deadline }
  const port = protocol.attempt(start)
  const { ordersLikeSeriatim } = protocol
  const { unitBytesMax, statementScans } = settings
  const unit = new UnitAttempt({ start, port, ordersLikeSeriatim, unitBytesMax, statementScans })

  const running: RunningAttempt = {
    unit,
    port,
    start,
    async run(lambda) {
      let finished: Finished<Awaited<ReturnType<typeof lambda>>> | undefined
      try {
        const result = await deadline.before(() => lambda(unit))
        if (unit.aborted !== undefined) throw unit.aborted
        finished = { result, callbacks: unit.callbacks }
        return { type: 'committed', report: await running.commit(), ...finished }
      } catch (error) {
        const reason = finished === undefined ? await reasonOf(error) : error
        running.end('another attempt has begun, or its transact() has failed')
        return finished === undefined
          ? { type: 'failed', error: reason }
          : { type: 'refused', error: reason, ...finished }
      }
    },
    async commit() {
      unit.assertReadsDone()
      unit.end('its commit has begun; a lambda awaits everything that it does before it returns')
      deadline.throwIfOver()
      if (unit.isReadOnly && !port.commitsReads) {
        running.end('it is committed')
        return { protocol: 'read-only' }
      }
      const work = await unit.work()
      deadline.throwIfOver()
      // From here on only the endpoint knows how it ends.
      deadline.stop()
      return port.commit(work)
    },
    end(why) {
      deadline.stop()
      unit.end(why)
      port.end(unit.locks)
    },
  }
  return running

  /** Why the lambda has failed: the attempt's own reason comes before what the lambda made of it. */
  async function reasonOf(error: unknown): Promise<unknown> {
    if (deadline.isOver) return deadline.reason
    if (unit.hindered !== undefined) return unit.hindered
    try {
      await port.validate?.(unit.observed())
      return error
    } catch (stale) {
      return stale
    }
  }
}

const expired = (timeoutMs: number): UnitExpired =>
  new UnitExpired(`This unit of work took longer than its ${timeoutMs} ms. Nothing was written.`)

/** The attempt that was committed, if only one can be meant. */
function theOne<Result>(
  doubtful: readonly Finished<Result>[],
  id: string,
  error: EarlierCommitted,
): Finished<Result> {
  const [one] = doubtful
  if (one !== undefined && doubtful.length === 1) return one
  throw new OutcomeUnknown(
    'An earlier attempt of this unit was committed, and it cannot be told which.',
    id,
    {
      cause: error,
    },
  )
}

function lastWord(error: unknown, attempts: number): unknown {
  if (error instanceof Conflict) {
    const times = attempts === 1 ? 'one attempt' : `${attempts} attempts`
    return new Conflict(`${error.message} Gave up after ${times}.`, error.detail, attempts, { cause: error })
  }
  return surfaced(error)
}

// The time of one attempt, and its caller's patience: whichever ends first. An AbortSignal is made of it only for those
// who ask, because one costs more than all the rest of a small unit.

export interface DeadlineOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** The reason, when the time is over. */
  readonly expired: () => unknown
}

export class Deadline {
  readonly #cancelTimer: () => void
  readonly #callers: AbortSignal | undefined
  #listeners: (() => void)[] = []
  #over: { readonly reason: unknown } | undefined
  #controller: AbortController | undefined

  constructor(clock: Clock, { timeoutMs, signal, expired }: DeadlineOptions) {
    this.#callers = signal
    this.#cancelTimer = clock.timer(timeoutMs, () => this.#end(expired()))
    if (signal?.aborted === true) this.#end(signal.reason)
    else signal?.addEventListener('abort', this.#giveUp, { once: true })
  }

  get isOver(): boolean {
    return this.#over !== undefined
  }

  get reason(): unknown {
    return this.#over?.reason
  }

  throwIfOver(): void {
    if (this.#over !== undefined) throw this.#over.reason
  }

  /** Called once, when it is over; not at all once it is stopped. */
  onOver(listener: () => void): void {
    this.#listeners.push(listener)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#over !== undefined) this.#controller.abort(this.#over.reason)
    }
    return this.#controller.signal
  }

  /** The answer, or the reason if the time is over before. */
  before<Result>(run: () => PromiseLike<Result> | Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.throwIfOver()
      this.#listeners.push(() => reject(this.reason))
      // Not resolved with the promise itself, which nothing could overtake then.
      Promise.resolve(run()).then(resolve, reject)
    })
  }

  /** From now on it never ends. */
  stop(): void {
    this.#cancelTimer()
    this.#callers?.removeEventListener('abort', this.#giveUp)
    this.#listeners = []
  }

  readonly #giveUp = (): void => this.#end(this.#callers?.reason)

  #end(reason: unknown): void {
    if (this.#over !== undefined) return
    this.#over = { reason }
    const listeners = this.#listeners
    this.stop()
    this.#controller?.abort(reason)
    for (const listener of listeners) listener()
  }
}
