// A client without a unit of work, as on any endpoint: it reads by plain operations, and writes all at once by TransactWriteItems, which
// may ask that what was read is still there. Nothing protects what was not there: a phantom stays possible.
import type { Item } from '../../values/attribute.js'
import { call } from '../../wire/client.js'
import { unchanged } from '../../wire/items.js'
import { type ClientPort, type ClientWrite, findInput, type FindStep, keyOfId } from './client-run.js'

export const WAYS = ['conditions on what was read', 'no conditions'] as const

export class ConditionPort implements ClientPort {
  readonly #table: string
  readonly #asksAgain: boolean
  /** By the id: the item as it was read first, or that there was none. */
  readonly #read = new Map<string, Item | undefined>()

  constructor(table: string, way: string) {
    this.#table = table
    this.#asksAgain = way === WAYS[0]
  }

  async get(key: Item): Promise<Item | undefined> {
    const { Item: item } = await call<{ readonly Item?: Item }>('GetItem', {
      TableName: this.#table,
      Key: key,
      ConsistentRead: true,
    })
    this.#note(key, item)
    return item
  }

  async find(step: FindStep): Promise<readonly Item[]> {
    const { Items } = await call<{ readonly Items: readonly Item[] }>(
      step.by === 'index' ? 'Query' : 'Scan',
      { ...findInput(this.#table, step), ...(step.by === 'scan' && { ConsistentRead: true }) },
    )
    for (const item of Items) this.#note({ id: item['id']! }, item)
    return Items
  }

  async commit(writes: readonly ClientWrite[]): Promise<string> {
    const TableName = this.#table
    const written = writes.map(({ key, put, update }) => {
      const condition = this.#conditionOn(key)
      if (put !== undefined) return { Put: { TableName, ...put, ...condition } }
      return {
        Update: {
          TableName,
          Key: key,
          ...update,
          ...condition,
          ExpressionAttributeNames: {
            ...update?.ExpressionAttributeNames,
            ...condition?.ExpressionAttributeNames,
          },
          ExpressionAttributeValues: {
            ...update?.ExpressionAttributeValues,
            ...condition?.ExpressionAttributeValues,
          },
        },
      }
    })
    const ids = new Set(writes.map(({ key }) => idOf(key)))
    const checks = [...this.#read.keys()]
      .filter((id) => this.#asksAgain && !ids.has(id))
      .map((id) => ({
        ConditionCheck: { TableName, Key: keyOfId(id), ...this.#conditionOn(keyOfId(id)) },
      }))
    if (written.length + checks.length === 0) return 'Read only: nothing was sent.'
    await call('TransactWriteItems', { TransactItems: [...written, ...checks] })
    return 'Committed.'
  }

  #note(key: Item, item: Item | undefined): void {
    if (!this.#read.has(idOf(key))) this.#read.set(idOf(key), item)
  }

  #conditionOn(key: Item): ReturnType<typeof unchanged> | undefined {
    const id = idOf(key)
    return this.#asksAgain && this.#read.has(id) ? unchanged(key, this.#read.get(id)) : undefined
  }
}

const idOf = (key: Item): string => {
  const id = key['id']
  return id !== undefined && 'S' in id ? id.S : ''
}
