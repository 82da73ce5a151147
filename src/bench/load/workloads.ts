// What is asked of the servers: items of 900 bytes unless told otherwise, with uniform keys.
//
// A workload is plain data, so that the generator's process can be sent it, and a server that answers nothing but bytes
// can make its answers from it. Keys have a fixed width, `user-000000042`, so that a prepared request gets new ones by
// writing digits into it.

export type WorkloadOperation =
  | 'GetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'Query'
  | 'BatchWriteItem'
  | 'TransactGetItems'
  | 'TransactWriteItems'

/** From `from` up to, but not including, `to`. */
export interface KeyNumbers {
  readonly from: number
  readonly to: number
}

export interface Workload {
  /** As it is called in tables and figures. */
  readonly name: string
  readonly operation: WorkloadOperation
  /** How many items a request touches. */
  readonly items: number
  readonly itemBytes: number
  readonly table: string
  readonly keys: KeyNumbers
  /** If there is one, the first item of each request is from here and the others from `keys`. */
  readonly hot?: KeyNumbers
  /** What a write transaction does to its items, and a single write: `puts` if it is not said. */
  readonly writes?: 'puts' | 'updates'
  /** Attributes that are keys of secondary indexes. */
  readonly indexes?: number
  /** Each item of a request is on another one of that many nodes. */
  readonly apartOnNodes?: number
}

export const ITEM_TABLE = 'seriatim-bench-items'
export const PARTITION_TABLE = 'seriatim-bench-partitions'
export const PARTITION_ITEMS = 20
export const QUERY_ITEMS = 10
export const BATCH_ITEMS = 25
export const ITEM_BYTES = 900
/** Index keys are drawn from so many. */
export const INDEX_KEYS: KeyNumbers = { from: 0, to: 1000 }

/** What the store is judged by, of the operations that peers are compared by. */
export const JUDGED_WORKLOADS = [
  'GetItem',
  'PutItem',
  'UpdateItem, conditional',
  `Query of ${QUERY_ITEMS}`,
  'TransactGetItems of 3',
  'TransactWriteItems of 3',
] as const
export type JudgedWorkload = (typeof JUDGED_WORKLOADS)[number]

export const isJudgedName = (name: string): boolean => (JUDGED_WORKLOADS as readonly string[]).includes(name)
export const isJudged = ({ name }: Workload): boolean => isJudgedName(name)

/** Stands in a prepared body where a key's digits will be. */
export const KEY_PLACEHOLDER = 'user-#########'
export const KEY_DIGITS = 9

export const workloadKey = (number: number): string => `user-${String(number).padStart(KEY_DIGITS, '0')}`

const KEY_BYTES = KEY_PLACEHOLDER.length
/** Of the attribute names `id` and `data`. */
const NAME_BYTES = 6

export interface Scale {
  readonly items: number
  readonly partitions: number
  readonly itemBytes?: number
}

/** The operations that peers are compared by. */
export function peerWorkloads({ items, partitions, itemBytes = ITEM_BYTES }: Scale): readonly Workload[] {
  const common = { itemBytes, table: ITEM_TABLE, keys: { from: 0, to: items } }
  const transaction = (operation: 'TransactGetItems' | 'TransactWriteItems') => (size: number) => ({
    ...common,
    name: `${operation} of ${size}`,
    operation,
    items: size,
  })
  return [
    { ...common, name: 'GetItem', operation: 'GetItem', items: 1 },
    { ...common, name: 'PutItem', operation: 'PutItem', items: 1 },
    { ...common, name: 'UpdateItem, conditional', operation: 'UpdateItem', items: 1 },
    {
      itemBytes,
      name: `Query of ${QUERY_ITEMS}`,
      operation: 'Query',
      items: QUERY_ITEMS,
      table: PARTITION_TABLE,
      keys: { from: 0, to: partitions },
    },
    {
      ...common,
      name: `BatchWriteItem of ${BATCH_ITEMS}`,
      operation: 'BatchWriteItem',
      items: BATCH_ITEMS,
    },
    ...[1, 3, 10, 100].map(transaction('TransactGetItems')),
    ...[1, 3, 10, 100].map(transaction('TransactWriteItems')),
  ]
}

/** `TransactGetItems of 1` is that one and not `TransactGetItems of 10` too; `GetItem` is not `TransactGetItems`. */
export function matches(name: string, wanted: string): boolean {
  const [given, looked] = [name.toLowerCase(), wanted.toLowerCase()]
  return given === looked || given.startsWith(`${looked} `) || given.startsWith(`${looked},`)
}

