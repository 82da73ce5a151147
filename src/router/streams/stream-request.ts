// What the operations on streams share: members of their requests, and finding the stream and the shard that they name.
import { DynamoError } from '../../model/errors.js'
import type { CommitLog } from '../../commit-log/commit-log.js'
import { shardOf, type Shard } from '../lineage/lineage.js'
import { streamKey, type StreamRecord } from '../lineage/stream-record.js'
import type { RequestScope } from '../request/context.js'
import type { NumberShape, StringShape } from '../shapes/shape.js'
import { streamOfArn } from '../shapes/table-name.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'

export const streamArnShape: StringShape = { kind: 'string', required: true, lengthMin: 37, lengthMax: 1024 }
export const shardIdShape: StringShape = { kind: 'string', lengthMin: 28, lengthMax: 65 }
export const PAGE_MAX = 100
export const pageLimitShape: NumberShape = { kind: 'integer', valueMin: 1, valueMax: PAGE_MAX }

/** A stream that there is, and the log that it is a part of. */
export interface OpenStream {
  readonly arn: string
  readonly stream: StreamRecord
  readonly log: CommitLog
}

/** Access to the table is asked for first: others are not even told whether there is such a stream. */
export function streamOf(catalog: TableCatalog, arn: string, scope: RequestScope): OpenStream {
  const named = streamOfArn(arn)
  scope.authorise(named.tableName)
  const stream = catalog.stream(streamKey(named))
  const { log } = catalog.keeper
  if (stream === undefined || log === undefined) {
    throw new DynamoError(
      'ResourceNotFoundException',
      `Requested resource not found: Stream: ${arn} not found`,
    )
  }
  return { arn, stream, log }
}

export function existingShard({ arn, stream }: OpenStream, shardId: string): Shard {
  const shard = shardOf(stream, shardId)
  if (shard !== undefined) return shard
  throw new DynamoError(
    'ResourceNotFoundException',
    `Requested resource not found: Shard: ${shardId} in Stream: ${arn} not found`,
  )
}

export const trimmedData = (): DynamoError =>
  new DynamoError('TrimmedDataAccessException', 'The data you are trying to access has been trimmed')
