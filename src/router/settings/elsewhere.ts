// What a table may have elsewhere at Amazon, and never has here: a destination in Kinesis, replicas in other regions. Tools
// ask for it when they read a table, and are told that there is none. To ask for one is refused: nothing would arrive there.
import { DynamoError, validationError } from '../../model/errors.js'
import type { OperationName } from '../request/access.js'
import type { Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, type RequestShape, type StructShape } from '../shapes/shape.js'
import { tableNameOf } from '../shapes/table-name.js'
import { tableOperation } from '../tables/table-operation.js'

interface TableInput {
  readonly TableName: string
}

const tableShape = (members: Readonly<Record<string, RequestShape>> = {}): StructShape => ({
  kind: 'struct',
  members: { TableName: administeredTableNameShape, ...members },
})

const any: RequestShape = { kind: 'any', opaque: true }

export const describeKinesisStreamingDestination = tableOperation<TableInput>({
  name: 'DescribeKinesisStreamingDestination',
  shape: tableShape(),
  run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    return jsonReply({ TableName: catalog.record(name).name, KinesisDataStreamDestinations: [] })
  },
})

const streamArnShape: RequestShape = { kind: 'string', required: true, lengthMin: 37, lengthMax: 1024 }

/** Refuses every request for the destination that it names. */
function kinesisChange(name: OperationName): Operation {
  return tableOperation<TableInput & { readonly StreamArn: string }>({
    name,
    shape: tableShape({
      StreamArn: streamArnShape,
      EnableKinesisStreamingConfiguration: any,
      UpdateKinesisStreamingConfiguration: any,
    }),
    run(catalog, input, scope) {
      const table = tableNameOf(input.TableName)
      scope.authorise(table)
      catalog.record(table)
      throw new DynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: Stream: ${input.StreamArn} not found. This store sends changes to no Kinesis stream; a StreamSpecification gives the table a stream of its own`,
      )
    },
  })
}

export const describeTableReplicaAutoScaling = tableOperation<TableInput>({
  name: 'DescribeTableReplicaAutoScaling',
  shape: tableShape(),
  run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    const { name: TableName } = catalog.record(name)
    return jsonReply({ TableAutoScalingDescription: { TableName, TableStatus: 'ACTIVE', Replicas: [] } })
  },
})

export const updateTableReplicaAutoScaling = tableOperation<TableInput>({
  name: 'UpdateTableReplicaAutoScaling',
  shape: tableShape({
    GlobalSecondaryIndexUpdates: any,
    ProvisionedWriteCapacityAutoScalingUpdate: any,
    ReplicaUpdates: any,
  }),
  run(catalog, input, scope) {
    const name = tableNameOf(input.TableName)
    scope.authorise(name)
    catalog.record(name)
    throw validationError('Replicas and auto scaling are not supported by this store')
  },
})

export const listGlobalTables = tableOperation<object>({
  name: 'ListGlobalTables',
  shape: {
    kind: 'struct',
    members: {
      ExclusiveStartGlobalTableName: { kind: 'string', lengthMin: 3, lengthMax: 255 },
      Limit: { kind: 'integer', valueMin: 1 },
      RegionName: { kind: 'string' },
    },
  },
  run: () => jsonReply({ GlobalTables: [] }),
})

export const describeGlobalTable = tableOperation<{ readonly GlobalTableName: string }>({
  name: 'DescribeGlobalTable',
  shape: {
    kind: 'struct',
    members: { GlobalTableName: { kind: 'string', required: true, lengthMin: 3, lengthMax: 255 } },
  },
  run(_catalog, { GlobalTableName: name }, scope) {
    scope.authorise(tableNameOf(name))
    throw new DynamoError(
      'GlobalTableNotFoundException',
      `Global table not found: Global table with name: '${name}' does not exist.`,
    )
  },
})

export const kinesisChanges: readonly Operation[] = [
  kinesisChange('EnableKinesisStreamingDestination'),
  kinesisChange('DisableKinesisStreamingDestination'),
  kinesisChange('UpdateKinesisStreamingDestination'),
]
