// The tables a run works on, with every kind of key and index.
import type { Random } from './random.js'
import {
  type Json,
  type JsonObject,
  type ScalarType,
  name,
  number,
  usualValue,
  value,
  valueOf,
} from './values.js'

export interface KeyPart {
  readonly name: string
  readonly type: ScalarType
}
export interface Index {
  readonly name: string
  readonly local: boolean
  readonly keys: readonly KeyPart[]
  readonly projection: JsonObject
}
export interface Table {
  readonly name: string
  readonly keys: readonly KeyPart[]
  readonly indexes: readonly Index[]
}

const ALL = { ProjectionType: 'ALL' }
const part = (name: string, type: ScalarType): KeyPart => ({ name, type })

export const TABLES: readonly Table[] = [
  { name: 'Plain', keys: [part('pk', 'S')], indexes: [] },
  {
    name: 'Indexed',
    keys: [part('pk', 'S'), part('sk', 'N')],
    indexes: [
      { name: 'local', local: true, keys: [part('pk', 'S'), part('a', 'S')], projection: ALL },
      {
        name: 'localKeys',
        local: true,
        keys: [part('pk', 'S'), part('n', 'N')],
        projection: { ProjectionType: 'KEYS_ONLY' },
      },
      { name: 'global', local: false, keys: [part('a', 'S'), part('n', 'N')], projection: ALL },
      {
        name: 'globalSome',
        local: false,
        keys: [part('n', 'N')],
        projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['b', 'm'] },
      },
    ],
  },
  { name: 'Binary', keys: [part('pk', 'B'), part('sk', 'S')], indexes: [] },
  { name: 'Numeric', keys: [part('pk', 'N'), part('sk', 'B')], indexes: [] },
]

export function createRequest(table: Table): JsonObject {
  const parts = [...table.keys, ...table.indexes.flatMap(({ keys }) => keys)]
  const types = new Map(parts.map(({ name, type }) => [name, type]))
  const indexes = (local: boolean): Json[] =>
    table.indexes
      .filter((index) => index.local === local)
      .map((index) => ({
        IndexName: index.name,
        KeySchema: schemaOf(index.keys),
        Projection: index.projection,
      }))
  const [local, global] = [indexes(true), indexes(false)]
  return {
    TableName: table.name,
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: schemaOf(table.keys),
    BillingMode: 'PAY_PER_REQUEST',
    ...(local.length > 0 && { LocalSecondaryIndexes: local }),
    ...(global.length > 0 && { GlobalSecondaryIndexes: global }),
  }
}

const schemaOf = (keys: readonly KeyPart[]): Json =>
  keys.map(({ name }, at) => ({ AttributeName: name, KeyType: at === 0 ? 'HASH' : 'RANGE' }))

/** A value for a key: of few, so that requests meet on the same items. */
export function keyValue(random: Random, { type }: KeyPart): Json {
  if (random.mischief(40)) return value(random)
  switch (type) {
    case 'S':
      return { S: random.pick(['a', 'b', 'ab', 'é', '~']) }
    case 'N':
      return { N: random.oneIn(10) ? number(random) : random.pick(['0', '1', '-1', '2', '10', '1.0', '1e1']) }
    case 'B':
      return { B: random.pick(['YQ==', 'YWI=', '/w==', 'AA==']) }
  }
}

export function keyOf(random: Random, parts: readonly KeyPart[]): JsonObject {
  const entries = parts.map((one): [string, Json] => [one.name, keyValue(random, one)])
  if (random.mischief()) entries.pop()
  if (random.mischief()) entries.push([name(random), value(random)])
  return Object.fromEntries(entries)
}

export function item(random: Random, table: Table): JsonObject {
  const types = new Map(table.indexes.flatMap(({ keys }) => keys.map(({ name, type }) => [name, type])))
  const attributes = random.several(0, 8, (): [string, Json] => {
    const attribute = name(random)
    const type = types.get(attribute)
    // An attribute of an index mostly has the type of its key, or the item would be refused.
    const ofKey = type !== undefined && !random.mischief(4)
    return [attribute, ofKey ? valueOf(random, type) : usualValue(random, attribute)]
  })
  return { ...Object.fromEntries(attributes), ...keyOf(random, table.keys) }
}
