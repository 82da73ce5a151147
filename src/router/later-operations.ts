// Operations that many stores are never asked for. Their code is loaded by the first request for one of a kind, so that it costs
// nothing at the start (docs/adr/0029).
import type { OperationName } from './request/access.js'
import type { LaterOperation, Operation } from './request/context.js'

export const later = (
  names: readonly OperationName[],
  load: () => Promise<readonly Operation[]>,
): readonly LaterOperation[] =>
  names.map((name) => ({
    name,
    load: async () => {
      const operation = (await load()).find((each) => each.name === name)
      if (operation === undefined) throw new Error(`There is no operation ${name} where it should be.`)
      return operation
    },
  }))

export const laterOperations: readonly LaterOperation[] = [
  ...later(
    ['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction'],
    async () => (await import('./statements/statement-operations.js')).statementOperations,
  ),
  ...later(
    ['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'],
    async () => (await import('./streams/stream-operations.js')).streamOperations,
  ),
  ...later(
    [
      'PutResourcePolicy',
      'GetResourcePolicy',
      'DeleteResourcePolicy',
      'UpdateContributorInsights',
      'DescribeContributorInsights',
      'ListContributorInsights',
      'DescribeKinesisStreamingDestination',
      'EnableKinesisStreamingDestination',
      'DisableKinesisStreamingDestination',
      'UpdateKinesisStreamingDestination',
      'DescribeTableReplicaAutoScaling',
      'UpdateTableReplicaAutoScaling',
      'ListGlobalTables',
      'DescribeGlobalTable',
    ],
    async () => (await import('./settings/settings-operations.js')).settingsOperations,
  ),
  ...later(['SearchVectors'], async () => [(await import('./vectors/search-vectors.js')).searchVectors]),
]
