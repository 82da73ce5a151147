// The operations of DynamoDB that the toolkit uses, with the SDK's own types.
import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  CreateTableCommandInput,
  CreateTableCommandOutput,
  DeleteItemCommandInput,
  DeleteItemCommandOutput,
  DescribeTableCommandInput,
  DescribeTableCommandOutput,
  DescribeTimeToLiveCommandInput,
  DescribeTimeToLiveCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  PutItemCommandInput,
  PutItemCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  TransactGetItemsCommandInput,
  TransactGetItemsCommandOutput,
  TransactWriteItemsCommandInput,
  TransactWriteItemsCommandOutput,
  UpdateItemCommandInput,
  UpdateItemCommandOutput,
  UpdateTimeToLiveCommandInput,
  UpdateTimeToLiveCommandOutput,
} from '@aws-sdk/client-dynamodb'

/** By name; a store answers these, and more. */
export interface EndpointOperations {
  BatchGetItem: { input: BatchGetItemCommandInput; output: BatchGetItemCommandOutput }
  CreateTable: { input: CreateTableCommandInput; output: CreateTableCommandOutput }
  DeleteItem: { input: DeleteItemCommandInput; output: DeleteItemCommandOutput }
  DescribeTable: { input: DescribeTableCommandInput; output: DescribeTableCommandOutput }
  DescribeTimeToLive: { input: DescribeTimeToLiveCommandInput; output: DescribeTimeToLiveCommandOutput }
  GetItem: { input: GetItemCommandInput; output: GetItemCommandOutput }
  PutItem: { input: PutItemCommandInput; output: PutItemCommandOutput }
  Query: { input: QueryCommandInput; output: QueryCommandOutput }
  Scan: { input: ScanCommandInput; output: ScanCommandOutput }
  TransactGetItems: { input: TransactGetItemsCommandInput; output: TransactGetItemsCommandOutput }
  TransactWriteItems: { input: TransactWriteItemsCommandInput; output: TransactWriteItemsCommandOutput }
  UpdateItem: { input: UpdateItemCommandInput; output: UpdateItemCommandOutput }
  UpdateTimeToLive: { input: UpdateTimeToLiveCommandInput; output: UpdateTimeToLiveCommandOutput }
}

/** The name of an operation of DynamoDB that the toolkit uses. */
export type EndpointOperation = keyof EndpointOperations
/** The input of such an operation, with the SDK's type. */
export type EndpointInput<Name extends EndpointOperation> = EndpointOperations[Name]['input']
/** The output of such an operation: the SDK's type without `$metadata`, which not every endpoint has. */
export type EndpointOutput<Name extends EndpointOperation> = Omit<
  EndpointOperations[Name]['output'],
  '$metadata'
>
