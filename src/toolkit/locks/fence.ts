// Conditions that make a write refuse whoever has been overtaken.
import type { PutItemCommandInput, TransactWriteItem, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { Condition, Update } from '../unit/transactor.js'
import type { Lock } from './lock.js'

const NAME = '#seriatimFence'
const VALUE = ':seriatimFence'
const EXPRESSION = `(attribute_not_exists(${NAME}) OR ${NAME} <= ${VALUE})`

export interface FencedExpressions {
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, { N: string }>
}

/**
 * For a write of an item that keeps the fence of its last writer: no later holder has written it. Store the fence with
 * the same write (in an update: `SET #seriatimFence = :seriatimFence`).
 *
 * @example
 *   await client.send(new UpdateItemCommand({
 *     TableName: 'Invoices',
 *     Key: { id: { S: 'invoice-42' } },
 *     UpdateExpression: 'SET #seriatimFence = :seriatimFence',
 *     ...fenced(lock),
 *   }))
 */
export function fenced(lock: { readonly fence: bigint }, attribute = 'fence'): FencedExpressions {
  return {
    ConditionExpression: EXPRESSION,
    ExpressionAttributeNames: { [NAME]: attribute },
    ExpressionAttributeValues: { [VALUE]: { N: lock.fence.toString() } },
  }
}

/** What `fencedPut` takes: the input of a PutItemCommand, or the `Put` of a TransactWriteItemsCommand. */
export type FencedPutInput = Pick<PutItemCommandInput, 'TableName' | 'Item'> & ConditionInput
/** What `fencedUpdate` takes: the input of an UpdateItemCommand, or the `Update` of a TransactWriteItemsCommand. */
export type FencedUpdateInput = Pick<UpdateItemCommandInput, 'TableName' | 'Key' | 'UpdateExpression'> &
  ConditionInput
type ConditionInput = Pick<
  PutItemCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/**
 * A put that stores the fence with the item, and that is refused if a later holder has written the item.
 *
 * @example
 *   await client.send(new PutItemCommand(fencedPut(lock, { TableName: 'Invoices', Item: { id: { S: 'invoice-42' } } })))
 */
export function fencedPut<Input extends FencedPutInput>(
  lock: { readonly fence: bigint },
  input: Input,
  attribute = 'fence',
): Input & FencedExpressions {
  if (input.Item !== undefined && Object.hasOwn(input.Item, attribute))
    throw new TypeError(`the item has an attribute ${attribute} already: name another one for the fence`)
  return { ...withFence(lock, input, attribute), Item: { ...input.Item, [attribute]: fenceOf(lock) } }
}

/**
 * An update that stores the fence with the item, and that is refused if a later holder has written the item.
 *
 * @example
 *   await client.send(new UpdateItemCommand(fencedUpdate(lock, {
 *     TableName: 'Invoices',
 *     Key: { id: { S: 'invoice-42' } },
 *     UpdateExpression: 'SET paid = :yes',
 *     ExpressionAttributeValues: { ':yes': { BOOL: true } },
 *   })))
 */
export function fencedUpdate<Input extends FencedUpdateInput>(
  lock: { readonly fence: bigint },
  input: Input,
  attribute = 'fence',
): Input & FencedExpressions & { UpdateExpression: string } {
  return {
    ...withFence(lock, input, attribute),
    UpdateExpression: settingFence(input.UpdateExpression ?? ''),
  }
}

function withFence<Input extends ConditionInput>(
  lock: { readonly fence: bigint },
  input: Input,
  attribute: string,
): Input & FencedExpressions {
  const own = fenced(lock, attribute)
  const { ConditionExpression: condition } = input
  return {
    ...input,
    ConditionExpression: condition === undefined ? EXPRESSION : `(${condition}) AND ${EXPRESSION}`,
    ExpressionAttributeNames: { ...input.ExpressionAttributeNames, ...own.ExpressionAttributeNames },
    ExpressionAttributeValues: { ...input.ExpressionAttributeValues, ...own.ExpressionAttributeValues },
  } as Input & FencedExpressions
}

const fenceOf = (lock: { readonly fence: bigint }): { N: string } => ({ N: lock.fence.toString() })

const SET_FENCE = `SET ${NAME} = ${VALUE}`
/** The word alone: no attribute can be called so in an expression, for it is reserved. */
const SET_CLAUSE = /(?<![\w#:.])SET(?![\w])/i

/** There is one SET clause at most. */
const settingFence = (update: string): string =>
  SET_CLAUSE.test(update) ? update.replace(SET_CLAUSE, `${SET_FENCE},`) : `${SET_FENCE} ${update}`.trimEnd()

/**
 * A put of a unit of work that stores the fence with the item, and on which the unit fails with ConditionFailed if a
 * later holder has written the item.
 *
 * @example
 *   fencedPutUnit(tx, lock, 'Invoices', { id: 'invoice-42', paid: true })
 */
export function fencedPutUnit(
  tx: { put(table: string, item: never, condition?: Condition): void },
  lock: { readonly fence: bigint },
  table: string,
  item: object,
  options: FencedUnitOptions = {},
): void {
  const { condition, attribute = 'fence' } = options
  if (Object.hasOwn(item, attribute))
    throw new TypeError(`the item has an attribute ${attribute} already: name another one for the fence`)
  tx.put(
    table,
    { ...item, [attribute]: lock.fence } as never,
    bothHold(condition, fencedUnit(lock, attribute)),
  )
}

/**
 * The same for an update.
 *
 * @example
 *   fencedUpdateUnit(tx, lock, 'Invoices', { id: 'invoice-42' }, { set: { paid: true } })
 */
export function fencedUpdateUnit(
  tx: { update(table: string, key: never, update: never, condition?: Condition): void },
  lock: { readonly fence: bigint },
  table: string,
  key: object,
  update: Update<Record<string, unknown>>,
  options: FencedUnitOptions = {},
): void {
  const { condition, attribute = 'fence' } = options
  const whole =
    'expression' in update && update.expression !== undefined
      ? {
          expression: settingFence(update.expression),
          names: { ...update.names, [NAME]: attribute },
          values: { ...update.values, [VALUE]: lock.fence },
        }
      : { ...update, set: { ...update.set, [attribute]: lock.fence } }
  tx.update(table, key as never, whole as never, bothHold(condition, fencedUnit(lock, attribute)))
}

export interface FencedUnitOptions {
  /** Holds as well, or the unit fails. */
  readonly condition?: Condition
  /** Where the fence is stored: `fence` unless told otherwise. */
  readonly attribute?: string
}

function bothHold(one: Condition | undefined, other: Condition): Condition {
  if (one === undefined) return other
  return {
    expression: `(${one.expression}) AND ${other.expression}`,
    names: { ...one.names, ...other.names },
    values: { ...one.values, ...other.values },
  }
}

/**
 * The same condition for a unit of work.
 *
 * @example
 *   tx.put('Invoices', { id: 'invoice-42', fence: lock.fence }, fencedUnit(lock))
 */
export function fencedUnit(lock: { readonly fence: bigint }, attribute = 'fence'): Condition {
  return { expression: EXPRESSION, names: { [NAME]: attribute }, values: { [VALUE]: lock.fence } }
}

/**
 * Further actions for a TransactWriteItems on the same endpoint: it happens only while the lock is held. Nobody else
 * enters before the row is gone, so the protected items need no fence of their own.
 *
 * @example
 *   await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: invoice }, ...stillHeld(lock)] }))
 */
export function stillHeld(lock: Lock): TransactWriteItem[] {
  return lock.rows.map(({ table, key, owner, ownerAttribute }) => ({
    ConditionCheck: {
      TableName: table,
      Key: Object.fromEntries(Object.entries(key).map(([name, value]) => [name, { S: value }])),
      ConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': ownerAttribute },
      ExpressionAttributeValues: { ':owner': { S: owner } },
    },
  }))
}

/**
 * The same checks for a unit of work.
 *
 * @example
 *   for (const { table, key, condition } of stillHeldUnit(lock)) tx.check(table, key, condition)
 */
export function stillHeldUnit(
  lock: Lock,
): { readonly table: string; readonly key: Record<string, string>; readonly condition: Condition }[] {
  return lock.rows.map(({ table, key, owner, ownerAttribute }) => ({
    table,
    key: { ...key },
    condition: {
      expression: '#owner = :owner',
      names: { '#owner': ownerAttribute },
      values: { ':owner': owner },
    },
  }))
}
