// What a coordinator offers to the units of work of simulated clients: the router's own functions over its coordinator and
// nodes, which the wire and the port in one process translate for. Left out are the wire's JSON, access and passes; refusals
// are answered as values, since to a client far away they are answers like others.
//
//   SimUnit --unitGetItems, unitRange, unitCommit, unitEnd--> router/units --> rules/units, coordinator --> nodes
import type { ClientToken, CoordinatedNode, Coordinator } from '../src/coordinator/coordinator.js'
import type { ItemRef } from '../src/ledger/ledger.js'
import type { Timestamp } from '../src/model/brand.js'
import { DynamoError } from '../src/model/errors.js'
import type { Item } from '../src/model/value.js'
import type { Catalog, Input } from '../src/router/request/context.js'
import { runQuery } from '../src/router/reads/query.js'
import { runScan } from '../src/router/reads/scan.js'
import type { Reply } from '../src/router/request/router.js'
import { commitUnit, type BoundGet, type ItemsRead, readItems } from '../src/router/units/work.js'
import { ownerScope } from '../src/router/units/direct.js'
import { bindPredicates, readRange } from '../src/router/units/unit-ranges.js'
import { forgetSnapshotOf, type RequestUnit, type UnitContext } from '../src/router/units/unit.js'
import { pairReads, type UnitRead } from '../src/rules/units/binding.js'
import type { Runtime } from '../src/runtime/runtime.js'
import type { StorageNode } from '../src/storage/contract/storage-node.js'
import type { Action } from '../src/storage/contract/transactions.js'
import type { ReadPoint } from '../src/storage/contract/units.js'
import { TABLE } from './table.js'

export interface UnitService {
  unitGetItems(unit: RequestUnit, gets: readonly BoundGet[]): Promise<ItemsRead | Refused>
  /** A query, or a scan if it has no key condition; `input` as on the wire. */
  unitRange(unit: RequestUnit, input: Input): Promise<RangeAnswer | Refused>
  unitCommit(unit: RequestUnit, work: SentWork, token?: ClientToken): Promise<CommitAnswer | Refused>
  unitEnd(unit: RequestUnit, locks: readonly ItemRef[]): Promise<void>
}

/** The name of the error, as on the wire. */
export interface Refused {
  readonly refused: string
}

export interface RangeAnswer {
  readonly at: ReadPoint
  readonly items: readonly Item[]
  /** Where the next page begins; absent after the last. */
  readonly next?: Item
}

export interface CommitAnswer {
  /** Absent: it was committed before. */
  readonly timestamp: Timestamp | undefined
}

/** What a unit sends with its commit. */
export interface SentWork {
  readonly writes: readonly Action[]
  readonly reads: readonly UnitRead[]
  readonly locks: readonly Action[]
  /** As on the wire. */
  readonly predicates: readonly Input[]
}

export function unitService(context: UnitContext): UnitService {
  return {
    unitGetItems: (unit, gets) => answered(() => readItems(context, unit, gets)),
    unitRange: (unit, input) =>
      answered(() =>
        readRange(context, unit, async ({ at }, nodeView) => {
          const run = input['KeyConditionExpression'] === undefined ? runScan : runQuery
          const { Items = [], LastEvaluatedKey } = pageOf(await run(context, input, ownerScope, { nodeView }))
          return { at, items: Items, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
        }),
      ),
    unitCommit: (unit, { writes, reads, locks, predicates }, token) =>
      answered(async () => {
        const timestamp = await commitUnit(context, unit, {
          ...pairReads(writes, reads),
          locks,
          predicates: bindPredicates(context, predicates, ownerScope, unit),
          token,
          showsItem: () => false,
          release: () => forgetSnapshotOf(context, unit),
        })
        return { timestamp }
      }),
    unitEnd: async (unit, locks) => {
      forgetSnapshotOf(context, unit)
      await context.coordinator.snapshots.unlock(unit.id, locks)
    },
  }
}

/** The world's one table, on nodes of which a coordinator sees what takes part in transactions and units. */
export function unitContext(
  runtime: Runtime,
  coordinator: Coordinator,
  nodes: readonly CoordinatedNode[],
  nodeOf: (hash: number) => number,
): UnitContext {
  // Of ranges at a snapshot nothing else is asked.
  const seen = nodes as readonly unknown[] as readonly StorageNode[]
  return { runtime, coordinator, catalog, nodes: seen, nodeOf: (hash) => seen[nodeOf(hash)]! }
}

const table = { name: TABLE.name, shape: TABLE, readableIndexes: new Map<string, never>() }
const catalog: Catalog = { table: () => table, shapes: () => [TABLE] }

/** What units of work are refused with; whatever else is thrown is a defect, or an answer that got lost. */
const REFUSALS: ReadonlySet<string> = new Set([
  'UnitConflictException',
  'SnapshotTooOldException',
  'TransactionCanceledException',
  'TransactionInProgressException',
  'IdempotentParameterMismatchException',
  'ThrottlingException',
  'InternalServerError',
])

async function answered<Answer>(answer: () => Promise<Answer>): Promise<Answer | Refused> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof DynamoError && REFUSALS.has(error.name)) return { refused: error.name }
    throw error
  }
}

interface WirePage {
  readonly Items?: readonly Item[]
  readonly LastEvaluatedKey?: Item
}

const pageOf = (reply: Reply): WirePage =>
  JSON.parse(Buffer.from(reply instanceof Uint8Array ? reply : reply.body).toString()) as WirePage
