// Client request tokens: the same request under the same token takes effect once, for the key that has sent it.
//
//   token of a request --> bound to the access key --> slot of the ledger
//
// Without keys, and for the program itself, a token is what it says, as it was for every client before tokens were bound. A
// folder may have such tokens of a few minutes ago, of requests that were signed: for as long as one can hold after a
// start, they are recognised, too, so that a request which is sent again over an upgrade is not done twice.
import type { Principal } from '../request/access.js'
import { createHash } from 'node:crypto'
import type { ClientToken, TokenOutcome } from '../../coordinator/coordinator.js'
import { knobs } from '../../model/knobs.js'
import { TextPut } from '../../model/text-put.js'
import { steadyMicros } from '../../runtime/runtime.js'
import type { Input, RequestScope, RouterContext } from '../request/context.js'
import { tableNameOf } from '../shapes/table-name.js'
import { TurnBudget } from '../request/turns.js'

/** Longer than a token may be, so that no client without a key has the token of one. */
const PREFIX = 'a client request token of the access key '

/** A token holds for one to two epochs after its transaction was committed. */
const UNBOUND_MICROS = 2 * knobs.epochMicros

const boundTo = ({ id }: Principal, token: string): string => (id === '' ? token : `${PREFIX}${id}\n${token}`)

/** Whether a token may be of a time before tokens were bound. */
const mayBeUnbound = ({ runtime, startedMicros }: RouterContext, { id }: Principal): boolean =>
  id !== '' && steadyMicros(runtime.clock) - startedMicros < UNBOUND_MICROS

/** What a request names: tables, and what is to be done to their items. */
interface Named {
  readonly actions: readonly { readonly tableName: string; readonly mutation: { readonly kind: string } }[]
  /** Elements with a table that are only read. */
  readonly reads?: readonly Input[]
}

/**
 * A token takes a place in the ledger for minutes. So a request that writes nothing has its token remembered only for a key
 * that could write there anyway: checks and reads can be sent again without one.
 */
const isRemembered = (scope: RequestScope, { actions, reads = [] }: Named): boolean =>
  actions.some(({ tableName, mutation }) => mutation.kind !== 'check' || scope.allows(tableName, 'Put')) ||
  reads.some((read) => scope.allows(tableNameOf(read['TableName']), 'Put'))

/** `payload`: all of the request that makes it the same request. */
export function tokenOf(
  context: RouterContext,
  scope: RequestScope,
  input: Input,
  named: Named,
  payload: readonly unknown[],
  textOf: (part: unknown) => string | undefined = canonical,
): ClientToken | undefined | Promise<ClientToken> {
  const token = input['ClientRequestToken']
  if (typeof token !== 'string' || !isRemembered(scope, named)) return undefined
  const { principal } = scope
  const hash = hashOf(context, piecesOf(payload, textOf, LEVELS))
  if (typeof hash === 'string' && !mayBeUnbound(context, principal))
    return { text: boundTo(principal, token), payloadHash: hash }
  return boundLater(context, principal, token, hash)
}

async function boundLater(
  context: RouterContext,
  principal: Principal,
  token: string,
  hash: string | Promise<string>,
): Promise<ClientToken> {
  const payloadHash = await hash
  const text = boundTo(principal, token)
  if (!mayBeUnbound(context, principal)) return { text, payloadHash }
  return { text: isTaken(await context.coordinator.outcome(token)) ? token : text, payloadHash }
}

/** Lists in the payload that are taken apart: what is in them is hashed one by one. */
const LEVELS = 2
const HASHED_CHARACTERS = 64 * 1024

/** The pieces together are the text of the whole. */
function* piecesOf(
  list: readonly unknown[],
  textOf: (part: unknown) => string | undefined,
  levels: number,
): Generator<string, void> {
  let separator = '['
  for (const part of list) {
    yield separator
    separator = ','
    if (Array.isArray(part) && levels > 1) yield* piecesOf(part, textOf, levels - 1)
    else yield textOf(part) ?? 'null'
  }
  yield list.length === 0 ? '[]' : ']'
}

/** In several turns if there is much of it. */
function hashOf({ runtime }: RouterContext, pieces: Generator<string, void>): string | Promise<string> {
  const hash = createHash('sha256')
  const turns = new TurnBudget(runtime)
  /** Whether it is time for a turn; false at the end. */
  const isDue = (): boolean => {
    let text = ''
    for (let piece = pieces.next(); piece.done !== true; piece = pieces.next()) {
      text += piece.value
      if (text.length < HASHED_CHARACTERS) continue
      hash.update(text)
      if (turns.isDue(text.length)) return true
      text = ''
    }
    hash.update(text)
    return false
  }
  if (!isDue()) return hash.digest('base64url')
  return (async () => {
    do await turns.next()
    while (isDue())
    return hash.digest('base64url')
  })()
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
export function canonical(part: unknown): string {
  if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'null'
  if (part instanceof TextPut) return canonical(part.item)
  if (Array.isArray(part)) return `[${part.map(canonical).join(',')}]`
  const names = Object.keys(part)
  if (names.length > 1) names.sort()
  let text = ''
  for (const name of names) {
    const member = (part as Input)[name]
    if (member === null) continue
    text += `${text === '' ? '' : ','}[${JSON.stringify(name)},${canonical(member)}]`
  }
  return `[${text}]`
}
