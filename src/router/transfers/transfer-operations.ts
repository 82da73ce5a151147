// Exports to and imports from buckets: DynamoDB's six operations.
//
//   request --> export-operations.ts, import-operations.ts --> transfers.ts: records, and work behind the answers
//                                                               |--> export-job.ts <-- export-source.ts: a snapshot of the table
//                                                               |--> import-job.ts --> table-loader.ts --> nodes
//
// May import: what the router may, buckets and transfer.
import type { Operation } from '../request/context.js'
import { exportOperations } from './export-operations.js'
import { importOperations } from './import-operations.js'
import type { Transfers } from './transfers.js'

export const transferOperations = (transfers: () => Promise<Transfers>): readonly Operation[] => [
  ...exportOperations(transfers),
  ...importOperations(transfers),
]
