// The operations of `store.call`, with the SDK's own types for their input and output.
import type {
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
  BatchWriteItemCommandInput,
  BatchWriteItemCommandOutput,
  DeleteTableCommandInput,
  DeleteTableCommandOutput,
  DescribeEndpointsCommandInput,
  DescribeEndpointsCommandOutput,
  DescribeLimitsCommandInput,
  DescribeLimitsCommandOutput,
  ExecuteStatementCommandInput,
  ExecuteStatementCommandOutput,
  ExecuteTransactionCommandInput,
  ExecuteTransactionCommandOutput,
  ListTablesCommandInput,
  ListTablesCommandOutput,
  ListTagsOfResourceCommandInput,
  ListTagsOfResourceCommandOutput,
  TagResourceCommandInput,
  TagResourceCommandOutput,
  UntagResourceCommandInput,
  UntagResourceCommandOutput,
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
  DescribeEndpoints: { input: DescribeEndpointsCommandInput; output: DescribeEndpointsCommandOutput }
}

/** The name of an operation that `store.call` runs. */
export type StoreOperation = keyof Operations
/** The input of an operation, with the SDK's type. */
export type StoreInput<Name extends StoreOperation> = Operations[Name]['input']
/** The output of an operation: the SDK's type without `$metadata`, because there was no HTTP request. */
export type StoreOutput<Name extends StoreOperation> = Omit<Operations[Name]['output'], '$metadata'>
