// What an operation may use, and what an operation is.
import type { Blocks } from '../../blocks/blocks.js'
import type { CommitLog } from '../../commit-log/commit-log.js'
import type { Coordinator } from '../../coordinator/coordinator.js'
import type { IndexShape, TableShape } from '../../model/table.js'
import type { StatementScans } from '../../partiql/partiql.js'
import type { Recovery } from '../../recovery/recovery.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { StorageNode } from '../../storage/contract/storage-node.js'
import type { AccessPart, OperationName, Principal } from './access.js'
import type { FairLine } from './fair-line.js'
import type { Addressed, Reply } from './router.js'
import type { StructShape } from '../shapes/shape.js'
import type { Passes } from './passes.js'

/** A table as requests for its items see it. */
export interface Table {
  readonly name: string
  readonly shape: TableShape
  /** The indexes that can be read: those whose backfill is complete. */
  readonly readableIndexes: ReadonlyMap<string, IndexShape>
}

export interface Catalog {
  /** The table of that name, or ResourceNotFoundException. */
  table(name: string): Table
  /** All of them, for messages. */
  shapes(): readonly TableShape[]
}

export interface RouterContext {
  readonly runtime: Runtime
  readonly catalog: Catalog
  readonly nodes: readonly StorageNode[]
  /** The node that holds the items whose partition key has this hash. */
  nodeOf(hash: number): StorageNode
  /** For what concerns several items at once (§3.1). */
  readonly coordinator: Coordinator
  /** What it has done, for people who look; absent: none runs in this process. */
  readonly recovery?: Pick<Recovery, 'recent'>
  readonly rules: TransactionRules
  /** When the store was opened, by a clock that is not set. */
  readonly startedMicros: number
  /** What was committed to the tables that ask for it; absent: on nodes that keep no log. */
  readonly log?: CommitLog
  /** Blocks of ledger tables; absent: no table can be one. */
  readonly blocks?: Blocks
  /** Whether a new table of that name is a ledger, whatever its tags say. */
  readonly isLedger?: (tableName: string) => boolean
  /** Snapshots and ages of units of work, bound to those they were given to. */
  readonly passes: Passes
  /** Searches that look at every item of a table. */
  readonly searches: FairLine
  /** Reads of what is large and cannot be read in pages: blocks of large transactions. */
  readonly largeReads: FairLine
  /** Absent: allowed. */
  readonly statementScans?: StatementScans
}

/** What a query or scan needs of it. */
export type RangeContext = Pick<RouterContext, 'catalog' | 'nodes' | 'nodeOf' | 'statementScans'>

/** Who asks, and a check to call for each table before anything of it is told. */
export interface RequestScope {
  readonly principal: Principal
  readonly addressed: Addressed
  /** Throws AccessDeniedException unless the principal may do this part of the operation on that table: access.ts. */
  authorise(tableName: string, part?: AccessPart): void
  /** Whether it would not throw. */
  allows(tableName: string, part?: AccessPart): boolean
}

/** Members of a request whose shape has been checked; what is deeper is checked where it is used. */
export type Input = Readonly<Record<string, unknown>>

export interface Operation {
  readonly name: OperationName
  /** What stands before the name in the target of a request; absent: as DynamoDB has it. */
  readonly targetPrefix?: string
  readonly shape: StructShape
  /** Throws DynamoError for a refusal. The result is the JSON text of the answer in UTF-8. */
  run(context: RouterContext, input: Input, scope: RequestScope): Promise<Reply>
}

/** An operation whose code is loaded by the first request for it: a store opens without it. */
export interface LaterOperation extends Pick<Operation, 'name' | 'targetPrefix'> {
  load(): Promise<Operation>
}
