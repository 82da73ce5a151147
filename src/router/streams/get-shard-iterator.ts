import { type ChangePosition, positionIn } from '../../commit-log/sequence-number.js'
import { validationError } from '../../model/errors.js'
import type { Shard } from '../lineage/lineage.js'
import { jsonReply } from '../request/reply.js'
import { streamArn } from '../shapes/table-name.js'
import { invalid } from '../tables/record/table-definition.js'
import { tableOperation } from '../tables/table-operation.js'
import { sealIterator } from './iterators.js'
import { existingShard, shardIdShape, streamArnShape, streamOf, trimmedData } from './stream-request.js'

interface GetShardIteratorInput {
  readonly StreamArn: string
  readonly ShardId: string
  readonly ShardIteratorType: 'TRIM_HORIZON' | 'LATEST' | 'AT_SEQUENCE_NUMBER' | 'AFTER_SEQUENCE_NUMBER'
  readonly SequenceNumber?: string
}

export const getShardIterator = tableOperation<GetShardIteratorInput>({
  name: 'GetShardIterator',
  shape: {
    kind: 'struct',
    members: {
      StreamArn: streamArnShape,
      ShardId: { ...shardIdShape, required: true },
      ShardIteratorType: {
        kind: 'string',
        required: true,
        values: ['TRIM_HORIZON', 'LATEST', 'AT_SEQUENCE_NUMBER', 'AFTER_SEQUENCE_NUMBER'],
      },
      SequenceNumber: { kind: 'string', lengthMin: 21, lengthMax: 40 },
    },
  },

  async run(catalog, input, scope, { runtime }) {
    checkSequenceNumber(input)
    const open = streamOf(catalog, input.StreamArn, scope)
    const { stream } = open
    const shard = existingShard(open, input.ShardId)
    const horizon = await catalog.keeper.horizon()
    // After the wait, in one stretch with the answer: of what is written once the client has it, nothing is left out.
    const reach = { horizon, last: catalog.keeper.visible(stream) }
    const place = { shardId: shard.id, ...startOf(input, shard, reach) }
    const arn = streamArn(stream.tableName, stream.label, scope.addressed.region)
    const { id: principalId } = scope.principal
    const sealing = { stream, principalId, nowMicros: runtime.clock.nowMicros() }
    return jsonReply({ ShardIterator: sealIterator(arn, place, sealing) })
  },
})

function checkSequenceNumber({
  ShardIteratorType: type,
  SequenceNumber: number,
}: GetShardIteratorInput): void {
  const isNeeded = type === 'AT_SEQUENCE_NUMBER' || type === 'AFTER_SEQUENCE_NUMBER'
  if (isNeeded && number === undefined) throw invalid('Invalid SequenceNumber')
  if (!isNeeded && number !== undefined)
    throw invalid('SequenceNumber should not be passed for this iterator type')
}

interface Reach {
  /** Number of the first record that is not too old. */
  readonly horizon: number
  /** Of the last one that can be read. */
  readonly last: number
}

/** Where the reader begins. */
function startOf(input: GetShardIteratorInput, shard: Shard, reach: Reach): ChangePosition {
  switch (input.ShardIteratorType) {
    case 'TRIM_HORIZON':
      return { number: Math.max(shard.from, reach.horizon), position: 0 }
    case 'LATEST':
      return { number: (shard.to ?? reach.last) + 1, position: 0 }
    case 'AT_SEQUENCE_NUMBER':
      return namedPosition(input, shard, reach)
    case 'AFTER_SEQUENCE_NUMBER': {
      const { number, position } = namedPosition(input, shard, reach)
      return { number, position: position + 1 }
    }
  }
}

function namedPosition(
  { SequenceNumber: text = '' }: GetShardIteratorInput,
  shard: Shard,
  { horizon, last }: Reach,
): ChangePosition {
  const place = positionIn(text)
  if (place === undefined) throw invalid('Invalid SequenceNumber')
  // The first number of a shard is good even if nothing has been written yet.
  const end = Math.max(shard.from, shard.to ?? last + 1)
  if (place.number < shard.from || place.number > end)
    throw place.number < horizon ? trimmedData() : validationError('Invalid SequenceNumber for the shard')
  if (place.number < horizon) throw trimmedData()
  return place
}
