// A world: some processes that run units on one store, one that sweeps, and everything that can go wrong between them.
// When all units have ended, trouble ends too; then nothing may be left behind, and the judges look at what was seen.
import { AnswerLost, Overloaded } from '../../src/toolkit/endpoint/refusals.js'
import { Conflict, ConditionFailed, OutcomeUnknown } from '../../src/toolkit/endpoint/errors.js'
import type { IntentsOptions } from '../../src/toolkit/intents/intents-protocol.js'
import { RECORDS } from '../../src/toolkit/intents/intents-protocol.js'
import { isGuardRecord } from '../../src/toolkit/intents/items/guards.js'
import type { IntentsPatience } from '../../src/toolkit/intents/protocol/limits.js'
import { HEADER_PART, headerOf, storedOf } from '../../src/toolkit/intents/protocol/records.js'
import { Deadline } from '../../src/toolkit/unit/attempts.js'
import type { AttemptStart } from '../../src/toolkit/unit/protocol.js'
import type { Anomaly } from '../check/anomaly.js'
import { Tally } from '../faults.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { Scheduler } from '../scheduler.js'
import { CALM, SimClient, type Trouble } from './sim-client.js'
import { Refused, SimStore } from './sim-store.js'
import { SimUnit } from './sim-unit.js'
import { type UnitEnd, type UnitPlan, WORKLOADS } from './workloads.js'

export interface WorldReport {
  readonly seed: number
  readonly workload: string
  readonly anomalies: readonly Anomaly[]
  readonly tally: Tally
  readonly events: number
  readonly traceHash: string
}

const PATIENCE: IntentsPatience = {
  graceMs: 20,
  waitMs: 150,
  stalledMs: 2_000,
  detachedMs: 4_000,
  // Longer than any delay of this world.
  keepMs: 90_000,
  pollMs: 4,
  pollMaxMs: 50,
  commitMs: 20_000,
  beatMs: 400,
}

const ROUGH: Trouble = { loss: 0.004, repeat: 0.01, slow: 0.004, crash: 0.0015, busy: 0.002, cut: 0.0006 }
const ATTEMPTS_MAX = 8

export async function runWorld(seed: number, workload: string, transactions: number): Promise<WorldReport> {
  const world = new World(seed, workload, transactions)
  return world.run()
}

class World {
  readonly #seed: number
  readonly #random: Random
  readonly #scheduler = new Scheduler()
  readonly #tally = new Tally()
  readonly #store: SimStore
  readonly #workloadName: string
  readonly #workload
  readonly #options: IntentsOptions
  readonly #isRough: boolean
  #left: number
  #trouble: Trouble
  #broken: unknown
  #clients = 0
  #isOver = false
  /** What the callers of units were told. */
  readonly #told = new Map<string, UnitEnd['status']>()

