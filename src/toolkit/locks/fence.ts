// Conditions that make a write refuse whoever has been overtaken.
import type { PutItemCommandInput, TransactWriteItem, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { Condition, Update } from '../unit/transactor.js'
import type { Lock } from './lock.js'

const NAME = '#seriatimFence'
const VALUE = ':seriatimFence'
const EXPRESSION = `(attribute_not_exists(${NAME}) OR ${NAME} <= ${VALUE})`

/** The members of a request that `fenced` makes. */
export interface FencedExpressions {
  /** The item has no fence yet, or one that is not higher. */
  readonly ConditionExpression: string
  /** The name of the attribute that has the fence. */
  readonly ExpressionAttributeNames: Record<string, string>
  /** The fence of the lock. */
  readonly ExpressionAttributeValues: Record<string, { N: string }>
}

/**
 * The condition that no later holder of the lock has written the item. The item keeps the fence of its last writer in an
 * attribute, `fence` by default; store the fence with the same write (in an update: `SET #seriatimFence = :seriatimFence`).
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

/** The input of `fencedPut`: the input of a PutItemCommand, or the `Put` of a TransactWriteItemsCommand. */
export type FencedPutInput = Pick<PutItemCommandInput, 'TableName' | 'Item'> & ConditionInput
/** The input of `fencedUpdate`: the input of an UpdateItemCommand, or the `Update` of a TransactWriteItemsCommand. */
export type FencedUpdateInput = Pick<UpdateItemCommandInput, 'TableName' | 'Key' | 'UpdateExpression'> &
  ConditionInput
type ConditionInput = Pick<
  PutItemCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/**
 * A put that stores the fence with the item, and that the endpoint refuses if a later holder has written the item.
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
 * An update that stores the fence with the item, and that the endpoint refuses if a later holder has written the item.
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
 * A put of a unit of work that stores the fence with the item. The unit fails with `ConditionFailed` if a later holder has
 * written the item.
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
 * An update of a unit of work that stores the fence with the item. The unit fails with `ConditionFailed` if a later holder has
 * written the item.
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

/** Options of `fencedPutUnit` and `fencedUpdateUnit`. */
export interface FencedUnitOptions {
  /** A further condition that must hold. */
  readonly condition?: Condition
  /** The attribute that has the fence; `fence` by default. */
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
 * The condition of `fenced` for a unit of work: no later holder of the lock has written the item.
 *
 * @example
 *   tx.put('Invoices', { id: 'invoice-42', fence: lock.fence }, fencedUnit(lock))
 */
export function fencedUnit(lock: { readonly fence: bigint }, attribute = 'fence'): Condition {
  return { expression: EXPRESSION, names: { [NAME]: attribute }, values: { [VALUE]: lock.fence } }
}

/**
 * Actions for a TransactWriteItems on the endpoint of the lock: the transaction succeeds only while the lock is held. No other
 * client enters before the lock's row is gone, so the protected items need no fence.
 *
 * @example
 *   const Put = { TableName: 'Invoices', Item: { id: { S: 'invoice-42' } } }
 *   await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }, ...stillHeld(lock)] }))
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
 * The checks of `stillHeld` for a unit of work on the endpoint of the lock.
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
