// The requests of the protocol, as plain data: every condition that it relies on is written down here and nowhere else.
//
//   wave      begin the header, place an intent on every item          decide    the header: pending -> committed | cancelled
//   finish    apply or drop one intent, whatever its transaction       done      the header, when no intent is left
//
// Every one of them may arrive twice, late or not at all.
import type { EndpointInput } from '../../endpoint/operations.js'
import type { Item } from '../../../model/value.js'
import { attribute } from '../../../model/value.js'
import type { KeySchema } from '../../../model/table.js'
import type { ItemAddress } from '../../unit/protocol.js'
import { toSdkItem, toSdkValue } from '../../values/values.js'
import { applyRedo } from './images.js'
import { intentLimits } from './limits.js'
import {
  type Header,
  headerAttributes,
  headerItem,
  headerKey,
  INTENT,
  type Intent,
  intentItem,
  type Redo,
  type Stored,
  VERSION,
} from './records.js'
import { versionAfter } from './rules.js'

/** What an item must still be for an intent to be placed on it. */
export type BaseVersion =
  | { readonly kind: 'absent' }
  | { readonly kind: 'version'; readonly version: string }
  /** There, but never written by a transaction. */
  | { readonly kind: 'unversioned' }

export const baseOf = (item: Item | undefined, version: string | undefined): BaseVersion =>
  version !== undefined
    ? { kind: 'version', version }
    : { kind: item === undefined ? 'absent' : 'unversioned' }

const NAMES = { '#v': VERSION, '#i': INTENT } as const
const MINE = '#i.#id = :id AND #i.#turn = :turn'
const MINE_NAMES = { '#i': INTENT, '#id': 'id', '#turn': 'turn' } as const

const mineValues = ({
  id,
  turn,
}: Pick<Intent, 'id' | 'turn'>): NonNullable<Update['ExpressionAttributeValues']> => ({
  ':id': { S: id },
  ':turn': { N: String(turn) },
})

type Update = EndpointInput<'UpdateItem'>
type Delete = EndpointInput<'DeleteItem'>
type Put = EndpointInput<'PutItem'>

/**
 * Places an intent, if the item is still what the transaction saw and nobody else's intent is on it. Placing it again
 * succeeds; placing it after it was applied does not, because the version has changed by then.
 */
export function placeRequest(
  address: ItemAddress,
  schema: KeySchema,
  intent: Intent,
  base: BaseVersion,
): Update {
  const own = '(#i.#id = :id AND #i.#turn <= :turn)'
  const free = `(attribute_not_exists(#i) OR ${own})`
  const condition = {
    absent: `attribute_not_exists(#pk) OR (attribute_not_exists(#v) AND attribute_exists(#i.#transient) AND ${own})`,
    unversioned: `attribute_exists(#pk) AND attribute_not_exists(#v) AND attribute_not_exists(#i.#transient) AND ${free}`,
    version: `#v = :base AND ${free}`,
  }[base.kind]
  return {
    TableName: address.table,
    Key: toSdkItem(address.key),
    UpdateExpression: 'SET #i = :intent',
    ConditionExpression: condition,
    ExpressionAttributeNames: {
      ...MINE_NAMES,
      ...(base.kind !== 'absent' && base.kind !== 'unversioned'
        ? { '#v': VERSION }
        : { '#v': VERSION, '#pk': schema.partition.name, '#transient': 'transient' }),
    },
    ExpressionAttributeValues: {
      ':intent': toSdkValue({ M: intentItem(intent) }),
      ...mineValues(intent),
      ...(base.kind === 'version' && { ':base': { S: base.version } }),
    },
    ReturnValues: 'ALL_NEW',
    ...OLD_ON_FAILURE,
  }
}

/** Endpoints that do not know it leave it out. */
export const OLD_ON_FAILURE = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

export type ItemRequest =
  | { readonly operation: 'UpdateItem'; readonly input: Update }
  | { readonly operation: 'DeleteItem'; readonly input: Delete }
  | { readonly operation: 'PutItem'; readonly input: Put }

/** Carries out what the intent says. `redo` is the intent's, brought in from its records if it was spilled. */
export function applyRequest(address: ItemAddress, stored: Stored, intent: Intent, redo: Redo): ItemRequest {
  if (redo.act === 'delete') return deleteRequest(address, intent)
  if (redo.act !== 'write') return dropRequest(address, intent)
  const version = versionAfter(intent, stored.version)
  const names = [...Object.keys(redo.set), ...redo.remove]
  if (names.length > intentLimits.updateAttributesMax)
    return {
      operation: 'PutItem',
      input: {
        TableName: address.table,
        Item: { ...toSdkItem(applyRedo(stored.item, redo)), [VERSION]: { S: version } },
        ConditionExpression: MINE,
        ExpressionAttributeNames: { ...MINE_NAMES },
        ExpressionAttributeValues: mineValues(intent),
      },
    }
  const change = changeExpression(redo, Object.keys(address.key))
  return {
    operation: 'UpdateItem',
    input: {
      TableName: address.table,
      Key: toSdkItem(address.key),
      UpdateExpression: `SET #v = :v${change.set} REMOVE #i${change.remove}`,
      ConditionExpression: MINE,
      ExpressionAttributeNames: { '#v': VERSION, ...MINE_NAMES, ...change.names },
      ExpressionAttributeValues: { ':v': { S: version }, ...mineValues(intent), ...change.values },
    },
  }
}

