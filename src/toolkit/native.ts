// Units of work on Seriatim: reads at one snapshot, and a commit in one request (docs/wire.md, "Units of work").
//
//   get -----> UnitGetItems            the first answer of an attempt carries its snapshot's timestamp,
//   page ----> UnitQuery, UnitScan     which all later requests repeat
//   commit --> UnitCommit              the same bytes again while answers are lost: the token is the unit's id
//   end -----> UnitEnd, if it holds locks; else its snapshot is released with the next request of anybody
//
// May import: model, expression, runtime, and the other files of the toolkit.
import type { Runtime } from '../runtime/runtime.js'
import type { Item } from '../model/value.js'
import type { Endpoint } from './endpoint.js'
import { OutcomeUnknown } from './errors.js'
import { Layouts } from './layout.js'
import { unitLimits } from './limits.js'
import { commitRefusal, isAnswered, readRefusal } from './native-errors.js'
import { isRepeatable } from './protocol.js'
import type { Action, Attempt, AttemptStart, CommitReport, ItemAddress, Page, Protocol } from './protocol.js'
import type { RangeEntry, RangeRequest, ReadItem, TableLayout, UnitWork } from './protocol.js'
import type { Outcome } from './transactor.js'
import { backoffOf } from './attempts.js'
import { sleep } from './waiting.js'

/** Seriatim's own protocol, through an endpoint that is Seriatim. */
export function nativeProtocol(endpoint: Endpoint, runtime: Runtime): Protocol {
  const shared = new Shared(endpoint, runtime)
  return {
    ordersLikeSeriatim: true,
    attempt: (start) => new NativeAttempt(shared, start),
    setup: () => Promise.resolve(),
    outcome: (id) => shared.outcome(id),
    sweep: () => Promise.resolve({ committed: 0, cancelled: 0, orphans: 0, deleted: 0 }),
    idle: () => shared.idle(),
  }
}

/** What all units of one transactor share. */
class Shared {
  readonly endpoint: Endpoint
  readonly runtime: Runtime
  readonly layouts: Layouts
  /** Read timestamps that nobody here needs any more, for the next request to tell. */
  #released: number[] = []
  readonly #ending = new Set<Promise<unknown>>()

  constructor(endpoint: Endpoint, runtime: Runtime) {
    this.endpoint = endpoint
    this.runtime = runtime
    this.layouts = new Layouts(async (TableName) => {
      const { Table } = await endpoint.call('DescribeTable', { TableName })
      return Table ?? {}
    })
  }

