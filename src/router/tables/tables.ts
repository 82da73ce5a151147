// All operations on tables.
import type { Operation } from '../request/context.js'
import { createTable } from './create-table.js'
import { deleteTable } from './delete-table.js'
import { describeEndpoints } from './describe-endpoints.js'
import { describeLimits } from './describe-limits.js'
import { describeTable } from './describe-table.js'
import { listTables } from './list-tables.js'
import { listTagsOfResource, tagResource, untagResource } from './tag-resource.js'
import { describeTimeToLive, updateTimeToLive } from './time-to-live.js'
import { updateTable } from './update-table.js'

export const tableOperations: readonly Operation[] = [
  createTable,
  deleteTable,
  describeTable,
  updateTable,
  listTables,
  updateTimeToLive,
  describeTimeToLive,
  tagResource,
  untagResource,
  listTagsOfResource,
  describeLimits,
  describeEndpoints,
]
