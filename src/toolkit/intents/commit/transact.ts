// A unit committed by one TransactWriteItems: every write and every item that was only read is compared at the same
// moment, with its version or its absence, and nobody's intent may be on any of them. Blind writes go with the unit's own
// expressions. The token is the unit's id: a request that the network repeats does nothing.
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { Conflict, OutcomeUnknown } from '../../endpoint/errors.js'
import type { UnitAction } from '../../unit/protocol.js'
import { fromSdkItem, toSdkItem } from '../../values/values.js'
import { invalidAmong, invalidWrite } from '../../unit/naming.js'
import { AnswerLost } from '../../endpoint/refusals.js'
import type { Refusal, RequestUsage } from '../context/caller.js'
import { evaluateAction } from '../protocol/evaluate.js'
import { intentLimits } from '../protocol/limits.js'
import { type Blind, conditionFailed, type IntentParticipant } from './participants.js'
import { inserterOf, INTENT, STAR, type Stored, storedOf, VERSION } from '../protocol/records.js'
import { OLD_ON_FAILURE } from '../protocol/requests.js'
import { changed, ensureDone, inTheWay, makeRoom, type IntentWaiter } from '../items/settle.js'
import { pinOf, singleRequest } from './single.js'
import { inParallel, readOne, type IntentsContext } from '../context/context.js'

export interface TransactPlan {
  readonly blind: readonly Blind[]
  readonly members: readonly IntentParticipant[]
  /** Only compared. */
  readonly observed: readonly IntentParticipant[]
  readonly token: string
}

/** `unsupported`: this endpoint has no transactions, and nothing was done. */
export async function commitByTransact(
  space: IntentsContext,
  plan: TransactPlan,
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<'committed' | 'unsupported' | 'pin'> {
  const { caller } = space
  for (const { redo, base } of plan.members) {
    const inserter = redo.act === 'delete' && base.kind === 'version' ? inserterOf(base.version) : undefined
    if (inserter !== undefined) await ensureDone(space, inserter, usage)
  }
  const input = { TransactItems: itemsOf(plan, me.id), ClientRequestToken: plan.token }
  for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
    const reply = await caller.send('TransactWriteItems', input, usage).catch((error: unknown) => {
      if (!(error instanceof AnswerLost)) throw error
      throw new OutcomeUnknown(`nobody could say whether unit ${me.id} was committed`, me.id, {
        cause: error,
      })
    })
    if (reply.ok) return 'committed'
    const { name } = reply.error
    if (name === 'UnknownOperationException') return 'unsupported'
    if (name === 'IdempotentParameterMismatchException')
      throw new OutcomeUnknown(`an earlier request of unit ${me.id} has taken effect`, me.id, {
        cause: reply.error,
      })
    if (name === 'ValidationException') throw await invalidIn(space, plan, reply.error, usage)
    if (name !== 'TransactionCanceledException') throw reply.error
    if ((await reasonsMet(space, plan, reply.error, me, usage)) === 'pin') return 'pin'
  }
  throw new Conflict(`unit ${me.id} found no room to be committed`)
}

function itemsOf({ blind, members, observed }: TransactPlan, id: string): TransactWriteItem[] {
  return [
    ...blind.map((one) => (one.touch ? touchItem(one.action, id) : blindItem(one.action, id))),
    ...members.map((member) => memberItem(member, id)),
    ...observed.map((member) => {
      const { condition, names, values } = pinOf(member)
      return {
        ConditionCheck: {
          TableName: member.table,
          Key: toSdkItem(member.key),
          ConditionExpression: condition,
          ExpressionAttributeNames: names,
          ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
          ...OLD_ON_FAILURE,
        },
      }
    }),
  ]
}

function memberItem(member: IntentParticipant, id: string): TransactWriteItem {
  const { operation, input } = singleRequest(member, id)
  if (operation === 'PutItem') return { Put: input }
  return operation === 'DeleteItem'
    ? { Delete: input }
    : { Update: input as Required<Pick<typeof input, 'UpdateExpression'>> & typeof input }
}

/** Names and values that no unit's own can clash with. */
const OURS = { '#seriatimI': INTENT, '#seriatimV': VERSION } as const
const FREE = 'attribute_not_exists(#seriatimI) AND NOT contains(#seriatimV, :seriatimStar)'

