// A reader of a stream with one open shard, over the wire. It outlives the server: it goes on with the iterator that it has,
// or with the number of its last record.
import { call } from './killed-server.js'
import type { ReadRecord } from './stream-judge.js'

const TARGET = 'DynamoDBStreams_20120810'
const LOOK_MS = 5

interface Shard {
  readonly ShardId: string
}

export class StreamReader {
  readonly #arn: string
  readonly #take: (record: ReadRecord) => void
  #shardId: string | undefined
  #iterator: string | undefined
  /** In the present shard. */
  #lastSequence: string | undefined
  #shards = 0

  constructor(arn: string, take: (record: ReadRecord) => void) {
    this.#arn = arn
    this.#take = take
  }

  /** Shards read so far. */
  get shards(): number {
    return this.#shards
  }

  /** The iterator is lost, as with a reader that was started anew: what is kept is the number of the last record. */
  forgetIterator(): void {
    this.#iterator = undefined
  }

  /** Reads on until that is so; a server that does not answer is asked again. */
  async follow(url: string, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const hasMore = await this.#step(url).catch(() => false)
      if (!hasMore) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  /** True if there were records. */
  async #step(url: string): Promise<boolean> {
    this.#shardId ??= await this.#firstShard(url)
    this.#iterator ??= await this.#place(url)
    const answer = (await call(url, 'GetRecords', { ShardIterator: this.#iterator }, TARGET)) as {
      readonly Records: readonly ReadRecord[]
      readonly NextShardIterator?: string
    }
    for (const record of answer.Records) {
      this.#take(record)
      this.#lastSequence = record.dynamodb.SequenceNumber
    }
    this.#iterator = answer.NextShardIterator
    if (this.#iterator === undefined) await this.#enterChild(url)
    return answer.Records.length > 0
  }

  async #place(url: string): Promise<string> {
    const where =
      this.#lastSequence === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: this.#lastSequence }
    const input = { StreamArn: this.#arn, ShardId: this.#shardId, ...where }
    const answer = await call(url, 'GetShardIterator', input, TARGET)
    return (answer as { readonly ShardIterator: string }).ShardIterator
  }

  async #firstShard(url: string): Promise<string> {
    const [first] = await this.#describe(url, {})
    if (first === undefined) throw new Error('a stream without a shard')
    this.#shards = 1
    return first.ShardId
  }

  /** Should the server die meanwhile, the end of the shard is read once more. */
  async #enterChild(url: string): Promise<void> {
    const children = await this.#describe(url, {
      ShardFilter: { Type: 'CHILD_SHARDS', ShardId: this.#shardId },
    })
    const [child] = children
    if (child === undefined || children.length > 1)
      throw new Error(`a closed shard has ${children.length} children`)
    this.#shardId = child.ShardId
    this.#lastSequence = undefined
    this.#shards += 1
  }

  async #describe(url: string, more: object): Promise<readonly Shard[]> {
    const answer = await call(url, 'DescribeStream', { StreamArn: this.#arn, ...more }, TARGET)
    return (answer as { readonly StreamDescription: { readonly Shards: readonly Shard[] } }).StreamDescription
      .Shards
  }
}
