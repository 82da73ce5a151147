// PartiQL: the operations that take statements. Everything that they read and write goes the way of the other operations; what a
// statement means is the box partiql/.
//
//   Statement, Parameters --> parameters --> statement --> access --> table --> types of operands --> keys --> plan
//       SELECT: get, reads by key, scan (reads/)    INSERT, UPDATE, DELETE: a single write (writes/), or an action (transactions/)
//
// May import: everything below the router, and its rooms reads, writes and transactions.
import type { Operation } from '../request/context.js'
import { batchExecuteStatement } from './batch-execute-statement.js'
import { executeStatement } from './execute-statement.js'
import { executeTransaction } from './execute-transaction.js'

export const statementOperations: readonly Operation[] = [
  executeStatement,
  batchExecuteStatement,
  executeTransaction,
]
