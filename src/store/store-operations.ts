// The operations of `store.call`, with the SDK's own types for their input and output.
import type {
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
  BatchWriteItemCommandInput,
  BatchWriteItemCommandOutput,
  CreateBackupCommandInput,
  CreateBackupCommandOutput,
  DeleteBackupCommandInput,
  DeleteBackupCommandOutput,
  DeleteResourcePolicyCommandInput,
  DeleteResourcePolicyCommandOutput,
  DeleteTableCommandInput,
  DeleteTableCommandOutput,
  DescribeBackupCommandInput,
  DescribeBackupCommandOutput,
  DescribeContinuousBackupsCommandInput,
  DescribeContinuousBackupsCommandOutput,
  DescribeContributorInsightsCommandInput,
  DescribeContributorInsightsCommandOutput,
  DescribeEndpointsCommandInput,
  DescribeEndpointsCommandOutput,
  DescribeKinesisStreamingDestinationCommandInput,
  DescribeKinesisStreamingDestinationCommandOutput,
  DescribeLimitsCommandInput,
  DescribeLimitsCommandOutput,
  DescribeTableReplicaAutoScalingCommandInput,
  DescribeTableReplicaAutoScalingCommandOutput,
  ExecuteStatementCommandInput,
  ExecuteStatementCommandOutput,
  ExecuteTransactionCommandInput,
  ExecuteTransactionCommandOutput,
  GetResourcePolicyCommandInput,
  GetResourcePolicyCommandOutput,
  ListBackupsCommandInput,
  ListBackupsCommandOutput,
  ListContributorInsightsCommandInput,
  ListContributorInsightsCommandOutput,
  ListTablesCommandInput,
  ListTablesCommandOutput,
  ListTagsOfResourceCommandInput,
  ListTagsOfResourceCommandOutput,
  PutResourcePolicyCommandInput,
  PutResourcePolicyCommandOutput,
  RestoreTableFromBackupCommandInput,
  RestoreTableFromBackupCommandOutput,
  RestoreTableToPointInTimeCommandInput,
  RestoreTableToPointInTimeCommandOutput,
  SearchVectorsCommandInput,
  SearchVectorsCommandOutput,
  TagResourceCommandInput,
  TagResourceCommandOutput,
  UntagResourceCommandInput,
  UntagResourceCommandOutput,
  UpdateContinuousBackupsCommandInput,
  UpdateContinuousBackupsCommandOutput,
  UpdateContributorInsightsCommandInput,
  UpdateContributorInsightsCommandOutput,
  UpdateTableCommandInput,
  UpdateTableCommandOutput,
} from '@aws-sdk/client-dynamodb'
import type { EndpointOperations } from '../toolkit/endpoint/operations.js'

/** Those of any endpoint, and those that only the owner of the store needs. */
interface Operations extends EndpointOperations {
  DeleteTable: { input: DeleteTableCommandInput; output: DeleteTableCommandOutput }
  UpdateTable: { input: UpdateTableCommandInput; output: UpdateTableCommandOutput }
  ListTables: { input: ListTablesCommandInput; output: ListTablesCommandOutput }
  BatchWriteItem: { input: BatchWriteItemCommandInput; output: BatchWriteItemCommandOutput }
  ExecuteStatement: { input: ExecuteStatementCommandInput; output: ExecuteStatementCommandOutput }
  BatchExecuteStatement: {
    input: BatchExecuteStatementCommandInput
    output: BatchExecuteStatementCommandOutput
  }
  ExecuteTransaction: { input: ExecuteTransactionCommandInput; output: ExecuteTransactionCommandOutput }
  TagResource: { input: TagResourceCommandInput; output: TagResourceCommandOutput }
  UntagResource: { input: UntagResourceCommandInput; output: UntagResourceCommandOutput }
  ListTagsOfResource: { input: ListTagsOfResourceCommandInput; output: ListTagsOfResourceCommandOutput }
  DescribeLimits: { input: DescribeLimitsCommandInput; output: DescribeLimitsCommandOutput }
  DeleteResourcePolicy: { input: DeleteResourcePolicyCommandInput; output: DeleteResourcePolicyCommandOutput }
  DescribeContributorInsights: {
    input: DescribeContributorInsightsCommandInput
    output: DescribeContributorInsightsCommandOutput
  }
  DescribeKinesisStreamingDestination: {
    input: DescribeKinesisStreamingDestinationCommandInput
    output: DescribeKinesisStreamingDestinationCommandOutput
  }
  DescribeTableReplicaAutoScaling: {
    input: DescribeTableReplicaAutoScalingCommandInput
    output: DescribeTableReplicaAutoScalingCommandOutput
  }
  GetResourcePolicy: { input: GetResourcePolicyCommandInput; output: GetResourcePolicyCommandOutput }
  ListContributorInsights: {
    input: ListContributorInsightsCommandInput
    output: ListContributorInsightsCommandOutput
  }
  PutResourcePolicy: { input: PutResourcePolicyCommandInput; output: PutResourcePolicyCommandOutput }
  SearchVectors: { input: SearchVectorsCommandInput; output: SearchVectorsCommandOutput }
  UpdateContributorInsights: {
    input: UpdateContributorInsightsCommandInput
    output: UpdateContributorInsightsCommandOutput
  }
  CreateBackup: { input: CreateBackupCommandInput; output: CreateBackupCommandOutput }
  DescribeBackup: { input: DescribeBackupCommandInput; output: DescribeBackupCommandOutput }
  ListBackups: { input: ListBackupsCommandInput; output: ListBackupsCommandOutput }
  DeleteBackup: { input: DeleteBackupCommandInput; output: DeleteBackupCommandOutput }
  UpdateContinuousBackups: {
    input: UpdateContinuousBackupsCommandInput
    output: UpdateContinuousBackupsCommandOutput
  }
  DescribeContinuousBackups: {
    input: DescribeContinuousBackupsCommandInput
    output: DescribeContinuousBackupsCommandOutput
  }
  RestoreTableFromBackup: {
    input: RestoreTableFromBackupCommandInput
    output: RestoreTableFromBackupCommandOutput
  }
  RestoreTableToPointInTime: {
    input: RestoreTableToPointInTimeCommandInput
    output: RestoreTableToPointInTimeCommandOutput
  }
  DescribeEndpoints: { input: DescribeEndpointsCommandInput; output: DescribeEndpointsCommandOutput }
}

/** The name of an operation that `store.call` runs. */
export type StoreOperation = keyof Operations
/** The input of an operation, with the SDK's type. */
export type StoreInput<Name extends StoreOperation> = Operations[Name]['input']
/** The output of an operation: the SDK's type without `$metadata`, because there was no HTTP request. */
export type StoreOutput<Name extends StoreOperation> = Omit<Operations[Name]['output'], '$metadata'>
