// Operations by which infrastructure tools set and read what surrounds a table: policies, insights, what it has elsewhere.
//
//   Terraform, CloudFormation --> kept in the table's record, and told as it is; or refused, where it would promise what is
//                                 not there
//
// May import: tables (the catalogue) and all below it.
import type { Operation } from '../request/context.js'
import {
  describeContributorInsights,
  listContributorInsights,
  updateContributorInsights,
} from './contributor-insights.js'
import {
  describeGlobalTable,
  describeKinesisStreamingDestination,
  describeTableReplicaAutoScaling,
  kinesisChanges,
  listGlobalTables,
  updateTableReplicaAutoScaling,
} from './elsewhere.js'
import { deleteResourcePolicy, getResourcePolicy, putResourcePolicy } from './resource-policy.js'

export const settingsOperations: readonly Operation[] = [
  putResourcePolicy,
  getResourcePolicy,
  deleteResourcePolicy,
  updateContributorInsights,
  describeContributorInsights,
  listContributorInsights,
  describeKinesisStreamingDestination,
  ...kinesisChanges,
  describeTableReplicaAutoScaling,
  updateTableReplicaAutoScaling,
  listGlobalTables,
  describeGlobalTable,
]
