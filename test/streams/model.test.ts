// Random histories: writes at once and in transactions, shards that roll, streams that end and begin, restarts. A reader that
// looks after every step, and begins anew each time from the sequence numbers it has kept, must have every change of every item
// once and in order; one that comes at the end must have those of the last 24 hours.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { open, type Store } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { HOUR_MS, START_MS, table } from './support.js'

const STEPS = 60
const DAY_MS = 24 * HOUR_MS
const TABLES = ['Orders', 'Others'] as const
const IDS = ['a', 'b', 'c', 'd', 'e', 'f']

interface Change {
  readonly atMs: number
  readonly text: string
}

/** What a stream must have, by item. */
class ModelStream {
  readonly changes = new Map<string, Change[]>()

  add(id: string, change: Change): void {
    const own = this.changes.get(id) ?? []
    own.push(change)
    this.changes.set(id, own)
  }
}

interface WireRecord {
  readonly eventName: string
  readonly dynamodb: {
    readonly Keys: { readonly id: { readonly S: string } }
    readonly OldImage?: { readonly n: { readonly N: string } }
    readonly NewImage?: { readonly n: { readonly N: string } }
    readonly SequenceNumber: string
  }
}

interface WireShard {
  readonly ShardId: string
  readonly ParentShardId?: string
}

const textOf = ({ eventName, dynamodb }: WireRecord): string =>
  `${eventName} ${dynamodb.OldImage?.n.N ?? '-'} ${dynamodb.NewImage?.n.N ?? '-'}`

/** Reads a stream from where it was, with nothing kept but the last sequence number of each shard. */
class Follower {
  readonly seen = new Map<string, string[]>()
  readonly #last = new Map<string, string>()
  readonly #done = new Set<string>()
  readonly #pageMax: number

  constructor(pageMax: number) {
    this.#pageMax = pageMax
  }

