// A unit of one item, committed by one conditional write. The item must be what the unit saw, and nobody's intent may be
// on it. The write leaves the unit's id as the item's version: by it, a write whose answer was lost is recognised.
import { OutcomeUnknown } from '../../endpoint/errors.js'
import { attribute } from '../../../model/value.js'
import { fromSdkItem, toSdkItem } from '../../values/values.js'
import { AnswerLost, isTurnedAway, Overloaded } from '../../endpoint/refusals.js'
import type { RequestUsage } from '../context/caller.js'
import { applyRedo } from '../protocol/images.js'
import { intentLimits } from '../protocol/limits.js'
import type { IntentParticipant } from './participants.js'
import { inserterOf, INTENT, storedOf, VERSION, writerOf } from '../protocol/records.js'
import { changeExpression, type ItemRequest, OLD_ON_FAILURE } from '../protocol/requests.js'
import { versionAfter } from '../protocol/rules.js'
import { changed, ensureDone, inTheWay, makeRoom, type IntentWaiter } from '../items/settle.js'
import { readOne, type IntentsContext } from '../context/context.js'

/** Resolves when it is written. Throws Conflict, or OutcomeUnknown where nothing can tell. */
export async function commitSingle(
  space: IntentsContext,
  member: IntentParticipant,
  me: IntentWaiter,
  usage: RequestUsage,
): Promise<void> {
  const { caller } = space
  const { base } = member
  const inserter = base.kind === 'version' ? inserterOf(base.version) : undefined
  if (member.redo.act === 'delete' && inserter !== undefined) await ensureDone(space, inserter, usage)
  const { operation, input } = singleRequest(member, me.id)
  let unsure = false
  for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
    try {
      const reply = await caller.send(operation, input, usage)
      if (reply.ok) return
      if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
      unsure ||= reply.repeated
      const given = reply.error.Item
      const raw = given === undefined ? await readOne(caller, member, usage) : fromSdkItem(given)
      const stored = storedOf(raw)
      // My own write, sent twice.
      if (stored?.version !== undefined && writerOf(stored.version) === me.id) return
      const isAsBefore = stored?.version === (base.kind === 'version' ? base.version : undefined)
      if (unsure && !isAsBefore) break
      if (stored?.intent === undefined) throw changed(member, stored?.version)
      await makeRoom(space, { ...member, stored, intent: stored.intent }, me, usage)
    } catch (error) {
      // Where the item could not be looked at, an earlier send may have been carried out all the same.
      const isInDoubt = unsure && (error instanceof Overloaded || isTurnedAway(error))
      if (!isInDoubt && !(error instanceof AnswerLost)) throw error
      throw new OutcomeUnknown(`nobody could say whether unit ${me.id} was committed`, me.id, {
        cause: error,
      })
    }
  }
  if (!unsure) throw inTheWay(member, 'several')
  throw new OutcomeUnknown(`unit ${me.id} was sent twice, and others have written its item since`, me.id)
}

/** The conditions of a unit's own write, without anybody's intent. */
export function pinOf({ base, layout }: IntentParticipant): {
  readonly condition: string
  readonly names: Record<string, string>
  readonly values: Record<string, { S: string }>
} {
  switch (base.kind) {
    case 'absent':
      return {
        condition: 'attribute_not_exists(#pk)',
        names: { '#pk': layout.key.partition.name },
        values: {},
      }
    case 'version':
      return {
        condition: '#v = :base AND attribute_not_exists(#i)',
        names: { '#v': VERSION, '#i': INTENT },
        values: { ':base': { S: base.version } },
      }
    case 'unversioned':
      return {
        condition: 'attribute_not_exists(#v) AND attribute_not_exists(#i)',
        names: { '#v': VERSION, '#i': INTENT },
        values: {},
      }
  }
}

export function singleRequest(member: IntentParticipant, id: string): ItemRequest {
  const { table, key, base, redo, expected } = member
  const { condition, names, values } = pinOf(member)
  const pinned = {
    TableName: table,
    ConditionExpression: condition,
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    ...OLD_ON_FAILURE,
  }
  if (redo.act !== 'write') return { operation: 'DeleteItem', input: { ...pinned, Key: toSdkItem(key) } }
  const version = versionAfter({ id, transient: false }, base.kind === 'version' ? base.version : undefined)
  const many = Object.keys(redo.set).length + redo.remove.length > intentLimits.updateAttributesMax
  if (base.kind !== 'version' || many) {
    const after = { ...key, ...applyRedo(expected ?? {}, redo), [VERSION]: { S: version } }
    return { operation: 'PutItem', input: { ...pinned, Item: toSdkItem(after) } }
  }
  const change = changeExpression(
    redo,
    Object.keys(key).filter((name) => attribute(key, name) !== undefined),
  )
  return {
    operation: 'UpdateItem',
    input: {
      ...pinned,
      Key: toSdkItem(key),
      UpdateExpression: `SET #v = :v${change.set}${change.remove === '' ? '' : ` REMOVE ${change.remove.slice(2)}`}`,
      ExpressionAttributeNames: { ...names, '#v': VERSION, ...change.names },
      ExpressionAttributeValues: { ...values, ':v': { S: version }, ...change.values },
    },
  }
}
