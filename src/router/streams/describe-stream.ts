import { POSITION_MAX, sequenceNumberOf } from '../../commit-log/sequence-number.js'
import { childrenOf, isShardId, type Shard, shardsAfter, shardsOf } from '../lineage/lineage.js'
import type { StreamRecord } from '../lineage/stream-record.js'
import { jsonReply } from '../request/reply.js'
import { streamArn } from '../shapes/table-name.js'
import { tableOperation } from '../tables/table-operation.js'
import { PAGE_MAX, pageLimitShape, shardIdShape, streamArnShape, streamOf } from './stream-request.js'

interface DescribeStreamInput {
  readonly StreamArn: string
  readonly Limit?: number
  readonly ExclusiveStartShardId?: string
  readonly ShardFilter?: { readonly Type: 'CHILD_SHARDS'; readonly ShardId: string }
}

export const describeStream = tableOperation<DescribeStreamInput>({
  name: 'DescribeStream',
  shape: {
    kind: 'struct',
    members: {
      StreamArn: streamArnShape,
      Limit: pageLimitShape,
      ExclusiveStartShardId: shardIdShape,
      ShardFilter: {
        kind: 'struct',
        members: {
          Type: { kind: 'string', required: true, values: ['CHILD_SHARDS'] },
          ShardId: { ...shardIdShape, required: true },
        },
      },
    },
  },

  run(catalog, input, scope) {
    const { stream } = streamOf(catalog, input.StreamArn, scope)
    const page: Shard[] = []
    let more = false
    for (const shard of shardsFor(stream, input)) {
      more = page.length === (input.Limit ?? PAGE_MAX)
      if (more) break
      page.push(shard)
    }
    return jsonReply({
      StreamDescription: {
        StreamArn: streamArn(stream.tableName, stream.label, scope.addressed.region),
        StreamLabel: stream.label,
        StreamStatus: stream.status,
        StreamViewType: stream.viewType,
        CreationRequestDateTime: Math.floor(stream.createdAtMicros / 1000) / 1000,
        TableName: stream.tableName,
        KeySchema: stream.keySchema,
        Shards: page.map(describeShard),
        ...(more && { LastEvaluatedShardId: page.at(-1)?.id }),
      },
    })
  },
})

/** A page is all that is made of them: there may be thousands. */
function shardsFor(
  stream: StreamRecord,
  { ExclusiveStartShardId: start, ShardFilter: filter }: DescribeStreamInput,
): Iterable<Shard> {
  if (filter === undefined) return start === undefined ? shardsOf(stream) : shardsAfter(stream, start)
  const children = childrenOf(stream, filter.ShardId)
  return start === undefined ? children : children.filter(({ id }) => isShardId(start) && id > start)
}

function describeShard(shard: Shard): object {
  return {
    ShardId: shard.id,
    SequenceNumberRange: sequenceNumberRange(shard),
    ...(shard.parentId !== undefined && { ParentShardId: shard.parentId }),
  }
}

/** A shard that was closed before anything was in it has one number, and no record with that. */
function sequenceNumberRange({ from, to }: Shard): object {
  const first = sequenceNumberOf({ number: from, position: 0 })
  if (to === undefined) return { StartingSequenceNumber: first }
  const last = to < from ? first : sequenceNumberOf({ number: to, position: POSITION_MAX })
  return { StartingSequenceNumber: first, EndingSequenceNumber: last }
}