  release(readTimestamp: number): void {
    // Beyond that many they are left to the age limit.
    if (this.#released.length < RELEASED_MAX) this.#released.push(readTimestamp)
  }

  takeReleased(): readonly number[] | undefined {
    if (this.#released.length === 0) return undefined
    const released = this.#released
    this.#released = []
    return released
  }

  /** Sent and not waited for: whoever gives up has no use for the answer. */
  background(sending: Promise<unknown>): void {
    const settled: Promise<void> = sending.then(
      () => undefined,
      () => undefined,
    )
    this.#ending.add(settled)
    void settled.then(() => this.#ending.delete(settled))
  }

  async idle(): Promise<void> {
    await Promise.all(this.#ending)
  }

  async outcome(id: string): Promise<Outcome> {
    const answer = (await this.endpoint.extension('UnitOutcome', { Id: id })) as { Outcome?: string }
    return OUTCOMES.get(answer.Outcome ?? '') ?? 'unknown'
  }
}

const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ['COMMITTED', 'committed'],
  ['CANCELLED', 'cancelled'],
  ['PENDING', 'pending'],
])
const RELEASED_MAX = 1000
const GETS_MAX = 100

interface Answer {
  readonly ReadTimestamp?: number
  readonly Clock?: number
}
interface GetAnswer extends Answer {
  readonly Responses: readonly { readonly Item?: Item; readonly Version?: number }[]
}
interface PageAnswer extends Answer {
  readonly Items?: readonly Item[]
  readonly LastEvaluatedKey?: Item
}

class NativeAttempt implements Attempt {
  readonly commitsReads = false
  readonly usage = { requests: 0, capacity: 0 }
  readonly #shared: Shared
  readonly #start: AttemptStart
  #readTimestamp: number | undefined
  /** The server's time when the first attempt was first answered: the age of the unit, where locks are concerned. */
  #began: number | undefined
  /** The same of this attempt: what its time is counted from. */
  #attemptBegan: number | undefined
  #opening: Promise<unknown> | undefined
  #isDoubtful = false
  #isAnswered = false
  #isOver = false

  constructor(shared: Shared, start: AttemptStart) {
    this.#shared = shared
    this.#start = start
    this.#began = start.carried as number | undefined
  }

  get isDoubtful(): boolean {
    return this.#isDoubtful
  }

  carry(): unknown {
    return this.#began
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
    const Gets = addresses.map(({ table, key }) => ({
      TableName: table,
      Key: key,
      ...(lock && { Lock: true }),
    }))
    const { Responses } = (await this.#read('UnitGetItems', { Gets })) as GetAnswer
    return Responses.map(({ Item, Version }) => ({
      ...(Item !== undefined && { item: Item }),
      ...(Version !== undefined && { version: Version }),
    }))
  }

  async page(range: RangeRequest, start: Item | undefined, limit: number | undefined): Promise<Page> {
    const operation = range.keyCondition === undefined ? 'UnitScan' : 'UnitQuery'
    const answer = (await this.#read(operation, {
      ...rangeInput(range),
      ...(start !== undefined && { ExclusiveStartKey: start }),
      ...(limit !== undefined && { Limit: limit }),
    })) as PageAnswer
    const { Items = [], LastEvaluatedKey } = answer
    return { items: Items, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
  }

  async commit(work: UnitWork): Promise<CommitReport> {
    const { id, isolation } = this.#start
    const validated = isolation === 'serializable'
    const input = {
      Unit: this.#unit(),
      ClientRequestToken: id,
      ...(validated && work.reads.length > 0 && { Reads: work.reads.map(readInput) }),
      ...(validated && work.ranges.length > 0 && { Predicates: work.ranges.map(predicateInput) }),
      TransactItems: work.actions.map(actionInput),
      ...(work.locks.length > 0 && { Locks: work.locks.map(addressInput) }),
    }
    await this.#send(input, work)
    this.#isOver = true
    return { protocol: 'seriatim' }
  }

  end({ locks }: UnitWork): void {
    if (this.#isOver) return
    this.#isOver = true
    if (locks.length > 0) {
      const input = { Unit: this.#unit(), Locks: locks.map(addressInput) }
      this.#shared.background(this.#shared.endpoint.extension('UnitEnd', input))
    }
    if (this.#readTimestamp !== undefined && !this.#isAnswered) this.#shared.release(this.#readTimestamp)
  }

  /** The same commit until it is answered: it takes effect once, because its token does. */
  async #send(input: object, work: UnitWork): Promise<void> {
    const { endpoint, runtime, layouts } = this.#shared
    const backoffMs = backoffOf(runtime)
    for (let sends = 1; ; sends++) {
      this.usage.requests++
      try {
        await this.#answerInTime(endpoint.extension('UnitCommit', input))
        return
      } catch (error) {
        if (isAnswered(error)) {
          // Which closes the snapshot, whatever the answer is.
          this.#isAnswered = true
          const refusal = commitRefusal(error, work)
          if (refusal instanceof Error && refusal.name === 'ValidationException')
            layouts.forget(work.actions.map(({ table }) => table))
          throw refusal
        }
        this.#isDoubtful = true
        if (sends >= unitLimits.commitSendsMax)
          throw new OutcomeUnknown(
            `The commit of this unit was sent ${sends} times and never answered; outcome('${this.#start.id}') may tell later.`,
            this.#start.id,
            { cause: error },
          )
        await sleep(runtime.clock, backoffMs(sends + 1))
      }
    }
  }

  async #answerInTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const { clock } = this.#shared.runtime
    let cancel = (): void => undefined
    const late = new Promise<never>((_, reject) => {
      cancel = clock.timer(unitLimits.commitWaitMs, () => reject(new Error('no answer in time')))
    })
    try {
      return await Promise.race([answer, late])
    } finally {
      cancel()
    }
  }

  /** The first read opens the snapshot; others wait for it, so that there is one. */
  async #read(operation: string, input: object): Promise<Answer> {
    if (!isRepeatable(this.#start.isolation)) return this.#call(operation, input)
    while (this.#readTimestamp === undefined && this.#opening !== undefined)
      await this.#opening.catch(() => undefined)
    if (this.#readTimestamp !== undefined) return this.#call(operation, input)
    const opening = this.#call(operation, input)
    this.#opening = opening
    try {
      return await opening
    } finally {
      this.#opening = undefined
    }
  }

  async #call(operation: string, input: object): Promise<Answer> {
    const { endpoint } = this.#shared
    const { signal } = this.#start
    const released = this.#shared.takeReleased()
    this.usage.requests++
    try {
      const request = { Unit: this.#unit(), ...input, ...(released !== undefined && { Released: released }) }
      const answer = (await endpoint.extension(operation, request, { signal })) as Answer
      if (isRepeatable(this.#start.isolation)) this.#readTimestamp ??= answer.ReadTimestamp
      this.#attemptBegan ??= answer.Clock
      this.#began ??= answer.Clock
      return answer
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw readRefusal(error)
    }
  }

  #unit(): object {
    const { id, isolation, timeoutMs } = this.#start
    return {
      Id: id,
      Isolation: isolation,
      TimeoutMs: timeoutMs,
      ...(this.#readTimestamp !== undefined && { ReadTimestamp: this.#readTimestamp }),
      ...(this.#began !== undefined && { Began: this.#began }),
      ...(this.#attemptBegan !== undefined && { AttemptBegan: this.#attemptBegan }),
    }
  }
}

const addressInput = ({ table, key }: ItemAddress): object => ({ TableName: table, Key: key })

const readInput = (read: UnitWork['reads'][number]): object => ({
  TableName: read.table,
  Key: read.key,
  ...(read.version !== undefined && { Version: read.version }),
})

const rangeInput = ({
  table,
  index,
  keyCondition,
  filter,
  names,
  values,
  reverse,
}: RangeRequest): object => ({
  TableName: table,
  ...(index !== undefined && { IndexName: index }),
  ...(keyCondition !== undefined && { KeyConditionExpression: keyCondition }),
  ...(filter !== undefined && { FilterExpression: filter }),
  ...(names !== undefined && { ExpressionAttributeNames: names }),
  ...(values !== undefined && { ExpressionAttributeValues: values }),
  ...(keyCondition !== undefined && { ScanIndexForward: !reverse }),
})

const predicateInput = (range: RangeEntry): object => ({
  ...rangeInput(range),
  ...(range.end !== undefined && { LastEvaluatedKey: range.end }),
})

const KINDS = { put: 'Put', update: 'Update', delete: 'Delete', check: 'ConditionCheck' } as const

function actionInput({ kind, table, key, item, expressions }: Action): object {
  const { update, condition, names, values } = expressions
  return {
    [KINDS[kind]]: {
      TableName: table,
      ...(kind === 'put' ? { Item: item } : { Key: key }),
      ...(update !== undefined && { UpdateExpression: update }),
      ...(condition !== undefined && { ConditionExpression: condition }),
      ...(names !== undefined && { ExpressionAttributeNames: names }),
      ...(values !== undefined && { ExpressionAttributeValues: values }),
    },
  }
}
