// One simulated store with several workers, from one seed: the real catalogue, hub, routers and coordinators, each worker behind
// simulated pipes, and clients that send requests as the wire has them to any of them.
//
//   clients --> worker 1: hub, router, catalogue, nodes in memory
//          \--> worker 2, 3: router, copy of the catalogue --pipe--> hub, nodes
//
// Judged: what one worker has answered of tables holds at all others; writes are seen wherever they are read; an index has every
// item whoever wrote it; units of work at snapshots lose no update; a key may do no more at one worker than at another. Nothing
// crashes here: that is tried where nodes have disks (group.ts).
import { localPlacement } from '../../src/coordinator/placement.js'
import type { Access, Principal, RouterReply } from '../../src/router/request/router.js'
import { DynamoError } from '../../src/model/errors.js'
import { workerRules } from '../../src/rules/item/section-4.js'
import { LoopYield } from '../../src/runtime/loop-yield.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { memoryNodes } from '../../src/storage/node/memory-nodes.js'
import { openContent } from '../../src/store/store-content.js'
import { WorkerHub } from '../../src/store/worker-hub.js'
import { openWorkerChannel, openWorkerStore } from '../../src/store/worker-store.js'
import { FrameSplitter } from '../../src/workers/frames.js'
import { type Anomaly, Findings } from '../check/anomaly.js'
import { Tally } from '../faults.js'
import { Scheduler } from '../scheduler.js'
import { openPipe } from './pipe.js'

export interface StoreWorldOptions {
  readonly seed: number
  /** About as many requests. */
  readonly requests: number
}

export interface StoreWorldReport {
  readonly anomalies: readonly Anomaly[]
  readonly traceHash: string
  readonly tally: Tally
  readonly requests: number
}

type Answer = Readonly<Record<string, unknown>>
type Handle = (operation: string, input: object, principal?: Principal) => Promise<RouterReply>

