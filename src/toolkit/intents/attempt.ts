// One attempt of a unit on an endpoint that has nothing but conditional writes, or TransactWriteItems at best.
//
//   reads --> look.ts, ranges.ts        commit --> the cheapest way that is right (rules.pathOf)
//                                                  read-only: read again      single: one conditional write
//                                                  transact: one request      intents: commit.ts
import { validationError } from '../../model/errors.js'
import type { Item } from '../../model/value.js'
import type {
  AttemptPort,
  AttemptStart,
  CommitReport,
  ItemAddress,
  Page,
  UnitRange,
  ReadItem,
  TableLayout,
  CommitWork,
} from '../unit/protocol.js'
import { OutcomeUnknown } from '../endpoint/errors.js'
import type { RequestUsage } from './context/caller.js'
import { commitByIntents } from './commit/commit.js'
import { guardedWork, SeenGuards } from './items/guards.js'
import { intentLimits } from './protocol/limits.js'
import { LockIntents } from './commit/locks.js'
import { ItemReader } from './items/look.js'
import {
  isUnitRefusal,
  lockOf,
  lookAt,
  type IntentParticipant,
  memberOf,
  summaryOf,
  type Work,
  workOf,
} from './commit/participants.js'
import { CommitProgress } from './context/commit-progress.js'
import { readRangePage, refuseIndex, type SeenPage } from './items/ranges.js'
import { findRecords } from './context/record-table.js'
import type { Header } from './protocol/records.js'
import { type Means, type Party, commitWayOf } from './protocol/rules.js'
import { commitSingle } from './commit/single.js'
import type { IntentsContext } from './context/context.js'
import { commitByTransact } from './commit/transact.js'
import { isBare, validate, type Observed } from './items/validate.js'

/** What may be used to commit; `transact` turns false when the endpoint turns out not to have it. */
export interface Ways {
  single: boolean
  transact: boolean
  intents: boolean
}

export interface Resumed {
  readonly header: Header
  readonly pages: readonly SeenPage[]
  readonly guards: readonly Observed[]
}

export class IntentsAttempt implements AttemptPort {
  readonly #space: IntentsContext
  readonly #start: AttemptStart
  readonly #ways: Ways
  readonly #usage: RequestUsage = { requests: 0, capacity: 0 }
  readonly #me: Party & { readonly once: boolean }
  readonly #pages: SeenPage[]
  readonly #guards: SeenGuards
  readonly #locks: LockIntents
  #isDetached = false

