// Conditions that make a write refuse whoever has been overtaken.
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import type { Condition } from '../transactor.js'
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
  return lock.rows.map(({ table, key, owner }) => ({
    ConditionCheck: {
      TableName: table,
      Key: { pk: { S: key.pk }, sk: { S: key.sk } },
      ConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
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
): { readonly table: string; readonly key: { pk: string; sk: string }; readonly condition: Condition }[] {
  return lock.rows.map(({ table, key, owner }) => ({
    table,
    key: { ...key },
    condition: { expression: '#owner = :owner', names: { '#owner': 'owner' }, values: { ':owner': owner } },
  }))
}
