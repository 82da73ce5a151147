// Sends requests, again if their answers are lost: every request of the protocol is conditional, so that a second
// delivery does nothing. What it cannot tell is whether a refused request was refused because it had already been
// carried out; then the answer says `repeated`, and the caller looks.
import type { Runtime } from '../../../runtime/runtime.js'
import type { Endpoint } from '../../endpoint/endpoint.js'
import type { EndpointInput, EndpointOperation, EndpointOutput } from '../../endpoint/operations.js'
import { Conflict } from '../../endpoint/errors.js'
import { namingTables } from '../../unit/naming.js'
import {
  AnswerLost,
  isTurnedAway,
  Overloaded,
  sendsOf,
  timedOut,
  verdictOf,
} from '../../endpoint/refusals.js'
import { ConcurrencyLimit } from '../../endpoint/waiting.js'
import { intentLimits } from '../protocol/limits.js'

export type CallReply<Name extends EndpointOperation> =
  | { readonly ok: true; readonly output: EndpointOutput<Name> }
  | {
      readonly ok: false
      readonly error: Refusal
      /** An earlier send of the same request may have been carried out. */
      readonly repeated: boolean
    }

/** A refusal in DynamoDB's words. */
export interface Refusal extends Error {
  readonly Item?: Record<string, never>
  readonly CancellationReasons?: readonly {
    readonly Code?: string
    readonly Message?: string
    readonly Item?: Record<string, never>
  }[]
}

export interface RequestUsage {
  requests: number
  capacity: number
}

export interface CallerSettings {
  readonly requestMs?: number | undefined
  /** Requests under way at once; others wait here, where no time runs out, and not for a socket. */
  readonly parallelism?: number | undefined
}

export class Caller {
  readonly #endpoint: Endpoint
  readonly #runtime: Runtime
  readonly #requestMs: number
  readonly #turns: ConcurrencyLimit

  constructor(endpoint: Endpoint, runtime: Runtime, settings: CallerSettings = {}) {
    this.#endpoint = endpoint
    this.#runtime = runtime
    this.#requestMs = settings.requestMs ?? intentLimits.requestMs
    this.#turns = new ConcurrencyLimit(settings.parallelism ?? intentLimits.parallelMax, 'parallelism')
  }

  get runtime(): Runtime {
    return this.#runtime
  }

  nowMs(): number {
    return this.#runtime.clock.nowMicros() / 1000
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#runtime.clock.timer(ms, resolve))
  }

  /** From 0 to that much. */
  jitter(ms: number): number {
    const [a, b] = this.#runtime.randomBytes(2) as unknown as [number, number]
    return (ms * (a * 256 + b)) / 65536
  }

  /**
   * The answer, or a refusal as a value. Throws Overloaded where no send did anything, AnswerLost where one may have, and
   * what is neither of DynamoDB's doing nor the network's.
   */
  async send<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    usage: RequestUsage,
  ): Promise<CallReply<Name>> {
    let repeated = false
    let last: unknown
    for (let sends = 1; sends <= intentLimits.sendsMax; sends++) {
      if (sends > 1) await this.sleep(this.jitter(RESEND_MS * 2 ** sends))
      usage.requests++
      let told = 0
      await this.#turns.take()
      try {
        // A slow endpoint is given more time each time, so that it does not get more and more to do.
        const waitMs = this.#requestMs * 2 ** (sends - 1)
        const output = await this.#once(operation, input, waitMs, (error) => {
          told++
          if (verdictOf(error) === 'unsure') repeated = true
        })
        usage.capacity += capacityOf(output)
        return { ok: true, output }
      } catch (error) {
        const verdict = verdictOf(error)
        if (verdict === 'misuse') throw error
        // The SDK has sent again by itself, and this endpoint does not tell why.
        if (sendsOf(error) > 1 && told === 0) repeated = true
        // Who is turned away learns nothing of an earlier send whose answer was lost.
        if (verdict === 'refused' && repeated && isTurnedAway(error))
          throw new AnswerLost(`no answer to ${operation}`, { cause: error })
        if (verdict === 'refused')
          return { ok: false, error: namingTables(error, input) as Refusal, repeated }
        last = error
        if (verdict === 'unsure') repeated = true
      } finally {
        this.#turns.give()
      }
    }
    if (repeated) throw new AnswerLost(`no answer to ${operation}`, { cause: last })
    if ((last as Error).name === 'TransactionConflictException') throw conflictOf(input, last)
    throw new Overloaded(`the endpoint is too busy for ${operation}, or out of reach`, { cause: last })
  }

  /** For reads, whose refusals are nobody's business but the caller's. */
  async read<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    usage: RequestUsage,
  ): Promise<EndpointOutput<Name>> {
    const reply = await this.send(operation, input, usage)
    if (!reply.ok) throw reply.error
    return reply.output
  }

  #once<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    requestMs: number,
    sendFailed: (error: unknown) => void,
  ): Promise<EndpointOutput<Name>> {
    const sent = { ...input, ReturnConsumedCapacity: 'TOTAL' } as EndpointInput<Name>
    return new Promise((resolve, reject) => {
      const controller = new AbortController()
      const cancel = this.#runtime.clock.timer(requestMs, () => {
        reject(timedOut(operation, requestMs))
        controller.abort()
      })
      this.#endpoint.call(operation, sent, { signal: controller.signal, sendFailed }).then(
        (output) => {
          cancel()
          resolve(output)
        },
        (error: unknown) => {
          cancel()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
  }
}

const RESEND_MS = 10

function conflictOf(input: object, cause: unknown): Conflict {
  const { TableName: table } = input as { readonly TableName?: string }
  const where = table === undefined ? 'an item' : `an item of ${table}`
  return new Conflict(`another transaction works on ${where}`, table === undefined ? {} : { table }, 1, {
    cause,
  })
}

function capacityOf(output: object): number {
  const { ConsumedCapacity: consumed } = output as {
    ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[]
  }
  if (consumed === undefined) return 0
  return (Array.isArray(consumed) ? consumed : [consumed]).reduce(
    (sum, { CapacityUnits: units }) => sum + (units ?? 0),
    0,
  )
}
