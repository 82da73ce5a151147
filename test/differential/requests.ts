// One random request: an operation and the text of its body.
import { Expressions, keysOf } from './expressions.js'
import * as legacy from './legacy.js'
import type { Random } from './random.js'
import { TABLES, type Table, item, keyOf } from './tables.js'
import { tableRequest } from './table-requests.js'
import { type Json, type JsonObject, name } from './values.js'

export interface Request {
  readonly operation: string
  readonly body: string
}

/** A quarter of the requests may be wrong in one or several ways; the others only meet refusals by chance. */
export function randomRequest(random: Random): Request {
  random.setWrong(random.oneIn(3))
  const [operation, input] = random.oneIn(40) ? tableRequest(random) : itemRequest(random)
  const body = JSON.stringify(random.mischief(6) ? spoiled(random, input) : input)
  return { operation, body: random.mischief(200) ? body.slice(0, random.below(body.length)) : body }
}

type Made = readonly [operation: string, input: JsonObject]

function itemRequest(random: Random): Made {
  const table = random.oneIn(2) ? TABLES[1]! : random.pick(TABLES)
  const kind = random.below(100)
  if (kind < 25) return ['PutItem', put(random, table)]
  if (kind < 55) return ['UpdateItem', update(random, table)]
  if (kind < 61) return ['DeleteItem', { ...keyed(random, table), ...writeOptions(random, table) }]
  if (kind < 68)
    return [
      'GetItem',
      { ...keyed(random, table), ...projected(random, table, new Expressions(random, table)) },
    ]
  if (kind < 83) return ['Query', query(random, table)]
  if (kind < 92) return ['Scan', scan(random, table)]
  if (kind < 96) return ['BatchGetItem', batchGet(random)]
  return ['BatchWriteItem', batchWrite(random)]
}

const named = (random: Random, table: Table): JsonObject => ({
  TableName: random.mischief(60)
    ? random.pick(['Missing', 'x', 'bad name', '', 'n'.repeat(300)])
    : table.name,
  ...(random.oneIn(20) && {
    ReturnConsumedCapacity: random.mischief() ? 'ALL' : random.pick(['TOTAL', 'INDEXES', 'NONE']),
  }),
})

const keyed = (random: Random, table: Table): JsonObject => ({
  ...named(random, table),
  Key: keyOf(random, table.keys),
})

function put(random: Random, table: Table): JsonObject {
  return { ...named(random, table), Item: item(random, table), ...writeOptions(random, table) }
}

/** Condition and ReturnValues of PutItem and DeleteItem. */
function writeOptions(random: Random, table: Table): JsonObject {
  const expressions = new Expressions(random, table)
  const condition = random.oneIn(2)
    ? {}
    : random.oneIn(4)
      ? legacy.expected(random, table)
      : { ConditionExpression: expressions.condition() }
  return {
    ...condition,
    ...(random.mischief() && { ConditionExpression: expressions.condition() }),
    ...expressions.members(),
    ...returnValues(random, ['NONE', 'ALL_OLD']),
    ...onFailure(random),
  }
}

const RETURN_VALUES = ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW']

function returnValues(random: Random, choices: readonly string[]): JsonObject {
  if (random.oneIn(3)) return {}
  return { ReturnValues: random.mischief() ? random.pick([...RETURN_VALUES, 'SOME']) : random.pick(choices) }
}

function onFailure(random: Random): JsonObject {
  if (!random.oneIn(4)) return {}
  return {
    ReturnValuesOnConditionCheckFailure: random.mischief() ? 'SOME' : random.pick(['ALL_OLD', 'NONE']),
  }
}

function update(random: Random, table: Table): JsonObject {
  const expressions = new Expressions(random, table)
  const old = random.oneIn(6)
  const condition = random.oneIn(3)
    ? old
      ? legacy.expected(random, table)
      : { ConditionExpression: expressions.condition() }
    : {}
  return {
    ...keyed(random, table),
    ...(old
      ? legacy.attributeUpdates(random, table)
      : random.oneIn(30)
        ? {}
        : { UpdateExpression: expressions.update() }),
    ...condition,
    ...(random.mischief() && legacy.attributeUpdates(random, table)),
    ...expressions.members(),
    ...returnValues(random, RETURN_VALUES),
    ...onFailure(random),
  }
}

function projected(random: Random, table: Table, expressions: Expressions): JsonObject {
  const projection = random.oneIn(2)
    ? {}
    : random.oneIn(4)
      ? legacy.attributesToGet(random, table)
      : { ProjectionExpression: expressions.projection() }
  return {
    ...projection,
    ...expressions.members(),
    ...(random.oneIn(4) && { ConsistentRead: random.oneIn(2) }),
  }
}

