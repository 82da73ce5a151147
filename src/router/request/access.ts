// What access each operation needs. Authorisation uses this table and nothing else, and a test walks it.
//
//   operation --> part of its input --> the access that a key needs to the table which that part names
//
// An operation without an entry does not compile, because its name is a key of this table. Parts are named after the
// members of the input; `table` stands for the one that an operation has.
import { DynamoError } from '../../model/errors.js'

export type Access = 'read' | 'write' | 'admin'

/** Who is asking. Without authentication every client is `anyone`. */
export interface Principal {
  /** The access key's; empty where there is none. What a principal was given is bound to it. */
  readonly id: string
  /** For messages; several may have the same. */
  readonly name: string
  allows(access: Access, tableName: string): boolean
}

export const anyone: Principal = { id: '', name: 'anyone', allows: () => true }

/** The program that has the store in its own process: what it hands over is taken as it is. */
export const owner: Principal = { id: '', name: 'the program itself', allows: () => true }

/** Of several, any one is enough. */
type Needed = Access | readonly Access[]

/**
 * The actions of a write transaction. A ConditionCheck tells what a read tells, and holds its item for no longer than the
 * transaction takes to be decided, which a client cannot prolong; a conditional write tells the same. So either access
 * will do, and a key that only has to check an item need not be able to change it (docs/adr/0024).
 */
const writeActions = {
  Put: 'write',
  Update: 'write',
  Delete: 'write',
  ConditionCheck: ['read', 'write'],
} as const

/** SELECT, INSERT, UPDATE and DELETE. */
const statementTypes = { Select: 'read', Put: 'write', Update: 'write', Delete: 'write' } as const

