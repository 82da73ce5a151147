import type { ClientToken, WriteTransactionOutcome } from '../../coordinator/coordinator.js'
import { DynamoError } from '../../model/errors.js'
import { attribute } from '../../model/value.js'
import { isCapacityWanted, returnConsumedCapacityShape } from '../request/capacity.js'
import { tokenOf } from './client-tokens.js'
import type { Input, Operation, RouterContext } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { collectionMetrics } from '../writes/single-write.js'
import { type BoundAction, bindActions, parseActionsInTurns, transactItemsShape } from './transact-actions.js'
import { consumedByReads, consumedByWrites } from './transact-capacity.js'
import { cancelledBy } from './transact-refusals.js'

export const transactWriteItems: Operation = {
  name: 'TransactWriteItems',
  shape: {
    kind: 'struct',
    wording: 'transaction',
    members: {
      // It is told before the others.
      ClientRequestToken: {
        kind: 'string',
        lengthMin: 1,
        lengthMax: 36,
        newerConstraint: (constraint) =>
          `Value at 'ClientRequestToken' failed to satisfy constraint: ${constraint}`,
      },
      ReturnConsumedCapacity: returnConsumedCapacityShape,
      ReturnItemCollectionMetrics: { kind: 'string', values: ['SIZE', 'NONE'] },
      TransactItems: transactItemsShape,
    },
  },

  async run(context, input, scope) {
    const elements = input['TransactItems'] as readonly Input[]
    const parsing = parseActionsInTurns(context, elements, scope)
    const parsed = parsing instanceof Promise ? await parsing : parsing
    const claim = tokenOf(context, scope, input, { actions: parsed }, elements)
    const token = claim instanceof Promise ? await claim : claim
    const bound = bindActions(context, parsed, scope)
    return answer(input, bound, await commitActions(context, input, bound, token))
  },
}

/** All of them, or none; answers what they consumed, if that was asked for, and throws why they were not done. */
export async function commitActions(
  context: RouterContext,
  input: Input,
  bound: readonly BoundAction[],
  token: ClientToken | undefined,
): Promise<readonly object[]> {
  const outcome = await context.coordinator.write({
    actions: bound.map(({ action }) => action),
    ...(token && { token }),
    ...(isCapacityWanted(input['ReturnConsumedCapacity']) && { imagesWanted: true }),
  })
  switch (outcome.outcome) {
    case 'committed':
      return isCapacityWanted(input['ReturnConsumedCapacity'])
        ? consumedByWrites(input, bound, outcome.verdicts ?? [])
        : []
    case 'repeated':
      return consumedByReplay(context, input, bound)
    case 'cancelled':
      throw cancelledBy(outcome.verdicts, (position) => bound[position]?.showsItem === true)
    case 'token-mismatch':
    case 'token-in-progress':
    case 'unavailable':
    case 'unknown':
      throw tokenRefusal(outcome)
  }
}

/** What is neither done nor cancelled for a reason of its own. */
export function tokenRefusal(
  outcome: Exclude<WriteTransactionOutcome, { outcome: 'committed' | 'repeated' | 'cancelled' }>,
): DynamoError {
  switch (outcome.outcome) {
    case 'token-mismatch':
      return new DynamoError('IdempotentParameterMismatchException', TOKEN_MISMATCH)
    case 'token-in-progress':
      return new DynamoError('TransactionInProgressException', IN_PROGRESS)
    case 'unavailable':
    case 'unknown':
      return Object.assign(internalError(outcome.message), { cause: outcome.cause })
  }
}

const TOKEN_MISMATCH =
  'The provided client token was used in another request with different parameters within the last 10 minutes'
const IN_PROGRESS = 'The transaction with the given request token is already in progress.'

/** The caller cannot tell whether it happened: DynamoDB's word for that is InternalServerError. */
const internalError = (reason: string): DynamoError =>
  new DynamoError('InternalServerError', `The request processing has failed: ${reason}`)

/** A repeated request only looks at what is there. */
async function consumedByReplay(
  context: RouterContext,
  input: Input,
  bound: readonly BoundAction[],
): Promise<readonly object[]> {
  if (!isCapacityWanted(input['ReturnConsumedCapacity'])) return []
  const reads = bound.map(async ({ table, action: { key } }) => {
    return [table, await context.nodeOf(key.hash).get(table.shape.space, key, true)] as const
  })
  return consumedByReads(input, await Promise.all(reads))
}

function answer(input: Input, bound: readonly BoundAction[], capacity: readonly object[]): Uint8Array {
  const metrics = collections(input, bound)
  if (capacity.length === 0 && metrics === undefined) return EMPTY
  return jsonReply({
    ...(capacity.length > 0 && { ConsumedCapacity: capacity }),
    ...(metrics && { ItemCollectionMetrics: metrics }),
  })
}

const EMPTY = Buffer.from('{}')

/** By table, one entry for each item collection that was written to. */
function collections(input: Input, bound: readonly BoundAction[]): object | undefined {
  if (input['ReturnItemCollectionMetrics'] !== 'SIZE') return undefined
  const byTable = new Map<string, Map<string, object>>()
  for (const { table, action } of bound) {
    if (action.mutation.kind === 'check') continue
    const metrics = collectionMetrics(table, input, action.keyAttributes)
    if (metrics === undefined) continue
    const ofTable = byTable.get(table.name) ?? new Map<string, object>()
    const partition = attribute(action.keyAttributes, table.shape.key.partition.name)
    byTable.set(table.name, ofTable.set(JSON.stringify(partition), metrics))
  }
  if (byTable.size === 0) return undefined
  return Object.fromEntries([...byTable].map(([name, ofTable]) => [name, [...ofTable.values()]]))
}
