// The operations of `store.call`, with the SDK's own types for their input and output.
import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  BatchWriteItemCommandInput,
  BatchWriteItemCommandOutput,
  CreateTableCommandInput,
  CreateTableCommandOutput,
  DeleteItemCommandInput,
  DeleteItemCommandOutput,
  DeleteTableCommandInput,
  DeleteTableCommandOutput,
  DescribeEndpointsCommandInput,
  DescribeEndpointsCommandOutput,
  DescribeLimitsCommandInput,
  DescribeLimitsCommandOutput,
  DescribeTableCommandInput,
  DescribeTableCommandOutput,
  DescribeTimeToLiveCommandInput,
  DescribeTimeToLiveCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  ListTablesCommandInput,
  ListTablesCommandOutput,
  ListTagsOfResourceCommandInput,
  ListTagsOfResourceCommandOutput,
  PutItemCommandInput,
  PutItemCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  TagResourceCommandInput,
  TagResourceCommandOutput,
  TransactGetItemsCommandInput,
  TransactGetItemsCommandOutput,
  TransactWriteItemsCommandInput,
  TransactWriteItemsCommandOutput,
  UntagResourceCommandInput,
  UntagResourceCommandOutput,
  UpdateItemCommandInput,
  UpdateItemCommandOutput,
  UpdateTableCommandInput,
  UpdateTableCommandOutput,
  UpdateTimeToLiveCommandInput,
  UpdateTimeToLiveCommandOutput,
} from '@aws-sdk/client-dynamodb'

interface Operations {
  CreateTable: { input: CreateTableCommandInput; output: CreateTableCommandOutput }
  DeleteTable: { input: DeleteTableCommandInput; output: DeleteTableCommandOutput }
  DescribeTable: { input: DescribeTableCommandInput; output: DescribeTableCommandOutput }
  UpdateTable: { input: UpdateTableCommandInput; output: UpdateTableCommandOutput }
  ListTables: { input: ListTablesCommandInput; output: ListTablesCommandOutput }
  GetItem: { input: GetItemCommandInput; output: GetItemCommandOutput }
  PutItem: { input: PutItemCommandInput; output: PutItemCommandOutput }
  UpdateItem: { input: UpdateItemCommandInput; output: UpdateItemCommandOutput }
  DeleteItem: { input: DeleteItemCommandInput; output: DeleteItemCommandOutput }
  Query: { input: QueryCommandInput; output: QueryCommandOutput }
  Scan: { input: ScanCommandInput; output: ScanCommandOutput }
  BatchGetItem: { input: BatchGetItemCommandInput; output: BatchGetItemCommandOutput }
  BatchWriteItem: { input: BatchWriteItemCommandInput; output: BatchWriteItemCommandOutput }
  TransactGetItems: { input: TransactGetItemsCommandInput; output: TransactGetItemsCommandOutput }
  TransactWriteItems: { input: TransactWriteItemsCommandInput; output: TransactWriteItemsCommandOutput }
  UpdateTimeToLive: { input: UpdateTimeToLiveCommandInput; output: UpdateTimeToLiveCommandOutput }
  DescribeTimeToLive: { input: DescribeTimeToLiveCommandInput; output: DescribeTimeToLiveCommandOutput }
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
