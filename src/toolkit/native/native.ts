// Units of work on Seriatim: reads at one snapshot, and a commit in one request (docs/reference/wire.md, "Units of work").
//
//   get -----> UnitGetItems            the first answer of an attempt carries its snapshot's timestamp,
//   page ----> UnitQuery, UnitScan     which all later requests repeat
//   commit --> UnitCommit              the same bytes again while answers are lost: the token is the unit's id
//   end -----> UnitEnd, if it holds locks; else its snapshot is released with the next request of anybody
//
// May import: model, expression, runtime, and the other files of the toolkit.
import type { Runtime } from '../../runtime/runtime.js'
import type { UnitPass } from '../../port/unit-port.js'
import type { ExtendedEndpoint } from '../endpoint/endpoint.js'
import { layoutOf, Layouts } from '../unit/layout.js'
import { unitLimits } from '../endpoint/limits.js'
import { namingTables } from '../unit/naming.js'
import { NativeAttempt } from './native-attempt.js'
import { DetachedPlans, type ResumedPlan } from './native-detached.js'
import type { AttemptStart, Protocol, CommitWork } from '../unit/protocol.js'
import type { Outcome, TransactOptions } from '../unit/transactor.js'

/** Seriatim's own protocol, through an endpoint that is Seriatim. */
export function nativeProtocol(
  endpoint: ExtendedEndpoint,
  runtime: Runtime,
  settings: NativeSettings = {},
): Protocol {
  const shared = new NativeUnits(endpoint, runtime, settings)
  return {
    ordersLikeSeriatim: true,
    ...(endpoint.direct !== undefined && { backoffBaseMs: unitLimits.backoffBaseInProcessMs }),
    attempt: (start) => shared.attempt(start),
    setup: () => shared.plans.setup(),
    outcome: (id) => shared.outcome(id),
    sweep: () => Promise.resolve({ committed: 0, cancelled: 0, orphans: 0, deleted: 0 }),
    idle: () => shared.idle(),
    detached: {
      detach: (_start, work, port) => (port as NativeAttempt).detach(work),
      resume: (id) => shared.resume(id),
    },
  }
}

export interface NativeSettings {
  /** Of detached units. */
  readonly table?: string | undefined
  /** How long the answer to a commit is waited for before it is sent again. */
  readonly commitMs?: number | undefined
}

/** What all units of one transactor share. */
export class NativeUnits {
  readonly endpoint: ExtendedEndpoint
  readonly runtime: Runtime
  readonly layouts: Layouts
  readonly commitMs: number
  readonly #table: string | undefined
  #plans: DetachedPlans | undefined
  /** Between `resume` and the attempt that goes on. */
  readonly #resumed = new Map<string, ResumedPlan>()
  /** Read timestamps that nobody here needs any more, for the next request to tell. */
  #released: UnitPass[] = []
  readonly #ending = new Set<Promise<unknown>>()
  /** Of late, oldest first: in one process commits have no token that the ledger could know them by. */
  readonly #committed = new Set<string>()

  constructor(endpoint: ExtendedEndpoint, runtime: Runtime, { table, commitMs }: NativeSettings) {
    this.commitMs = commitMs ?? unitLimits.commitWaitMs
    this.#table = table
    this.endpoint = endpoint
    this.runtime = runtime
    this.layouts = new Layouts(async (TableName) => {
      try {
        if (endpoint.direct !== undefined) return await endpoint.direct.layout(TableName)
        return layoutOf(TableName, (await endpoint.call('DescribeTable', { TableName })).Table ?? {})
      } catch (error) {
        throw namingTables(error, { TableName })
      }
    })
  }

  /** Of detached units, which few transactors have. */
  get plans(): DetachedPlans {
    return (this.#plans ??= new DetachedPlans(this.endpoint, this.#table))
  }

  attempt(start: AttemptStart): NativeAttempt {
    if (this.#resumed.size === 0) return new NativeAttempt(this, start)
    const resumed = this.#resumed.get(start.id)
    this.#resumed.delete(start.id)
    return new NativeAttempt(this, start, resumed)
  }

  async resume(id: string): Promise<{ readonly work: CommitWork; readonly options: TransactOptions }> {
    const resumed = await this.plans.load(id)
    this.#resumed.set(id, resumed)
    const { work, isolation, timeoutMs } = resumed.kept
    return { work, options: { isolation, timeoutMs } }
  }

  release(readTimestamp: UnitPass): void {
    // Beyond that many they are left to the age limit.
    if (this.#released.length < RELEASED_MAX) this.#released.push(readTimestamp)
  }

  takeReleased(): readonly UnitPass[] | undefined {
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
    const outcome = OUTCOMES.get(answer.Outcome ?? '')
    return outcome ?? ((await this.plans.has(id)) ? 'pending' : 'unknown')
  }
}

const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ['COMMITTED', 'committed'],
  ['CANCELLED', 'cancelled'],
  ['PENDING', 'pending'],
])
const RELEASED_MAX = 1000
const COMMITTED_MAX = 1000
