// A store behind a real port with a file of keys, and the official SDK as each of them.
import { type AttributeValue, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams'
import type { TestContext } from 'node:test'
import type { Access, OperationName } from '../../src/router/request/access.js'
import { type AuthKey, authOf } from '../../src/server/access/auth.js'
import { open, type OpenOptions, type Store } from '../../src/store/store.js'
import { clientEndpoint } from '../../src/toolkit/endpoint/endpoint.js'

export interface Answer {
  readonly [member: string]: unknown
}

/** One key, as a client of its own. */
export interface KeyHolder {
  readonly client: DynamoDBClient
  call(operation: OperationName, input: object): Promise<Answer>
  /** The name of the refusal, or `answered`. */
  outcome(operation: OperationName, input: object): Promise<string>
}

export interface KeyedStore {
  readonly store: Store
  readonly url: string
  /** A key of the file, by its access key id. */
  readonly as: (accessKeyId: string) => KeyHolder
}

const EXTENSIONS: ReadonlySet<OperationName> = new Set([
  'GetBlock',
  'GetDigest',
  'GetLedgerFile',
  'GetRevision',
  'ListContention',
  'ListRevisions',
  'ListTransactions',
  'RestoreTables',
  'RedactRevision',
  'UnitCommit',
  'UnitEnd',
  'UnitGetItems',
  'UnitOutcome',
  'UnitQuery',
  'UnitScan',
  'WaitForItem',
])

const STREAMS = {
  ListStreams: (client: DynamoDBStreams, input: never) => client.listStreams(input),
  DescribeStream: (client: DynamoDBStreams, input: never) => client.describeStream(input),
  GetShardIterator: (client: DynamoDBStreams, input: never) => client.getShardIterator(input),
  GetRecords: (client: DynamoDBStreams, input: never) => client.getRecords(input),
}

export const key = (
  accessKeyId: string,
  access: readonly Access[],
  tables: readonly string[] = ['*'],
): AuthKey => ({ accessKeyId, secretAccessKey: `secret of ${accessKeyId}`, tables, access })

export async function openKeyed(
  t: TestContext,
  keys: readonly AuthKey[],
  options: Partial<OpenOptions> = {},
): Promise<KeyedStore> {
  const store = await open({ memory: true, ...options } as OpenOptions)
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0, auth: authOf(keys) })
  const holders = new Map(
    keys.map((each) => {
      const holder = holderOf(url, each)
      t.after(() => holder.client.destroy())
      return [each.accessKeyId, holder]
    }),
  )
  return { store, url, as: (accessKeyId) => holders.get(accessKeyId) as KeyHolder }
}

function holderOf(url: string, { accessKeyId, secretAccessKey }: AuthKey): KeyHolder {
  const config = {
    endpoint: url,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey },
  }
  const client = new DynamoDBClient(config)
  const endpoint = clientEndpoint(client)
  const streams = new DynamoDBStreams(config)
  const holder: KeyHolder = {
    client,
    async call(operation, input) {
      if (operation in STREAMS)
        return { ...(await STREAMS[operation as keyof typeof STREAMS](streams, input as never)) }
      if (EXTENSIONS.has(operation)) return (await endpoint.extension(operation, input)) as Answer
      return { ...(await endpoint.call(operation as 'GetItem', input as never)) }
    },
    async outcome(operation, input) {
      try {
        await holder.call(operation, input)
        return 'answered'
      } catch (error) {
        return (error as Error).name
      }
    },
  }
  return holder
}

export const tableOf = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
})

export const Key = (id: string): Record<string, AttributeValue> => ({ id: { S: id } })
