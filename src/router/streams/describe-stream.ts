import { POSITION_MAX, sequenceNumberOf } from '../../commit-log/sequence-number.js'
import { isShardId, type Shard, shardsOf } from '../lineage/lineage.js'
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
    const shards = shardsOf(stream).filter(
      (shard) => isAfter(shard, input.ExclusiveStartShardId) && passes(shard, input.ShardFilter),
    )
    const page = shards.slice(0, input.Limit ?? PAGE_MAX)
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
        ...(page.length < shards.length && { LastEvaluatedShardId: page.at(-1)?.id }),
      },
    })
  },
})

/** A shard that is not kept any more still has its place in the order; nothing comes after what never was an id. */
const isAfter = (shard: Shard, start: string | undefined): boolean =>
  start === undefined || (isShardId(start) && shard.id > start)

const passes = (shard: Shard, filter: DescribeStreamInput['ShardFilter']): boolean =>
  filter === undefined || shard.parentId === filter.ShardId

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