const SELECTS = ['ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES', 'COUNT']

function query(random: Random, table: Table): JsonObject {
  const expressions = new Expressions(random, table)
  const index = random.oneIn(2) && table.indexes.length > 0 ? random.pick(table.indexes) : undefined
  const keys = keysOf(table, index)
  const old = random.oneIn(6)
  return {
    ...named(random, table),
    ...(index !== undefined && { IndexName: index.name }),
    ...(random.mischief() && { IndexName: random.pick(['missing', '', 'x']) }),
    ...(old
      ? legacy.keyConditions(random, keys)
      : { KeyConditionExpression: expressions.keyCondition(keys) }),
    ...(random.oneIn(4) &&
      (old
        ? legacy.conditions(random, table, 'QueryFilter')
        : { FilterExpression: expressions.condition() })),
    ...(random.oneIn(3) && { ScanIndexForward: random.oneIn(2) }),
    ...readOptions(random, table, expressions),
    ...(random.mischief() && {
      ExclusiveStartKey: keyOf(random, random.oneIn(2) ? [...keys, ...table.keys] : table.keys),
    }),
  }
}

function scan(random: Random, table: Table): JsonObject {
  const expressions = new Expressions(random, table)
  const index = random.oneIn(4) && table.indexes.length > 0 ? random.pick(table.indexes) : undefined
  const segments = random.oneIn(6) ? 1 + random.below(4) : 0
  return {
    ...named(random, table),
    ...(index !== undefined && { IndexName: index.name }),
    ...(random.oneIn(2) &&
      (random.oneIn(5)
        ? legacy.conditions(random, table, 'ScanFilter')
        : { FilterExpression: expressions.condition() })),
    ...(segments > 0 && {
      ...(!random.mischief() && { TotalSegments: random.mischief() ? 0 : segments }),
      ...(!random.mischief() && { Segment: random.mischief() ? segments : random.below(segments) }),
    }),
    ...readOptions(random, table, expressions),
    ...(random.mischief() && { ExclusiveStartKey: keyOf(random, table.keys) }),
  }
}

function readOptions(random: Random, table: Table, expressions: Expressions): JsonObject {
  return {
    ...(random.oneIn(2) && { Limit: random.mischief() ? random.pick([0, -1, 1.5]) : 1 + random.below(4) }),
    ...(random.oneIn(6) && {
      Select: random.mischief()
        ? random.pick([...SELECTS, 'SOME'])
        : random.pick(['COUNT', 'ALL_ATTRIBUTES']),
    }),
    ...projected(random, table, expressions),
  }
}

function batchGet(random: Random): JsonObject {
  const requests = random.several(1, 2, (): [string, Json] => {
    const table = random.pick(TABLES)
    const keys = random.several(1, 4, () => keyOf(random, table.keys))
    return [
      table.name,
      {
        Keys: random.mischief(8) ? keys : distinct(keys),
        ...projected(random, table, new Expressions(random, table)),
      },
    ]
  })
  return { RequestItems: Object.fromEntries(requests) }
}

function batchWrite(random: Random): JsonObject {
  const requests = random.several(1, 2, (): [string, Json] => {
    const table = random.pick(TABLES)
    const keys = distinct(random.several(1, 4, () => keyOf(random, table.keys)))
    const writes = keys.map((Key): Json => {
      if (random.mischief()) return {}
      if (random.mischief()) return { DeleteRequest: { Key }, PutRequest: { Item: Key } }
      return random.oneIn(4)
        ? { DeleteRequest: { Key } }
        : { PutRequest: { Item: { ...item(random, table), ...Key } } }
    })
    return [table.name, random.mischief() ? [...writes, writes[0]!] : writes]
  })
  return { RequestItems: Object.fromEntries(requests) }
}

/** By text: keys that are the same number in two spellings stay, and are refused by both. */
const distinct = (keys: readonly JsonObject[]): JsonObject[] => [
  ...new Map(keys.map((key) => [JSON.stringify(key), key])).values(),
]

const WRONG_MEMBERS: readonly Json[] = [
  null,
  5,
  1.5,
  'x',
  '',
  true,
  [],
  {},
  ['x'],
  { x: 'y' },
  [{}],
  { S: 'a' },
]

/** The same request with one member gone, of another type, or unknown. */
function spoiled(random: Random, input: JsonObject): JsonObject {
  const members = Object.keys(input)
  const member = random.pick(members)
  switch (random.below(3)) {
    case 0: {
      const { [member]: _, ...rest } = input
      return rest
    }
    case 1:
      return { ...input, [member]: random.pick(WRONG_MEMBERS) }
    default:
      return { ...input, [name(random)]: random.pick(WRONG_MEMBERS) }
  }
}
