// Makes the tables of the workloads and their items, over HTTP, in batches.
import { post } from './targets/post.js'
import {
  BATCH_ITEMS,
  INDEX_KEYS,
  indexAttribute,
  ITEM_BYTES,
  ITEM_TABLE,
  workloadKey,
  PARTITION_ITEMS,
  PARTITION_TABLE,
  partitionItem,
  plainItem,
  type Scale,
} from './load/workloads.js'

const WRITERS = 8
const ACTIVE_LOOK_MS = 20
const ACTIVE_LOOKS_MAX = 3000

/** How many items a request puts, and the request. */
export interface Filling {
  readonly items: number
  put(endpoint: string, table: string, items: readonly object[]): Promise<void>
}

export async function fillPeerTables(
  endpoint: string,
  { items, partitions, itemBytes = ITEM_BYTES }: Scale,
  filling: Filling = IN_BATCHES,
): Promise<void> {
  await fillItemTable(endpoint, { table: ITEM_TABLE, items, itemBytes, indexes: 0 }, filling)
  await fillPartitions(endpoint, partitions, 0, itemBytes, filling)
}

/** The partitions beyond the first `from`, which are there already. */
export async function fillPartitions(
  endpoint: string,
  partitions: number,
  from: number,
  itemBytes: number,
  filling: Filling = IN_BATCHES,
): Promise<void> {
  if (from === 0) await createTable(endpoint, PARTITION_TABLE, { pk: 'S', sk: 'N' }, 0)
  const more = partitions - from
  await writeItems(endpoint, filling, PARTITION_TABLE, more * PARTITION_ITEMS, (number) =>
    partitionItem(workloadKey(from + (number % more)), Math.floor(number / more), itemBytes),
  )
}

export interface ItemTable {
  readonly table: string
  readonly items: number
  readonly itemBytes: number
  readonly indexes: number
}

export async function fillItemTable(
  endpoint: string,
  table: ItemTable,
  filling: Filling = IN_BATCHES,
): Promise<void> {
  await createTable(endpoint, table.table, { id: 'S' }, table.indexes)
  await addItems(endpoint, table, 0, filling)
}

/** Items from that number on. */
export async function addItems(
  endpoint: string,
  { table, items, itemBytes, indexes }: ItemTable,
  from: number,
  filling: Filling = IN_BATCHES,
): Promise<void> {
  await writeItems(endpoint, filling, table, items - from, (number) => {
    const indexKeys = Array.from({ length: indexes }, () => workloadKey((from + number) % INDEX_KEYS.to))
    return plainItem(workloadKey(from + number), itemBytes, indexKeys)
  })
}

export async function dropTables(endpoint: string, tables: readonly string[]): Promise<void> {
  for (const TableName of tables) await post(endpoint, 'DeleteTable', { TableName })
}

async function createTable(
  endpoint: string,
  name: string,
  key: Readonly<Record<string, string>>,
  indexes: number,
): Promise<void> {
  const indexed = Array.from({ length: indexes }, (_, at) => indexAttribute(at))
  const types = { ...key, ...Object.fromEntries(indexed.map((attribute) => [attribute, 'S'])) }
  await post(endpoint, 'CreateTable', {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: Object.entries(types).map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: Object.keys(key).map((AttributeName, at) => ({
      AttributeName,
      KeyType: at === 0 ? 'HASH' : 'RANGE',
    })),
    ...(indexes > 0 && {
      GlobalSecondaryIndexes: indexed.map((AttributeName) => ({
        IndexName: `by-${AttributeName}`,
        KeySchema: [{ AttributeName, KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      })),
    }),
  })
  for (let look = 0; look < ACTIVE_LOOKS_MAX; look++) {
    const answer = (await post(endpoint, 'DescribeTable', { TableName: name })) as {
      readonly Table: { readonly TableStatus: string }
    }
    if (answer.Table.TableStatus === 'ACTIVE') return
    await new Promise((resolve) => setTimeout(resolve, ACTIVE_LOOK_MS))
  }
  throw new Error(`the table ${name} does not become active`)
}

async function writeItems(
  endpoint: string,
  filling: Filling,
  table: string,
  count: number,
  item: (number: number) => object,
): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < count) {
      const from = next
      next += filling.items
      const size = Math.min(filling.items, count - from)
      const items = Array.from({ length: size }, (_, at) => item(from + at))
      await filling.put(endpoint, table, items)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

const UNPROCESSED_TRIES_MAX = 100
const IN_BATCHES: Filling = {
  items: BATCH_ITEMS,
  async put(endpoint, table, items) {
    let puts: readonly unknown[] = items.map((Item) => ({ PutRequest: { Item } }))
    for (let tries = 0; puts.length > 0; tries++) {
      if (tries === UNPROCESSED_TRIES_MAX) throw new Error(`${table}: items are left unprocessed`)
      const answer = (await post(endpoint, 'BatchWriteItem', { RequestItems: { [table]: puts } })) as {
        readonly UnprocessedItems?: Readonly<Record<string, readonly unknown[]>>
      }
      puts = answer.UnprocessedItems?.[table] ?? []
    }
  },
}
