// A store of tables for tests: the catalogue and its operations over nodes in memory, with a clock that stands still.
import { orGone } from '../suites/tables.js'
import { anyone, type Principal } from '../../src/router/request/access.js'
import { keyAttributesOf } from '../../src/model/table.js'
import { testCoordinator } from '../support/coordination.js'
import { openCatalog, type TableCatalog } from '../../src/router/tables/catalog/catalog.js'
import { openPasses } from '../../src/router/request/passes.js'
import { largeReadLine, searchLine } from '../../src/router/request/fair-line.js'
import { openRouter } from '../../src/router/local-router.js'
import { tableOperations } from '../../src/router/tables/tables.js'
import { type Router } from '../../src/router/request/router.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { KeyBytes, SpaceId } from '../../src/model/brand.js'
import type { Item } from '../../src/model/value.js'
import { manualClock, type ManualClock } from '../../src/runtime/manual-clock.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import { allRules } from '../../src/rules/item/section-4.js'
import type { RangeEntry, StorageNode } from '../../src/storage/contract/storage-node.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'

export const START_MS = Date.parse('2030-01-01T12:00:00.250Z')

export interface TestTables {
  readonly catalog: TableCatalog
  readonly clock: ManualClock
  readonly nodes: readonly StorageNode[]
  readonly backgroundErrors: unknown[]
  call(operation: string, input: object, principal?: Principal): Promise<Answer>
  /** `Name: message`. */
  refusal(operation: string, input: object, principal?: Principal): Promise<string>
  put(tableName: string, item: Item): Promise<void>
  remove(tableName: string, item: Item): Promise<void>
  /** Everything in a key space of a table or index, over all nodes. */
  entries(space: SpaceId, itemSpace?: SpaceId): Promise<RangeEntry[]>
  /** Closes the catalogue, and nodes on disk, and opens them again. */
  reopen(): Promise<void>
  close(): Promise<void>
}

// eslint-disable-next-line typescript/no-explicit-any -- answers are compared member by member
export type Answer = any

export interface TestTablesOptions {
  readonly nodeCount?: number
  /** Nodes on disk, in this folder, with so little room in memory that writers wait in line. */
  readonly folder?: string
}

export async function openTables({ nodeCount = 1, folder }: TestTablesOptions = {}): Promise<TestTables> {
  const clock = manualClock(START_MS)
  let random = 0
  const runtime: Runtime = {
    clock,
    randomBytes: (count) => new Uint8Array(count).map(() => random++),
    defer: (callback) => void setImmediate(callback),
  }
  const openNodes = (): Promise<readonly StorageNode[]> =>
    openLocalNodes({
      runtime,
      nodes: nodeCount,
      ...(folder === undefined
        ? { memory: true }
        : { path: folder, tuning: { overlayBytesMax: 20_000, applyDelayMs: 0 } }),
    })
  let nodes = await openNodes()
  const closeNodes = (): Promise<unknown> => Promise.all(nodes.map((node) => node.close()))
  const backgroundErrors: unknown[] = []
  const openBoth = async (): Promise<{ catalog: TableCatalog; router: Router }> => {
    const catalog = await openCatalog({
      runtime,
      nodes,
      onBackgroundError: (error) => backgroundErrors.push(error),
    })
    const nodeOf = (hash: number): StorageNode => nodes[hash % nodes.length] as StorageNode
    const coordinator = testCoordinator(runtime, nodes, (hash) => hash % nodes.length)
    const context = {
      runtime,
      catalog,
      nodes,
      nodeOf,
      coordinator,
      rules: allRules,
      startedMicros: 0,
      passes: openPasses({ runtime, coordinator }),
      searches: searchLine(),
      largeReads: largeReadLine(),
    }
    return { catalog, router: openRouter({ context, operations: tableOperations }) }
  }
  let current = await openBoth()

  const write = async (tableName: string, item: Item, kind: 'put' | 'delete'): Promise<void> => {
    const { shape } = current.catalog.table(tableName)
    const key = itemKey(shape.key, item)
    const node = nodes[key.hash % nodes.length] as StorageNode
    const mutation = kind === 'put' ? { kind, item } : { kind }
    const outcome = await node.write({
      table: shape,
      key,
      keyAttributes: keyAttributesOf(shape.key, item),
      mutation,
    })
    if (outcome.verdict !== 'done') throw new Error(`the write was refused: ${outcome.verdict}`)
  }

  return {
    get catalog() {
      return current.catalog
    },
    get nodes() {
      return nodes
    },
    clock,
    backgroundErrors,
    async call(operation, input, principal = anyone) {
      const reply = await current.router.handle({ operation, input, principal })
      if (!reply.ok) throw reply.error
      // Some operations answer with nothing at all.
      return reply.body.length === 0 ? {} : JSON.parse(Buffer.from(reply.body).toString())
    },
    async refusal(operation, input, principal = anyone) {
      const reply = await current.router.handle({ operation, input, principal })
      if (reply.ok) return `accepted: ${Buffer.from(reply.body).toString()}`
      return `${reply.error.name}: ${reply.error.message}`
    },
    put: (tableName, item) => write(tableName, item, 'put'),
    remove: (tableName, item) => write(tableName, item, 'delete'),
    async entries(space, itemSpace) {
      const pages = await Promise.all(
        nodes.map(async (node) => {
          const page = await orGone(
            node.range({
              space,
              ...(itemSpace !== undefined && { itemSpace }),
              from: '' as KeyBytes,
              reverse: false,
              entriesMax: 1_000_000,
              bytesMax: 1e9,
            }),
          )
          if (page !== undefined) return page
          // Nobody reads what was dropped: a sweep tells whether something is left there.
          if (!(await node.sweep(space, 1)))
            throw new Error(`something is left in the dropped space ${space}`)
          return { entries: [], more: false }
        }),
      )
      return pages.flatMap((page) => page.entries)
    },
    async reopen() {
      await current.catalog.close()
      if (folder !== undefined) {
        await closeNodes()
        nodes = await openNodes()
      }
      current = await openBoth()
    },
    async close() {
      await current.catalog.close()
      await closeNodes()
    },
  }
}

export const S = (name: string): object => ({ AttributeName: name, AttributeType: 'S' })
export const N = (name: string): object => ({ AttributeName: name, AttributeType: 'N' })
export const HASH = (name: string): object => ({ AttributeName: name, KeyType: 'HASH' })
export const RANGE = (name: string): object => ({ AttributeName: name, KeyType: 'RANGE' })

/** CreateTable with a partition key `id`, paid by request, and what else is given. */
export const table = (name: string, more: object = {}): object => ({
  TableName: name,
  AttributeDefinitions: [S('id')],
  KeySchema: [HASH('id')],
  BillingMode: 'PAY_PER_REQUEST',
  ...more,
})

export const index = (name: string, keys: object[], more: object = {}): object => ({
  IndexName: name,
  KeySchema: keys,
  Projection: { ProjectionType: 'ALL' },
  ...more,
})

export const capacity = (read: number, write: number): object => ({
  ReadCapacityUnits: read,
  WriteCapacityUnits: write,
})
