import type { Operation } from '../request/context.js'
import { listContention } from './list-contention.js'
import { listTransactions } from './list-transactions.js'
import { transactGetItems } from './transact-get-items.js'
import { transactWriteItems } from './transact-write-items.js'

export const transactionOperations: readonly Operation[] = [
  transactGetItems,
  transactWriteItems,
  listTransactions,
  listContention,
]
