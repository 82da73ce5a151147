// A store for tests of Query, Scan and the batches: real nodes in memory, the catalogue, and the router over them.
import { anyone, type Principal } from '../../src/router/request/access.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { openCatalog } from '../../src/router/tables/catalog/catalog.js'
import { openPasses } from '../../src/router/request/passes.js'
import { largeReadLine, searchLine } from '../../src/router/request/fair-line.js'
import { openRouter } from '../../src/router/local-router.js'
import { queryOperations } from '../../src/router/reads/query-operations.js'
import { tableOperations } from '../../src/router/tables/tables.js'
import { statementOperations } from '../../src/router/statements/statement-operations.js'
import { transactionOperations } from '../../src/router/transactions/transaction-operations.js'
import { unitOperations } from '../../src/router/units/unit-operations.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import { allRules } from '../../src/rules/item/section-4.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { testCoordinator } from '../support/coordination.js'
import { testRuntime } from '../support/test-runtime.js'

export interface Answer {
  readonly Items?: readonly Item[]
  readonly Count: number
  readonly ScannedCount: number
  readonly LastEvaluatedKey?: Item
  readonly ConsumedCapacity?: unknown
  readonly [member: string]: unknown
}

export interface TestStore extends AsyncDisposable {
  readonly runtime: ReturnType<typeof testRuntime>
  shapeOf(tableName: string): TableShape
  readonly nodes: readonly StorageNode[]
  call(operation: string, input: object, principal?: Principal): Promise<Answer>
  /** `Name: message` of a refusal; the answer must be one. */
  refusal(operation: string, input: object, principal?: Principal): Promise<string>
  putAll(tableName: string, items: readonly Item[]): Promise<void>
  /** All items of a Query or Scan, page by page. */
  walk(operation: 'Query' | 'Scan', input: object): Promise<{ items: Item[]; pages: Answer[] }>
}

const PAGES_MAX = 10_000
const BATCH = 25

export async function openTestStore(nodeCount: number, rules = allRules): Promise<TestStore> {
  const runtime = testRuntime(1)
  const nodes = await openLocalNodes({ runtime, memory: true, nodes: nodeCount, rules })
  const catalog = await openCatalog({ runtime, nodes })
  const coordinator = testCoordinator(runtime, nodes, (hash) => (hash >>> 22) % nodes.length, { rules })
  const router = openRouter({
    context: {
      runtime,
      catalog,
      nodes,
      nodeOf: (hash) => nodes[(hash >>> 22) % nodes.length] as StorageNode,
      coordinator,
      rules,
      startedMicros: 0,
      passes: openPasses({ runtime, coordinator }),
      searches: searchLine(),
      largeReads: largeReadLine(),
    },
    operations: [
      ...tableOperations,
      ...queryOperations,
      ...transactionOperations,
      ...statementOperations,
      ...unitOperations,
    ],
    onInternalError: (error) => {
      throw error
    },
  })
  const handle = (operation: string, input: object, principal: Principal = anyone) =>
    router.handle({ operation, input: JSON.parse(JSON.stringify(input)) as unknown, principal })

  const store: TestStore = {
    runtime,
    nodes,
    shapeOf: (tableName) => catalog.table(tableName).shape,
    async call(operation, input, principal) {
      const reply = await handle(operation, input, principal)
      if (!reply.ok) throw reply.error
      return JSON.parse(Buffer.from(reply.body).toString()) as Answer
    },
    async refusal(operation, input, principal) {
      const reply = await handle(operation, input, principal)
      if (reply.ok) throw new Error(`answered: ${Buffer.from(reply.body).toString()}`)
      return `${reply.error.name}: ${reply.error.message}`
    },
    async putAll(tableName, items) {
      for (let at = 0; at < items.length; at += BATCH) {
        const writes = items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } }))
        await store.call('BatchWriteItem', { RequestItems: { [tableName]: writes } })
      }
    },
    async walk(operation, input) {
      const pages: Answer[] = []
      let start: Item | undefined
      do {
        if (pages.length > PAGES_MAX) throw new Error('the pages do not end')
        const page = await store.call(operation, { ...input, ...(start && { ExclusiveStartKey: start }) })
        pages.push(page)
        start = page.LastEvaluatedKey
      } while (start !== undefined)
      return { items: pages.flatMap((page) => page.Items ?? []), pages }
    },
    async [Symbol.asyncDispose]() {
      await catalog.close()
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
  return store
}

/** Names of key attributes with their types: `pk:S sk:N`; several of a role with a bar between the roles: `a:S b:S | c:N d:B`. */
function keyOf(text: string): { name: string; type: string; role: string }[] {
  const [hash = '', range = ''] = text.includes('|') ? text.split('|') : text.split(/ (.*)/)
  const parts = (names: string, role: string): { name: string; type: string; role: string }[] =>
    names
      .split(' ')
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', type = 'S'] = part.split(':')
        return { name, type, role }
      })
  return [...parts(hash, 'HASH'), ...parts(range, 'RANGE')]
}

export interface TestIndex {
  readonly key: string
  /** ALL, KEYS_ONLY, or the names of the attributes to include. */
  readonly projection: string
}

/** CreateTable in brief. An index whose name starts with `l` is local. */
export async function createTable(
  store: TestStore,
  TableName: string,
  key: string,
  indexes: Readonly<Record<string, TestIndex>> = {},
): Promise<void> {
  const types = new Map<string, string>()
  const schema = (text: string): object[] =>
    keyOf(text).map(({ name, type, role }) => {
      types.set(name, type)
      return { AttributeName: name, KeyType: role }
    })
  const KeySchema = schema(key)
  const described = Object.entries(indexes).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: schema(index.key),
    Projection:
      index.projection === 'ALL' || index.projection === 'KEYS_ONLY'
        ? { ProjectionType: index.projection }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: index.projection.split(' ') },
  }))
  const local = described.filter(({ IndexName }) => IndexName.startsWith('l'))
  const global = described.filter(({ IndexName }) => !IndexName.startsWith('l'))
  await store.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema,
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(local.length > 0 && { LocalSecondaryIndexes: local }),
    ...(global.length > 0 && { GlobalSecondaryIndexes: global }),
  })
}

/** Turns of the event loop until it is answered. */
export async function turnsUntil(answered: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await answered
  isOver = true
  return turns
}

/** The fewest of several times: what else the store does at that time takes turns as well. */
export async function fewestTurnsUntil(answered: () => Promise<unknown>): Promise<number> {
  let fewest = Infinity
  for (let time = 0; time < 5; time++) fewest = Math.min(fewest, await turnsUntil(answered()))
  return fewest
}
