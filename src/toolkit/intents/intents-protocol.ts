// The way to commit on any DynamoDB endpoint: conditional writes, transaction records and intents.
//
//   attempt.ts     one attempt of a unit       detached.ts   units that outlive a call       sweep.ts   what others left
//       |
//       v
//   commit/        single.ts, transact.ts: cheaper ways; commit.ts: header, intents, decision; locks.ts: longer lives
//       |
//       v
//   items/         look.ts, ranges.ts: reading; validate.ts: what was read still holds; settle.ts: making room and
//       |          finishing; guards.ts: partitions as participants
//       v
//   context/       the endpoint's caller, the record table, headers, parts of long records: what all attempts share
//       |
//       v
//   protocol/      pure: limits, records, images, rules, the requests that say them
//
// See docs/reference/any-endpoint.md for what it stores, docs/explanation/any-endpoint.md for what it promises, and
// docs/adr/0013-intents.md for why.
import type { Runtime } from '../../runtime/runtime.js'
import type { Endpoint } from '../endpoint/endpoint.js'
import type { AttemptStart, DetachedUnits, Protocol } from '../unit/protocol.js'
import type { Outcome } from '../unit/transactor.js'
import { IntentsAttempt, type Resumed, type Ways } from './attempt.js'
import { Caller, type CallerSettings } from './context/caller.js'
import { detachedUnits } from './detached.js'
import { readHeader } from './context/headers.js'
import { defaultPatience, intentLimits, type IntentsPatience } from './protocol/limits.js'
import { headerKey, headerOf } from './protocol/records.js'
import { fateOf } from './protocol/rules.js'
import { setupRecords } from './context/setup.js'
import { openContext, readRaw, type Guards, type IntentsContext } from './context/context.js'
import { sweep } from './sweep.js'

export const RECORDS = 'seriatim-transactions'

export interface IntentsOptions {
  /** The table of transaction records. */
  readonly record?: string
  readonly patience?: Partial<IntentsPatience>
  readonly requests?: CallerSettings
  /** Told of writes that plain writers have destroyed. */
  readonly onError?: (error: unknown) => void
  /** Tables with guards, and whether queries rely on them. */
  readonly guards?: Guards
  /** `auto`: the cheapest of all. `transact`: one TransactWriteItems or nothing. `intents`: conditional writes alone. */
  readonly protocol?: 'auto' | 'transact' | 'intents'
  /** Every unit goes through intents, however small. */
  readonly always?: boolean
}

export function intentsProtocol(
  endpoint: Endpoint,
  runtime: Runtime,
  options: IntentsOptions = {},
): IntentsProtocol {
  const patience = { ...defaultPatience, ...options.patience }
  const records = options.record ?? RECORDS
  const space = openContext(new Caller(endpoint, runtime, options.requests), {
    records,
    patience,
    guards: options.guards ?? {},
    report: options.onError ?? (() => undefined),
  })
  const { protocol = 'auto', always = false } = options
  return new IntentsProtocol(space, {
    single: !always,
    transact: !always && protocol !== 'intents',
    intents: protocol !== 'transact',
  })
}

export class IntentsProtocol implements Protocol {
  readonly ordersLikeSeriatim = false
  readonly detached: DetachedUnits
  readonly #space: IntentsContext
  readonly #ways: Ways
  readonly #resumed = new Map<string, Resumed>()
  readonly #attempts = new WeakMap<AttemptStart, IntentsAttempt>()

  constructor(space: IntentsContext, ways: Ways) {
    this.#space = space
    this.#ways = ways
    this.detached = detachedUnits(space, {
      attemptOf: (start) => this.#attempts.get(start),
      resumed: (id, resumed) => this.#resumed.set(id, resumed),
    })
  }

  attempt(start: AttemptStart): IntentsAttempt {
    const resumed = this.#resumed.get(start.id)
    this.#resumed.delete(start.id)
    const attempt = new IntentsAttempt(this.#space, start, this.#ways, resumed)
    this.#attempts.set(start, attempt)
    return attempt
  }

  setup(): Promise<void> {
    return setupRecords(this.#space)
  }

  /** Of a unit, or of one attempt of it, as an OutcomeUnknown names it (`id.3`). */
  async outcome(id: string): Promise<Outcome> {
    const usage = { requests: 0, capacity: 0 }
    const [, unit, attempt] = /^(.*)\.(\d+)$/.exec(id) ?? []
    if (unit !== undefined)
      return (await readHeader(this.#space, attempt === '1' ? unit : id, usage))?.state ?? 'unknown'
    const ids = Array.from({ length: ATTEMPTS_MAX }, (_, at) => (at === 0 ? id : `${id}.${at + 1}`))
    const addresses = ids.map((one) => ({ table: this.#space.records, key: headerKey(one) }))
    const records = await readRaw(this.#space, addresses, usage)
    return fateOf(records.flatMap((record) => (record === undefined ? [] : [headerOf(record)])))
  }

  sweep(options: { readonly tables?: readonly string[] }): ReturnType<Protocol['sweep']> {
    return sweep(this.#space, options.tables ?? [])
  }

  idle(): Promise<void> {
    return this.#space.background.idle()
  }
}

/** As many as one BatchGetItem reads. */
const ATTEMPTS_MAX = intentLimits.batchGetMax
