// For those who read and write the same items without a transactor.
import { INTENT, VERSION } from './records.js'

/**
 * A condition for plain writers: nobody's transaction is about to write the item. With it, a plain PutItem or DeleteItem
 * never destroys what a transaction has locked. An UpdateItem should also remove the version, as `unversioned` says:
 * then transactions see that somebody else wrote the item.
 *
 * @example
 * await client.send(new PutItemCommand({ TableName, Item, ConditionExpression: unlocked }))
 */
export const unlocked = `attribute_not_exists(${INTENT})`

/**
 * The part of an UpdateExpression by which a plain writer tells transactions that the item is no longer theirs.
 *
 * @example
 * UpdateExpression: `SET price = :p ${unversioned}`, ConditionExpression: unlocked
 */
export const unversioned = `REMOVE ${VERSION}`

/**
 * A filter for plain readers: leaves out items that were inserted only to be locked.
 *
 * @example
 * await client.send(new QueryCommand({ ...query, FilterExpression: settled }))
 */
export const settled = `attribute_not_exists(${INTENT}.transient)`

/** The attributes that transactions add to items. */
export const ownAttributes: readonly string[] = [VERSION, INTENT]
