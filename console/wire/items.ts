// One item, read and written as a unit of work: a write is carried out only if the item still has the version that was read, so
// that two people who edit the same item learn of each other.
//
// Servers of a fleet have no units of work: there the item must still be as it was read.
import type { AttributeValue, Item } from '../values/attribute.js'
import { call } from './client.js'

export interface ReadItem {
  readonly item: Item | undefined
  /** The timestamp of its last write; undefined if there is none, or if this server has no units of work. */
  readonly version: number | undefined
}

interface UnitAnswer {
  readonly ReadTimestamp?: string
  readonly Clock?: number
  readonly Began?: string
  readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
}

export const unitId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

/** Undefined: this server has no units of work. */
const read = (unit: object, table: string, key: Item): Promise<UnitAnswer | undefined> =>
  call<UnitAnswer>('UnitGetItems', { Unit: unit, Gets: [{ TableName: table, Key: key }] }).catch(
    (error: unknown) => {
      if ((error as Error).name !== 'UnknownOperationException') throw error
      return undefined
    },
  )

export async function readItem(table: string, key: Item): Promise<ReadItem> {
  const answer = await read({ Id: unitId(), Isolation: 'read-committed' }, table, key)
  if (answer === undefined) return readImage(table, key)
  const [found] = answer.Responses
  return { item: found?.Item, version: found?.Version }
}

async function readImage(table: string, key: Item): Promise<ReadItem> {
  const input = { TableName: table, Key: key, ConsistentRead: true }
  const { Item: item } = await call<{ readonly Item?: Item }>('GetItem', input)
  return { item, version: undefined }
}

/** The item is not the one that was read any more. */
export class Changed extends Error {
  override readonly name = 'Changed'
  readonly now: ReadItem

  constructor(now: ReadItem) {
    super('the item was changed since it was read')
    this.now = now
  }
}

/** Puts the item, or deletes it, if it is still the one that was read. */
export async function writeItem(
  table: string,
  key: Item,
  before: ReadItem,
  next: Item | undefined,
): Promise<void> {
  const { version } = before
  const unit = { Id: unitId(), Isolation: 'serializable' }
  const first = await read(unit, table, key)
  if (first === undefined) return writeUpon(table, key, before.item, next)
  const [found] = first.Responses
  if (found?.Version !== version) throw new Changed({ item: found?.Item, version: found?.Version })
  const write =
    next === undefined
      ? { Delete: { TableName: table, Key: key } }
      : { Put: { TableName: table, Item: next } }
  try {
    await call('UnitCommit', {
      Unit: {
        ...unit,
        ReadTimestamp: first.ReadTimestamp,
        Began: first.Began,
        AttemptBegan: first.Clock,
        TimeoutMs: 30_000,
      },
      Reads: [{ TableName: table, Key: key, ...(version !== undefined && { Version: version }) }],
      TransactItems: [write],
    })
  } catch (error) {
    if ((error as Error).name !== 'UnitConflictException') throw error
    throw new Changed(await readItem(table, key))
  }
}

/** An expression has 4 KB at most. Attributes beyond these are compared with a read right before the write. */
const CONDITIONS_MAX = 100

async function writeUpon(
  table: string,
  key: Item,
  before: Item | undefined,
  next: Item | undefined,
): Promise<void> {
  const now = await readImage(table, key)
  if (JSON.stringify(now.item) !== JSON.stringify(before)) throw new Changed(now)
  const input = { TableName: table, ...unchanged(key, before) }
  try {
    if (next === undefined) await call('DeleteItem', { ...input, Key: key })
    else await call('PutItem', { ...input, Item: next })
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error
    throw new Changed(await readImage(table, key))
  }
}

interface Condition {
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
}

/** The condition that an item is the one that was read. */
export function unchanged(key: Item, before: Item | undefined): Condition {
  const compared = Object.entries(before ?? {}).slice(0, CONDITIONS_MAX)
  if (compared.length === 0)
    return {
      ConditionExpression: 'attribute_not_exists(#k)',
      ExpressionAttributeNames: { '#k': Object.keys(key)[0] ?? '' },
    }
  const values: Record<string, AttributeValue> = {}
  const names: Record<string, string> = {}
  for (const [at, [name, value]] of compared.entries()) {
    names[`#a${at}`] = name
    values[`:a${at}`] = value
  }
  return {
    ConditionExpression: compared.map((_, at) => `#a${at} = :a${at}`).join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
}
