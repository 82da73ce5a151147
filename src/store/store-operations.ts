// The operations of `store.call`, with the SDK's own types for their input and output.
import type {
  BatchWriteItemCommandInput,
  BatchWriteItemCommandOutput,
  DeleteTableCommandInput,
  DeleteTableCommandOutput,
  DescribeEndpointsCommandInput,
  DescribeEndpointsCommandOutput,
  DescribeLimitsCommandInput,
  DescribeLimitsCommandOutput,
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

/** Those of any endpoint, and what only whoever owns the store asks for. */
interface Operations extends EndpointOperations {
  DeleteTable: { input: DeleteTableCommandInput; output: DeleteTableCommandOutput }
  UpdateTable: { input: UpdateTableCommandInput; output: UpdateTableCommandOutput }
  ListTables: { input: ListTablesCommandInput; output: ListTablesCommandOutput }
  BatchWriteItem: { input: BatchWriteItemCommandInput; output: BatchWriteItemCommandOutput }
  TagResource: { input: TagResourceCommandInput; output: TagResourceCommandOutput }
  UntagResource: { input: UntagResourceCommandInput; output: UntagResourceCommandOutput }
  ListTagsOfResource: { input: ListTagsOfResourceCommandInput; output: ListTagsOfResourceCommandOutput }
  DescribeLimits: { input: DescribeLimitsCommandInput; output: DescribeLimitsCommandOutput }
  DescribeEndpoints: { input: DescribeEndpointsCommandInput; output: DescribeEndpointsCommandOutput }
}

export type StoreOperation = keyof Operations
export type StoreInput<Name extends StoreOperation> = Operations[Name]['input']
/** The SDK's answer without the metadata of an HTTP exchange that did not happen. */
export type StoreOutput<Name extends StoreOperation> = Omit<Operations[Name]['output'], '$metadata'>
