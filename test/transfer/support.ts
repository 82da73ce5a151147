// A store with buckets, the SDK's client on it, and what exports and imports need again and again.
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type {
  AttributeValue,
  DynamoDB,
  ExportDescription,
  ExportTableToPointInTimeCommandInput,
  ImportTableCommandInput,
  ImportTableDescription,
} from '@aws-sdk/client-dynamodb'
import type { OpenOptions, Store } from '../../src/store/store.js'
import { openLocalStore } from '../../src/store/local-store.js'
import { testFolder } from '../support/folder.js'

export interface TransferPlace {
  readonly store: Store
  readonly client: DynamoDB
  /** The folder of the bucket `shop`. */
  readonly folder: string
  readonly root: string
  readonly errors: unknown[]
}

export async function transferPlace(
  t: Pick<TestContext, 'after'>,
  options: Partial<OpenOptions> = {},
): Promise<TransferPlace> {
  const root = join(testFolder(), 'buckets')
  const folder = join(root, 'shop')
  mkdirSync(folder, { recursive: true })
  const errors: unknown[] = []
  const store = await openLocalStore({
    memory: true,
    buckets: root,
    onError: (error) => errors.push(error),
    ...options,
  } as OpenOptions)
  t.after(() => store.close())
  return { store, client: store.client(), folder, root, errors }
}

/** A table with a partition key `p`, ready to be exported. */
export async function createTable(client: DynamoDB, TableName: string): Promise<string> {
  const { TableDescription } = await client.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }],
  })
  await enablePointInTime(client, TableName)
  return TableDescription!.TableArn!
}

/** Without it there is no export. */
export async function enablePointInTime(client: DynamoDB, TableName: string): Promise<void> {
  await client.updateContinuousBackups({
    TableName,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  })
}

export async function exported(
  { client, store }: TransferPlace,
  input: Partial<ExportTableToPointInTimeCommandInput> & { readonly TableArn: string },
): Promise<ExportDescription> {
  const begun = await client.exportTableToPointInTime({ S3Bucket: 'shop', ...input })
  await store.idle()
  return (await client.describeExport({ ExportArn: begun.ExportDescription!.ExportArn })).ExportDescription!
}

export const importInput = (
  TableName: string,
  { prefix, ...more }: Partial<ImportTableCommandInput> & { readonly prefix?: string } = {},
): ImportTableCommandInput => ({
  S3BucketSource: { S3Bucket: 'shop', ...(prefix !== undefined && { S3KeyPrefix: prefix }) },
  InputFormat: 'DYNAMODB_JSON',
  InputCompressionType: 'NONE',
  TableCreationParameters: {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }],
  },
  ...more,
})

export async function imported(
  { client, store }: TransferPlace,
  input: ImportTableCommandInput,
): Promise<ImportTableDescription> {
  const begun = await client.importTable(input)
  await store.idle()
  return (await client.describeImport({ ImportArn: begun.ImportTableDescription!.ImportArn }))
    .ImportTableDescription!
}

export async function itemsOf(
  client: DynamoDB,
  TableName: string,
): Promise<Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = []
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined
  do {
    const answer = await client.scan({
      TableName,
      ConsistentRead: true,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    })
    items.push(...answer.Items!)
    ExclusiveStartKey = answer.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return items.toSorted((one, other) => (one['p']!.S! < other['p']!.S! ? -1 : 1))
}

/** Keys of the files in a folder, in order. */
export function keysIn(folder: string, under = ''): string[] {
  return readdirSync(join(folder, under))
    .flatMap((name) => {
      const key = under === '' ? name : `${under}/${name}`
      return lstatSync(join(folder, key)).isDirectory() ? keysIn(folder, key) : [key]
    })
    .toSorted()
}

export function putObject(folder: string, key: string, body: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, key)), { recursive: true })
  writeFileSync(join(folder, key), body)
}

export const readObject = (folder: string, key: string): Buffer => readFileSync(join(folder, key))

/** Lines of all files of data below a prefix. */
export const linesIn = (folder: string, prefix: string): string[] =>
  keysIn(folder)
    .filter((key) => key.startsWith(prefix) && key.endsWith('.gz'))
    .flatMap((key) => gunzipSync(readObject(folder, key)).toString().split('\n').slice(0, -1))
