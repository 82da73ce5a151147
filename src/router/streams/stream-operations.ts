// DynamoDB Streams: what was written to a table, in order, for 24 hours.
//
//   table --StreamSpecification--> log of commits: records of the table --> shards by hash and time --> GetRecords
//
// A stream has no data of its own. The catalogue says which part of the log it is, and how that is divided into shards
// (lineage/); these operations read both. They are asked for under DynamoDBStreams_20120810.
//
// May import: tables (the catalogue) and all below it, the log of commits (its interface).
import type { Operation } from '../request/context.js'
import { describeStream } from './describe-stream.js'
import { getRecords } from './get-records.js'
import { getShardIterator } from './get-shard-iterator.js'
import { listStreams } from './list-streams.js'

export const streamOperations: readonly Operation[] = [
  listStreams,
  describeStream,
  getShardIterator,
  getRecords,
]
