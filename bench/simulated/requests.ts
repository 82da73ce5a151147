// Requests of the simulated experiments, as the router would hand them on.
import { openExpressions } from '../../src/expression/expression.js'
import type { ItemRef } from '../../src/ledger/ledger.js'
import { spaceId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import type { WriteRequest } from '../../src/rules/item/item.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Action } from '../../src/storage/contract/transactions.js'
import { workloadKey } from '../../src/bench/load/workloads.js'

export type SimulatedRequest = { readonly name: string } & (
  | { readonly kind: 'read'; readonly items: readonly ItemRef[] }
  | { readonly kind: 'write'; readonly actions: readonly Action[] }
  | { readonly kind: 'get' | 'put'; readonly item: WriteRequest }
)

export type MakeRequest = (random: Random, number: number) => SimulatedRequest

const TABLE: TableShape = {
  name: 'items',
  space: spaceId(1),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
/** So many that transactions of a hundred items hardly ever meet by chance; the paper does not say how many it has. */
const KEYS = 100_000_000
const CONTENDED_ITEMS = 10
const HOT_KEYS = 1000

const ref = (number: number): { readonly key: WriteRequest['key']; readonly keyAttributes: Item } => {
  const keyAttributes: Item = { id: { S: workloadKey(number) } }
  return { key: itemKey(TABLE.key, keyAttributes), keyAttributes }
}

function put(number: number): WriteRequest {
  const { key, keyAttributes } = ref(number)
  const item = { ...keyAttributes, data: { S: 'x' } }
  return { table: TABLE, key, keyAttributes, mutation: { kind: 'put', item } }
}

/** As workloads.ts has it: a counter, under a condition. */
function update(number: number): WriteRequest {
  const expressions = openExpressions({ ExpressionAttributeValues: { ':one': { N: '1' } } })
  return {
    table: TABLE,
    ...ref(number),
    mutation: { kind: 'update', update: expressions.update('ADD visits :one') },
    condition: openExpressions({}).condition('attribute_not_exists(closed)', 'ConditionExpression'),
  }
}

const reads = (keys: readonly number[]): SimulatedRequest => ({
  name: 'TransactGetItems',
  kind: 'read',
  items: keys.map((number) => ({ space: TABLE.space, key: ref(number).key })),
})

const writes = (keys: readonly number[], kind: 'puts' | 'updates' = 'puts'): SimulatedRequest => ({
  name: 'TransactWriteItems',
  kind: 'write',
  actions: keys.map(kind === 'puts' ? put : update),
})

/** Different ones. */
function keysOf(random: Random, count: number): number[] {
  const keys = new Set<number>()
  while (keys.size < count) keys.add(HOT_KEYS + random.below(KEYS))
  return [...keys]
}

export const transactions =
  (size: number, readShare: number): MakeRequest =>
  (random) =>
    (random.chance(readShare) ? reads : writes)(keysOf(random, size))

export const plain = (
  operation: 'GetItem' | 'PutItem' | 'TransactGetItems' | 'TransactWriteItems',
): MakeRequest => {
  switch (operation) {
    case 'GetItem':
      return (random) => ({ name: operation, kind: 'get', item: put(HOT_KEYS + random.below(KEYS)) })
    case 'PutItem':
      return (random) => ({ name: operation, kind: 'put', item: put(HOT_KEYS + random.below(KEYS)) })
    case 'TransactGetItems':
      return transactions(1, 1)
    case 'TransactWriteItems':
      return transactions(1, 0)
  }
}

/** §5.4: one item of each transaction is hot, and so is every single one; half of the writes put, half update. */
export function contended(workload: 'A' | 'B' | 'C'): MakeRequest {
  const hot = (random: Random): number => random.below(HOT_KEYS)
  const keys = (random: Random): number[] => [hot(random), ...keysOf(random, CONTENDED_ITEMS - 1)]
  const write: MakeRequest = (random, number) => writes(keys(random), number % 2 === 0 ? 'puts' : 'updates')
  const read: MakeRequest = (random) => reads(keys(random))
  const choices: Readonly<Record<'A' | 'B' | 'C', readonly MakeRequest[]>> = {
    A: [write],
    B: [write, read],
    C: [
      write,
      read,
      (random) => ({ name: 'UpdateItem', kind: 'put', item: update(hot(random)) }),
      (random) => ({ name: 'GetItem', kind: 'get', item: put(hot(random)) }),
    ],
  }
  return (random, number) => random.pick(choices[workload])(random, number)
}