export const operationAccess = {
  GetItem: { table: 'read' },
  BatchGetItem: { table: 'read' },
  TransactGetItems: { table: 'read' },
  Query: { table: 'read' },
  Scan: { table: 'read' },
  WaitForItem: { table: 'read' },
  SearchVectors: { table: 'read' },

  PutItem: { table: 'write' },
  UpdateItem: { table: 'write' },
  DeleteItem: { table: 'write' },
  BatchWriteItem: { table: 'write' },
  TransactWriteItems: writeActions,

  // A statement needs what the operation needs that it stands for; UPDATE and DELETE with RETURNING tell what UpdateItem and
  // DeleteItem with ReturnValues tell to a key that may write.
  ExecuteStatement: statementTypes,
  BatchExecuteStatement: statementTypes,
  ExecuteTransaction: { ...statementTypes, ConditionCheck: writeActions.ConditionCheck },

  // A lock keeps writers away, so only they may take one. Both are asked for where an item is locked: it is read, too.
  UnitGetItems: { table: 'read', Lock: 'write' },
  UnitQuery: { table: 'read' },
  UnitScan: { table: 'read' },
  // A commit tells whether what it names was changed: that is for those who may read it.
  UnitCommit: { ...writeActions, Reads: 'read', Predicates: 'read', Locks: 'write' },
  UnitEnd: { Locks: 'write' },
  // Snapshots, ages and client tokens concern no table: they are bound to the key that they were given to.
  UnitOutcome: {},

  DescribeTable: { table: 'read' },
  DescribeTimeToLive: { table: 'read' },
  ListTagsOfResource: { table: 'read' },
  // Refuses nothing: it leaves out the others.
  ListTables: { listed: 'read' },
  // A stream tells what was written to its table, for as long as the stream is kept: the table may be gone.
  ListStreams: { listed: 'read' },
  DescribeStream: { table: 'read' },
  GetShardIterator: { table: 'read' },
  GetRecords: { table: 'read' },
  // What a table has beside its items.
  GetResourcePolicy: { table: 'read' },
  DescribeContributorInsights: { table: 'read' },
  ListContributorInsights: { listed: 'read' },
  DescribeKinesisStreamingDestination: { table: 'read' },
  DescribeTableReplicaAutoScaling: { table: 'read' },
  DescribeGlobalTable: { table: 'read' },
  ListGlobalTables: {},
  // The history of a table's items, for as long as it is a ledger, and after it was dropped: for those who could read them.
  GetRevision: { table: 'read' },
  ListRevisions: { table: 'read' },
  GetBlock: { table: 'read' },
  // A digest, tiles and headers have hashes, times and ids of transactions; the file of a block has items.
  GetDigest: {},
  GetLedgerFile: { table: 'read' },
  DescribeLimits: {},
  DescribeEndpoints: {},

  // What is exported stays in a bucket, where it takes room and outlives the table: that is for those who administer it.
  ExportTableToPointInTime: { table: 'admin' },
  DescribeExport: { table: 'read' },
  ListExports: { listed: 'read' },
  ImportTable: { table: 'admin' },
  DescribeImport: { table: 'read' },
  ListImports: { listed: 'read' },
  // A backup takes room, and outlives its table; what is in it is what its table held.
  CreateBackup: { table: 'admin' },
  DescribeBackup: { table: 'read' },
  ListBackups: { listed: 'read' },
  DeleteBackup: { table: 'admin' },
  UpdateContinuousBackups: { table: 'admin' },
  DescribeContinuousBackups: { table: 'read' },
  // A restore reads what the one table held, and creates the other.
  RestoreTableFromBackup: { Source: 'read', Target: 'admin' },
  RestoreTableToPointInTime: { Source: 'read', Target: 'admin' },
  RestoreTables: { Source: 'read', Target: 'admin' },

  CreateTable: { table: 'admin' },
  UpdateTable: { table: 'admin' },
  DeleteTable: { table: 'admin' },
  UpdateTimeToLive: { table: 'admin' },
  TagResource: { table: 'admin' },
  UntagResource: { table: 'admin' },
  PutResourcePolicy: { table: 'admin' },
  DeleteResourcePolicy: { table: 'admin' },
  UpdateContributorInsights: { table: 'admin' },
  EnableKinesisStreamingDestination: { table: 'admin' },
  DisableKinesisStreamingDestination: { table: 'admin' },
  UpdateKinesisStreamingDestination: { table: 'admin' },
  UpdateTableReplicaAutoScaling: { table: 'admin' },
  // It removes what not even a writer can remove.
  RedactRevision: { table: 'admin' },
  // It concerns no table in particular, so it is asked for as the table `*`, which only the pattern `*` grants.
  ListTransactions: { everyTable: 'admin' },
  ListContention: { everyTable: 'admin' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Needed>>>>

export type OperationName = keyof typeof operationAccess

type PartsOf<Name extends OperationName> = Name extends OperationName
  ? keyof (typeof operationAccess)[Name]
  : never

/** A part of the input of some operation. */
export type AccessPart = PartsOf<OperationName>

/** The name that stands for all tables; no table has it. */
export const EVERY_TABLE = '*'

export function allows(principal: Principal, name: OperationName, part: AccessPart, table: string): boolean {
  const needed = neededFor(name, part)
  return typeof needed === 'string'
    ? principal.allows(needed, table)
    : needed.some((access) => principal.allows(access, table))
}

export function accessDenied(
  principal: Principal,
  name: OperationName,
  part: AccessPart,
  table: string,
): DynamoError {
  const needed = [neededFor(name, part)].flat().join(' or ')
  return new DynamoError(
    'AccessDeniedException',
    `User: ${principal.name} is not authorized to perform: dynamodb:${name} on resource: ${table} because the access file grants no ${needed} access to it`,
  )
}

function neededFor(name: OperationName, part: AccessPart): Needed {
  const needed = (operationAccess[name] as Partial<Record<AccessPart, Needed>>)[part]
  if (needed === undefined) throw new Error(`the table of access has no part ${part} of ${name}`)
  return needed
}
