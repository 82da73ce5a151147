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
import type { ExtendedEndpoint } from './endpoint.js'
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
export function nativeProtocol(endpoint: ExtendedEndpoint, runtime: Runtime): Protocol {
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
  readonly endpoint: ExtendedEndpoint
  readonly runtime: Runtime
  readonly layouts: Layouts
  /** Read timestamps that nobody here needs any more, for the next request to tell. */
  #released: number[] = []
  readonly #ending = new Set<Promise<unknown>>()
  /** Of late, oldest first: in one process commits have no token that the ledger could know them by. */
  readonly #committed = new Set<string>()

  constructor(endpoint: ExtendedEndpoint, runtime: Runtime) {
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

  committed(id: string): void {
    this.#committed.add(id)
    if (this.#committed.size <= COMMITTED_MAX) return
    for (const oldest of this.#committed) {
      this.#committed.delete(oldest)
      return
    }
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
    if (this.#committed.has(id)) return 'committed'
    const input = { ClientRequestToken: id }
    const answer = (await this.endpoint.extension('UnitOutcome', input)) as { Outcome?: string }
    return OUTCOMES.get(answer.Outcome ?? '') ?? 'unknown'
  }
}

const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ['COMMITTED', 'committed'],
  ['CANCELLED', 'cancelled'],
  ['PENDING', 'pending'],
])
const RELEASED_MAX = 1000
const COMMITTED_MAX = 1000
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
    const Gets = addresses.map((address) => {
      const get = addressInput(address)
      if (lock) get['Lock'] = true
      return get
    })
    const { Responses } = (await this.#read('UnitGetItems', { Gets })) as GetAnswer
    return Responses.map(({ Item, Version }) =>
      Item === undefined || Version === undefined ? {} : { item: Item, version: Version },
    )
  }

  async page(range: RangeRequest, start: Item | undefined, limit: number | undefined): Promise<Page> {
    const operation = range.keyCondition === undefined ? 'UnitScan' : 'UnitQuery'
    const input = rangeInput(range)
    if (start !== undefined) input['ExclusiveStartKey'] = start
    if (limit !== undefined) input['Limit'] = limit
    const answer = (await this.#read(operation, input)) as PageAnswer
    const { Items = [], LastEvaluatedKey } = answer
    return { items: Items, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
  }

  async commit(work: UnitWork): Promise<CommitReport> {
    const { id, isolation } = this.#start
    const input: Wire = { Unit: this.#unit() }
    if (this.#shared.endpoint.losesNoAnswers !== true) input['ClientRequestToken'] = id
    if (isolation === 'serializable') {
      if (work.reads.length > 0) input['Reads'] = work.reads.map(readInput)
      if (work.ranges.length > 0) input['Predicates'] = work.ranges.map(predicateInput)
    }
    input['TransactItems'] = work.actions.map(actionInput)
    if (work.locks.length > 0) input['Locks'] = work.locks.map(addressInput)
    await this.#send(input, work)
    this.#isOver = true
    this.#shared.committed(id)
    return { protocol: 'seriatim' }
  }

  end(locks: readonly ItemAddress[]): void {
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
        const answer = endpoint.extension('UnitCommit', input)
        await (endpoint.losesNoAnswers === true ? answer : this.#answerInTime(answer))
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
        if (sends >= (endpoint.losesNoAnswers === true ? 1 : unitLimits.commitSendsMax))
          throw new OutcomeUnknown(
            `What became of this commit could not be told, after ${sends} sends; outcome('${this.#start.id}') may tell later.`,
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
  async #read(operation: string, input: Wire): Promise<Answer> {
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

  async #call(operation: string, input: Wire): Promise<Answer> {
    const { endpoint } = this.#shared
    const { deadline } = this.#start
    const released = this.#shared.takeReleased()
    this.usage.requests++
    try {
      const request: Wire = input
      request['Unit'] = this.#unit()
      if (released !== undefined) request['Released'] = released
      const options = endpoint.losesNoAnswers === true ? undefined : { signal: deadline.signal }
      const answer = (await endpoint.extension(operation, request, options)) as Answer
      if (isRepeatable(this.#start.isolation)) this.#readTimestamp ??= answer.ReadTimestamp
      this.#attemptBegan ??= answer.Clock
      this.#began ??= answer.Clock
      return answer
    } catch (error) {
      deadline.throwIfOver()
      throw readRefusal(error)
    }
  }

  #unit(): Wire {
    const { id, isolation, timeoutMs } = this.#start
    const unit: Wire = { Id: id, Isolation: isolation, TimeoutMs: timeoutMs }
    if (this.#readTimestamp !== undefined) unit['ReadTimestamp'] = this.#readTimestamp
    if (this.#began !== undefined) unit['Began'] = this.#began
    if (this.#attemptBegan !== undefined) unit['AttemptBegan'] = this.#attemptBegan
    return unit
  }
}

type Wire = Record<string, unknown>

const addressInput = ({ table, key }: ItemAddress): Wire => ({ TableName: table, Key: key })

function readInput({ table, key, version }: UnitWork['reads'][number]): Wire {
  return version === undefined
    ? { TableName: table, Key: key }
    : { TableName: table, Key: key, Version: version }
}

function rangeInput({ table, index, keyCondition, filter, names, values, reverse }: RangeRequest): Wire {
  const input: Wire = { TableName: table }
  if (index !== undefined) input['IndexName'] = index
  if (keyCondition !== undefined) input['KeyConditionExpression'] = keyCondition
  if (filter !== undefined) input['FilterExpression'] = filter
  if (names !== undefined) input['ExpressionAttributeNames'] = names
  if (values !== undefined) input['ExpressionAttributeValues'] = values
  if (keyCondition !== undefined) input['ScanIndexForward'] = !reverse
  return input
}

function predicateInput(range: RangeEntry): Wire {
  const input = rangeInput(range)
  if (range.end !== undefined) input['LastEvaluatedKey'] = range.end
  return input
}

function actionInput({ kind, table, key, item, expressions }: Action): Wire {
  const { update, condition, names, values } = expressions
  const input: Wire = kind === 'put' ? { TableName: table, Item: item } : { TableName: table, Key: key }
  if (update !== undefined) input['UpdateExpression'] = update
  if (condition !== undefined) input['ConditionExpression'] = condition
  if (names !== undefined) input['ExpressionAttributeNames'] = names
  if (values !== undefined) input['ExpressionAttributeValues'] = values
  switch (kind) {
    case 'put':
      return { Put: input }
    case 'update':
      return { Update: input }
    case 'delete':
      return { Delete: input }
    case 'check':
      return { ConditionCheck: input }
  }
}
