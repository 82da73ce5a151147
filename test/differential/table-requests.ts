// Requests about tables. Those that are made are dropped again by the run.
import type { Random } from './random.js'
import { TABLES } from './tables.js'
import type { Json, JsonObject } from './values.js'

/** The only table that a random CreateTable names, beside names that are wrong. */
const MADE = 'Made'

export function tableRequest(random: Random): readonly [string, JsonObject] {
  switch (random.below(8)) {
    case 0:
      return ['DescribeTable', { TableName: anyName(random) }]
    case 1:
      return ['ListTables', listing(random)]
    case 2:
      return ['DescribeTimeToLive', { TableName: anyName(random) }]
    case 3:
      return ['DeleteTable', { TableName: random.pick(['Missing', 'x', '', 'a b']) }]
    default:
      return ['CreateTable', create(random)]
  }
}

const anyName = (random: Random): string =>
  random.mischief(4) ? random.pick(['Missing', 'x', '', 'a b', 'n'.repeat(256)]) : random.pick(TABLES).name

function listing(random: Random): JsonObject {
  return {
    ...(random.oneIn(2) && { Limit: random.mischief(4) ? random.pick([0, 101, -5]) : 1 + random.below(6) }),
    ...(random.oneIn(2) && { ExclusiveStartTableName: random.pick(['A', 'Indexed', 'Zzz', 'bin']) }),
  }
}

const ATTRIBUTES = ['a', 'b', 'c', 'd']

function create(random: Random): JsonObject {
  const local = random.oneIn(3) ? random.several(1, random.mischief() ? 7 : 3, () => index(random, true)) : []
  const global = random.oneIn(3) ? random.several(1, 3, () => index(random, false)) : []
  const keys = schema(random)
  const used = [keys, ...[...local, ...global].map((one) => one['KeySchema'] as typeof keys)].flat()
  const names = new Set(used.map((one) => one['AttributeName'] as string))
  if (random.mischief(6)) names.add('unused')
  if (random.mischief(6)) names.delete('a')
  const provisioned = random.oneIn(2)
  return {
    TableName: random.mischief(10) ? random.pick(['', 'ab', 'a b', 'n'.repeat(256), 'Plain']) : MADE,
    AttributeDefinitions: [...names].map((AttributeName) => ({
      AttributeName,
      AttributeType: random.mischief() ? random.pick(['SS', 'BOOL', '']) : random.pick(['S', 'N', 'B']),
    })),
    KeySchema: keys,
    ...(provisioned !== random.mischief(8) && { ProvisionedThroughput: throughput(random) }),
    ...(provisioned ? random.oneIn(2) && { BillingMode: 'PROVISIONED' } : { BillingMode: 'PAY_PER_REQUEST' }),
    ...((local.length > 0 || random.mischief()) && { LocalSecondaryIndexes: local }),
    ...((global.length > 0 || random.mischief()) && {
      GlobalSecondaryIndexes: global.map((one) => ({
        ...one,
        ...(provisioned !== random.mischief(8) && { ProvisionedThroughput: throughput(random) }),
      })),
    }),
    ...(random.mischief() && { BillingMode: 'FREE' }),
    ...(random.mischief() && { StreamSpecification: { StreamEnabled: random.oneIn(2) } }),
  }
}

function schema(random: Random, first = random.pick(ATTRIBUTES)): { [name: string]: Json }[] {
  const second = random.mischief() ? first : random.pick(ATTRIBUTES.filter((one) => one !== first))
  const hash = { AttributeName: first, KeyType: random.mischief() ? 'RANGE' : 'HASH' }
  const range = { AttributeName: second, KeyType: random.mischief() ? 'HASH' : 'RANGE' }
  if (random.mischief()) return random.pick([[], [hash, range, range], [range, hash]])
  return random.oneIn(2) ? [hash] : [hash, range]
}

function index(random: Random, local: boolean): { [name: string]: Json } {
  const type = random.mischief() ? random.pick(['SOME', '']) : random.pick(['ALL', 'KEYS_ONLY', 'INCLUDE'])
  return {
    IndexName: random.mischief()
      ? random.pick(['', 'x', 'a b'])
      : `index${random.below(random.mischief(3) ? 2 : 1_000)}`,
    KeySchema: local ? schema(random, 'a') : schema(random),
    ...(!random.mischief() && {
      Projection: {
        ...(!random.mischief() && { ProjectionType: type }),
        ...((type === 'INCLUDE') !== random.mischief(8) && {
          NonKeyAttributes: random.several(1, 3, () => random.pick(['x', 'y', 'z', 'a'])),
        }),
      },
    }),
  }
}

const throughput = (random: Random): Json => ({
  ReadCapacityUnits: random.mischief() ? random.pick([0, -1]) : 1 + random.below(10),
  ...(!random.mischief() && { WriteCapacityUnits: 1 + random.below(10) }),
})
