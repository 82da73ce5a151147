// A store in this process as its units of work see it: what is on the wire elsewhere is handed over as it is. The router
// has the other side of it (router/units/direct.ts).
import type { Action, ItemAddress, ReadEntry, ReadItem } from './protocol.js'
import type { IsolationLevel } from './transactor.js'

/** A snapshot or an age as the store has given it: plain timestamps in this process, texts over the wire. */
export type Ticket = number | string

/** As the member `Unit` on the wire. */
export interface DirectUnit {
  readonly id: string
  readonly isolation: IsolationLevel
  readonly timeoutMs: number
  readonly readTimestamp: Ticket | undefined
  readonly began: Ticket | undefined
  readonly attemptBegan: number | undefined
}

export interface DirectGets {
  readonly unit: DirectUnit
  readonly addresses: readonly ItemAddress[]
  readonly lock: boolean
  readonly released: readonly Ticket[] | undefined
}

export interface DirectAnswer {
  readonly readTimestamp: number | undefined
  readonly clock: number
  /** In the order of the addresses. */
  readonly items: readonly ReadItem[]
}

export interface DirectCommit {
  readonly unit: DirectUnit
  readonly reads: readonly ReadEntry[]
  readonly actions: readonly Action[]
  /** As on the wire. */
  readonly predicates: readonly object[]
  /** The actions as on the wire, if the store asks for them. */
  wireActions(): readonly object[]
}

/** Refusals are thrown, as those of an Endpoint are. */
export interface DirectUnits {
  getItems(request: DirectGets): Promise<DirectAnswer>
  commit(request: DirectCommit): Promise<void>
}
