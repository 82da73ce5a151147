// A client of the table's stream that never stops, through every crash and restart. It asks what a client of DynamoDB Streams
// asks (DescribeStream, GetShardIterator, GetRecords, of the real operations), and reads the children of a shard once that one has
// been read to its end. What it has for an item must be the item's history: once each, in order, and whichever shard it was in.
//
//   shard 0 -----------> read to its end --children--> shard 0 | shard 1 --> ...
//
// It stands outside, as the follower of the log does, and draws from a source of its own. Now and then it gives the table more
// capacity, so that its next shards are more.
import type { Item } from '../src/model/value.js'
import { changesOf, positionIn, sequenceNumberOf } from '../src/commit-log/sequence-number.js'
import type { CommitRecord } from '../src/commit-log/commit-record.js'
import type { RouterContext } from '../src/router/request/context.js'
import { streamArn } from '../src/router/shapes/table-name.js'
import { streamOperations } from '../src/router/streams/stream-operations.js'
import type { TableCatalog } from '../src/router/tables/catalog/catalog.js'
import { ownerScope } from '../src/router/units/direct.js'
import { Random } from '../src/runtime/seeded-random.js'
import { mayFail } from './archive.js'
import { brief, type Image, imageText } from './history.js'
import type { Machine } from './machine.js'
import type { Life, Surroundings } from './process.js'
import type { Recorder } from './recorder.js'
import { TABLE } from './table.js'

const SOURCE = 8 * 2 ** 32
const PAUSE_MICROS = { min: 100, max: 200_000 }
/** Of one shard, before others have their turn. */
const PAGES_MAX = 4
const RECORDS_MAX = 20
/** Now and then an iterator is not gone on with: another is asked for, from the last record on. */
const BEGUN_ANEW = 0.2
const MORE_CAPACITY = 0.01
const WRITE_UNITS = [1500, 3000, 6000] as const
/** An answer may be empty though there is more: a request looks at a bounded number of pages of the log. */
const RECORDS_PER_ANSWER_MIN = 16

/** The catalogue of the present life. */
export interface Streamed {
  readonly life: Life
  readonly catalog: TableCatalog
}

interface Shard {
  readonly id: string
  /** Number of the first record that may be in it. */
  readonly from: number
  iterator?: string | undefined
  /** Sequence number of the last record of it. */
  last?: string | undefined
  /** It is begun anew behind what was trimmed. After a restart that may be there again: only removed files are gone for good. */
  isTrimmed?: boolean
}

interface StreamedItem {
  readonly sequenceNumber: string
  readonly image: string
}

interface WireRecord {
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  readonly dynamodb: {
    readonly Keys: Item
    readonly OldImage?: Item
    readonly NewImage?: Item
    readonly SequenceNumber: string
  }
}

interface WireShard {
  readonly ShardId: string
  readonly SequenceNumberRange: { readonly StartingSequenceNumber: string }
  readonly ParentShardId?: string
}

interface Answers {
  readonly DescribeStream: {
    readonly StreamDescription: {
      readonly StreamStatus: string
      readonly Shards: readonly WireShard[]
      readonly LastEvaluatedShardId?: string
    }
  }
  readonly GetShardIterator: { readonly ShardIterator: string }
  readonly GetRecords: { readonly Records: readonly WireRecord[]; readonly NextShardIterator?: string }
}

const OPERATIONS = new Map(streamOperations.map((operation) => [operation.name as string, operation]))

export class StreamFollower {
  readonly #machine: Machine
  readonly #around: Surroundings
  readonly #recorder: Recorder
  readonly #random: Random
  #isBegun = false
  readonly #open: Shard[] = []
  readonly #done = new Set<string>()
  readonly #seen = new Set<string>()
  readonly #items = new Map<string, StreamedItem>()
  /** Nothing was trimmed before it was read. */
  #isWhole = true
  /** The life that has been asked and has not answered. */
  #asked: Life | undefined

  constructor(machine: Machine, around: Surroundings, recorder: Recorder, seed: number) {
    this.#machine = machine
    this.#around = around
    this.#recorder = recorder
    this.#random = new Random(seed + SOURCE)
  }

  /** As long as there is trouble. */
  start(): void {
    const { scheduler, trouble } = this.#around
    scheduler.after(this.#random.skewed(PAUSE_MICROS.min, PAUSE_MICROS.max), 'stream follower', () => {
      if (!trouble.on) return
      const { streamed } = this.#machine
      // A life that has ended never answers.
      if (streamed !== undefined && streamed.life !== this.#asked) void this.#look(streamed)
      this.start()
    })
  }

