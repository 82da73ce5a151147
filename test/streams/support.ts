// A store with tables that have streams, the official clients over a real port, and a clock that stands still.
import { type CreateTableCommandInput, DynamoDB, type StreamViewType } from '@aws-sdk/client-dynamodb'
import { type _Record, DynamoDBStreams, type Shard } from '@aws-sdk/client-dynamodb-streams'
import type { TestContext } from 'node:test'
import { type ManualClock, manualClock } from '../../src/runtime/manual-clock.js'
import { open, type OpenOptions, type Store } from '../../src/store/store.js'

export const START_MS = Date.parse('2030-01-01T12:00:00.250Z')
export const HOUR_MS = 3_600_000

export interface StreamStore {
  readonly store: Store
  readonly clock: ManualClock
  readonly url: string
  readonly dynamodb: DynamoDB
  readonly streams: DynamoDBStreams
  /** Moves the clock, and waits until what is due by then is done. */
  advance(ms: number): Promise<void>
}

export async function openStreams(t: TestContext, options: Partial<OpenOptions> = {}): Promise<StreamStore> {
  const clock = manualClock(START_MS)
  const store = await open({ memory: true, clock, ...options } as OpenOptions)
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0 })
  const clients = clientsOf(url)
  t.after(() => {
    clients.dynamodb.destroy()
    clients.streams.destroy()
  })
  return {
    store,
    clock,
    url,
    ...clients,
    async advance(ms) {
      clock.advance(ms)
      await store.idle()
    },
  }
}

export function clientsOf(
  endpoint: string,
  region = 'us-east-1',
): { readonly dynamodb: DynamoDB; readonly streams: DynamoDBStreams } {
  const config = {
    endpoint,
    region,
    maxAttempts: 1,
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
  }
  return { dynamodb: new DynamoDB(config), streams: new DynamoDBStreams(config) }
}

export const table = (
  TableName: string,
  StreamViewType?: StreamViewType,
  more: Partial<CreateTableCommandInput> = {},
): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  ...(StreamViewType && { StreamSpecification: { StreamEnabled: true, StreamViewType } }),
  ...more,
})

/** Makes a table with a stream, and answers its ARN. */
export async function streamed(
  { dynamodb }: Pick<StreamStore, 'dynamodb'>,
  name: string,
  view: StreamViewType = 'NEW_AND_OLD_IMAGES',
  more: Partial<CreateTableCommandInput> = {},
): Promise<string> {
  const { TableDescription } = await dynamodb.createTable(table(name, view, more))
  return TableDescription!.LatestStreamArn!
}

export const put = async (
  { dynamodb }: Pick<StreamStore, 'dynamodb'>,
  TableName: string,
  id: string,
  more: Record<string, { S: string } | { N: string }> = {},
): Promise<void> => {
  await dynamodb.putItem({ TableName, Item: { id: { S: id }, ...more } })
}

type Streams = Pick<StreamStore, 'streams'>

/** All of a stream, by pages. */
export async function shardsOf({ streams }: Streams, StreamArn: string, Limit = 3): Promise<Shard[]> {
  const shards: Shard[] = []
  for (let start: string | undefined; ;) {
    const { StreamDescription: page } = await streams.describeStream({
      StreamArn,
      Limit,
      ...(start !== undefined && { ExclusiveStartShardId: start }),
    })
    shards.push(...page!.Shards!)
    start = page!.LastEvaluatedShardId
    if (start === undefined) return shards
  }
}

export async function iteratorOf(
  { streams }: Streams,
  StreamArn: string,
  ShardId: string,
  from: 'TRIM_HORIZON' | 'LATEST' | { readonly at: string } | { readonly after: string } = 'TRIM_HORIZON',
): Promise<string> {
  const start =
    typeof from === 'string'
      ? { ShardIteratorType: from }
      : 'at' in from
        ? { ShardIteratorType: 'AT_SEQUENCE_NUMBER' as const, SequenceNumber: from.at }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber: from.after }
  const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId, ...start })
  return ShardIterator!
}

/** From an iterator on until nothing more is there; `next` is absent at the end of a closed shard. */
export async function readOn(
  { streams }: Streams,
  iterator: string,
  Limit?: number,
): Promise<{ readonly records: _Record[]; readonly next: string | undefined }> {
  const records: _Record[] = []
  for (let next: string | undefined = iterator; ;) {
    const page: { Records?: _Record[] | undefined; NextShardIterator?: string | undefined } =
      await streams.getRecords({ ShardIterator: next, ...(Limit !== undefined && { Limit }) })
    records.push(...page.Records!)
    next = page.NextShardIterator
    if (next === undefined || page.Records!.length === 0) return { records, next }
  }
}

/** Every record that is kept, shard after shard. */
export async function readAll(reader: Streams, arn: string): Promise<_Record[]> {
  const records: _Record[] = []
  for (const { ShardId } of await shardsOf(reader, arn))
    records.push(...(await readOn(reader, await iteratorOf(reader, arn, ShardId!))).records)
  return records
}

export const idsOf = (records: readonly _Record[]): string[] =>
  records.map((record) => record.dynamodb!.Keys!['id']!.S!)

/** `Name: message`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'answered'
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
}
