// Tables as a unit needs to know them: where the key of an item is, what its indexes hold, and the addresses of items.
import type { TableLayout, ItemAddress, UnitRange } from './protocol.js'
import { pickAttributes, type Item, type KeyAttributeType, attribute } from '../../model/value.js'
import type { TableDescription } from '@aws-sdk/client-dynamodb'
import { keyNames, type KeyAttribute, type KeySchema, type Projection } from '../../model/table.js'
import { unitLimits } from '../endpoint/limits.js'
import { marshallItem, unmarshallItem } from '../values/values.js'

export type IndexLayout = TableLayout['indexes'][number]

/** Layouts that were asked for once, until they are forgotten. */
export class Layouts {
  readonly #ask: (table: string) => Promise<TableLayout>
  /** Oldest first. */
  readonly #known = new Map<string, TableLayout | Promise<TableLayout>>()

  constructor(ask: (table: string) => Promise<TableLayout>) {
    this.#ask = ask
  }

  of(table: string): TableLayout | Promise<TableLayout> {
    return this.#known.get(table) ?? this.#load(table)
  }

  /** After an answer that a table which was made anew could explain. */
  forget(tables: Iterable<string>): void {
    for (const table of tables) this.#known.delete(table)
  }

  async #load(table: string): Promise<TableLayout> {
    const loading = this.#ask(table)
    this.#remember(table, loading)
    try {
      const layout = await loading
      this.#remember(table, layout)
      return layout
    } catch (error) {
      this.#known.delete(table)
      throw error
    }
  }

  #remember(table: string, layout: TableLayout | Promise<TableLayout>): void {
    this.#known.set(table, layout)
    if (this.#known.size <= unitLimits.layoutsMax) return
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}

export function layoutOf(table: string, description: TableDescription): TableLayout {
  const types = new Map(
    description.AttributeDefinitions?.map((one) => [
      one.AttributeName,
      one.AttributeType as KeyAttributeType,
    ]),
  )
  const keyOf = (elements: TableDescription['KeySchema'] = []): KeySchema => {
    const named = (type: string): KeyAttribute[] =>
      elements
        .filter((one) => one.KeyType === type)
        .map(({ AttributeName: name = '' }) => ({ name, type: types.get(name) ?? 'S' }))
    const [partition = { name: '', type: 'S' }, ...furtherPartition] = named('HASH')
    const [sort, ...furtherSort] = named('RANGE')
    return {
      partition,
      ...(sort && { sort }),
      ...(furtherPartition.length > 0 && { furtherPartition }),
      ...(furtherSort.length > 0 && { furtherSort }),
    }
  }
  const indexOf =
    (kind: 'global' | 'local') =>
    (one: NonNullable<TableDescription['LocalSecondaryIndexes']>[number]): IndexLayout => ({
      name: one.IndexName ?? '',
      kind,
      key: keyOf(one.KeySchema),
      projection: projectionOf(one.Projection),
    })
  return {
    name: table,
    key: keyOf(description.KeySchema),
    indexes: [
      ...(description.GlobalSecondaryIndexes ?? []).map(indexOf('global')),
      ...(description.LocalSecondaryIndexes ?? []).map(indexOf('local')),
    ],
  }
}

/** The attributes of a position in a table or index, as LastEvaluatedKey has them. */
export const positionNames = (layout: TableLayout, index: IndexLayout | undefined): readonly string[] =>
  index === undefined ? keyNames(layout.key) : [...new Set([...keyNames(layout.key), ...keyNames(index.key)])]

/** What of an item an index holds. */
export function projected(layout: TableLayout, index: IndexLayout | undefined, item: Item): Item {
  if (index === undefined || index.projection.type === 'ALL') return item
  const included = index.projection.type === 'INCLUDE' ? index.projection.attributes : []
  return pickAttributes(item, new Set([...positionNames(layout, index), ...included]))
}

type DescribedProjection = NonNullable<TableDescription['LocalSecondaryIndexes']>[number]['Projection']

function projectionOf(described: DescribedProjection): Projection {
  if (described?.ProjectionType === 'KEYS_ONLY') return { type: 'KEYS_ONLY' }
  if (described?.ProjectionType !== 'INCLUDE') return { type: 'ALL' }
  return { type: 'INCLUDE', attributes: described.NonKeyAttributes ?? [] }
}

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

export const described = ({ table, key }: ItemAddress): string =>
  `${table} ${JSON.stringify(unmarshallItem(key), (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`
