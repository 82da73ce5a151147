// The life of the rows of one ticket: heartbeats, and the end of the lease.
//
//   rows written --> beat at half a lease, every row --> confirmed: the lease runs from when that beat was sent
//                      |--> no answer: tried again until the lease ends
//                      |--> row gone: lost at once (it was taken for dead, or broken)
//                      '--> lease over, on the larger of two clocks: lost
import { LockLost } from '../endpoint/errors.js'
import { attempt, type CallParts } from './calls.js'
import type { Moment } from './lock-clock.js'
import { heartbeatRequest, queueRowOf, rowRequest, type LockName } from './rows.js'
import { holderLeaseMs } from './rules.js'

export interface Ticket {
  readonly ticket: bigint
  readonly owner: string
  readonly shared: boolean
  /** How many may be inside at once. */
  readonly limit: number
  readonly leaseMs: number
  readonly names: readonly LockName[]
}

export interface LeaseParts extends CallParts {
  readonly table: string
}

/** A heartbeat that is not answered is sent again after this part of a lease. */
const RETRY_PART = 1 / 10
/** And given up after this part. */
const TIMEOUT_PART = 1 / 4
/** The row is written with beat 1. */
export const FIRST_BEAT = 1

export class Lease {
  readonly ticket: Ticket
  readonly #parts: LeaseParts
  /** When the last confirmed write of each row was sent. */
  readonly #confirmed = new Map<LockName, Moment>()
  #automatic = true
  #beat = FIRST_BEAT
  #lost: LockLost | undefined
  #onLost: ((error: LockLost) => void) | undefined
  #cancelBeat: (() => void) | undefined
  #cancelEnd: (() => void) | undefined
  #cancelExpiring: (() => void) | undefined
  #expiring: { readonly beforeMs: number; readonly callback: () => void } | undefined
  #stopped = false

  constructor(parts: LeaseParts, ticket: Ticket) {
    this.#parts = parts
    this.ticket = ticket
  }

  /** Every row has been written; from the sending of each its lease runs. */
  start(sent: ReadonlyMap<LockName, Moment>): void {
    for (const [name, moment] of sent) this.#confirmed.set(name, moment)
    this.#watchEnd()
    this.#beatIn(this.ticket.leaseMs / 2)
  }

  /** From now on only `beat` does: the owner has asked for that. */
  beatByHand(): void {
    this.#automatic = false
    this.#cancelBeat?.()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelBeat?.()
    this.#cancelEnd?.()
    this.#cancelExpiring?.()
  }