function blindItem({ kind, table, key, item, expressions }: UnitAction, id: string): TransactWriteItem {
  const { update, condition, names = {}, values = {} } = expressions
  const common = {
    TableName: table,
    ConditionExpression: condition === undefined ? FREE : `(${condition}) AND ${FREE}`,
    ExpressionAttributeNames: { ...names, ...OURS },
    ExpressionAttributeValues: { ...toSdkItem(values), ':seriatimStar': { S: STAR } },
    ...OLD_ON_FAILURE,
  }
  if (kind === 'put') return { Put: { ...common, Item: toSdkItem({ ...item!, [VERSION]: { S: id } }) } }
  if (kind === 'delete') return { Delete: { ...common, Key: toSdkItem(key) } }
  return {
    Update: {
      ...common,
      Key: toSdkItem(key),
      UpdateExpression: withVersion(update ?? ''),
      ExpressionAttributeValues: { ...common.ExpressionAttributeValues, ':seriatimV': { S: id } },
    },
  }
}

/** No guard is ever deleted, so that it does not matter who has inserted it. */
const touchItem = ({ table, key }: UnitAction, id: string): TransactWriteItem => ({
  Update: {
    TableName: table,
    Key: toSdkItem(key),
    UpdateExpression: 'SET #v = :v',
    ConditionExpression: 'attribute_not_exists(#i)',
    ExpressionAttributeNames: { '#v': VERSION, '#i': INTENT },
    ExpressionAttributeValues: { ':v': { S: id } },
    ...OLD_ON_FAILURE,
  },
})

/** SET is a reserved word: as a word of its own it can only be the clause. */
export function withVersion(update: string): string {
  const set = /(?<![#:\w.])SET\s/i
  const ours = '#seriatimV = :seriatimV'
  return set.test(update)
    ? update.replace(set, (clause) => `${clause}${ours}, `)
    : `${update} SET ${ours}`.trim()
}

/** Some endpoints refuse the whole for one action and do not say which: what the actions would do to their items tells. */
async function invalidIn(
  space: IntentsContext,
  { blind, members, observed }: TransactPlan,
  error: Refusal,
  usage: RequestUsage,
): Promise<Error> {
  const writes = [...blind.map(({ action }) => action), ...members, ...observed]
  const isInvalid = blind.map(() => false)
  // What is found or not: the refusal is what the caller has to learn.
  const looked = writes.length === 1 ? [] : [...blind.entries()]
  await inParallel(looked, async ([at, { action, layout, touch }]) => {
    if (touch) return
    const stored = storedOf(await readOne(space.caller, action, usage))
    isInvalid[at] = evaluateAction(action, layout, stored?.item).verdict === 'invalid'
  }).catch(() => undefined)
  const invalid = writes.length === 1 ? writes[0] : writes[isInvalid.indexOf(true)]
  return invalid === undefined
    ? invalidAmong(writes, error.message, error)
    : invalidWrite(invalid, error.message, error)
}

/** Why it was cancelled: room is made for what can be waited for, everything else is thrown. */
async function reasonsMet(
  space: IntentsContext,
  plan: TransactPlan,
  error: Refusal,
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<'again' | 'pin'> {
  const reasons = error.CancellationReasons ?? []
  const places: readonly (Blind | IntentParticipant)[] = [...plan.blind, ...plan.members, ...plan.observed]
  for (const [at, { Code, Message }] of reasons.entries()) {
    const place = places[at]
    if (Code !== 'ValidationError' || place === undefined) continue
    throw invalidWrite('action' in place ? place.action : place, Message ?? 'It is not valid', error)
  }
  let again = false
  let pin = false
  for (const [at, { Code, Item }] of reasons.entries()) {
    const place = places[at]
    if (place === undefined || Code === undefined || Code === 'None') continue
    const address = 'action' in place ? place.action : place
    if (Code !== 'ConditionalCheckFailed') {
      if (Code !== 'TransactionConflict') throw error
      throw new Conflict(`another transaction works on an item of ${address.table}`)
    }
    const raw = Item === undefined ? await readOne(space.caller, address, usage) : fromSdkItem(Item)
    const stored = storedOf(raw)
    if (stored?.intent !== undefined) {
      await makeRoom(space, { ...address, stored, intent: stored.intent }, me, usage)
      again = true
    } else if ('action' in place) {
      // Its own condition, or the star of an insert that may not be done: then its version must be known.
      if (!holds(place, stored))
        throw place.action.pinned ? changed(address) : conditionFailed(address, stored?.item)
      if (!place.touch && inserterOf(stored?.version) !== undefined) pin = true
      else again = true
    } else {
      throw changed(address, stored?.version)
    }
  }
  if (pin) return 'pin'
  if (!again)
    throw inTheWay(
      places[0] !== undefined && 'table' in places[0] ? places[0] : { table: '', key: {} },
      'several',
    )
  return 'again'
}

const holds = ({ action, layout }: Blind, stored: Stored | undefined): boolean =>
  evaluateAction(action, layout, stored?.item).verdict !== 'condition'
