// One attempt of a unit of work on Seriatim. A store in this process is asked through the port (port/unit-port.ts),
// another one over the wire; what becomes of the answers is the same.
import { namesReads, readsAtOneSnapshot, validatesReads } from '../../model/isolation.js'
import type { Item } from '../../model/value.js'
import type { DirectUnit, DirectUnits, UnitPass } from '../../port/unit-port.js'
import { OutcomeUnknown } from '../endpoint/errors.js'
import { unitLimits } from '../endpoint/limits.js'
import type { NativeUnits } from './native.js'
import { namingTables } from '../unit/naming.js'
import { commitRefusal, readRefusal } from './native-errors.js'
import { actionInput, addressInput, predicateInput, rangeInput, readInput, type Wire } from './native-wire.js'
import { goneOn, type Kept, type DetachedPlan, type ResumedPlan } from './native-detached.js'
import { EarlierCommitted } from '../unit/protocol.js'
import type {
  AttemptPort,
  AttemptStart,
  CommitReport,
  ItemAddress,
  Page,
  RevisionPage,
} from '../unit/protocol.js'
import type { UnitRange, ReadItem, TableLayout, CommitWork } from '../unit/protocol.js'
import { isTurnedAway, Overloaded, timedOut, verdictOf } from '../endpoint/refusals.js'
import { backoffOf, sleep } from '../endpoint/waiting.js'

const GETS_MAX = 100

interface Answer {
  readonly ReadTimestamp?: UnitPass
  readonly Clock?: number
  /** The age that the unit was given; absent once it has one. */
  readonly Began?: UnitPass
}
interface GetAnswer extends Answer {
  readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
}
interface PageAnswer extends Answer {
  readonly Items?: readonly Item[]
  readonly LastEvaluatedKey?: Item
}

const COMMITTED: CommitReport = { protocol: 'seriatim' }
const NONE: readonly never[] = []

export class NativeAttempt implements AttemptPort {
  /** What a unit has read that was resumed is validated by a commit, which also ends its plan. */
  readonly commitsReads: boolean
  readonly usage = { requests: 0, capacity: 0 }
  readonly #shared: NativeUnits
  readonly #start: AttemptStart
  readonly #isRepeatable: boolean
  /**
   * `began`: the server's time when the first attempt was first answered, which is the age of the unit where locks are
   * concerned; `attemptBegan`: the same of this attempt, which its time is counted from.
   */
  readonly #unit: { -readonly [Member in keyof DirectUnit]: DirectUnit[Member] }
  #opening: Promise<unknown> | undefined
  #isDoubtful = false
  #isAnswered = false
  #isOver = false

  readonly #plan: DetachedPlan | undefined
  /** That it held when it was detached. */
  readonly #keptLocks: readonly ItemAddress[]

  constructor(shared: NativeUnits, start: AttemptStart, resumed?: ResumedPlan) {
    this.#shared = shared
    this.#plan = resumed?.plan
    this.commitsReads = resumed !== undefined
    this.#keptLocks = resumed?.kept.work.locks ?? []
    this.#start = start
    const { id, isolation, timeoutMs } = start
    this.#isRepeatable = readsAtOneSnapshot(isolation)
    const began = resumed?.kept.began ?? (start.carried as UnitPass | undefined)
    const readTimestamp = resumed && readTimestampOf(resumed.kept)
    this.#unit = { id, isolation, timeoutMs, readTimestamp, began, attemptBegan: resumed?.clock }
  }

  get isDoubtful(): boolean {
    return this.#isDoubtful
  }

  carry(): unknown {
    return this.#unit.began
  }

  layout(table: string): TableLayout | Promise<TableLayout> {
    return this.#shared.layouts.of(table)
  }

  async get(
    addresses: readonly ItemAddress[],
    { lock }: { readonly lock: boolean },
  ): Promise<readonly ReadItem[]> {
    if (addresses.length > GETS_MAX) {
      const first = await this.get(addresses.slice(0, GETS_MAX), { lock })
      return [...first, ...(await this.get(addresses.slice(GETS_MAX), { lock }))]
    }
    const { direct } = this.#shared.endpoint
    return direct === undefined
      ? this.#read(() => this.#getOverWire(addresses, lock))
      : this.#read(() => this.#getDirectly(direct, addresses, lock))
  }