  /** Undefined while the lease runs. Looks at the clock: a process that was stopped learns of it here at the latest. */
  get lost(): LockLost | undefined {
    if (this.#lost === undefined && !this.#stopped && this.remainingMs() <= 0) this.#lose('its lease ran out')
    return this.#lost
  }

  /** How much of the lease is left, for the owner. */
  remainingMs(): number {
    const { clock } = this.#parts
    let sinceMs = 0
    for (const moment of this.#confirmed.values()) sinceMs = Math.max(sinceMs, clock.sinceMs(moment))
    return holderLeaseMs(this.ticket.leaseMs) - sinceMs
  }

  /** Called once, when it is lost. */
  onLost(callback: (error: LockLost) => void): void {
    this.#onLost = callback
    if (this.lost !== undefined) callback(this.lost)
  }

  /** Called when no more than this is left of the lease: once, and again only after another heartbeat was confirmed. */
  onExpiring(beforeMs: number, callback: () => void): void {
    this.#expiring = { beforeMs, callback }
    this.#watchExpiring()
  }

  /** One heartbeat of every row; resolves when all have been tried. */
  async beat(): Promise<'confirmed' | 'unsure'> {
    const results = await Promise.all(this.ticket.names.map((name) => this.#beatRow(name)))
    return results.every((result) => result === 'confirmed') ? 'confirmed' : 'unsure'
  }

  async #beatRow(name: LockName): Promise<'confirmed' | 'unsure'> {
    const { table, clock } = this.#parts
    const { ticket, owner, leaseMs } = this.ticket
    const beat = ++this.#beat
    const sent = clock.now()
    const request = heartbeatRequest(table, name, { ticket, owner, beat }, sent.wallMs)
    const result = await attempt(this.#parts, 'UpdateItem', request, leaseMs * TIMEOUT_PART)
    if (result.outcome === 'unsure') return 'unsure'
    if (result.outcome === 'refused') {
      const mine = await this.#isMine(name, beat)
      if (mine !== 'yes') return 'unsure'
    }
    if (!this.#stopped) this.#confirm(name, sent)
    return 'confirmed'
  }

  /** A refused beat was repeated on its way and is there already, or the row is gone. */
  async #isMine(name: LockName, beat: number): Promise<'yes' | 'no' | 'unsure'> {
    const { ticket, owner, leaseMs } = this.ticket
    const request = rowRequest(this.#parts.table, name, ticket)
    const result = await attempt(this.#parts, 'GetItem', request, leaseMs * TIMEOUT_PART)
    if (result.outcome !== 'done') return 'unsure'
    const row = result.answer.Item && queueRowOf(result.answer.Item)
    if (row?.owner === owner) return row.beat >= beat ? 'yes' : 'unsure'
    if (!this.#stopped) this.#lose('its row was removed')
    return 'no'
  }

  #confirm(name: LockName, sent: Moment): void {
    if (this.lost !== undefined) return
    const before = this.#confirmed.get(name)
    if (before !== undefined && before.monotonicMs >= sent.monotonicMs) return
    this.#confirmed.set(name, sent)
    this.#watchEnd()
    this.#watchExpiring()
  }

  #beatIn(delayMs: number): void {
    if (this.#stopped || !this.#automatic) return
    this.#cancelBeat = this.#parts.clock.timer(delayMs, () => {
      if (this.#stopped || this.lost !== undefined) return
      const sent = this.#parts.clock.monotonicMs()
      const { leaseMs } = this.ticket
      void this.beat().then(
        (result) => {
          const spentMs = this.#parts.clock.monotonicMs() - sent
          this.#beatIn(result === 'confirmed' ? Math.max(0, leaseMs / 2 - spentMs) : leaseMs * RETRY_PART)
        },
        // Even what looks like a refusal for good (credentials that have just expired) is tried until the lease ends.
        () => this.#beatIn(leaseMs * RETRY_PART),
      )
    })
  }

  #watchEnd(): void {
    this.#cancelEnd?.()
    if (this.#stopped) return
    this.#cancelEnd = this.#parts.clock.timer(Math.max(1, Math.ceil(this.remainingMs())), () => {
      // A timer may come a little early; the clock decides.
      if (this.lost === undefined && !this.#stopped) this.#watchEnd()
    })
  }

  #watchExpiring(): void {
    this.#cancelExpiring?.()
    const expiring = this.#expiring
    if (this.#stopped || expiring === undefined || this.#lost !== undefined) return
    const inMs = this.remainingMs() - expiring.beforeMs
    this.#cancelExpiring = this.#parts.clock.timer(Math.max(1, Math.ceil(inMs)), () => {
      if (this.#stopped || this.lost !== undefined) return
      // A timer may come a little early; the clock decides.
      if (this.remainingMs() > expiring.beforeMs) this.#watchExpiring()
      else expiring.callback()
    })
  }

  #lose(why: string): void {
    if (this.#lost !== undefined) return
    const names = this.ticket.names.map(({ name }) => name).join(', ')
    this.#lost = new LockLost(`the lock on ${names} (fence ${this.ticket.ticket}) is lost: ${why}`)
    this.#cancelBeat?.()
    this.#cancelEnd?.()
    this.#cancelExpiring?.()
    this.#onLost?.(this.#lost)
  }
}
