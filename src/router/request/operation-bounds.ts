// What the edge must know of each operation before it runs: how much a request for it may have, and what it may do with an answer
// that a client does not take.
//
// An operation without an entry does not compile, because its name is a key of this table: one that is added later cannot be
// forgotten here.
import { firstWord } from '../../partiql/parse/first-word.js'
import { limits } from '../../model/limits.js'
import { blockAt } from '../../verify/tiles.js'
import type { OperationName } from './access.js'

export interface OperationBounds {
  /** `plain`: it carries neither items nor values of expressions, and a valid one has some kilobytes. */
  readonly request: 'items' | 'plain'
  /**
   * What it answers with, where it changes nothing, so that its answer may be dropped: one item or two, a page of about 1 MB,
   * or as much as an answer may have. Absent: it may have changed something, or its answers are short.
   */
  readonly reads?: 'item' | 'page' | 'largest'
  /** It reads or changes, as its statements say. */
  readonly byStatement?: true
  /**
   * How many items a request names, of one that reads no others: of each it may read the largest. Absent: a page of them, or
   * as much as an answer may have, or it stands in a line of its own (`largest`).
   */
  readonly named?: (input: Input) => number
  /** Of the ledger: whether a whole block is read, which may be as large as an answer; a page otherwise. */
  readonly whole?: (input: Input) => boolean
}

type Input = Readonly<Record<string, unknown>>

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

const item = { request: 'items', reads: 'item' } as const
const page = { request: 'items', reads: 'page' } as const
const largest = { request: 'items', reads: 'largest' } as const
const change = { request: 'items' } as const
const plain = { request: 'plain' } as const

const operationBounds: Readonly<Record<OperationName, OperationBounds>> = {
  GetItem: item,
  WaitForItem: item,
  Query: page,
  Scan: page,
  BatchGetItem: { ...largest, named: keysOf },
  TransactGetItems: { ...largest, named: ({ TransactItems }) => lengthOf(TransactItems) },
  SearchVectors: largest,

  PutItem: change,
  UpdateItem: change,
  DeleteItem: change,
  BatchWriteItem: change,
  TransactWriteItems: change,

  ExecuteStatement: { ...page, byStatement: true },
  BatchExecuteStatement: {
    ...largest,
    byStatement: true,
    named: ({ Statements }) => lengthOf(Statements),
  },
  ExecuteTransaction: {
    ...largest,
    byStatement: true,
    named: ({ TransactStatements }) => lengthOf(TransactStatements),
  },

  // What waits for a lock takes nothing from those who have it.
  UnitGetItems: { ...largest, named: ({ Gets }) => (locks(Gets) ? 0 : lengthOf(Gets)) },
  UnitQuery: page,
  UnitScan: page,
  UnitCommit: change,
  UnitEnd: change,
  UnitOutcome: plain,

  DescribeTable: plain,
  DescribeTimeToLive: plain,
  ListTagsOfResource: plain,
  ListTables: plain,
  ListStreams: plain,
  DescribeStream: plain,
  GetShardIterator: plain,
  GetRecords: { ...plain, reads: 'page' },
  GetResourcePolicy: plain,
  DescribeContributorInsights: plain,
  ListContributorInsights: plain,
  DescribeKinesisStreamingDestination: plain,
  DescribeTableReplicaAutoScaling: plain,
  DescribeGlobalTable: plain,
  ListGlobalTables: plain,

  // A block has what one transaction or unit of work wrote, and a proof its data once more.
  GetRevision: { ...plain, reads: 'item' },
  ListRevisions: {
    ...plain,
    reads: 'largest',
    whole: ({ TransactionId }) => TransactionId !== undefined,
  },
  GetBlock: { ...plain, reads: 'largest', whole: () => true },
  GetLedgerFile: { ...plain, reads: 'largest', whole: ({ Path }) => blockAt(String(Path)) !== undefined },
  GetDigest: plain,
  RedactRevision: plain,

  DescribeLimits: plain,
  DescribeEndpoints: plain,
  ExportTableToPointInTime: plain,
  DescribeExport: plain,
  ListExports: plain,
  ImportTable: plain,
  DescribeImport: plain,
  ListImports: plain,
  CreateBackup: plain,
  DescribeBackup: plain,
  ListBackups: plain,
  DeleteBackup: plain,
  UpdateContinuousBackups: plain,
  DescribeContinuousBackups: plain,
  RestoreTableFromBackup: plain,
  RestoreTableToPointInTime: plain,
  RestoreTables: plain,

  CreateTable: plain,
  UpdateTable: plain,
  DeleteTable: plain,
  UpdateTimeToLive: plain,
  TagResource: plain,
  UntagResource: plain,
  PutResourcePolicy: plain,
  DeleteResourcePolicy: plain,
  UpdateContributorInsights: plain,
  EnableKinesisStreamingDestination: plain,
  DisableKinesisStreamingDestination: plain,
  UpdateKinesisStreamingDestination: plain,
  UpdateTableReplicaAutoScaling: plain,
  // Large where transactions are: a thousand of them, each with ten keys. Only who administers every table may ask.
  ListTransactions: plain,
  ListContention: plain,
}

/** Of a BatchGetItem whose shape nobody has looked at. */
function keysOf({ RequestItems }: Input): number {
  let keys = 0
  if (typeof RequestItems !== 'object' || RequestItems === null) return 0
  for (const gets of Object.values(RequestItems))
    keys += lengthOf((gets as { readonly Keys?: unknown } | null)?.Keys)
  return keys
}

const locks = (gets: unknown): boolean =>
  Array.isArray(gets) &&
  gets.some((get) => (get as { readonly Lock?: unknown } | null | undefined)?.Lock === true)

const byName = new Map<string, OperationBounds>(Object.entries(operationBounds))
const NONE: OperationBounds = change

/** Of a request that names no operation: as of one that may have changed something. */
export const operationBoundsOf = (operation: string): OperationBounds => byName.get(operation) ?? NONE

/** An answer ends at so many bytes, and no more than so many items are read behind that. */
const READ_BYTES_MAX = limits.batchGetBytesMax + limits.readAtOnceMax * limits.itemBytesMax

/** How many bytes of items a request reads at most. */
export function bytesReadAtMost(operation: string, input: object): number {
  const { reads, named, whole } = operationBoundsOf(operation)
  if (named !== undefined) return Math.min(named(input as Input) * limits.itemBytesMax, READ_BYTES_MAX)
  if (whole !== undefined) return whole(input as Input) ? limits.batchGetBytesMax : limits.pageBytesMax
  return reads === 'page' ? limits.pageBytesMax : 0
}

/**
 * Whether a request for an operation of statements changes nothing, whatever becomes of each of its statements: what is no
 * statement is refused. One that reads is answered only where none of the others would write.
 */
export function statementsOnlyRead(input: object): boolean {
  const { Statement, Statements, TransactStatements } = input as Readonly<Record<string, unknown>>
  const members = Statements ?? TransactStatements
  if (!Array.isArray(members)) return !wouldWrite(Statement)
  // With more than those the request is refused.
  const looked = members.slice(0, limits.transactionActionsMax) as readonly unknown[]
  return !looked.some((member) =>
    wouldWrite((member as { readonly Statement?: unknown } | null | undefined)?.Statement),
  )
}

/** As its first word says: nothing else is read of it here. */
export function wouldWrite(statement: unknown): boolean {
  if (typeof statement !== 'string' || statement.length > limits.statementCharactersMax) return false
  return WRITING.has(firstWord(statement))
}

const WRITING: ReadonlySet<string> = new Set(['insert', 'update', 'delete'])
