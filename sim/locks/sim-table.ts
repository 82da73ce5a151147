// A table of DynamoDB in memory: the operations that the lock client uses, with its own expressions evaluated as the
// store evaluates them. One item is atomic, and nothing else is.
import {
  applyUpdate,
  evaluateCondition,
  openExpressions,
  updatedAttributes,
} from '../../src/expression/expression.js'
import type { KeySchema } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'

export interface Request {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Thrown as the SDK throws it. */
export class Refused extends Error {
  readonly Item: Item | undefined

  constructor(name: string, item?: Item) {
    super(name)
    this.name = name
    this.Item = item
  }
}

export type WriteObserver = (
  key: { readonly pk: string; readonly sk: string },
  before: Item | undefined,
  after: Item | undefined,
) => void

const SCHEMA: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'S' } }

export class SimTable {
  /** By partition key, then sort key. */
  readonly #partitions = new Map<string, Map<string, Item>>()
  readonly #onWrite: WriteObserver

  constructor(onWrite: WriteObserver) {
    this.#onWrite = onWrite
  }

  get(key: Item): Item | undefined {
    const { pk, sk } = keyOf(key)
    return this.#partitions.get(pk)?.get(sk)
  }

  *items(): Iterable<Item> {
    for (const partition of this.#partitions.values()) yield* partition.values()
  }

  /** The items of a Query or Scan as they are now, by key. */
  range({ operation, input }: Request): ReadonlyMap<string, Item> {
    if (operation === 'Scan')
      return new Map([...this.items()].map((item) => [JSON.stringify(keyOf(item)), item]))
    const expressions = openExpressions(input)
    const { partition, sort } = expressions.keyCondition(input['KeyConditionExpression'] as string, SCHEMA)
    expressions.finish()
    if (!('S' in partition) || sort?.op !== 'BETWEEN') throw new Error('a query that the locks do not send')
    const [from, to] = sort.values.map((value) => ('S' in value ? value.S : '')) as [string, string]
    const found = [...(this.#partitions.get(partition.S) ?? [])].filter(([sk]) => sk >= from && sk <= to)
    return new Map(found)
  }

  /** Whether a condition holds for the item of a key. */
  meets(input: Request['input']): boolean {
    const expressions = openExpressions(input)
    return evaluateCondition(
      expressions.condition(input['ConditionExpression'] as string, 'ConditionExpression'),
      this.get(input['Key'] as Item),
    )
  }

  /** One write, or Refused. */
  write({ operation, input }: Request): object {
    const key = (input['Key'] ?? input['Item']) as Item
    const before = this.get(key)
    const expressions = openExpressions(input)
    const text = input['UpdateExpression'] as string | undefined
    const update = text === undefined ? undefined : expressions.update(text)
    const condition = input['ConditionExpression'] as string | undefined
    if (
      condition !== undefined &&
      !evaluateCondition(expressions.condition(condition, 'ConditionExpression'), before)
    )
      throw new Refused(
        'ConditionalCheckFailedException',
        input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' ? before : undefined,
      )
    expressions.finish()
    if (operation === 'PutItem') this.#set(key, before, input['Item'] as Item)
    else if (operation === 'DeleteItem') this.#set(key, before, undefined)
    else if (update !== undefined) {
      const result = applyUpdate(update, before, key)
      if ('refusal' in result) throw new Refused('ValidationException')
      this.#set(key, before, result.item)
      return input['ReturnValues'] === 'UPDATED_NEW'
        ? { Attributes: updatedAttributes(update, result.item ?? {}) }
        : {}
    } else throw new Error(`a write that the locks do not send: ${operation}`)
    return {}
  }

  #set(key: Item, before: Item | undefined, after: Item | undefined): void {
    const { pk, sk } = keyOf(key)
    let partition = this.#partitions.get(pk)
    if (partition === undefined) this.#partitions.set(pk, (partition = new Map()))
    if (after === undefined) partition.delete(sk)
    else if (before !== undefined) partition.set(sk, after)
    else {
      // Few rows, mostly at the end: kept in order of the sort key.
      const last = [...partition.keys()].at(-1)
      partition.set(sk, after)
      if (last !== undefined && sk < last) {
        const sorted = [...partition].toSorted(([a], [b]) => (a < b ? -1 : 1))
        partition.clear()
        for (const [each, item] of sorted) partition.set(each, item)
      }
    }
    this.#onWrite({ pk, sk }, before, after)
  }
}

function keyOf(key: Item): { readonly pk: string; readonly sk: string } {
  const { pk, sk } = key as unknown as { readonly pk: { S: string }; readonly sk: { S: string } }
  return { pk: pk.S, sk: sk.S }
}
