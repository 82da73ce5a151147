// Addresses and steps: from what a caller writes, and what they take in memory.
import { itemBytes } from '../../model/item-size.js'
import { attribute, type Item, pickAttributes } from '../../model/value.js'
import { conditionExpression } from './expressions.js'
import type { UnitCall } from './fold-calls.js'
import { keyNames } from '../../model/table.js'
import { positionNames } from './layout.js'
import type { UnitAction, ItemAddress, UnitRange, TableLayout } from './protocol.js'
import type { Condition } from './transactor.js'
import { marshallItem, unmarshallItem } from '../values/values.js'

export const addressOf = (table: string, key: object): ItemAddress => ({ table, key: marshallItem(key) })

/** Equal for equal keys: the values are canonical, and the names are put in order. */
export function idOf({ table, key }: ItemAddress): string {
  const names = Object.keys(key)
  if (names.length > 1) names.sort()
  let id = table
  for (const name of names) {
    const value = attribute(key, name)!
    // A length in front of the text keeps whatever stands in it from being taken for something else.
    id += 'S' in value ? `\n${name}\nS${value.S.length} ${value.S}` : `\n${name}\n${JSON.stringify(value)}`
  }
  return id
}

export function putKey(layout: TableLayout, item: Item): Item {
  const names = keyNames(layout.key)
  for (const name of names) {
    if (attribute(item, name) === undefined)
      throw new TypeError(`an item of ${layout.name} needs its key: the attribute ${name} is missing`)
  }
  return pickAttributes(item, names)
}

export function positionsOf(layout: TableLayout, { index }: UnitRange): readonly string[] {
  return positionNames(
    layout,
    layout.indexes.find((one) => one.name === index),
  )
}

export const conditionOf = (
  condition: Condition | undefined,
): { condition?: ReturnType<typeof conditionExpression> } =>
  condition === undefined ? {} : { condition: conditionExpression(condition) }

/** Roughly what a step takes in memory. */
export function stepBytes(step: UnitCall): number {
  if (step.kind === 'put') return itemBytes(step.item)
  const update = step.kind === 'update' ? step.update : undefined
  let bytes = 0
  for (const one of [update, step.condition]) {
    if (one !== undefined) bytes += one.text.length + (one.values === undefined ? 0 : itemBytes(one.values))
  }
  return bytes
}

export function unitCallOf(action: UnitAction): UnitCall {
  const call = plainCallOf(action)
  return action.statements === undefined ? call : { ...call, statements: action.statements }
}

function plainCallOf({ kind, item, expressions, pinned }: UnitAction): UnitCall {
  const { update, condition, names, values } = expressions
  const rest = { ...(names !== undefined && { names }), ...(values !== undefined && { values }) }
  const conditioned = {
    ...(pinned && ({ pinned } as const)),
    ...(condition !== undefined && { condition: { text: condition, ...rest } }),
  }
  if (kind === 'put') return { kind, item: item ?? {}, ...conditioned }
  if (kind === 'update') return { kind, update: { text: update ?? '', ...rest }, ...conditioned }
  if (kind === 'delete') return { kind, ...conditioned }
  return { kind, ...conditioned, condition: { text: condition ?? '', ...rest } }
}

export const described = ({ table, key }: ItemAddress): string =>
  `${table} ${JSON.stringify(unmarshallItem(key), (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`