/** `, #s0 = :s0, ...` and `, #r0, ...`, to be put behind what else is set and removed. */
export function changeExpression(
  redo: Extract<Redo, { act: 'write' }>,
  keyNames: readonly string[],
): {
  readonly set: string
  readonly remove: string
  readonly names: Record<string, string>
  readonly values: NonNullable<Update['ExpressionAttributeValues']>
} {
  const names: Record<string, string> = {}
  const values: NonNullable<Update['ExpressionAttributeValues']> = {}
  let set = ''
  let remove = ''
  for (const [at, name] of Object.keys(redo.set).entries()) {
    if (keyNames.includes(name)) continue
    names[`#s${at}`] = name
    values[`:s${at}`] = toSdkValue(attribute(redo.set, name)!)
    set += `, #s${at} = :s${at}`
  }
  for (const [at, name] of redo.remove.entries()) {
    names[`#r${at}`] = name
    remove += `, #r${at}`
  }
  return { set, remove, names, values }
}

/** Takes the intent away, and the item with it if it was there for nothing else. */
export function dropRequest(address: ItemAddress, intent: Intent): ItemRequest {
  if (intent.transient) return deleteRequest(address, intent)
  return {
    operation: 'UpdateItem',
    input: {
      TableName: address.table,
      Key: toSdkItem(address.key),
      UpdateExpression: 'REMOVE #i',
      ConditionExpression: MINE,
      ExpressionAttributeNames: { ...MINE_NAMES },
      ExpressionAttributeValues: mineValues(intent),
    },
  }
}

function deleteRequest(address: ItemAddress, intent: Intent): ItemRequest {
  return {
    operation: 'DeleteItem',
    input: {
      TableName: address.table,
      Key: toSdkItem(address.key),
      ConditionExpression: MINE,
      ExpressionAttributeNames: { ...MINE_NAMES },
      ExpressionAttributeValues: mineValues(intent),
    },
  }
}

// The header.

/** The first header of a transaction; refused if there is one, a tombstone above all. */
export function beginRequest(table: string, header: Header): Put {
  return {
    TableName: table,
    Item: toSdkItem(headerItem(header)),
    ConditionExpression: 'attribute_not_exists(#id)',
    ExpressionAttributeNames: { '#id': 'id' },
  }
}

/** A new turn of a transaction that has a header: refused if anybody else has worked on it since. */
export function turnRequest(table: string, header: Header, stamp: string): Update {
  const attributes = headerAttributes(header)
  const names = Object.keys(attributes)
  return {
    TableName: table,
    Key: toSdkItem(headerKey(header.id)),
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ConditionExpression: '#state = :pending AND #stamp = :known',
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, toSdkValue(attribute(attributes, name)!)])),
      ':pending': { S: 'pending' },
      ':known': { S: stamp },
    },
  }
}

/** The commit of this turn makes progress. One that arrives late sets nothing back, because beats only grow. */
export function beatRequest(table: string, { id, turn }: Pick<Header, 'id' | 'turn'>, beat: number): Update {
  return {
    TableName: table,
    Key: toSdkItem(headerKey(id)),
    UpdateExpression: 'SET #beat = :beat',
    ConditionExpression:
      '#state = :pending AND #turn = :turn AND (attribute_not_exists(#beat) OR #beat < :beat)',
    ExpressionAttributeNames: { '#state': 'state', '#turn': 'turn', '#beat': 'beat' },
    ExpressionAttributeValues: {
      ':pending': { S: 'pending' },
      ':turn': { N: String(turn) },
      ':beat': { N: String(beat) },
    },
  }
}

/** The decision to commit: one conditional write, of the plan that was carried out and no other. */
export function commitRequest(table: string, header: Pick<Header, 'id' | 'turn' | 'stamp'>): Update {
  return {
    TableName: table,
    Key: toSdkItem(headerKey(header.id)),
    UpdateExpression: 'SET #state = :committed',
    ConditionExpression: '#state = :pending AND #turn = :turn AND #stamp = :stamp',
    ExpressionAttributeNames: { '#state': 'state', '#turn': 'turn', '#stamp': 'stamp' },
    ExpressionAttributeValues: {
      ':committed': { S: 'committed' },
      ':pending': { S: 'pending' },
      ':turn': { N: String(header.turn) },
      ':stamp': { S: header.stamp },
    },
  }
}

/**
 * The decision to cancel, by anyone. Where there is no header it leaves a tombstone, so that one that was delayed is
 * refused when it arrives.
 */
export function cancelRequest(table: string, id: string, patienceMs: number): Update {
  return {
    TableName: table,
    Key: toSdkItem(headerKey(id)),
    UpdateExpression: 'SET #state = :cancelled, #patienceMs = if_not_exists(#patienceMs, :patienceMs)',
    ConditionExpression: 'attribute_not_exists(#state) OR #state = :pending',
    ExpressionAttributeNames: { '#state': 'state', '#patienceMs': 'patienceMs' },
    ExpressionAttributeValues: {
      ':cancelled': { S: 'cancelled' },
      ':pending': { S: 'pending' },
      ':patienceMs': { N: String(patienceMs) },
    },
  }
}

/** No participant has an intent any more. */
export function doneRequest(table: string, id: string): Update {
  return {
    TableName: table,
    Key: toSdkItem(headerKey(id)),
    UpdateExpression: 'SET #done = :true',
    ConditionExpression: '#state = :committed OR #state = :cancelled',
    ExpressionAttributeNames: { '#state': 'state', '#done': 'done' },
    ExpressionAttributeValues: {
      ':true': { BOOL: true },
      ':committed': { S: 'committed' },
      ':cancelled': { S: 'cancelled' },
    },
  }
}

/** A record of a transaction that has long been done. */
export function forgetRequest(table: string, key: Item): Delete {
  return { TableName: table, Key: toSdkItem(key) }
}

export { NAMES as OUR_NAMES }
