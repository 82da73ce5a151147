// Reads and writes of many items.
import type { Operation } from '../request/context.js'
import { batchGetItem } from './batch-get-item.js'
import { batchWriteItem } from '../writes/batch-write-item.js'
import { query } from './query.js'
import { scan } from './scan.js'

export const queryOperations: readonly Operation[] = [query, scan, batchGetItem, batchWriteItem]