export function plainItem(key: string, itemBytes: number, indexKeys: readonly string[] = []): object {
  const indexed = Object.fromEntries(indexKeys.map((value, at) => [indexAttribute(at), { S: value }]))
  return { id: { S: key }, ...indexed, data: { S: 'x'.repeat(itemBytes - KEY_BYTES - NAME_BYTES) } }
}

export const indexAttribute = (position: number): string => `group${position}`

export function partitionItem(key: string, sort: number, itemBytes: number): object {
  const data = 'x'.repeat(itemBytes - KEY_BYTES - NAME_BYTES - 4)
  return { pk: { S: key }, sk: { N: String(sort) }, data: { S: data } }
}

export interface PreparedBody {
  readonly operation: WorkloadOperation
  /** With KEY_PLACEHOLDER in place of each key. */
  readonly body: string
  /** Where the keys come from, in the order of the placeholders. */
  readonly ranges: readonly KeyNumbers[]
}

/** The items of one request are drawn from as many equal parts of the keys, so that no item is in it twice. */
export function prepareBody(workload: Workload): PreparedBody {
  const { operation, items, indexes = 0 } = workload
  if (operation === 'Query') return { operation, body: bodyOf(workload), ranges: [workload.keys] }
  const hot = workload.hot === undefined ? [] : [workload.hot]
  const keys = [...hot, ...parts(workload.keys, items - hot.length)]
  const drawnIndexKeys = writesWholeItems(workload) ? indexes : 0
  const ranges = keys.flatMap((range) => [range, ...Array.from({ length: drawnIndexKeys }, () => INDEX_KEYS)])
  return { operation, body: bodyOf(workload), ranges }
}

function parts({ from, to }: KeyNumbers, count: number): readonly KeyNumbers[] {
  if (to - from < count) throw new RangeError(`${count} different keys of ${to - from}`)
  const edge = (part: number): number => from + Math.floor(((to - from) * part) / count)
  return Array.from({ length: count }, (_, part) => ({ from: edge(part), to: edge(part + 1) }))
}

const writesWholeItems = ({ operation, writes }: Workload): boolean =>
  operation === 'PutItem' ||
  operation === 'BatchWriteItem' ||
  (operation === 'TransactWriteItems' && writes !== 'updates')

function bodyOf({ operation, items, itemBytes, table, writes, indexes = 0 }: Workload): string {
  const Key = { id: { S: KEY_PLACEHOLDER } }
  const Item = plainItem(
    KEY_PLACEHOLDER,
    itemBytes,
    Array.from({ length: indexes }, () => KEY_PLACEHOLDER),
  )
  const times = <T>(one: T): T[] => Array.from({ length: items }, () => one)
  const body = (): object => {
    switch (operation) {
      case 'GetItem':
        return { TableName: table, Key, ConsistentRead: true }
      case 'PutItem':
        return { TableName: table, Item }
      case 'UpdateItem':
        return { TableName: table, Key, ...UPDATE }
      case 'Query':
        return {
          TableName: table,
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: KEY_PLACEHOLDER } },
          Limit: items,
        }
      case 'BatchWriteItem':
        return { RequestItems: { [table]: times({ PutRequest: { Item } }) } }
      case 'TransactGetItems':
        return { TransactItems: times({ Get: { TableName: table, Key } }) }
      case 'TransactWriteItems':
        return {
          TransactItems: times(
            writes === 'updates'
              ? { Update: { TableName: table, Key, ...UPDATE } }
              : { Put: { TableName: table, Item } },
          ),
        }
    }
  }
  return JSON.stringify(body())
}

const UPDATE = {
  UpdateExpression: 'ADD visits :one',
  ConditionExpression: 'attribute_exists(id)',
  ExpressionAttributeValues: { ':one': { N: '1' } },
}

/** What a server answers to a request for that many items, as a bare server sends it. */
export function answerTo(operation: WorkloadOperation, items: number, itemBytes: number): string {
  const Item = plainItem(workloadKey(1), itemBytes)
  const times = <T>(one: T): T[] => Array.from({ length: items }, () => one)
  switch (operation) {
    case 'GetItem':
      return JSON.stringify({ Item })
    case 'TransactGetItems':
      return JSON.stringify({ Responses: times({ Item }) })
    case 'BatchWriteItem':
      return JSON.stringify({ UnprocessedItems: {} })
    case 'Query':
      return JSON.stringify({
        Items: times(0).map((_, sort) => partitionItem(workloadKey(1), sort, itemBytes)),
        Count: items,
        ScannedCount: items,
        LastEvaluatedKey: { pk: { S: workloadKey(1) }, sk: { N: String(items - 1) } },
      })
    case 'PutItem':
    case 'UpdateItem':
    case 'TransactWriteItems':
      return '{}'
  }
}