  async #getDirectly(
    direct: DirectUnits,
    addresses: readonly ItemAddress[],
    lock: boolean,
  ): Promise<readonly ReadItem[]> {
    const unit = this.#unit
    const released = this.#shared.takeReleased()
    this.usage.requests++
    try {
      const { items, readTimestamp, clock } = await direct.getItems({ unit, addresses, lock, released })
      this.#note(readTimestamp, clock)
      return items
    } catch (error) {
      throw this.#refused(
        error,
        addresses.map(({ table }) => ({ TableName: table })),
      )
    }
  }

  /** An answer may be too large for all of them: the rest is asked for again, at the same snapshot. */
  async #getOverWire(addresses: readonly ItemAddress[], lock: boolean): Promise<readonly ReadItem[]> {
    const items: ReadItem[] = []
    while (items.length < addresses.length) {
      const answered = await this.#getSome(addresses.slice(items.length), lock)
      if (answered.length === 0) throw new Error('UnitGetItems answered without an item')
      items.push(...answered)
    }
    return items
  }

  /** The first of them, one at least. */
  async #getSome(addresses: readonly ItemAddress[], lock: boolean): Promise<readonly ReadItem[]> {
    const Gets = addresses.map((address) => {
      const get = addressInput(address)
      if (lock) get['Lock'] = true
      return get
    })
    const { Responses } = (await this.#call('UnitGetItems', { Gets })) as GetAnswer
    return Responses.map(({ Item, Version }) =>
      Item === undefined || Version === undefined ? {} : { item: Item, version: Version },
    )
  }

  async page(range: UnitRange, start: Item | undefined, limit: number | undefined): Promise<Page> {
    const operation = range.keyCondition === undefined ? 'UnitScan' : 'UnitQuery'
    const input = rangeInput(range)
    if (start !== undefined) input['ExclusiveStartKey'] = start
    if (limit !== undefined) input['Limit'] = limit
    const answer = (await this.#read(() => this.#call(operation, input))) as PageAnswer
    const { Items = [], LastEvaluatedKey } = answer
    return { items: Items, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
  }

  async revisions(address: ItemAddress, next: string | undefined): Promise<RevisionPage> {
    const input = addressInput(address)
    if (next !== undefined) input['NextToken'] = next
    this.usage.requests++
    const { endpoint } = this.#shared
    const options = endpoint.losesNoAnswers === true ? undefined : { signal: this.#start.deadline.signal }
    try {
      const answer = (await endpoint.extension('ListRevisions', input, options)) as {
        readonly Revisions: RevisionPage['revisions']
        readonly NextToken?: string
      }
      const { Revisions, NextToken } = answer
      return { revisions: Revisions, ...(NextToken !== undefined && { next: NextToken }) }
    } catch (error) {
      throw this.#refused(error, input)
    }
  }

  async commit(work: CommitWork): Promise<CommitReport> {
    const { direct } = this.#shared.endpoint
    if (this.#plan !== undefined) await this.#commitPlan(work, this.#plan)
    else if (direct !== undefined) await this.#commitDirectly(direct, work)
    else await this.#send(this.#commitInput(work), work)
    this.#isOver = true
    this.#shared.committed(this.#unit.id)
    return COMMITTED
  }

  /** By the wire's commit, whose token others may ask for. */
  async #commitPlan({ reads, ranges, actions, locks }: CommitWork, plan: DetachedPlan): Promise<void> {
    const work = {
      reads,
      ranges,
      actions: [...actions, ...this.#shared.plans.ending(plan)],
      locks: [...this.#keptLocks, ...locks],
    }
    const input: Wire = { ...this.#commitInput(work), ClientRequestToken: this.#unit.id }
    if (this.#unit.isolation === 'snapshot') {
      const seen = this.#shared.plans.loaded(plan).map(readInput)
      input['Reads'] = [...((input['Reads'] as readonly Wire[] | undefined) ?? []), ...seen]
    }
    try {
      await this.#send(input, work)
    } catch (error) {
      throw error instanceof EarlierCommitted ? goneOn(plan.id, error) : error
    }
  }

  /** Keeps what it has read and is about to do, its snapshot and its locks: somebody goes on with it, soon or late. */
  async detach(work: CommitWork): Promise<void> {
    const { id, isolation, timeoutMs, readTimestamp, began } = this.#unit
    const locks = [...this.#keptLocks, ...work.locks]
    const kept: Kept = {
      work: { ...work, locks },
      isolation,
      timeoutMs,
      ...(readTimestamp !== undefined && { readTimestamp }),
      ...(began !== undefined && { began }),
    }
    await this.#shared.plans.save(id, kept, this.#plan)
    this.#isOver = true
  }

  /** After `end`: for good, also for others who might go on. */
  async rolledBack(): Promise<void> {
    if (this.#plan === undefined) return
    const work = { reads: [], ranges: [], locks: [], actions: this.#shared.plans.ending(this.#plan) }
    // Its rows were written behind the snapshot, and nothing that was read there matters any more.
    this.#unit.readTimestamp = undefined
    await this.#send({ ...this.#commitInput(work), ClientRequestToken: this.#unit.id }, work)
  }

  async #commitDirectly(direct: DirectUnits, work: CommitWork): Promise<void> {
    const { actions, ranges, locks } = work
    const { isolation } = this.#unit
    const predicates = ranges.length === 0 ? ranges : ranges.map(predicateInput)
    this.usage.requests++
    try {
      await direct.commit({
        unit: this.#unit,
        reads: namesReads(isolation, locks) ? work.reads : NONE,
        actions,
        locks,
        predicates,
        wireActions: () => actions.map(actionInput),
      })
    } catch (error) {
      this.#commitFailed(error, work, 1)
    }
  }

  #commitInput(work: CommitWork): Wire {
    const { id, isolation } = this.#unit
    const input: Wire = { Unit: this.#unitInput() }
    if (this.#shared.endpoint.losesNoAnswers !== true) input['ClientRequestToken'] = id
    if (work.reads.length > 0 && namesReads(isolation, work.locks)) input['Reads'] = work.reads.map(readInput)
    if (work.ranges.length > 0 && validatesReads(isolation))
      input['Predicates'] = work.ranges.map(predicateInput)
    input['TransactItems'] = work.actions.map(actionInput)
    if (work.locks.length > 0) input['Locks'] = work.locks.map(addressInput)
    return input
  }

  end(locks: readonly ItemAddress[]): void {
    if (this.#isOver) return
    this.#isOver = true
    if (locks.length > 0) {
      const input = { Unit: this.#unitInput(), Locks: locks.map(addressInput) }
      this.#shared.background(this.#shared.endpoint.extension('UnitEnd', input))
    }
    const { readTimestamp } = this.#unit
    if (readTimestamp !== undefined && !this.#isAnswered) this.#shared.release(readTimestamp)
  }

  /** The same commit until it is answered: it takes effect once, because its token does. */
  async #send(input: object, work: CommitWork): Promise<void> {
    const { endpoint, runtime } = this.#shared
    const backoffMs = backoffOf(runtime)
    for (let sends = 1; ; sends++) {
      this.usage.requests++
      try {
        if (endpoint.losesNoAnswers === true) await endpoint.extension('UnitCommit', input)
        else
          await this.#answerInTime(endpoint.extension('UnitCommit', input, { sendFailed: this.#sendFailed }))
        return
      } catch (error) {
        this.#commitFailed(error, work, sends)
        await sleep(runtime.clock, backoffMs(sends + 1))
      }
    }
  }

  readonly #sendFailed = (error: unknown): void => {
    if (verdictOf(error) === 'unsure') this.#isDoubtful = true
  }

  /** Throws, unless the commit may be sent once more. */
  #commitFailed(error: unknown, work: CommitWork, sends: number): void {
    const { endpoint, layouts } = this.#shared
    const verdict = verdictOf(error)
    const isTurned = isTurnedAway(error)
    // Who is turned away learns nothing of an earlier send whose answer was lost.
    if ((verdict === 'refused' || verdict === 'busy') && !(isTurned && this.#isDoubtful)) {
      // Which closes the snapshot, whatever the answer is.
      this.#isAnswered = !isTurned
      const refusal = commitRefusal(error, work)
      if (refusal instanceof Error && refusal.name === 'ValidationException')
        layouts.forget(work.actions.map(({ table }) => table))
      throw refusal
    }
    if (!isTurned && verdict !== 'unsent') this.#isDoubtful = true
    if (sends < (endpoint.losesNoAnswers === true ? 1 : unitLimits.commitSendsMax)) return
    if (!this.#isDoubtful) throw new Overloaded('the endpoint is out of reach', { cause: error })
    const { id } = this.#unit
    throw new OutcomeUnknown(
      `What became of this commit could not be told, after ${sends} sends; outcome('${id}') may tell later.`,
      id,
      { cause: error },
    )
  }

  async #answerInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const { commitMs, runtime } = this.#shared
    let cancel = (): void => undefined
    const late = new Promise<never>((_, reject) => {
      cancel = runtime.clock.timer(commitMs, () => reject(timedOut('UnitCommit', commitMs)))
    })
    try {
      return await Promise.race([answer, late])
    } finally {
      cancel()
    }
  }

  /** The first read opens the snapshot; others wait for it, so that there is one. */
  #read<Read>(ask: () => Promise<Read>): Promise<Read> {
    if (!this.#isRepeatable || this.#unit.readTimestamp !== undefined) return ask()
    if (this.#opening !== undefined) return this.#readAfter(ask)
    const opening = ask()
    this.#opening = opening
    const opened = (): void => {
      this.#opening = undefined
    }
    opening.then(opened, opened)
    return opening
  }

  async #readAfter<Read>(ask: () => Promise<Read>): Promise<Read> {
    while (this.#unit.readTimestamp === undefined && this.#opening !== undefined)
      await this.#opening.catch(() => undefined)
    return this.#read(ask)
  }

  async #call(operation: string, input: Wire): Promise<Answer> {
    const { endpoint } = this.#shared
    const released = this.#shared.takeReleased()
    this.usage.requests++
    try {
      input['Unit'] = this.#unitInput()
      if (released !== undefined) input['Released'] = released
      const options = endpoint.losesNoAnswers === true ? undefined : { signal: this.#start.deadline.signal }
      const answer = (await endpoint.extension(operation, input, options)) as Answer
      this.#note(answer.ReadTimestamp, answer.Clock, answer.Began)
      return answer
    } catch (error) {
      throw this.#refused(error, input)
    }
  }

  #note(
    readTimestamp: UnitPass | undefined,
    clock: number | undefined,
    began: UnitPass | undefined = clock,
  ): void {
    const unit = this.#unit
    if (this.#isRepeatable) unit.readTimestamp ??= readTimestamp
    unit.attemptBegan ??= clock
    unit.began ??= began
  }

  #refused(error: unknown, input: unknown): unknown {
    // Whoever was refused a lock is as old at the next attempt as it was then.
    this.#unit.began ??= (error as { readonly Began?: UnitPass }).Began
    this.#start.deadline.throwIfOver()
    return readRefusal(namingTables(error, input))
  }

  #unitInput(): Wire {
    const { id, isolation, timeoutMs, readTimestamp, began, attemptBegan } = this.#unit
    const unit: Wire = { Id: id, Isolation: isolation, TimeoutMs: timeoutMs }
    if (readTimestamp !== undefined) unit['ReadTimestamp'] = readTimestamp
    if (began !== undefined) unit['Began'] = began
    if (attemptBegan !== undefined) unit['AttemptBegan'] = attemptBegan
    return unit
  }
}

/**
 * What a serializable unit has read is validated item by item, so it need not go on at its old snapshot, which may be
 * gone; but ranges, and the first committer of a snapshot, are judged from there.
 */
const readTimestampOf = ({ isolation, work, readTimestamp }: Kept): UnitPass | undefined =>
  isolation === 'serializable' && work.ranges.length === 0 ? undefined : readTimestamp