const EPOCH_MICROS = 1_900_000_000_000_000
const TABLES = ['Red', 'Green', 'Blue']
const READER_ID = 'reader'
const COUNTER = { id: { S: 'counter' } }
const KEYS = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}
const INDEX = {
  AttributeDefinitions: [...KEYS.AttributeDefinitions, { AttributeName: 'g', AttributeType: 'S' }],
  GlobalSecondaryIndexUpdates: [
    {
      Create: {
        IndexName: 'by-g',
        KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    },
  ],
}
const UNIT_REFUSALS: ReadonlySet<string> = new Set([
  'UnitConflictException',
  'TransactionConflictException',
  'SnapshotTooOldException',
])
const EVENTS_PER_REQUEST_MAX = 3000

const holder = (id: string, accesses: readonly Access[]): Principal => ({
  id,
  name: id,
  allows: (access) => accesses.includes(access),
})
const ADMIN = holder('admin', ['read', 'write', 'admin'])
const READER = holder(READER_ID, ['read'])
const HOLDERS = new Map([ADMIN, READER].map((each) => [each.id, each]))

/** What its administrator has done to a table; nobody else changes it. Another object with each turn. */
interface Known {
  readonly is: 'coming' | 'there' | 'going' | 'gone'
  /** While it comes or goes: a client has seen that it has. */
  isSeen: boolean
}

/** Runs a world to its end, and judges it. */
export const runStoreWorld = (options: StoreWorldOptions): Promise<StoreWorldReport> =>
  new StoreWorld(options).run()

class StoreWorld {
  readonly #options: StoreWorldOptions
  readonly #random: Random
  readonly #scheduler = new Scheduler()
  readonly #tally = new Tally()
  readonly #found = new Findings()
  readonly #known = new Map<string, Known>()
  readonly #workers: Handle[] = []
  /** Tables are ACTIVE when their creation is answered. */
  readonly #isAtOnce: boolean
  /** Acknowledged, of the table as it is. */
  readonly #written = new Map<string, { readonly n: number }>()
  #requests = 0
  readonly #increments = { answered: 0 }

  constructor(options: StoreWorldOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    this.#isAtOnce = this.#random.chance(0.7)
  }

  async run(): Promise<StoreWorldReport> {
    let failure: unknown
    let isOver = false
    this.#live().then(
      () => (isOver = true),
      (error: unknown) => {
        if (!(error instanceof DynamoError)) failure = error
        else this.#found.add('unexpected-answer', `${error.name}: ${error.message}`)
        isOver = true
      },
    )
    const eventsMax = 100_000 + this.#options.requests * EVENTS_PER_REQUEST_MAX
    await this.#scheduler.run(() => isOver || failure !== undefined || this.#scheduler.events > eventsMax)
    if (failure !== undefined) throw failure
    if (!isOver) this.#found.add('stuck', `after ${this.#requests} requests`)
    return {
      anomalies: this.#found.all,
      traceHash: this.#scheduler.traceHash,
      tally: this.#tally,
      requests: this.#requests,
    }
  }

  async #live(): Promise<void> {
    await this.#open()
    await this.#one('admin')('CreateTable', { TableName: 'Counters', ...KEYS })
    await this.#active('Counters')
    await this.#admin('PutItem', { TableName: 'Counters', Item: { ...COUNTER, n: { N: '0' } } })
    const isOver = (): boolean => this.#requests >= this.#options.requests
    const again = async (step: () => Promise<void>): Promise<void> => {
      while (!isOver()) {
        await this.#sleep(this.#random.skewed(10, 20_000))
        await step()
      }
    }
    await Promise.all([
      ...TABLES.map((table) => again(() => this.#change(table))),
      ...Array.from({ length: this.#random.between(2, 6) }, () => again(() => this.#use())),
      ...Array.from({ length: 2 }, () => again(() => this.#count())),
      again(() => this.#intrude()),
    ])
    const { n } = (await this.#item('Counters', COUNTER)) as { n?: { N: string } }
    const { answered } = this.#increments
    const counted = Number(n?.N)
    if (counted !== answered)
      this.#found.add('lost-update', `${answered} increments were answered, and the counter is ${counted}`)
  }

  async #open(): Promise<void> {
    const runtime = this.#runtime('worker-1')
    const hub = new WorkerHub()
    hub.holderOf = (id) => HOLDERS.get(id)
    const onError = (error: unknown): void => this.#found.add('background', String(error))
    const opened = memoryNodes({ runtime, rules: workerRules, nodes: this.#random.between(1, 3) })
    const parts = {
      runtime,
      ...opened,
      placement: localPlacement(opened.nodes.length),
      rules: workerRules,
      sharedJournal: false,
      isSoleOwner: true,
      creatingMs: this.#isAtOnce ? 0 : 20,
      onError,
      hub,
    }
    await openContent(parts, new LoopYield(runtime))
    this.#workers.push((operation, input, principal = ADMIN) => hub.asked({ operation, input, principal }))
    const workers = this.#random.between(1, 3)
    for (let number = 2; number < workers + 2; number++) {
      const name = `worker-${number}`
      const its = this.#runtime(name)
      const options = {
        runtime: its,
        rules: workerRules,
        onError,
        send: (frame: Buffer): void => toFirst.write(frame),
        edge: {
          counts: () => ({}) as never,
          stop: () => Promise.resolve(),
          renewTls: () => undefined,
        },
      }
      const opening = openWorkerChannel(options)
      const joined = hub.join((frame) => fromFirst.write(frame))
      const ofFirst = new FrameSplitter((message) => joined.receive(message))
      const ofWorker = new FrameSplitter((message) => opening.channel.receive(message))
      const toFirst = openPipe({
        from: this.#side(name),
        to: this.#side('worker-1'),
        onSent: (frame) => opening.channel.reuse(frame),
        take: (piece) => ofFirst.take(piece),
      })
      const fromFirst = openPipe({
        from: this.#side('worker-1'),
        to: this.#side(name),
        onSent: (frame) => joined.channel.reuse(frame),
        take: (piece) => ofWorker.take(piece),
      })
      const { router } = await openWorkerStore(options, opening)
      this.#workers.push((operation, input, principal = ADMIN) =>
        router.handle({ operation, input, principal }),
      )
    }
  }

  #side(name: string) {
    const around = { scheduler: this.#scheduler, tally: this.#tally }
    return { alive: true, process: { name, random: this.#random, around } }
  }

  #runtime(name: string): Runtime {
    const [timer, defer] = [`timer ${name}`, `defer ${name}`]
    return {
      clock: {
        nowMicros: () => EPOCH_MICROS + this.#scheduler.nowMicros,
        timer: (delayMs, callback) => this.#scheduler.after(delayMs * 1000, timer, callback),
      },
      randomBytes: (count) => this.#random.bytes(count),
      defer: (callback) => void this.#scheduler.after(1, defer, callback),
    }
  }

  #sleep(micros: number): Promise<void> {
    return new Promise((resolve) => this.#scheduler.after(micros, 'sleep', resolve))
  }

  /** Any worker. */
  #one(who: 'admin' | 'reader'): (operation: string, input: object) => Promise<Answer> {
    const handle = this.#random.pick(this.#workers)
    return async (operation, input) => {
      this.#requests++
      const reply = await handle(operation, input, who === 'admin' ? ADMIN : READER)
      this.#tally.add(`answer/${operation} `, reply.ok ? 'done' : reply.error.name)
      this.#scheduler.note(`${operation} ${reply.ok ? 'done' : reply.error.name}`)
      if (!reply.ok) throw reply.error
      return reply.body.byteLength === 0 ? {} : (JSON.parse(Buffer.from(reply.body).toString()) as Answer)
    }
  }

  #admin(operation: string, input: object): Promise<Answer> {
    return this.#one('admin')(operation, input)
  }

  async #item(TableName: string, Key: object): Promise<Answer> {
    const { Item = {} } = await this.#admin('GetItem', { TableName, Key, ConsistentRead: true })
    return Item as Answer
  }

  /** The life of a table: made, indexed, dropped. */
  async #change(TableName: string): Promise<void> {
    this.#turn(TableName, 'coming')
    for (const [key] of this.#written) if (key.startsWith(`${TableName}/`)) this.#written.delete(key)
    await this.#admin('CreateTable', { TableName, ...KEYS })
    this.#turn(TableName, 'there')
    await this.#active(TableName)
    await this.#sleep(this.#random.skewed(1000, 100_000))
    await this.#admin('UpdateTable', { TableName, ...INDEX })
    await this.#indexed(TableName)
    await this.#sleep(this.#random.skewed(1000, 100_000))
    this.#turn(TableName, 'going')
    await this.#admin('DeleteTable', { TableName })
    this.#turn(TableName, 'gone')
  }

  #turn(table: string, is: Known['is']): void {
    this.#known.set(table, { is, isSeen: false })
  }

  async #active(TableName: string): Promise<void> {
    for (;;) {
      const { Table } = (await this.#admin('DescribeTable', { TableName })) as { Table: Answer }
      const indexes = (Table['GlobalSecondaryIndexes'] ?? []) as Answer[]
      if (Table['TableStatus'] === 'ACTIVE' && indexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE'))
        return
      await this.#sleep(5_000)
    }
  }

  /** Whatever was written while the index came, and wherever, is in it. */
  async #indexed(TableName: string): Promise<void> {
    for (let n = 0; n < 3; n++)
      await this.#admin('PutItem', { TableName, Item: { id: { S: `own-${n}` }, g: { S: 'own' } } })
    await this.#active(TableName)
    const { Count } = await this.#admin('Query', {
      TableName,
      IndexName: 'by-g',
      KeyConditionExpression: 'g = :g',
      ExpressionAttributeValues: { ':g': { S: 'own' } },
    })
    this.#tally.add('index looked at')
    if (Count !== 3)
      this.#found.add('index-lacks', `of 3 items of ${TableName} the index has ${String(Count)}`)
  }

  /** A request for items of some table, which is there or not. */
  async #use(): Promise<void> {
    const TableName = this.#random.pick(TABLES)
    const before = this.#known.get(TableName)
    const wasSeen = before?.isSeen === true
    const id = `i-${this.#random.below(5)}`
    const key = `${TableName}/${id}`
    const kind = this.#random.below(4)
    const earlier = this.#written.get(key)
    let isFound = true
    try {
      if (kind === 0) {
        const { n } = (await this.#item(TableName, { id: { S: id } })) as { n?: { N: string } }
        const isSame = this.#known.get(TableName) === before && before?.is === 'there'
        if (isSame && earlier !== undefined && !(Number(n?.N) >= earlier.n))
          this.#found.add('stale-read', `${key} was written as ${earlier.n}, and read as ${String(n?.N)}`)
      } else if (kind === 1) {
        const { Attributes } = (await this.#admin('UpdateItem', {
          TableName,
          Key: { id: { S: id } },
          UpdateExpression: 'ADD n :one SET g = :g',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':g': { S: `g-${id}` } },
          ReturnValues: 'ALL_NEW',
        })) as { Attributes?: { n: { N: string } } }
        // A table that was dropped meanwhile leaves nothing to show.
        if (this.#known.get(TableName) === before && before?.is === 'there') {
          const n = Number(Attributes?.n.N)
          if (!(n > (earlier?.n ?? 0)))
            this.#found.add('lost-write', `${key} was ${earlier?.n}, and is ${n} after another increment`)
          this.#written.set(key, { n: Math.max(n, this.#written.get(key)?.n ?? 0) })
        }
      } else if (kind === 2) {
        await this.#admin('TransactWriteItems', {
          TransactItems: [0, 1].map((at) => ({
            Put: { TableName, Item: { id: { S: `t-${at}` }, g: { S: 'both' } } },
          })),
        })
      } else await this.#admin('DescribeTable', { TableName })
    } catch (error) {
      const { name } = error as Error
      if (name === 'TransactionConflictException' || name === 'TransactionCanceledException') return
      // A table that is CREATING, or DELETING.
      if (name === 'ResourceInUseException') return
      // Of the table before.
      if (name !== 'ResourceNotFoundException') throw error
      isFound = false
    }
    if (kind === 3) this.#judgeDescribed(TableName, before, isFound)
    else this.#judge(TableName, before, isFound, wasSeen)
  }

  /** By a request for its items; `wasSeen` before it was sent. */
  #judge(table: string, before: Known | undefined, isFound: boolean, wasSeen: boolean): void {
    // It changed on the way: either is right.
    if (this.#known.get(table) !== before || before === undefined) return
    this.#tally.add('known while asked/', before.is)
    if (before.is === 'gone' && isFound)
      this.#found.add('dropped-table-found', `${table} was found after its deletion had been answered`)
    if (before.is === 'going') {
      if (wasSeen && isFound)
        this.#found.add('came-back', `${table} was gone, and then found before it was made anew`)
      if (!isFound) before.isSeen = true
    }
    // Until its creation is over items are not found.
    if (!this.#isAtOnce) return
    if (before.is === 'there' && !isFound)
      this.#found.add('table-missed', `${table} was not found after its creation had been answered`)
    if (before.is === 'coming') {
      if (wasSeen && !isFound) this.#found.add('seen-and-missed', `${table} was found, and then not`)
      if (isFound) before.isSeen = true
    }
  }

  /** A table is described as long as it is being deleted. */
  #judgeDescribed(table: string, before: Known | undefined, isFound: boolean): void {
    if (this.#known.get(table) === before && before?.is === 'there' && !isFound)
      this.#found.add('table-missed', `${table} was not described after its creation had been answered`)
  }

  /** A unit of work that reads the counter at a snapshot and commits one more. */
  async #count(): Promise<void> {
    const unit = { Id: Buffer.from(this.#random.bytes(16)).toString('hex'), Isolation: 'snapshot' }
    const at = { TableName: 'Counters', Key: COUNTER }
    try {
      const { Responses, ReadTimestamp } = (await this.#admin('UnitGetItems', {
        Unit: unit,
        Gets: [at],
      })) as {
        readonly Responses: readonly {
          readonly Item: { readonly n: { readonly N: string } }
          readonly Version: number
        }[]
        readonly ReadTimestamp: string
      }
      const [{ Item, Version }] = Responses as [(typeof Responses)[0]]
      const n = { N: String(Number(Item.n.N) + 1) }
      await this.#admin('UnitCommit', {
        Unit: { ...unit, ReadTimestamp },
        Reads: [{ ...at, Version }],
        TransactItems: [{ Put: { TableName: 'Counters', Item: { ...COUNTER, n } } }],
      })
      this.#increments.answered++
    } catch (error) {
      const { name } = error as Error
      // Of a new index the past is not known, and open snapshots end.
      if (!UNIT_REFUSALS.has(name)) throw error
    }
  }

  /** A key that may only read tries to change tables and items, at any worker. */
  async #intrude(): Promise<void> {
    const TableName = 'Counters'
    const attempt = this.#random.pick([
      ['PutItem', { TableName, Item: { ...COUNTER, n: { N: '-1000' } } }],
      ['DeleteTable', { TableName }],
      ['UpdateTimeToLive', { TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'n' } }],
      ['CreateTable', { TableName: 'Black', ...KEYS }],
    ] as const)
    try {
      await this.#one('reader')(attempt[0], attempt[1])
      this.#found.add('allowed', `${attempt[0]} was done for a key that may only read`)
    } catch (error) {
      if ((error as Error).name !== 'AccessDeniedException')
        this.#found.add('refused-otherwise', `${attempt[0]}: ${String(error)}`)
    }
  }
}
