// From asking to being inside: draws, enqueues, looks, and does what the rules say.
//
//   draw a ticket, know the lock rows --> write a row for each name --> for each name, in order: look, decide, act
//        ^                                                                  |
//        '---- drawn again: the old rows stay until the new are written ----'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { LockTimeout } from '../endpoint/errors.js'
import type { Endpoint } from '../endpoint/endpoint.js'
import { attempt, insist } from './calls.js'
import type { ClientParts } from './client-parts.js'
import { FIRST_BEAT, Lease, type Ticket } from './lease.js'
import type { Moment } from './lock-clock.js'
import {
  drawnTicket,
  drawRequest,
  enqueueRequest,
  enterAloneRequest,
  enterSharedRequest,
  lockRequest,
  lockStateOf,
  queueRequest,
  queueRowOf,
  queueViewOf,
  releaseRequest,
  removeRequest,
  rowRequest,
  suspectRequest,
  type LockName,
  type LockState,
  type QueueRow,
  type QueueView,
} from './rows.js'
import { excludes, nextStep, type NextStep, roomBeside } from './rules.js'

export interface AcquireRequest {
  /** Sorted, without doubles. */
  readonly names: readonly LockName[]
  readonly waitMs: number
  readonly leaseMs: number
  readonly shared: boolean
  readonly limit: number
  readonly label?: string
  readonly data?: AttributeValue
  readonly signal?: AbortSignal
}

export interface Acquired {
  readonly lease: Lease
  readonly waitedMs: number
  readonly requests: number
}

/** Ended without the lock, for a reason that is no defect. */
const TIMED_OUT = 'timed-out'
/** At most so many rows get a suspicion by one that gives up. */
const SUSPECTED_MAX = 4
const REMOVED_ON_LEAVING_MAX = 16
const PAGES_MAX = 1000
/** Without being stopped for leases, nobody draws more than twice (docs/adr/0012-locks.md). */
const DRAWS_MAX = 1000

export class Acquisition {
  readonly #parts: ClientParts
  readonly #options: AcquireRequest
  readonly #start: Moment
  readonly #timeoutMs: number
  #position: { readonly name: LockName; readonly position: number } | undefined
  /** What is before us in the queue where we wait, at the last look. */
  #ahead: { readonly name: LockName; readonly rows: readonly QueueRow[] } | undefined
  #lease: Lease | undefined
  #requests = 0

  constructor(parts: ClientParts, options: AcquireRequest) {
    this.#parts = { ...parts, endpoint: this.#counted(parts.endpoint) }
    this.#options = options
    this.#start = parts.clock.now()
    this.#timeoutMs = requestTimeoutMs(parts, options)
  }

  async run(): Promise<Acquired> {
    try {
      const lease = await this.#acquire()
      if (lease !== TIMED_OUT) return { lease, waitedMs: this.#waitedMs(), requests: this.#requests }
    } catch (error) {
      await this.#giveUp()
      throw error
    }
    await this.#giveUp()
    const names = this.#options.names.map(({ name }) => name).join(', ')
    throw new LockTimeout(`${names} was not granted within ${this.#options.waitMs} ms`)
  }

  async #acquire(): Promise<Lease | typeof TIMED_OUT> {
    const { waitMs, signal } = this.#options
    signal?.throwIfAborted()
    if (waitMs === 0 && (await this.#isTaken())) return TIMED_OUT
    for (let draws = 1; draws <= DRAWS_MAX; draws++) {
      const { lease, known } = await this.#takePlace()
      const outcome = await this.#enterAll(lease, known)
      if (outcome === 'inside') return lease
      if (outcome === TIMED_OUT) return TIMED_OUT
      this.#emit({ type: 'drawn-again', why: outcome })
    }
    throw new Error(`no place in the queue after ${DRAWS_MAX} tickets`)
  }

  /** A ticket, and a row under it for each name. Rows of an earlier ticket block the others until these are written. */
  async #takePlace(): Promise<{ readonly lease: Lease; readonly known: Map<LockName, LockState> }> {
    const { names, shared, limit, leaseMs, label, data } = this.#options
    const { table, clock } = this.#parts
    const before = this.#lease
    const [drawn, ...states] = await Promise.all([
      this.#insist('UpdateItem', drawRequest(table)),
      ...names.map((name) => this.#lockState(name)),
    ])
    const number = drawn.outcome === 'done' ? drawnTicket(drawn.answer.Attributes) : 0n
    const ticket: Ticket = { ticket: number, owner: this.#parts.newOwner(), shared, limit, leaseMs, names }
    const lease = new Lease(this.#parts, ticket)
    const sent = new Map<LockName, Moment>()
    // From here on there may be rows to give back.
    this.#lease = lease
    try {
      await Promise.all(
        names.map(async (name) => {
          sent.set(name, clock.now())
          await this.#enqueue(name, {
            ticket: number,
            owner: ticket.owner,
            shared,
            limit,
            beat: FIRST_BEAT,
            leaseMs,
            sinceMs: Math.floor(clock.wallMs()),
            ...(label !== undefined && { label }),
            ...(data !== undefined && { data }),
          })
        }),
      )
    } finally {
      if (before !== undefined) await this.#leave(before)
    }
    lease.start(sent)
    const known = new Map(names.map((name, at) => [name, states[at]!]))
    return { lease, known }
  }

  /**
   * The lock row before the queue is looked at. With several names the whole queue: from here on its rows are watched,
   * even if our time is over before we come to the last name.
   */
  async #lockState(name: LockName): Promise<LockState> {
    if (this.#options.names.length > 1) return (await this.#look(name, 'all')).lock
    const result = await this.#insist('GetItem', lockRequest(this.#parts.table, name))
    return lockStateOf(result.outcome === 'done' ? result.answer.Item : undefined)
  }

  async #enqueue(name: LockName, row: QueueRow): Promise<void> {
    const { table, clock } = this.#parts
    const result = await this.#insist('PutItem', enqueueRequest(table, name, row, clock.wallMs()))
    if (result.outcome === 'done') return
    // Our own, by a request whose answer was lost; it may even have been removed since, which looking will show.
    const there = await this.#insist('GetItem', rowRequest(table, name, row.ticket))
    const item = there.outcome === 'done' ? there.answer.Item : undefined
    if (item !== undefined && queueRowOf(item)?.owner !== row.owner)
      throw new Error(`ticket ${row.ticket} was drawn twice: was the counter of ${table} set back?`)
  }

  /** Into one name after the other. What was entered already is given back with the rows, if it must be drawn again. */
  async #enterAll(
    lease: Lease,
    known: ReadonlyMap<LockName, LockState>,
  ): Promise<'inside' | 'gone' | 'late' | typeof TIMED_OUT> {
    for (const name of this.#options.names) {
      const outcome = await this.#enter(lease, name, known.get(name))
      if (outcome !== 'inside') return outcome
    }
    // Whoever stood still on the way may have been taken for dead. It counts only while the lease runs.
    return lease.lost === undefined ? 'inside' : 'gone'
  }