  /** At rest: the stream is read to its end, and is what the log has of the table. `first`: what is kept begins there. */
  async finish(records: readonly CommitRecord[], first: number): Promise<void> {
    const { streamed } = this.#machine
    if (streamed === undefined) return this.#found('no-stream', 'the machine is up without its catalogue')
    if (!this.#isBegun) await this.#begin(streamed)
    // A roll that a disk has refused is tried again later, and until then nothing behind it is shown.
    await streamed.catalog.keeper.idle()
    const looksMax = 2 + records.length / RECORDS_PER_ANSWER_MIN
    for (let looks = 0; looks < looksMax; looks++) {
      const before = this.#seen.size + this.#done.size
      for (const shard of this.#open) await this.#readTolerantly(streamed, shard)
      if (this.#seen.size + this.#done.size > before) looks = 0
    }
    const { tally } = this.#around
    tally.add('stream/records', '', this.#seen.size)
    tally.add('stream/shards read to their end', '', this.#done.size)
    const logged = records.flatMap((record) => changesOf(record, TABLE.space).map(sequenceNumberOf))
    if (!this.#isWhole || first > 1) return
    for (const sequenceNumber of logged)
      if (!this.#seen.has(sequenceNumber)) this.#found('stream-lost', `${sequenceNumber} is in no shard`)
    if (this.#seen.size > logged.length)
      this.#found('stream-invented', `${this.#seen.size} records of ${logged.length} changes`)
  }

  async #look(streamed: Streamed): Promise<void> {
    const { life } = streamed
    this.#asked = life
    try {
      if (!this.#isBegun) await this.#begin(streamed)
      else if (this.#random.chance(MORE_CAPACITY)) await this.#giveCapacity(streamed)
      else await this.#readTolerantly(streamed, this.#random.pick(this.#open))
    } catch (error) {
      // Of a life that has ended nothing counts.
      const failure = error instanceof Error ? error : new Error(String(error))
      if (life.alive && !mayFail(failure))
        this.#found('stream-error', failure.stack ?? `${failure.name}: ${failure.message}`)
    } finally {
      if (this.#asked === life) this.#asked = undefined
    }
  }

  /** From the shards without a parent on. */
  async #begin(streamed: Streamed): Promise<void> {
    const roots: Shard[] = []
    for (let start: string | undefined; ;) {
      const { Shards, LastEvaluatedShardId } = await this.#describe(streamed, {
        Limit: 5,
        ...(start !== undefined && { ExclusiveStartShardId: start }),
      })
      for (const shard of Shards) if (shard.ParentShardId === undefined) roots.push(begun(shard))
      start = LastEvaluatedShardId
      if (start === undefined) break
    }
    if (!streamed.life.alive) return
    this.#open.push(...roots)
    this.#isBegun = true
  }

  async #readTolerantly(streamed: Streamed, shard: Shard): Promise<void> {
    try {
      await this.#readOn(streamed, shard)
    } catch (error) {
      if (!streamed.life.alive || (error as Error).name !== 'TrimmedDataAccessException') throw error
      this.#around.tally.add('stream/trimmed before it was read')
      this.#isWhole = false
      shard.iterator = undefined
      shard.isTrimmed = true
    }
  }

  async #readOn(streamed: Streamed, shard: Shard): Promise<void> {
    const { life } = streamed
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      shard.iterator ??= await this.#iterator(streamed, shard)
      const page = await this.#call(streamed, 'GetRecords', {
        ShardIterator: shard.iterator,
        Limit: this.#random.between(1, RECORDS_MAX),
      })
      if (!life.alive) return
      for (const record of page.Records) this.#take(shard, record)
      const isAnew = this.#around.trouble.on && this.#random.chance(BEGUN_ANEW)
      shard.iterator = isAnew ? undefined : page.NextShardIterator
      if (page.NextShardIterator === undefined) return this.#goOn(streamed, shard)
      if (page.Records.length === 0) return
    }
  }

  async #iterator(streamed: Streamed, { id, from, last, isTrimmed }: Shard): Promise<string> {
    const start =
      last === undefined || isTrimmed === true
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last }
    const { ShardIterator } = await this.#call(streamed, 'GetShardIterator', {
      StreamArn: arnOf(streamed),
      ShardId: id,
      ...start,
    })
    // What begins at the horizon has what was trimmed before it left out.
    const { log } = this.#machine
    if (last === undefined && log !== undefined && log.first > from) this.#isWhole = false
    return ShardIterator
  }

  /** The shard has been read to its end. */
  async #goOn(streamed: Streamed, { id }: Shard): Promise<void> {
    const asks = this.#random.chance(0.5)
      ? { ShardFilter: { Type: 'CHILD_SHARDS', ShardId: id } }
      : { ExclusiveStartShardId: id }
    const { Shards } = await this.#describe(streamed, asks)
    if (!streamed.life.alive) return
    const children = Shards.filter(({ ParentShardId }) => ParentShardId === id)
    const at = this.#open.findIndex((shard) => shard.id === id)
    if (children.length === 0) return this.#found('child-shard-late', `${id} is over, and has no child`)
    for (const child of children) {
      if (this.#done.has(child.ShardId) || this.#open.some((shard) => shard.id === child.ShardId))
        this.#found('child-of-two', `${child.ShardId} is not of ${id} alone`)
      else this.#open.push(begun(child))
    }
    this.#open.splice(at, 1)
    this.#done.add(id)
  }

  #take(shard: Shard, { eventName, dynamodb }: WireRecord): void {
    const { Keys, OldImage, NewImage, SequenceNumber } = dynamodb
    if (shard.isTrimmed === true && SequenceNumber <= (shard.last ?? '')) return
    shard.isTrimmed = false
    const name = imageText(Keys)
    const before = this.#items.get(name)
    const what = `${name} at ${SequenceNumber} in ${shard.id}`
    if (this.#seen.has(SequenceNumber)) this.#found('stream-repeats', what)
    if (before !== undefined && SequenceNumber <= before.sequenceNumber)
      this.#found('stream-order', `${what}, after ${before.sequenceNumber}`)
    const [old, next] = [imageText(OldImage), imageText(NewImage)]
    const expected = before?.image ?? ABSENT
    if (this.#isWhole && old !== expected)
      this.#found('stream-old-image', `${what}: ${brief(old)}, and before it was ${brief(expected)}`)
    if (eventName !== eventOf(OldImage, NewImage))
      this.#found('stream-event', `${what}: ${eventName}, and its images say otherwise`)
    this.#seen.add(SequenceNumber)
    this.#items.set(name, { sequenceNumber: SequenceNumber, image: next })
    shard.last = SequenceNumber
  }

  async #giveCapacity({ catalog }: Streamed): Promise<void> {
    const writeUnits = this.#random.pick(WRITE_UNITS)
    await catalog.change((draft) => {
      const record = draft.find(TABLE.name)
      if (record === undefined || record.throughput.writeUnits >= writeUnits) return
      draft.put({ ...record, billingMode: 'PROVISIONED', throughput: { ...record.throughput, writeUnits } })
    })
  }

  async #describe(
    streamed: Streamed,
    input: object,
  ): Promise<Answers['DescribeStream']['StreamDescription']> {
    const answer = await this.#call(streamed, 'DescribeStream', { StreamArn: arnOf(streamed), ...input })
    return answer.StreamDescription
  }

  async #call<Name extends keyof Answers>(
    { catalog, life }: Streamed,
    name: Name,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Answers[Name]> {
    // All that these operations use of it.
    const context: Pick<RouterContext, 'catalog' | 'runtime'> = { catalog, runtime: life.runtime }
    const reply = await OPERATIONS.get(name)!.run(context as RouterContext, input, ownerScope)
    const bytes = reply instanceof Uint8Array ? reply : reply.body
    return JSON.parse(Buffer.from(bytes).toString()) as Answers[Name]
  }

  #found(kind: string, explanation: string): void {
    this.#recorder.found.add(kind, explanation)
  }
}

const ABSENT = imageText(undefined)

const begun = ({ ShardId, SequenceNumberRange }: WireShard): Shard => ({
  id: ShardId,
  from: positionIn(SequenceNumberRange.StartingSequenceNumber)?.number ?? 0,
})

const arnOf = ({ catalog }: Streamed): string =>
  streamArn(TABLE.name, catalog.record(TABLE.name).stream?.label ?? '')

const eventOf = (old: Image, next: Image): WireRecord['eventName'] =>
  old === undefined ? 'INSERT' : next === undefined ? 'REMOVE' : 'MODIFY'
