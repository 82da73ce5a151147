// Requests of a lock client: each bounded in time, refusals of a condition as values, passing trouble tried again.
import type { Endpoint } from '../endpoint/endpoint.js'
import type { EndpointInput, EndpointOperation, EndpointOutput } from '../endpoint/operations.js'
import { namingTables } from '../unit/naming.js'
import { isTransient, timedOut } from '../endpoint/refusals.js'
import type { LockClock } from './lock-clock.js'

export type CallOutcome<Name extends EndpointOperation> =
  | { readonly outcome: 'done'; readonly answer: EndpointOutput<Name> }
  /** The condition did not hold; with the item that it was asked of, where the endpoint says so. */
  | { readonly outcome: 'refused'; readonly item?: NonNullable<EndpointOutput<'GetItem'>['Item']> }
  /** Nobody knows whether it had its effect. */
  | { readonly outcome: 'unsure'; readonly error: unknown }

export interface CallParts {
  readonly endpoint: Endpoint
  readonly clock: LockClock
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
}

const SETUP = '; setup() of a lock client creates it'

/** Further tries of one request after passing trouble. */
export const TRIES_MAX = 8
/** The same for those whose time is over. */
const TRIES_IN_HASTE_MAX = 3
const BACKOFF_MS = { first: 50, max: 5_000 }

export interface CallBounds {
  readonly signal?: AbortSignal | undefined
  readonly hasTime?: () => boolean
}

/** One try. Throws only what trying again would not change. */
export async function attempt<Name extends EndpointOperation>(
  { endpoint, clock }: CallParts,
  operation: Name,
  input: EndpointInput<Name>,
  timeoutMs: number,
): Promise<CallOutcome<Name>> {
  const late = new AbortController()
  let cancel: () => void = () => undefined
  const timeout = new Promise<CallOutcome<Name>>((resolve) => {
    cancel = clock.timer(timeoutMs, () => {
      resolve({ outcome: 'unsure', error: timedOut(operation, timeoutMs) })
      late.abort()
    })
  })
  const call = endpoint.call(operation, input, { signal: late.signal }).then(
    (answer): CallOutcome<Name> => ({ outcome: 'done', answer }),
    (error: unknown): CallOutcome<Name> => attemptOf(namingTables(error, input, SETUP)),
  )
  try {
    return await Promise.race([call, timeout])
  } finally {
    cancel()
  }
}

/**
 * The same, tried again after passing trouble. A write may have had its effect more than once: whoever calls this tells
 * its own writes by what a refusal shows.
 */
export async function insist<Name extends EndpointOperation>(
  parts: CallParts,
  operation: Name,
  input: EndpointInput<Name>,
  timeoutMs: number,
  { signal, hasTime = () => true }: CallBounds = {},
): Promise<Exclude<CallOutcome<Name>, { readonly outcome: 'unsure' }>> {
  for (let tries = 1; ; tries++) {
    const result = await attempt(parts, operation, input, timeoutMs)
    if (result.outcome !== 'unsure') return result
    if (tries > (hasTime() ? TRIES_MAX : TRIES_IN_HASTE_MAX)) throw result.error
    signal?.throwIfAborted()
    await parts.clock.sleep(backoffMs(tries, parts.random), signal)
    signal?.throwIfAborted()
  }
}

export function backoffMs(tries: number, random: () => number): number {
  return Math.min(BACKOFF_MS.max, BACKOFF_MS.first * 2 ** (tries - 1)) * (0.5 + random() / 2)
}

function attemptOf(error: unknown): Exclude<CallOutcome<'GetItem'>, { readonly outcome: 'done' }> {
  const { name, Item } = error as {
    readonly name?: string
    readonly Item?: EndpointOutput<'GetItem'>['Item']
  }
  if (name === 'ConditionalCheckFailedException') return { outcome: 'refused', ...(Item && { item: Item }) }
  if (isTransient(error)) return { outcome: 'unsure', error }
  throw error
}