  async #enter(
    lease: Lease,
    name: LockName,
    knownBefore: LockState | undefined,
  ): Promise<'inside' | 'gone' | 'late' | typeof TIMED_OUT> {
    const { observations } = this.#parts
    let known = knownBefore
    for (;;) {
      this.#options.signal?.throwIfAborted()
      if (lease.lost !== undefined) return 'gone'
      const view = await this.#look(name, lease.ticket.ticket)
      const isDead = (row: QueueRow): boolean => observations.isDead(name, row)
      const next = nextStep({ me: lease.ticket, view, known, isDead })
      known = view.lock
      switch (next.step) {
        case 'inside':
          return 'inside'
        case 'draw-again':
          return next.why
        case 'look-again':
          break
        case 'remove':
          await this.#removeDead(name, next.rows)
          break
        case 'enter': {
          const entered = await this.#tryEnter(lease, name, next)
          if (entered === 'inside') return 'inside'
          known = entered ?? known
          break
        }
        case 'wait':
          this.#tellPosition(name, next.position)
          this.#ahead = { name, rows: rowsAhead(view, lease.ticket) }
          if (this.#leftMs() <= 0) return TIMED_OUT
          await this.#wait(lease, name, next.behind, next.position, view)
          break
      }
    }
  }

  /** `inside`, or what the lock row turned out to be, where that is known. */
  async #tryEnter(
    lease: Lease,
    name: LockName,
    { known, inside }: Extract<NextStep, { readonly step: 'enter' }>,
  ): Promise<'inside' | LockState | undefined> {
    const { table, clock } = this.#parts
    const { ticket, shared } = lease.ticket
    const request = shared
      ? enterSharedRequest(table, name, ticket, known, clock.wallMs())
      : enterAloneRequest(table, name, ticket, known, clock.wallMs(), inside)
    const result = await attempt(this.#parts, 'UpdateItem', request, this.#timeoutMs)
    if (result.outcome === 'done') return 'inside'
    // Unsure: looking again will show whether it had its effect.
    return result.outcome === 'refused' && result.item !== undefined ? lockStateOf(result.item) : undefined
  }

  async #wait(
    lease: Lease,
    name: LockName,
    behind: QueueRow,
    position: number,
    view: QueueView,
  ): Promise<void> {
    const { observations, waiting } = this.#parts
    // When the first of the living ahead may turn out to be dead, it is worth looking again. Those that are dead already
    // are for the first of the living to remove.
    const living = rowsAhead(view, lease.ticket).filter((row) => !observations.isDead(name, row))
    const deadInMs = Math.min(...living.map((row) => Math.max(1, observations.deadInMs(name, row))))
    await waiting.until(name, {
      // Where several may be inside, it is not the row directly before us that makes room.
      ...(lease.ticket.limit === 1 && { behind }),
      position,
      maxMs: Math.min(deadInMs, this.#leftMs()),
      signal: this.#options.signal,
    })
  }

  async #look(name: LockName, upTo: bigint | 'all'): Promise<QueueView> {
    const { table, observations } = this.#parts
    const items: NonNullable<Parameters<typeof queueViewOf>[0][number]>[] = []
    let start: Record<string, never> | undefined
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const request = { ...queueRequest(table, name, upTo), ...(start && { ExclusiveStartKey: start }) }
      const result = await this.#insist('Query', request)
      if (result.outcome !== 'done') break
      items.push(...(result.answer.Items ?? []))
      start = result.answer.LastEvaluatedKey as typeof start
      if (start === undefined) break
    }
    const view = queueViewOf(items)
    for (const row of view.rows) if (row.ticket !== upTo) observations.note(name, row)
    return view
  }

  /** For those that do not wait: whether anyone living is there that we would have to wait for. */
  async #isTaken(): Promise<boolean> {
    for (const name of this.#options.names) {
      const { rows } = await this.#look(name, 'all')
      const ahead = rows.filter((row) => excludes(row, this.#options))
      const living = ahead.filter((row) => !this.#parts.observations.isDead(name, row))
      if (living.length === 0 || living.length < roomBeside(this.#options, living)) continue
      this.#ahead = { name, rows: ahead }
      return true
    }
    return false
  }

  async #removeDead(name: LockName, rows: readonly QueueRow[]): Promise<void> {
    const { table, observations } = this.#parts
    for (const row of rows) {
      const result = await attempt(
        this.#parts,
        'DeleteItem',
        removeRequest(table, name, row),
        this.#timeoutMs,
      )
      // It lives after all, or another was faster: looking again will show.
      if (result.outcome !== 'done') return
      observations.forget(name, row)
      this.#emit({ type: 'removed', name: name.name, dead: row.ticket })
    }
  }

  async #giveUp(): Promise<void> {
    // A courtesy: what goes wrong with it is not what the caller needs to hear.
    await this.#suspect().catch(() => undefined)
    if (this.#lease !== undefined) await this.#leave(this.#lease)
  }

  /**
   * Tells those who come after us how long the rows ahead have not changed. The dead at the head are removed: nobody may
   * ever stay long enough to be the first of the living.
   */
  async #suspect(): Promise<void> {
    if (this.#ahead === undefined) return
    const { name, rows } = this.#ahead
    const { table, clock, observations } = this.#parts
    const isLiving = (row: QueueRow): boolean => !observations.isDead(name, row)
    const deadAtHead = rows.slice(0, Math.max(0, rows.findIndex(isLiving)))
    await this.#removeDead(name, deadAtHead.slice(0, REMOVED_ON_LEAVING_MAX))
    for (const row of rows.filter(isLiving).slice(0, SUSPECTED_MAX)) {
      const unchangedMs = Math.floor(observations.unchangedMs(name, row))
      if (row.suspectedMs !== undefined && unchangedMs <= row.suspectedMs) continue
      const request = suspectRequest(table, name, row, unchangedMs, clock.wallMs())
      await attempt(this.#parts, 'UpdateItem', request, this.#timeoutMs)
    }
  }

  async #leave(lease: Lease): Promise<void> {
    lease.stop()
    await release(this.#parts, lease.ticket).catch(() => undefined)
  }

  #insist: <Name extends 'UpdateItem' | 'GetItem' | 'PutItem' | 'Query'>(
    operation: Name,
    input: Parameters<typeof insist<Name>>[2],
  ) => ReturnType<typeof insist<Name>> = (operation, input) =>
    insist(this.#parts, operation, input, this.#timeoutMs, {
      signal: this.#options.signal,
      hasTime: () => this.#leftMs() > 0,
    })

  #counted(endpoint: Endpoint): Endpoint {
    return {
      call: (operation, input, options) => {
        this.#requests++
        return endpoint.call(operation, input, options)
      },
    }
  }

  #waitedMs(): number {
    return this.#parts.clock.monotonicMs() - this.#start.monotonicMs
  }

  #leftMs(): number {
    return this.#options.waitMs - this.#waitedMs()
  }

  #tellPosition(name: LockName, position: number): void {
    if (this.#position?.name === name && this.#position.position === position) return
    this.#position = { name, position }
    this.#emit({ type: 'waiting', name: name.name, position })
  }

  #emit(event: Parameters<ClientParts['emit']>[1]): void {
    if (this.#lease !== undefined) this.#parts.emit(this.#lease.ticket, event)
  }
}

function rowsAhead(view: QueueView, me: Ticket): readonly QueueRow[] {
  return view.rows.filter((row) => row.ticket < me.ticket && excludes(row, me))
}

/** Deletes the rows of a ticket, if they are still there. Never those of another. */
export async function release(parts: ClientParts, ticket: Ticket): Promise<void> {
  const timeoutMs = requestTimeoutMs(parts, ticket)
  await Promise.all(
    ticket.names.map((name) =>
      insist(parts, 'DeleteItem', releaseRequest(parts.table, name, ticket), timeoutMs),
    ),
  )
}

export const requestTimeoutMs = (
  { requestMs }: Pick<ClientParts, 'requestMs'>,
  { leaseMs }: { readonly leaseMs: number },
): number => Math.min(requestMs, leaseMs / 4)
