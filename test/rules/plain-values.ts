// Items and expressions as a reader writes them: plain JSON, and literals in the text of an expression.
import { openExpressions } from '../../src/expression/expression.js'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import type { Action, Image } from '../../src/rules/item/contended-item.js'

/** Key `id`, which is left out of all texts; an index on `color`, a string. */
export const table: TableShape = {
  name: 'scenarios',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [
    {
      name: 'by-color',
      space: spaceId(2),
      kind: 'global',
      key: { partition: { name: 'color', type: 'S' } },
      projection: { type: 'ALL' },
    },
  ],
}

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain }

export function marshalled(value: Plain): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: String(value) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value === null) return { NULL: true }
  if (Array.isArray(value)) return { L: value.map(marshalled) }
  return { M: attributes(value as Readonly<Record<string, Plain>>) }
}

export function unmarshalled(value: AttributeValue): Plain {
  if ('S' in value) return value.S
  if ('N' in value) return Number(value.N)
  if ('BOOL' in value) return value.BOOL
  if ('NULL' in value) return null
  if ('L' in value) return value.L.map(unmarshalled)
  if ('M' in value) return withoutKey(value.M)
  throw new TypeError('sets and binaries have no plain form')
}

export const attributes = (plain: Readonly<Record<string, Plain>>): Item =>
  Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, marshalled(value)]))

/** Without `id`; undefined for an item that is not there. */
export const plainImage = (image: Image): Readonly<Record<string, Plain>> | undefined =>
  image && withoutKey(image)

function withoutKey(item: Item): Readonly<Record<string, Plain>> {
  const entries = Object.entries(item).filter(([name]) => name !== 'id')
  return Object.fromEntries(entries.map(([name, value]) => [name, unmarshalled(value)]))
}

export const storedImage = (id: string, plain: Readonly<Record<string, Plain>>): Item => ({
  id: { S: id },
  ...attributes(plain),
})

export type PlainMutation =
  | { readonly kind: 'put'; readonly item: Readonly<Record<string, Plain>> }
  | { readonly kind: 'update'; readonly text: string }
  | { readonly kind: 'delete' | 'check' }

export function actionOn(id: string, mutation: PlainMutation, condition?: string): Action {
  const values: Record<string, AttributeValue> = {}
  const update = mutation.kind === 'update' ? named(mutation.text, values) : undefined
  const conditionText = condition === undefined ? undefined : named(condition, values)
  const given = Object.keys(values).length > 0
  const opened = openExpressions(given ? { ExpressionAttributeValues: values } : {})
  const keyAttributes: Item = { id: { S: id } }
  return {
    table,
    key: itemKey(table.key, keyAttributes),
    keyAttributes,
    mutation:
      mutation.kind === 'put'
        ? { kind: 'put', item: storedImage(id, mutation.item) }
        : mutation.kind === 'update'
          ? { kind: 'update', update: opened.update(update as string) }
          : { kind: mutation.kind },
    ...(conditionText !== undefined && { condition: opened.condition(conditionText, 'ConditionExpression') }),
  }
}

/** Strings and numbers of the text become values of the request. */
function named(text: string, values: Record<string, AttributeValue>): string {
  return text.replaceAll(/"[^"]*"|(?<![\w.[:-])-?\d+(?![\w\]])/g, (literal) => {
    const name = `:v${Object.keys(values).length}`
    values[name] = marshalled(JSON.parse(literal) as Plain)
    return name
  })
}