  constructor(seed: number, workload: string, transactions: number) {
    this.#seed = seed
    this.#random = new Random(seed)
    this.#left = transactions
    this.#workloadName = workload
    this.#workload = WORKLOADS[workload]!()
    const random = this.#random
    this.#store = new SimStore({
      transactions: random.chance(0.4),
      returnsOld: random.chance(0.5),
      // Several pages, or one that holds the whole range.
      pageItems: random.pick([5, 50]),
    })
    const { table, schema } = this.#workload
    const isGuarded = schema.sort !== undefined && random.chance(0.5)
    if (isGuarded) this.#tally.add('worlds with guards')
    this.#options = {
      patience: PATIENCE,
      protocol: random.chance(0.3) ? 'intents' : 'auto',
      always: random.chance(0.4),
      ...(isGuarded && { guards: { [table]: 'rely' } }),
    }
    this.#isRough = random.chance(0.8)
    this.#trouble = this.#isRough ? ROUGH : CALM
  }

  async run(): Promise<WorldReport> {
    const { table, schema } = this.#workload
    this.#store.create(table, schema)
    this.#store.create(RECORDS, {
      partition: { name: 'id', type: 'S' },
      sort: { name: 'part', type: 'S' },
    })
    this.#workload.load(this.#store, this.#random)
    let anomalies: readonly Anomaly[] = []
    const story = this.#story().then((found) => {
      anomalies = found
      this.#isOver = true
    })
    story.catch((error: unknown) => {
      this.#broken ??= error
      this.#isOver = true
    })
    await this.#scheduler.run(() => this.#isOver || this.#broken !== undefined)
    if (this.#broken !== undefined) anomalies = [{ kind: 'broken', explanation: explain(this.#broken) }]
    else if (!this.#isOver) anomalies = [{ kind: 'stuck', explanation: 'nothing happens any more' }]
    return {
      seed: this.#seed,
      workload: this.#workloadName,
      anomalies,
      tally: this.#tally,
      events: this.#scheduler.events,
      traceHash: this.#scheduler.traceHash,
    }
  }

  async #story(): Promise<readonly Anomaly[]> {
    const runners = Array.from({ length: this.#random.between(3, 9) }, () => this.#runner())
    let swept = false
    const sweeper = this.#sweeper(() => swept)
    await Promise.all(runners)
    this.#trouble = CALM
    swept = true
    await sweeper
    const left = await this.#settle()
    const final = this.#store.items(this.#workload.table).map((item) => storedOf(item)!.item)
    return [...left, ...this.#workload.judge(final)]
  }

  #client(): SimClient {
    return new SimClient(
      `client ${++this.#clients}`,
      {
        scheduler: this.#scheduler,
        store: this.#store,
        random: this.#random,
        tally: this.#tally,
        trouble: () => this.#trouble,
        broken: (error) => (this.#broken ??= error),
      },
      this.#options,
    )
  }

  /** Takes units as long as there are some; a process that dies has a successor. */
  async #runner(): Promise<void> {
    let client = this.#client()
    while (this.#left > 0) {
      this.#left--
      if (client.isDead) {
        this.#tally.add('restarts')
        client = this.#client()
      }
      await Promise.race([client.sleep(client.random.below(8)), client.died])
      await this.#unit(client, this.#workload.next(client.random))
    }
  }

  async #unit(client: SimClient, plan: UnitPlan): Promise<void> {
    const invokedAt = this.#scheduler.nowMicros
    const id = Buffer.from(client.random.bytes(8)).toString('hex')
    client.met = 0
    const progress = { attempts: 0 }
    const isShared = client.random.chance(SHARED)
    const attempts = isShared ? this.#shared(client, id, plan) : this.#attempts(client, id, plan, progress)
    const ended = await Promise.race([attempts, client.died])
    const status: UnitEnd['status'] = ended === 'died' ? 'unknown' : ended
    const completedAt = status === 'committed' ? this.#scheduler.nowMicros : Infinity
    this.#tally.add('transactions')
    if (client.met > 0 || progress.attempts > 1) this.#tally.add('contended')
    this.#tally.add(`outcome/${ended}`)
    this.#told.set(id, status)
    plan.ended({ id, status, invokedAt, completedAt })
  }

  async #attempts(
    client: SimClient,
    id: string,
    plan: UnitPlan,
    progress: { attempts: number },
  ): Promise<UnitEnd['status']> {
    let carried: unknown
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      progress.attempts = attempt
      const running = client.protocol.attempt(startOf(id, attempt, carried))
      const unit = new SimUnit(running)
      try {
        await plan.run(unit)
        const { protocol } = await running.commit(unit.work)
        this.#tally.add(`path/${protocol}`)
        return 'committed'
      } catch (error) {
        running.end()
        carried = running.carry()
        const status = this.#statusOf(error)
        if (status !== 'again') return status
      }
      await client.sleep(client.random.below(10 * 2 ** attempt))
    }
    return 'aborted'
  }

  #statusOf(error: unknown): UnitEnd['status'] | 'again' {
    if (error instanceof OutcomeUnknown) return 'unknown'
    if (error instanceof Conflict || error instanceof Overloaded) return 'again'
    // Reads and intents that got no answer: nothing was decided.
    if (error instanceof ConditionFailed || error instanceof AnswerLost || error instanceof Refused)
      return 'aborted'
    throw error
  }

  /** Begun here, detached, and committed by two others at once. */
  async #shared(client: SimClient, id: string, plan: UnitPlan): Promise<UnitEnd['status']> {
    try {
      const start = { ...startOf(id, 1, undefined), once: true }
      const running = client.protocol.attempt(start)
      const unit = new SimUnit(running)
      await plan.run(unit)
      await client.protocol.detached.detach(start, unit.work)
    } catch (error) {
      // It was never given to anybody to commit.
      return this.#statusOf(error) === 'again' ? 'aborted' : 'aborted'
    }
    const others = [this.#client(), this.#client()]
    const ends = await Promise.all(
      others.map((other) =>
        Promise.race([this.#resume(other, id), other.died.then(() => 'unknown' as const)]),
      ),
    )
    this.#tally.add(`shared/${ends.toSorted().join(' ')}`)
    if (ends.includes('committed')) return 'committed'
    return ends.includes('unknown') ? 'unknown' : 'aborted'
  }

  async #resume(client: SimClient, id: string): Promise<UnitEnd['status']> {
    try {
      await client.sleep(client.random.below(20))
      const { work } = await client.protocol.detached.resume(id)
      const running = client.protocol.attempt({ ...startOf(id, 1, undefined), once: true })
      await running.commit(work)
      return 'committed'
    } catch (error) {
      const status = this.#statusOf(error)
      // Somebody else may have it.
      return status === 'again' || status === 'aborted' ? this.#fateOf(id) : status
    }
  }

  #fateOf(id: string): UnitEnd['status'] {
    const item = this.#store.items(RECORDS).find((one) => {
      const header = headerOf(one)
      return header.id === id && 'state' in one
    })
    const state = item === undefined ? 'pending' : headerOf(item).state
    return state === 'cancelled' ? 'aborted' : 'unknown'
  }

  async #sweeper(isOver: () => boolean): Promise<void> {
    let client = this.#client()
    while (!isOver()) {
      if (client.isDead) client = this.#client()
      await Promise.race([client.sleep(client.random.between(500, 3_000)), client.died])
      await Promise.race([this.#sweep(client), client.died])
    }
    client.kill()
  }

  async #sweep(client: SimClient): Promise<void> {
    try {
      const report = await client.protocol.sweep({ tables: [this.#workload.table] })
      for (const [name, count] of Object.entries(report)) this.#tally.add('swept/', name, count)
    } catch (error) {
      if (!(error instanceof AnswerLost || error instanceof Refused || error instanceof Error)) throw error
      this.#tally.add('swept/interrupted')
    }
  }

  /** Waits for what is still on its way, sweeps, and says what is left. */
  async #settle(): Promise<readonly Anomaly[]> {
    const client = this.#client()
    await client.sleep(45_000)
    for (let rounds = 0; rounds < 12; rounds++) {
      await this.#sweep(client)
      await client.sleep(1_500)
      if (this.#leftBehind().length > 0) continue
      return [...(await this.#wrongFates(client)), ...(await this.#forget(client))]
    }
    return this.#leftBehind()
  }

  /** Whatever `outcome` says of a unit, its caller was not told the contrary. */
  async #wrongFates(client: SimClient): Promise<readonly Anomaly[]> {
    const wrong: Anomaly[] = []
    for (const [id, status] of this.#told) {
      if (!client.random.chance(ASKED)) continue
      const outcome = await client.protocol.outcome(id)
      this.#tally.add(`fate/${status} ${outcome}`)
      const isWrong =
        outcome === 'pending' ||
        (status === 'committed' && outcome === 'cancelled') ||
        (status === 'aborted' && outcome === 'committed')
      if (isWrong) wrong.push({ kind: 'wrong-fate', explanation: `${id} was ${status}, not ${outcome}` })
    }
    return wrong
  }

  /** In some worlds the sweeper goes on until nothing is left of any transaction. */
  async #forget(client: SimClient): Promise<readonly Anomaly[]> {
    if (this.#seed % 4 !== 0) return []
    await this.#sweep(client)
    await client.sleep(PATIENCE.keepMs)
    await this.#sweep(client)
    return this.#store
      .items(RECORDS)
      .filter((item) => !isGuardRecord(item))
      .map((item) => ({ kind: 'record-kept', explanation: JSON.stringify(item).slice(0, 500) }))
  }

  #leftBehind(): Anomaly[] {
    const locked = [this.#workload.table, RECORDS]
      .flatMap((table) => this.#store.items(table))
      .filter((item) => storedOf(item)?.intent !== undefined)
      .map((item) => ({ kind: 'lock-left', explanation: JSON.stringify(item).slice(0, 500) }))
    const undone = this.#store
      .items(RECORDS)
      .filter((item) => 'S' in item['part']! && item['part'].S === HEADER_PART && !headerOf(item).done)
      .map((item) => ({ kind: 'record-left', explanation: JSON.stringify(item).slice(0, 500) }))
    return [...locked, ...undone]
  }
}

const explain = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : 'unknown'

/** Of all units: committed by two processes at once. */
const SHARED = 0.04

/** Of all units: their fate is asked for in the end. */
const ASKED = 0.2

const NEVER = new Deadline(
  { nowMicros: () => 0, timer: () => () => undefined },
  { timeoutMs: 0, signal: undefined, expired: () => undefined },
)

const startOf = (id: string, attempt: number, carried: unknown): AttemptStart => ({
  id,
  attempt,
  isolation: 'serializable',
  timeoutMs: 30_000,
  deadline: NEVER,
  carried,
})
