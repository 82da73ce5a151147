// Requests of the workloads, as the router would hand them on: keys, puts, updates, deletes and checks that leave the id
// of their request in what they write.
import { openExpressions } from '../src/expression/expression.js'
import { itemKey } from '../src/model/key-bytes.js'
import type { ItemKey } from '../src/model/table.js'
import type { AttributeValue, Item } from '../src/model/value.js'
import type { Action } from '../src/storage/contract/transactions.js'
import type { WrittenAction } from './history.js'
import { TABLE } from './table.js'

export interface Request extends Action {
  /** The same for the judges. */
  readonly written: WrittenAction
}

export interface Clause {
  readonly text: string
  readonly values?: Readonly<Record<string, AttributeValue>>
}

export const number = (value: number): AttributeValue => ({ N: String(value) })

const keys = new Map<string, { readonly key: ItemKey; readonly keyAttributes: Item }>()

export function keyNamed(name: string): { readonly key: ItemKey; readonly keyAttributes: Item } {
  let found = keys.get(name)
  if (found === undefined) {
    const keyAttributes: Item = Object.freeze({
      p: Object.freeze({ S: partitionOf(name) }),
      id: Object.freeze({ S: name }),
    })
    keys.set(name, (found = { key: itemKey(TABLE.key, keyAttributes), keyAttributes }))
  }
  return found
}

/** Some items share a partition, and with it its max-delete timestamp. */
function partitionOf(name: string): string {
  const [, prefix = name, number = '0'] = /^(.*-)(\d+)$/.exec(name) ?? []
  return `${prefix}${Number(number) % PARTITIONS}`
}

const PARTITIONS = 5

export function put(name: string, id: string, attributes: Item, condition?: Clause): Request {
  const item = { ...keyNamed(name).keyAttributes, w: { S: id }, ...attributes }
  return request(name, { kind: 'put', item }, condition)
}

export const remove = (name: string, condition?: Clause): Request =>
  request(name, { kind: 'delete' }, condition)

export const check = (name: string, condition?: Clause): Request =>
  request(name, { kind: 'check' }, condition)

/** Leaves no id: only for transactions, whose outcome is known by other means. */
export function add(name: string, by: number): Request {
  const expressions = openExpressions({ ExpressionAttributeValues: { ':by': number(by) } })
  return request(name, { kind: 'update', update: expressions.update('ADD n :by') }, undefined)
}

/** `set`: what follows `SET`. */
export function update(name: string, id: string, set: Clause, condition?: Clause): Request {
  const expressions = openExpressions({ ExpressionAttributeValues: { ...set.values, ':w': { S: id } } })
  return request(name, { kind: 'update', update: expressions.update(`SET ${set.text}, w = :w`) }, condition)
}

function request(name: string, mutation: Action['mutation'], clause: Clause | undefined): Request {
  const { key, keyAttributes } = keyNamed(name)
  const condition =
    clause &&
    openExpressions(clause.values ? { ExpressionAttributeValues: clause.values } : {}).condition(
      clause.text,
      'ConditionExpression',
    )
  const given = condition && { condition }
  return {
    table: TABLE,
    key,
    keyAttributes,
    mutation,
    ...given,
    written: { key: name, keyAttributes, mutation, ...given },
  }
}
