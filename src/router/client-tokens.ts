// Client request tokens: the same request under the same token takes effect once, for the key that has sent it.
//
//   token of a request --> bound to the access key --> slot of the ledger
//
// Without keys, and for the program itself, a token is what it says, as it was for every client before tokens were bound. A
// folder may have such tokens of a few minutes ago, of requests that were signed: for as long as one can hold after a
// start, they are recognised, too, so that a request which is sent again over an upgrade is not done twice.
import { createHash } from 'node:crypto'
import type { ClientToken, TokenOutcome } from '../coordinator/coordinator.js'
import { knobs } from '../model/knobs.js'
import { steadyMicros } from '../runtime/runtime.js'
import type { Input, RequestScope, RouterContext } from './context.js'
import type { Principal } from './router.js'

/** Longer than a token may be, so that no client without a key has the token of one. */
const PREFIX = 'a client request token of the access key '

/** A token holds for one to two epochs after its transaction was committed. */
const UNBOUND_MICROS = 2 * knobs.epochMicros

const boundTo = ({ id }: Principal, token: string): string => (id === '' ? token : `${PREFIX}${id}\n${token}`)

/** Whether a token may be of a time before tokens were bound. */
const mayBeUnbound = ({ runtime, startedMicros }: RouterContext, { id }: Principal): boolean =>
  id !== '' && steadyMicros(runtime.clock) - startedMicros < UNBOUND_MICROS

/** `payload`: all of the request that makes it the same request. */
export function tokenOf(
  context: RouterContext,
  { principal }: RequestScope,
  input: Input,
  payload: unknown,
  textOf: (payload: unknown) => string = canonical,
): ClientToken | undefined | Promise<ClientToken> {
  const token = input['ClientRequestToken']
  if (typeof token !== 'string') return undefined
  const payloadHash = createHash('sha256').update(textOf(payload)).digest('base64url')
  const bound = { text: boundTo(principal, token), payloadHash }
  if (!mayBeUnbound(context, principal)) return bound
  return context.coordinator
    .outcome(token)
    .then((outcome) => (isTaken(outcome) ? { text: token, payloadHash } : bound))
}

export async function tokenOutcome(
  context: RouterContext,
  { principal }: RequestScope,
  token: string,
): Promise<TokenOutcome> {
  const outcome = await context.coordinator.outcome(boundTo(principal, token))
  if (isTaken(outcome) || !mayBeUnbound(context, principal)) return outcome
  const before = await context.coordinator.outcome(token)
  return isTaken(before) ? before : outcome
}

const isTaken = (outcome: TokenOutcome): boolean => outcome === 'committed' || outcome === 'pending'

/** The same text for the same request, in whatever order a client writes the members of an object. */
function canonical(payload: unknown): string {
  return JSON.stringify(payload, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.entries(value)
      .filter(([, member]) => member !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  })
}
