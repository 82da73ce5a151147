// One simulated fleet, from one seed: several servers on one engine, clients that go to any of them, and judges.
//
//   clients --> server-0, server-1, server-2 (crash, freeze, clocks hours apart) --> engine (sim-engine.ts)
//       \--> history --> judgeLists (check/elle.ts): serializable, in the order of real time, nothing lost, nothing twice
//                    --> reads see what was acknowledged before them, on whatever server
//                    --> at rest every item has its index entries
//
// Two families of items: lists, to which every write appends, and registers, which are overwritten, often blindly. The versions of
// a register in the order of their timestamps are the list that the judge sees of it.
import type { SpaceId } from '../../src/model/brand.js'
import { spaceId } from '../../src/model/brand.js'
import { indexRange } from '../../src/model/key-range.js'
import type { TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { DurabilityUnknown } from '../../src/line/errors.js'
import { Random } from '../../src/runtime/seeded-random.js'
import type { ItemRecord } from '../../src/rules/item/item.js'
import { holderOf, recordsIn } from '../../src/storage/engine/engine-ledger.js'
import { ledgerRow } from '../../src/storage/engine/rows.js'
import { tokenSlot } from '../../src/coordinator/placement.js'
import { decodeItemHead } from '../../src/storage/engine/item-row.js'
import type { EngineRow } from '../../src/engine/engine.js'
import type { WriteTransaction, WriteTransactionOutcome } from '../../src/coordinator/coordinator.js'
import { check, keyNamed, number, put, type Request, update } from '../actions.js'
import { type Anomaly, Findings } from '../check/anomaly.js'
import { judgeLists, type ListOperation, type ListTransaction } from '../check/elle.js'
import { Scheduler } from '../scheduler.js'
import { TABLE } from '../table.js'
import { type EngineFaults, LATE_MICROS_MAX, SimRing } from './sim-engine.js'
import { type Running, type ServerTraits, SimServer } from './server.js'

export interface FleetWorldOptions {
  readonly seed: number
  readonly transactions: number
  readonly servers?: number
  readonly clients?: number
  readonly faults?: Partial<EngineFaults>
  readonly traits?: ServerTraits
  /** A mutant: no lease is kept. */
  readonly isLeaseIgnored?: boolean
  /** A client whose answer does not come in time sends the same request again, under the same token, to any server. */
  readonly isRepeating?: boolean
  /** All servers but one are frozen while the index is added. */
  readonly isFrozenAtIndex?: boolean
  /** One server is frozen again and again, each time for almost as long as a transaction may take. */
  readonly isFrozenOften?: boolean
  /** One server is frozen again and again, each time for longer than tombstones are kept. */
  readonly isFrozenLong?: boolean
}

export interface FleetReport {
  readonly anomalies: readonly Anomaly[]
  readonly traceHash: string
  readonly transactions: number
  readonly tally: ReadonlyMap<string, number>
}

const LISTS = ['l-0', 'l-1', 'l-2', 'l-5']
const REGISTERS = ['r-0', 'r-1', 'r-2', 'r-5']
const HOURS_MICROS = 3_600_000_000
const CLIENT_MICROS = 20_000_000
/** Of a client that sends its request again. */
const PATIENCE_MICROS = 800_000
const REPEATS_MAX = 4
const REST_LOOKS_MAX = 200
const WORLD_MICROS_MAX = 600_000_000
const LEASE_MS = 2000
/** For so long others may still use the shape before. */
const STALE_MICROS = LEASE_MS * 1000 + LATE_MICROS_MAX + 3_000_000
const COLORS = ['red', 'green', 'blue']
const NO_FAULTS: EngineFaults = { lostRequests: 0, lostAnswers: 0, late: 0, unavailable: 0, ignorant: 0 }

const indexOf = (name: string, space: SpaceId): TableShape['indexes'][number] => ({
  name: `by-${name}`,
  space,
  kind: 'global',
  key: { partition: { name, type: 'S' } },
  projection: { type: 'ALL' },
})
/** The second index comes while the servers run. */
const SHAPES: readonly TableShape[] = [
  { ...TABLE, version: 1, indexes: [indexOf('h', spaceId(11))] },
  { ...TABLE, version: 2, indexes: [indexOf('h', spaceId(11)), indexOf('g', spaceId(12))] },
]
const VERSION = 'catalogue/version'

interface Drafted {
  readonly id: string
  status: ListTransaction['status']
  readonly invokedAt: number
  completedAt: number
  timestamp?: number | undefined
  /** Values as they were written or seen; of registers the order comes later. */
  readonly operations: {
    kind: 'write' | 'read'
    key: string
    value: number | undefined
    list?: readonly number[]
  }[]
  readonly isPlain: boolean
}

/** Runs a world to its end, and judges it. */
export const runFleet = (options: FleetWorldOptions): Promise<FleetReport> => new FleetWorld(options).run()

class FleetWorld {
  readonly #options: FleetWorldOptions
  readonly #scheduler = new Scheduler()
  readonly #random: Random
  readonly #ring: SimRing
  readonly #servers: readonly SimServer[]
  readonly #shapes = new WeakMap<Running, TableShape>()
  readonly #history: Drafted[] = []
  readonly #found = new Findings()
  readonly #tally = new Map<string, number>()
  readonly #trouble = { on: false }
  /** When which value became visible on a register. */
  readonly #versions = new Map<string, Map<number, number>>()
  /** Items that are written once: the first step on each meets nothing. */
  readonly #fresh: string[] = []
  #values = 0
  #isDone = false

  constructor(options: FleetWorldOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    const tally = (what: string): void => void this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1)
    const faults = {
      ...NO_FAULTS,
      lostRequests: 0.01,
      lostAnswers: 0.02,
      late: 0.02,
      unavailable: 0.005,
      ...options.faults,
    }
    this.#ring = new SimRing({
      scheduler: this.#scheduler,
      random: this.#random,
      faults,
      trouble: this.#trouble,
      tally,
    })
    this.#ring.onApplied = (rows) => this.#noteVersions(rows)
    const around = {
      scheduler: this.#scheduler,
      random: this.#random,
      ring: this.#ring,
      traits: { leaseMs: LEASE_MS, keepMs: 30_000, ...options.traits },
    }
    for (const space of ['ledger', 'meta', 't1', 't11', 't12']) void this.#ring.core.createSpace(space)
    this.#servers = Array.from({ length: options.servers ?? 3 }, (_, at) => {
      const offset = this.#random.between(-5, 5) * HOURS_MICROS + this.#random.below(1_000_000)
      return new SimServer(`server-${at}`, around, offset, (running) => this.#begin(running))
    })
  }

  /** A server that starts reads the catalogue, as one does that a lease has run out of. */
  #begin(running: Running): void {
    const { node } = running
    const refresh = async (): Promise<void> => {
      const [entry] = await node.readMeta(VERSION)
      const shape = SHAPES[entry === undefined ? 0 : Number(Buffer.from(entry.value).toString()) - 1]!
      this.#shapes.set(running, shape)
      await node.setShape(shape)
    }
    this.#shapes.set(running, SHAPES[0]!)
    if (this.#options.isLeaseIgnored === true) refresh().catch(() => undefined)
    else node.followCatalogue(refresh)
  }

  async run(): Promise<FleetReport> {
    let failure: unknown
    this.#live().then(
      () => (this.#isDone = true),
      (error: unknown) => {
        failure = error
        this.#isDone = true
      },
    )
    await this.#scheduler.run(() => this.#isDone || this.#scheduler.nowMicros > WORLD_MICROS_MAX)
    if (failure !== undefined)
      this.#found.add('broken-invariant', failure instanceof Error ? (failure.stack ?? '') : 'unknown')
    if (!this.#isDone) this.#found.add('stuck', 'the world did not come to its end')
    return {
      anomalies: this.#found.all,
      traceHash: this.#scheduler.traceHash,
      transactions: this.#history.length,
      tally: this.#tally,
    }
  }

  async #live(): Promise<void> {
    this.#trouble.on = true
    this.#makeTrouble()
    const indexed = this.#addIndex()
    await Promise.all(Array.from({ length: this.#options.clients ?? 5 }, () => this.#client()))
    await indexed
    this.#trouble.on = false
    await this.#rest()
    await this.#judge()
  }

  #sleep(micros: number): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(micros, 'sleep', resolve))
  }

  #makeTrouble(): void {
    const random = this.#random
    const { isFrozenOften = false, isFrozenLong = false } = this.#options
    const pauseMicros = isFrozenOften
      ? random.between(5_000_000, 6_000_000)
      : isFrozenLong
        ? random.between(16_000_000, 18_000_000)
        : random.skewed(200_000, 5_000_000)
    this.#scheduler.after(pauseMicros, 'trouble', () => {
      if (!this.#trouble.on) return
      const server = isFrozenOften || isFrozenLong ? this.#servers[0]! : random.pick(this.#servers)
      if (isFrozenOften) {
        server.freeze(random.between(3_000_000, 4_800_000))
        this.#makeTrouble()
        return
      }
      if (isFrozenLong) {
        server.freeze(random.between(11_000_000, 15_000_000))
        this.#makeTrouble()
        return
      }
      const which = random.below(10)
      if (which < 3) server.crash(random.skewed(10_000, 3_000_000))
      else if (which < 6) server.freeze(random.skewed(100_000, 6_000_000))
      // Longer than a lease, and than any step is thought to be on its way.
      else if (which < 7) server.freeze(random.between(1, 4) * STALE_MICROS)
      else this.#ring.freeze(random.skewed(50_000, 2_000_000))
      this.#makeTrouble()
    })
  }

  /** The second index: known everywhere, then filled (docs/architecture.md). By the steady clock of who adds it. */
  async #addIndex(): Promise<void> {
    const random = this.#random
    await this.#sleep(random.skewed(500_000, 8_000_000))
    // Between its look at its lease and its step, until the index is filled.
    const frozen =
      this.#options.isFrozenAtIndex === true
        ? this.#servers.slice(1)
        : random.chance(0.4)
          ? [random.pick(this.#servers)]
          : []
    for (const server of frozen) server.freeze(STALE_MICROS + random.skewed(500_000, 10_000_000))
    await this.#until(async (running) => {
      await running.node.writeMeta([{ name: VERSION, value: Buffer.from('2') }])
    })
    await this.#sleep(STALE_MICROS)
    const table = SHAPES[1]!
    let from = '' as Parameters<Running['node']['backfill']>[0]['from'] | undefined
    // Whoever goes on after a failure goes on from there.
    await this.#until(async (running) => {
      while (from !== undefined)
        from = await running.node.backfill({ table, index: table.indexes[1]!, from, itemsMax: 3 })
    })
    this.#tally.set('index filled', 1)
  }

  /** On one server after another, until one has done it. */
  async #until(work: (running: Running) => Promise<void>): Promise<void> {
    for (;;) {
      const { running } = this.#random.pick(this.#servers)
      const done =
        running === undefined
          ? false
          : await this.#within(
              work(running).then(
                () => true,
                () => false,
              ),
              false,
            )
      if (done) return
      await this.#sleep(100_000)
    }
  }

  /** A server that was killed never answers. */
  #within<T>(answer: Promise<T>, otherwise: T, micros = CLIENT_MICROS): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#scheduler.after(micros, 'client time-out', () => resolve(otherwise))
      answer.then(resolve, reject).finally(cancel)
    })
  }

  async #client(): Promise<void> {
    const random = this.#random
    while (this.#history.length < this.#options.transactions) {
      await this.#sleep(random.skewed(1000, 60_000))
      const { running } = random.pick(this.#servers)
      if (running === undefined) continue
      const which = random.below(10)
      if (which < 4) await this.#write(running)
      else if (which < 6) await this.#read(running)
      else if (which < 8) await this.#single(running)
      else await this.#look(running)
    }
  }

  #request(running: Running, name: string): { readonly request: Request; readonly value: number } {
    const random = this.#random
    const value = ++this.#values
    const [h, g] = [{ S: random.pick(COLORS) }, { S: random.pick(COLORS) }]
    const observing = random.chance(0.3) ? { text: 'attribute_not_exists(nought)' } : undefined
    const request = !name.startsWith('l')
      ? put(name, String(value), { v: number(value), h, g }, observing)
      : update(name, String(value), {
          text: 'l = list_append(if_not_exists(l, :e), :v), h = :h, g = :g',
          values: { ':e': { L: [] }, ':v': { L: [number(value)] }, ':h': h, ':g': g },
        })
    return { request: { ...request, table: this.#shapes.get(running)! }, value }
  }

  async #write(running: Running): Promise<void> {
    const random = this.#random
    const names = random.sample([...LISTS, ...REGISTERS], random.between(1, 3))
    const made = names.map((name) => this.#request(running, name))
    const rest = [...LISTS, ...REGISTERS].filter((name) => !names.includes(name))
    const checks = random.chance(0.2)
      ? [
          {
            ...check(random.pick(rest), { text: 'attribute_not_exists(nought)' }),
            table: this.#shapes.get(running)!,
          },
        ]
      : []
    const draft = this.#begun(
      names.map((key, at) => ({ kind: 'write', key, value: made[at]!.value })),
      false,
    )
    const token = random.chance(0.3) ? { token: { text: draft.id, payloadHash: draft.id } } : {}
    const transaction = { actions: [...made.map(({ request }) => request), ...checks], ...token }
    const isRepeating = this.#options.isRepeating === true && transaction.token !== undefined
    const repeatsMax = isRepeating ? REPEATS_MAX : 0
    let outcome = await this.#written(running, transaction, isRepeating ? PATIENCE_MICROS : CLIENT_MICROS)
    for (let repeats = 0; repeats < repeatsMax; repeats++) {
      if (outcome.outcome !== 'unknown' && outcome.outcome !== 'token-in-progress') break
      await this.#sleep(random.skewed(10_000, 1_000_000))
      const other = random.pick(this.#servers).running
      if (other === undefined) continue
      const table = this.#shapes.get(other)!
      const actions = transaction.actions.map((action) => ({ ...action, table }))
      outcome = await this.#written(other, { ...transaction, actions }, PATIENCE_MICROS)
      this.#count(`repeated transaction ${outcome.outcome}`)
    }
    if (outcome.outcome === 'committed') this.#ended(draft, 'committed', outcome.timestamp)
    else if (outcome.outcome === 'repeated')
      this.#ended(draft, 'committed', await this.#timestampOf(draft.id))
    else if (outcome.outcome === 'cancelled') this.#ended(draft, 'aborted')
    // It was not carried out; an earlier one may still be.
    else if (outcome.outcome === 'unavailable' && !isRepeating) this.#ended(draft, 'aborted')
    this.#count(`transaction ${outcome.outcome}`)
  }

  /** Of what was committed under a token: an answer that says `repeated` does not tell. */
  async #timestampOf(token: string): Promise<number | undefined> {
    const [row] = await this.#ring.core.read([ledgerRow(tokenSlot(token))], 'consistent')
    return holderOf(recordsIn(row))?.timestamp
  }

  #written(
    { coordinator }: Running,
    transaction: WriteTransaction,
    micros: number,
  ): Promise<WriteTransactionOutcome | { readonly outcome: 'unknown' }> {
    return this.#within<WriteTransactionOutcome | { readonly outcome: 'unknown' }>(
      coordinator.write(transaction).catch(() => ({ outcome: 'unknown' }) as const),
      { outcome: 'unknown' },
      micros,
    )
  }

  async #single(running: Running): Promise<void> {
    const fresh = this.#random.chance(0.4) ? [`f-${this.#fresh.length}`] : []
    this.#fresh.push(...fresh)
    const name = fresh[0] ?? this.#random.pick([...LISTS, ...REGISTERS])
    const { request, value } = this.#request(running, name)
    const draft = this.#begun([{ kind: 'write', key: name, value }], false)
    const written = running.node.write(request as Parameters<typeof running.node.write>[0])
    const outcome = await this.#within(
      written.catch(
        (error: unknown) => ({ verdict: error instanceof DurabilityUnknown ? 'unknown' : 'failed' }) as const,
      ),
      { verdict: 'unknown' },
    )
    if (outcome.verdict === 'done') {
      running.coordinator.clock.witness(outcome.timestamp)
      this.#ended(draft, 'committed', outcome.timestamp)
    } else if (outcome.verdict !== 'unknown') this.#ended(draft, 'aborted')
    this.#count(`write ${outcome.verdict}`)
  }

  async #read(running: Running): Promise<void> {
    const names = this.#random.sample([...LISTS, ...REGISTERS], this.#random.between(2, 4))
    const draft = this.#begun([], false)
    const items = names.map((name) => ({ space: TABLE.space, key: keyNamed(name).key }))
    const answer = await this.#within(
      running.coordinator.read({ items }).catch(() => undefined),
      undefined,
    )
    this.#count(`read ${answer?.outcome ?? 'failed'}`)
    if (answer?.outcome !== 'read') return
    for (const [at, key] of names.entries())
      draft.operations.push({ kind: 'read', key, ...seenIn(answer.records[at]) })
    this.#ended(draft, 'committed')
  }

  async #look(running: Running): Promise<void> {
    const key = this.#random.pick([...LISTS, ...REGISTERS])
    const draft = this.#begun([], true)
    const isConsistent = this.#random.chance(0.8)
    const record = await this.#within<ItemRecord | undefined | 'failed'>(
      running.node.get(TABLE.space, keyNamed(key).key, isConsistent).catch(() => 'failed' as const),
      'failed',
    )
    this.#count(record === 'failed' ? 'look failed' : 'look')
    if (record === 'failed' || !isConsistent) return
    draft.operations.push({ kind: 'read', key, ...seenIn(record) })
    this.#ended(draft, 'committed')
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1)
  }

  #begun(operations: Drafted['operations'], isPlain: boolean): Drafted {
    const draft: Drafted = {
      id: `t${this.#history.length}`,
      status: 'unknown',
      invokedAt: this.#scheduler.nowMicros,
      completedAt: Infinity,
      operations,
      isPlain,
    }
    this.#history.push(draft)
    return draft
  }

  #ended(draft: Drafted, status: Drafted['status'], timestamp?: number): void {
    draft.status = status
    draft.completedAt = this.#scheduler.nowMicros
    draft.timestamp = timestamp
  }

  #noteVersions(rows: readonly (EngineRow | undefined)[]): void {
    for (const row of rows) {
      if (row?.address.space !== 't1' || !row.address.row.startsWith('i')) continue
      const head = decodeItemHead(row)
      const json = head.cell && row.cells[head.cell]
      if (json === undefined) continue
      const item = JSON.parse(Buffer.from(json).toString()) as Item
      const value = item['v']
      const id = item['id']
      if (value === undefined || !('N' in value) || id === undefined || !('S' in id)) continue
      const versions = this.#versions.get(id.S) ?? new Map<number, number>()
      this.#versions.set(id.S, versions.set(Number(value.N), head.written))
    }
  }

  /** Until nothing is pending: whoever looks meets what was left, and recovery finishes it. */
  async #rest(): Promise<void> {
    const items = [...LISTS, ...REGISTERS].map((name) => ({ space: TABLE.space, key: keyNamed(name).key }))
    for (let look = 0; look < REST_LOOKS_MAX; look++) {
      await this.#sleep(300_000)
      let pending = 0
      for (const { running } of this.#servers) {
        const answer = await this.#within(
          running?.node.readLatest({ items }).catch(() => undefined) ?? Promise.resolve(undefined),
          undefined,
        )
        pending +=
          answer === undefined ? 1 : answer.results.filter(({ verdict }) => verdict === 'pending').length
      }
      if (pending === 0) return
    }
    this.#found.add('not-at-rest', 'something is pending for ever')
  }

  async #judge(): Promise<void> {
    const { running } = this.#servers[0]!
    // Before the items are read: readers put right what they meet. What was acknowledged needs nobody.
    const entries = await this.#entries(running!)
    await this.#tend(running!)
    const tended = await this.#entries(running!)
    const final = new Map<string, readonly number[]>()
    const records = new Map<string, ItemRecord | undefined>()
    const orders = this.#orders()
    for (const key of [...LISTS, ...REGISTERS, ...this.#fresh]) {
      const record = await running!.node.get(TABLE.space, keyNamed(key).key, true)
      records.set(key, record)
      const { value, list } = seenIn(record)
      final.set(key, listOf(key, value, list, orders))
    }
    const history = this.#history
      .filter(({ isPlain }) => !isPlain)
      .map((draft): ListTransaction => ({ ...draft, operations: operationsOf(draft, orders) }))
    const judged = judgeLists(history, final)
    for (const { kind, explanation } of [...judged.anomalies, ...judged.realtime])
      this.#found.add(kind, explanation)
    this.#judgeLooks(orders)
    const acknowledged = new Set(
      this.#history.flatMap(({ status, operations }) =>
        status === 'committed' ? operations.map(({ key, value }) => `${key} ${value}`) : [],
      ),
    )
    this.#judgeEntries(tended, records, () => true)
    this.#judgeEntries(entries, records, (key, last) => acknowledged.has(`${key} ${last}`))
  }

  /** As servers do behind requests. */
  async #tend({ node }: Running): Promise<void> {
    const table = SHAPES[1]!
    for (const space of [table.space, ...table.indexes.map((index) => index.space)])
      for (let from: Parameters<typeof node.tend>[2] | undefined = '' as never; from !== undefined;)
        from = await node.tend(table, space, from, 5)
    await node.idle()
  }

  /** The values of each register in the order of their timestamps. */
  #orders(): ReadonlyMap<string, readonly number[]> {
    for (const { status, timestamp, operations } of this.#history) {
      if (status !== 'committed' || timestamp === undefined) continue
      for (const { kind, key, value } of operations)
        if (kind === 'write' && !key.startsWith('l') && value !== undefined) {
          const versions = this.#versions.get(key) ?? new Map<number, number>()
          this.#versions.set(key, versions)
          if (!versions.has(value)) versions.set(value, timestamp)
        }
    }
    return new Map(
      Array.from(this.#versions, ([key, versions]) => [
        key,
        [...versions].toSorted(([, a], [, b]) => a - b).map(([value]) => value),
      ]),
    )
  }

  /** A consistent read of one item sees what was acknowledged before it began, on whatever server. */
  #judgeLooks(orders: ReadonlyMap<string, readonly number[]>): void {
    const writes = this.#history.filter(({ status }) => status === 'committed')
    for (const { isPlain, status, operations, invokedAt, id } of this.#history) {
      if (!isPlain || status !== 'committed') continue
      for (const { key, value, list } of operations) {
        const seen = new Set(listOf(key, value, list, orders))
        for (const write of writes) {
          if (write.completedAt >= invokedAt) continue
          for (const done of write.operations)
            if (done.kind === 'write' && done.key === key && !seen.has(done.value!))
              this.#found.add('stale-read', `${id} did not see ${done.value} of ${write.id} in ${key}`)
        }
      }
    }
  }

  /** Of each index: which items it has, and where. */
  async #entries({ node }: Running): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
    const all = new Map<string, ReadonlyMap<string, string>>()
    for (const index of SHAPES[1]!.indexes) {
      const found = new Map<string, string>()
      for (const color of COLORS) {
        const page = await node.range({
          space: index.space,
          itemSpace: TABLE.space,
          ...indexRange(index.key, { S: color }),
          reverse: false,
          entriesMax: 1000,
          bytesMax: 1e9,
        })
        for (const { record } of page.entries) {
          const id = (itemOf(record)['id'] as { S: string }).S
          if (found.has(id)) this.#found.add('entry-twice', `${id} is in ${index.name} twice`)
          found.set(id, color)
        }
      }
      all.set(index.key.partition.name, found)
    }
    return all
  }

  #judgeEntries(
    entries: ReadonlyMap<string, ReadonlyMap<string, string>>,
    records: ReadonlyMap<string, ItemRecord | undefined>,
    isJudged: (key: string, last: number | undefined) => boolean,
  ): void {
    for (const [name, found] of entries) {
      for (const [key, record] of records) {
        const { value, list } = seenIn(record)
        if (!isJudged(key, list?.at(-1) ?? value)) continue
        const color = record && (itemOf(record)[name] as { S: string } | undefined)?.S
        if (color !== found.get(key))
          this.#found.add(
            'entry-missing',
            `${key} is ${color ?? 'absent'}, by-${name} has ${found.get(key) ?? 'nothing'}`,
          )
      }
    }
  }
}

const itemOf = (record: ItemRecord): Item => JSON.parse(Buffer.from(record.json).toString()) as Item

function seenIn(record: ItemRecord | undefined): { value: number | undefined; list?: readonly number[] } {
  const item = record && itemOf(record)
  const value = item?.['v']
  const list = item?.['l']
  return {
    value: value && 'N' in value ? Number(value.N) : undefined,
    ...(list && 'L' in list && { list: list.L.map((each) => ('N' in each ? Number(each.N) : -1)) }),
  }
}

function listOf(
  key: string,
  value: number | undefined,
  list: readonly number[] | undefined,
  orders: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  if (key.startsWith('l')) return list ?? []
  if (value === undefined) return []
  const order = orders.get(key) ?? []
  return order.slice(0, order.indexOf(value) + 1)
}

const operationsOf = (
  { operations }: Drafted,
  orders: ReadonlyMap<string, readonly number[]>,
): readonly ListOperation[] =>
  operations.map(({ kind, key, value, list }) =>
    kind === 'write'
      ? { kind: 'append', key, value: value! }
      : { kind: 'read', key, list: listOf(key, value, list, orders) },
  )