  constructor(space: IntentsContext, start: AttemptStart, ways: Ways, resumed?: Resumed) {
    this.#space = space
    this.#start = start
    this.#ways = ways
    const carried = start.carried as { readonly since: number } | undefined
    this.#me = {
      id: start.attempt === 1 ? start.id : attemptId(start.id, start.attempt),
      since: resumed?.header.since ?? carried?.since ?? space.caller.runtime.clock.nowMicros(),
      once: start.once === true,
    }
    this.#pages = [...(resumed?.pages ?? [])]
    this.#guards = new SeenGuards(resumed?.guards ?? [])
    this.#locks = new LockIntents(space, this.#me, this.#usage, resumed?.header)
  }

  get commitsReads(): boolean {
    return this.#validates
  }

  get usage(): RequestUsage {
    return this.#usage
  }

  get pages(): readonly SeenPage[] {
    return this.#pages
  }

  get guards(): SeenGuards {
    return this.#guards
  }

  get locks(): LockIntents {
    return this.#locks
  }

  get party(): Party {
    return this.#me
  }

  get #validates(): boolean {
    const { isolation } = this.#start
    return isolation === 'serializable' || isolation === 'snapshot'
  }

  readonly #nowMs = (): number => this.#space.caller.nowMs()

  layout(table: string): TableLayout | Promise<TableLayout> {
    return this.#space.layouts.of(table)
  }

  async get(
    addresses: readonly ItemAddress[],
    { lock }: { readonly lock: boolean },
  ): Promise<readonly ReadItem[]> {
    if (lock) {
      const { timeoutMs } = this.#start
      return this.#locks.lock(addresses, new CommitProgress(this.#nowMs, timeoutMs, timeoutMs))
    }
    const looks = await new ItemReader(this.#space, this.#usage, this.#me.id).items(addresses)
    return looks.map(readItem)
  }

  async page(range: UnitRange, start: Item | undefined, limit: number | undefined): Promise<Page> {
    const layout = await this.layout(range.table)
    refuseIndex(layout, range, this.#start.isolation)
    const isGuarded =
      this.#validates && (await this.#guards.look(this.#space, layout, range, this.#me.id, this.#usage))
    const { page, seen } = await readRangePage(
      this.#space,
      layout,
      { range, start, limit },
      this.#me.id,
      this.#usage,
    )
    if (this.#validates && !isGuarded) this.#pages.push(seen)
    return page
  }

  async commit(unit: CommitWork): Promise<CommitReport> {
    try {
      return await this.#commit(unit)
    } catch (error) {
      // What the unit itself is blamed for may come from reads that did not fit together.
      if (isUnitRefusal(error)) await this.validate(unit)
      // The id of this attempt: of the unit itself `outcome` could not say that it was cancelled for good.
      if (error instanceof OutcomeUnknown && error.id === this.#start.id && !this.#me.once)
        throw new OutcomeUnknown(error.message, attemptId(error.id, this.#start.attempt), { cause: error })
      throw error
    }
  }

  async #commit(unit: CommitWork): Promise<CommitReport> {
    const time = CommitProgress.ofCommit(this.#nowMs, this.#space.patience)
    if (unit.actions.length > 0 && this.#ways.intents) await findRecords(this.#space)
    const guarded = await guardedWork(this.#space, unit, await this.#guards.all())
    let work = await workOf(this.#space, guarded, this.#validates, this.#usage)
    const pages = this.#validates ? this.#pages : []
    for (;;) {
      const path = this.#path(work)
      if (work.blind.length > 0 && path !== 'transact') {
        const seen = await lookAt(this.#space, work.blind, this.#usage)
        work = { ...work, blind: [], writes: [...work.writes, ...seen] }
        continue
      }
      const members = work.writes.map(memberOf)
      const waiter = { ...this.#me, time }
      switch (path) {
        case 'read-only':
          await this.#readAgain(work.observed, pages, time)
          return { protocol: 'read-only' }
        case 'single':
          await commitSingle(this.#space, members[0]!, waiter, this.#usage)
          return { protocol: 'single' }
        case 'transact': {
          const observed = await this.#asMembers(work.observed)
          const plan = { blind: work.blind, members, observed, token: this.#start.id }
          const outcome = await commitByTransact(this.#space, plan, waiter, this.#usage)
          if (outcome === 'committed') return { protocol: 'transact' }
          if (outcome === 'unsupported') this.#ways.transact = false
          const seen = await lookAt(this.#space, work.blind, this.#usage)
          work = { ...work, blind: [], writes: [...work.writes, ...seen] }
          continue
        }
        case 'intents':
          await this.#byIntents(work, members, pages, time)
          return { protocol: 'intents' }
      }
    }
  }

  #path(work: Work): ReturnType<typeof commitWayOf> {
    const shape = summaryOf(work, this.#validates ? this.#pages.length : 0, this.#locks.header !== undefined)
    const means: Means = {
      single: this.#ways.single,
      transact: this.#ways.transact,
      transactMax: intentLimits.transactMax,
      transactBytesMax: intentLimits.transactBytesMax,
    }
    const path = commitWayOf(shape, means)
    if (path === 'intents' && !this.#ways.intents)
      throw validationError(
        'this unit does not fit into one TransactWriteItems: it has too many items or bytes, read a range, or read ' +
          "items that no transaction has written; use protocol 'auto' or 'intents'",
      )
    return path
  }

  async #byIntents(
    work: Work,
    writes: readonly IntentParticipant[],
    pages: readonly SeenPage[],
    time: CommitProgress,
  ): Promise<void> {
    // Absence and images are only certain under a lock; versions can be looked at again.
    const versioned = work.observed.filter((seen) => !isBare(seen))
    const members = [...writes, ...(await this.#asMembers(work.observed.filter(isBare)))]
    const begun = this.#locks.header
    const me = { ...this.#me, time }
    // From here on the commit answers for what is held, and whoever takes it over.
    this.#locks.forget()
    await commitByIntents(
      this.#space,
      {
        me: this.#me,
        members,
        patienceMs: begun?.patienceMs ?? this.#space.patience.stalledMs,
        time,
        validate: () => validate(this.#space, { items: versioned, pages }, me, this.#usage),
        ...(begun !== undefined && { begun }),
      },
      this.#usage,
    )
  }

  async #asMembers(observed: readonly Observed[]): Promise<IntentParticipant[]> {
    return Promise.all(observed.map(async (seen) => lockOf(seen, await this.layout(seen.table))))
  }

  async #readAgain(
    items: readonly Observed[],
    pages: readonly SeenPage[],
    time: CommitProgress,
  ): Promise<void> {
    // One item alone is what it was at one moment; the rows of a page need not be.
    const rows = pages.length + items.filter(({ isGuard }) => isGuard === true).length
    if (rows === 0 && items.length < 2) return
    const me = { ...this.#me, time }
    await validate(this.#space, { items, pages }, me, this.#usage)
  }

  async validate({ reads }: CommitWork): Promise<void> {
    if (!this.#validates) return
    const items = reads.map(({ version, ...read }) => ({
      ...read,
      ...(version !== undefined && { version: String(version) }),
    }))
    const time = CommitProgress.ofCommit(this.#nowMs, this.#space.patience)
    await this.#readAgain([...items, ...(await this.#guards.all())], this.#pages, time)
  }

  end(): void {
    if (!this.#isDetached) this.#locks.release()
  }

  rolledBack(): Promise<void> {
    return this.#locks.released
  }

  /** The header is somebody else's from now on. */
  detach(): void {
    this.#isDetached = true
  }

  carry(): unknown {
    return { since: this.#me.since }
  }
}

const attemptId = (id: string, attempt: number): string => `${id}.${attempt}`

export const readItem = ({
  item,
  version,
}: {
  readonly item?: Item
  readonly version?: string
}): ReadItem => ({
  ...(item !== undefined && { item }),
  ...(version !== undefined && { version }),
})
