// For those who read and write the same items without a transactor.
import { INTENT, VERSION } from './records.js'

/**
 * A condition for writers that do not use the toolkit: no transaction is about to write the item. With it, a plain PutItem or
 * DeleteItem never destroys what a transaction has locked. An UpdateItem should also remove the version, by `unversioned`, so
 * that transactions notice the change. Needed only on endpoints that are not Seriatim.
 *
 * @example
 *   const Item = { id: { S: 'b2' }, title: { S: 'Persuasion' } }
 *   await client.send(new PutItemCommand({ TableName: 'Books', Item, ConditionExpression: unlocked }))
 */
export const unlocked = `attribute_not_exists(${INTENT})`

/**
 * The part of an UpdateExpression by which a writer that does not use the toolkit tells transactions that it changed the item.
 *
 * @example
 *   await client.send(new UpdateItemCommand({
 *     TableName: 'Books',
 *     Key: { id: { S: 'b1' } },
 *     UpdateExpression: `SET price = :p ${unversioned}`,
 *     ConditionExpression: unlocked,
 *     ExpressionAttributeValues: { ':p': { N: '9' } },
 *   }))
 */
export const unversioned = `REMOVE ${VERSION}`

/**
 * A filter for readers that do not use the toolkit: it leaves out items that exist only because a transaction has locked them.
 *
 * @example
 *   const { Count } = await client.send(new ScanCommand({ TableName: 'Books', FilterExpression: settled }))
 *   console.log(Count) // 1
 */
export const settled = `attribute_not_exists(${INTENT}.transient)`

/**
 * The names of the attributes that transactions add to items on endpoints that are not Seriatim.
 *
 * @example
 *   console.log(ownAttributes) // [ 'seriatimVersion', 'seriatimIntent' ]
 */
export const ownAttributes: readonly string[] = [VERSION, INTENT]
