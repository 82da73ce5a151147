// The parameters that came before expressions.
import type { Random } from './random.js'
import { type KeyPart, type Table, keyValue } from './tables.js'
import { type Json, type JsonObject, name, value, valueOf } from './values.js'

const OPERATORS = [
  'EQ',
  'NE',
  'LT',
  'LE',
  'GT',
  'GE',
  'IN',
  'BETWEEN',
  'BEGINS_WITH',
  'CONTAINS',
  'NOT_CONTAINS',
  'NULL',
  'NOT_NULL',
]
const ARGUMENTS: Readonly<Record<string, number>> = { BETWEEN: 2, NULL: 0, NOT_NULL: 0 }

export function conditions(random: Random, table: Table, member: string): JsonObject {
  const one = (): [string, Json] => [attribute(random, table), comparison(random, value)]
  const count = random.several(1, 2, one)
  return {
    [member]: Object.fromEntries(count),
    ...(random.oneIn(4) && { ConditionalOperator: random.pick(['AND', 'OR']) }),
    ...(random.mischief() && { ConditionalOperator: 'XOR' }),
  }
}

export function expected(random: Random, table: Table): JsonObject {
  const one = (): [string, Json] => {
    const shape = random.below(3)
    const condition =
      shape === 0
        ? { Value: value(random), ...(random.oneIn(3) && { Exists: !random.mischief(3) }) }
        : shape === 1
          ? { Exists: random.mischief(3) }
          : comparison(random, value)
    return [
      attribute(random, table),
      random.mischief() ? { ...condition, Exists: true, Value: { S: 'a' } } : condition,
    ]
  }
  return {
    Expected: Object.fromEntries(random.several(1, 2, one)),
    ...(random.oneIn(6) && { ConditionalOperator: random.pick(['AND', 'OR']) }),
  }
}

export function keyConditions(random: Random, keys: readonly KeyPart[]): JsonObject {
  const [hash, range] = keys as [KeyPart, KeyPart | undefined]
  const entries: [string, Json][] = [
    [hash.name, { ComparisonOperator: 'EQ', AttributeValueList: [keyValue(random, hash)] }],
  ]
  if (range !== undefined && random.oneIn(2))
    entries.push([range.name, comparison(random, () => keyValue(random, range))])
  if (random.mischief()) entries.push([name(random), comparison(random, value)])
  if (random.mischief()) entries.shift()
  return { KeyConditions: Object.fromEntries(entries) }
}

/** Always with an action: without one DynamoDB Local writes nothing, where the default is PUT. */
export function attributeUpdates(random: Random, table: Table): JsonObject {
  const one = (): [string, Json] => {
    const Action = random.pick(['PUT', 'PUT', 'ADD', 'DELETE'])
    const added = (): Json =>
      Action === 'PUT'
        ? value(random)
        : valueOf(random, random.pick(Action === 'ADD' ? ['N', 'NS', 'SS', 'BS', 'L'] : ['NS', 'SS', 'BS']))
    return [
      attribute(random, table),
      {
        Action,
        ...(!(Action === 'DELETE' && random.oneIn(2)) &&
          !random.mischief() && { Value: random.mischief(8) ? value(random) : added() }),
      },
    ]
  }
  return { AttributeUpdates: Object.fromEntries(random.several(0, 3, one)) }
}

export function attributesToGet(random: Random, table: Table): JsonObject {
  const names = random.several(1, 3, () => attribute(random, table))
  return { AttributesToGet: random.mischief() ? [] : random.mischief() ? names : [...new Set(names)] }
}

function comparison(random: Random, make: (random: Random) => Json): JsonObject {
  const ComparisonOperator = random.mischief(40) ? 'LIKE' : random.pick(OPERATORS)
  const count = random.mischief(12) ? random.below(4) : (ARGUMENTS[ComparisonOperator] ?? 1)
  return {
    ComparisonOperator,
    ...((count > 0 || random.mischief(4)) && {
      AttributeValueList: Array.from({ length: count }, () => make(random)),
    }),
  }
}

function attribute(random: Random, table: Table): string {
  return random.oneIn(10) ? random.pick(table.keys).name : name(random)
}
