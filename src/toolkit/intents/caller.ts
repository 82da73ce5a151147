// Sends requests, again if their answers are lost: every request of the protocol is conditional, so that a second
// delivery does nothing. What it cannot tell is whether a refused request was refused because it had already been
// carried out; then the answer says `repeated`, and the caller looks.
import type { Runtime } from '../../runtime/runtime.js'
import type { Endpoint } from '../endpoint.js'
import type { EndpointInput, EndpointOperation, EndpointOutput } from '../operations.js'
import { Overloaded } from '../protocol.js'
import { intentLimits } from './limits.js'

/** The answers to all sends of a request were lost. It may or may not have been carried out. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost'
}

export type Reply<Name extends EndpointOperation> =
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

export interface Usage {
  requests: number
  capacity: number
}

/** Errors that say that nothing was done, and that another try may have more luck. */
const BUSY = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionInProgressException',
])

/** Errors that say that nothing was done, and nothing will be. */
const REFUSED = new Set([
  'ConditionalCheckFailedException',
  'ValidationException',
  'ResourceNotFoundException',
  'TransactionCanceledException',
  'IdempotentParameterMismatchException',
  'ItemCollectionSizeLimitExceededException',
  'UnknownOperationException',
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'IncompleteSignatureException',
  'MissingAuthenticationTokenException',
  'SerializationException',
  'ResourceInUseException',
  'LimitExceededException',
])

export class Caller {
  readonly #endpoint: Endpoint
  readonly #runtime: Runtime

  constructor(endpoint: Endpoint, runtime: Runtime) {
    this.#endpoint = endpoint
    this.#runtime = runtime
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

  /** The answer, or a refusal as a value. Throws AnswerLost, and what is neither of DynamoDB's doing nor the network's. */
  async send<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    usage: Usage,
  ): Promise<Reply<Name>> {
    let repeated = false
    let last: unknown
    for (let sends = 1; sends <= intentLimits.sendsMax; sends++) {
      if (sends > 1) await this.sleep(this.jitter(RESEND_MS * 2 ** sends))
      usage.requests++
      try {
        const output = await this.#once(operation, input)
        usage.capacity += capacityOf(output)
        return { ok: true, output }
      } catch (error) {
        const { name, $metadata } = error as Error & { $metadata?: { attempts?: number } }
        // The SDK sends again by itself.
        if (($metadata?.attempts ?? 1) > 1) repeated = true
        if (REFUSED.has(name)) return { ok: false, error: error as Refusal, repeated }
        if (isMisuse(error)) throw error
        last = error
        if (!BUSY.has(name)) repeated = true
      }
    }
    if (!repeated) throw new Overloaded(`the endpoint is too busy for ${operation}`, { cause: last })
    throw new AnswerLost(`no answer to ${operation}`, { cause: last })
  }

  /** For reads, whose refusals are nobody's business but the caller's. */
  async read<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
    usage: Usage,
  ): Promise<EndpointOutput<Name>> {
    const reply = await this.send(operation, input, usage)
    if (!reply.ok) throw reply.error
    return reply.output
  }

  #once<Name extends EndpointOperation>(
    operation: Name,
    input: EndpointInput<Name>,
  ): Promise<EndpointOutput<Name>> {
    const sent = { ...input, ReturnConsumedCapacity: 'TOTAL' } as EndpointInput<Name>
    return new Promise((resolve, reject) => {
      const controller = new AbortController()
      const cancel = this.#runtime.clock.timer(intentLimits.requestMs, () => {
        reject(new AnswerLost(`no answer to ${operation} within ${intentLimits.requestMs} ms`))
        controller.abort()
      })
      this.#endpoint.call(operation, sent, { signal: controller.signal }).then(
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

/** A defect of the program, not of the endpoint: sending again would not help. */
const isMisuse = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

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
