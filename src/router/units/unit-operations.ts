import type { Operation } from '../request/context.js'
import { unitCommit } from './unit-commit.js'
import { unitEnd } from './unit-end.js'
import { unitGetItems } from './unit-get-items.js'
import { unitOutcome } from './unit-outcome.js'
import { unitQuery, unitScan } from './unit-ranges.js'

export const unitOperations: readonly Operation[] = [
  unitGetItems,
  unitQuery,
  unitScan,
  unitCommit,
  unitEnd,
  unitOutcome,
]