  async look(call: Call, StreamArn: string): Promise<void> {
    const shards: WireShard[] = []
    for (let start: string | undefined; ;) {
      const { StreamDescription: page } = await call('DescribeStream', {
        StreamArn,
        Limit: 2,
        ...(start !== undefined && { ExclusiveStartShardId: start }),
      })
      shards.push(...page.Shards)
      start = page.LastEvaluatedShardId
      if (start === undefined) break
    }
    // In the order of creation: a parent before its children.
    for (const { ShardId, ParentShardId } of shards) {
      if (this.#done.has(ShardId)) continue
      const isParentKept = shards.some((shard) => shard.ShardId === ParentShardId)
      assert.ok(
        !isParentKept || this.#done.has(ParentShardId!),
        'a child is there before its parent is closed',
      )
      await this.#read(call, StreamArn, ShardId)
    }
  }

  async #read(call: Call, StreamArn: string, ShardId: string): Promise<void> {
    const last = this.#last.get(ShardId)
    const start =
      last === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last }
    let { ShardIterator } = await call('GetShardIterator', { StreamArn, ShardId, ...start })
    while (ShardIterator !== undefined) {
      const { Records, NextShardIterator } = await call('GetRecords', { ShardIterator, Limit: this.#pageMax })
      for (const record of Records as readonly WireRecord[]) this.#add(ShardId, record)
      if (Records.length === 0 && NextShardIterator !== undefined) return
      ShardIterator = NextShardIterator
    }
    this.#done.add(ShardId)
  }

  #add(shard: string, record: WireRecord): void {
    const { SequenceNumber, Keys } = record.dynamodb
    assert.ok(SequenceNumber > (this.#last.get(shard) ?? ''), 'sequence numbers grow')
    this.#last.set(shard, SequenceNumber)
    this.seen.set(Keys.id.S, [...(this.seen.get(Keys.id.S) ?? []), textOf(record)])
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked at member by member
type Call = (operation: string, input: object) => Promise<any>

class World {
  readonly #random: Random
  readonly #path: string | undefined
  readonly #nodes: number
  readonly #clock = manualClock(START_MS)
  readonly #items = new Map<string, Map<string, number>>()
  readonly #current = new Map<string, string>()
  readonly #streams = new Map<string, { readonly model: ModelStream; readonly follower: Follower }>()
  #store: Store | undefined
  #restarts = 0

  constructor(seed: number, path: string | undefined) {
    this.#random = new Random(seed)
    this.#path = path
    this.#nodes = this.#random.between(1, 3)
  }

  async run(): Promise<void> {
    await this.#open()
    try {
      for (const name of TABLES) await this.#create(name)
      for (let step = 0; step < STEPS; step++) {
        await this.#step()
        // Those that have ended go a day later: what is looked at after every step has been read by then.
        for (const arn of await this.#listed()) await this.#look(arn)
      }
      await this.#judge()
    } finally {
      await this.#store?.close()
    }
  }

  readonly #call: Call = (operation, input) => this.#store!.call(operation as never, input as never)

  async #open(): Promise<void> {
    const place = this.#path === undefined ? ({ memory: true } as const) : { path: this.#path }
    this.#store = await open({ ...place, clock: this.#clock, nodes: this.#nodes, shardMinutes: 60 })
  }

  async #step(): Promise<void> {
    const name = this.#random.fraction() < 0.7 ? TABLES[0] : TABLES[1]
    const drawn = this.#random.below(20)
    if (drawn < 7) return this.#adds(name)
    if (drawn < 11) return this.#transactions()
    if (drawn < 14) return this.#remove(name)
    if (drawn < 17) return this.#advance()
    if (drawn === 17) return this.#toggle(name)
    if (drawn === 18) return this.#recreate(name)
    if (this.#path === undefined || this.#restarts >= 3) return this.#advance()
    this.#restarts++
    await this.#store!.close()
    await this.#open()
  }

  /** Many at once, several of them to the same item. */
  async #adds(name: string): Promise<void> {
    const ids = Array.from({ length: this.#random.between(1, 12) }, () => this.#id())
    await Promise.all(
      ids.map(async (id) => {
        await this.#call('UpdateItem', { TableName: name, Key: { id: { S: id } }, ...ADD })
        this.#added(name, id)
      }),
    )
  }

  async #transactions(): Promise<void> {
    const one = async (): Promise<void> => {
      const places = TABLES.flatMap((name) =>
        [...new Set([this.#id(), this.#id()])].map((id) => ({ name, id })),
      )
      const TransactItems = places.map(({ name, id }) => ({
        Update: { TableName: name, Key: { id: { S: id } }, ...ADD },
      }))
      try {
        await this.#call('TransactWriteItems', { TransactItems })
      } catch (error) {
        assert.equal((error as Error).name, 'TransactionCanceledException')
        return
      }
      for (const { name, id } of places) this.#added(name, id)
    }
    await Promise.all(Array.from({ length: this.#random.between(1, 4) }, one))
  }

  async #remove(name: string): Promise<void> {
    const id = this.#id()
    const before = this.#items.get(name)!.get(id)
    await this.#call('DeleteItem', { TableName: name, Key: { id: { S: id } } })
    if (before === undefined) return
    this.#items.get(name)!.delete(id)
    this.#changed(name, id, `REMOVE ${before} -`)
  }

  async #advance(): Promise<void> {
    this.#clock.advance(this.#random.between(1, 5 * HOUR_MS))
    // Requests may come before what is due is done.
    if (this.#random.fraction() < 0.5) await this.#store!.idle()
  }

  async #toggle(TableName: string): Promise<void> {
    const isEnabled = this.#current.has(TableName)
    const { TableDescription } = await this.#call('UpdateTable', {
      TableName,
      StreamSpecification: isEnabled ? { StreamEnabled: false } : ENABLED,
    })
    if (isEnabled) this.#current.delete(TableName)
    else this.#enabled(TableName, TableDescription.LatestStreamArn)
  }

  async #recreate(name: string): Promise<void> {
    await this.#call('DeleteTable', { TableName: name })
    this.#current.delete(name)
    await this.#create(name)
  }

  async #create(name: string): Promise<void> {
    const capacity = {
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: this.#random.between(1, 4000) },
    } as const
    const { TableDescription } = await this.#call(
      'CreateTable',
      table(name, ENABLED.StreamViewType, capacity),
    )
    this.#items.set(name, new Map())
    this.#enabled(name, TableDescription.LatestStreamArn)
  }

  #enabled(name: string, arn: string): void {
    this.#current.set(name, arn)
    const follower = new Follower(this.#random.between(1, 20))
    this.#streams.set(arn, { model: new ModelStream(), follower })
  }

  /** In whatever order those at once were done, each found what the one before it left. */
  #added(name: string, id: string): void {
    const items = this.#items.get(name)!
    const before = items.get(id)
    items.set(id, (before ?? 0) + 1)
    this.#changed(name, id, before === undefined ? 'INSERT - 1' : `MODIFY ${before} ${before + 1}`)
  }

  #changed(name: string, id: string, text: string): void {
    const arn = this.#current.get(name)
    if (arn !== undefined)
      this.#streams.get(arn)!.model.add(id, { text, atMs: this.#clock.nowMicros() / 1000 })
  }

  #id(): string {
    return IDS[this.#random.below(IDS.length)]!
  }

  async #look(arn: string): Promise<void> {
    try {
      await this.#streams.get(arn)!.follower.look(this.#call, arn)
    } catch (error) {
      const isOver = ![...this.#current.values()].includes(arn)
      // It may go while it is looked at.
      if (!isOver || (error as Error).name !== 'ResourceNotFoundException') throw error
    }
  }

  async #listed(): Promise<ReadonlySet<string>> {
    const { Streams } = await this.#call('ListStreams', {})
    return new Set((Streams as readonly { readonly StreamArn: string }[]).map(({ StreamArn }) => StreamArn))
  }

  async #judge(): Promise<void> {
    await this.#store!.idle()
    const listed = await this.#listed()
    const oldestMs = this.#clock.nowMicros() / 1000 - DAY_MS
    for (const [arn, { model, follower }] of this.#streams) {
      for (const id of IDS) {
        const expected = (model.changes.get(id) ?? []).map(({ text }) => text)
        assert.deepEqual(follower.seen.get(id) ?? [], expected, `${arn}, ${id}`)
      }
      if (!listed.has(arn)) continue
      const late = new Follower(7)
      await late.look(this.#call, arn)
      for (const id of IDS) {
        const all = model.changes.get(id) ?? []
        const seen = late.seen.get(id) ?? []
        const needed = all.filter(({ atMs }) => atMs > oldestMs)
        assert.ok(seen.length >= needed.length, `${arn}, ${id}: ${seen.length} of ${needed.length}`)
        assert.deepEqual(
          seen,
          all.slice(all.length - seen.length).map(({ text }) => text),
        )
      }
    }
  }
}

const ENABLED = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const
const ADD = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } } as const

for (const place of ['memory', 'disk'] as const) {
  test(`streams: random histories are read once and in order, in ${place}`, async () => {
    const seeds = place === 'memory' ? sized(6, 100) : sized(2, 30)
    for (let seed = 1; seed <= seeds; seed++) {
      try {
        await new World(seed, place === 'disk' ? testFolder() : undefined).run()
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
      }
    }
  })
}
