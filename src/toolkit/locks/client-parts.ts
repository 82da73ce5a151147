// What the parts of one lock client share.
import type { CallParts } from './calls.js'
import type { LockEvent } from './events.js'
import type { Ticket } from './lease.js'
import type { LockAttributes } from './own-attributes.js'
import type { Observations } from './observations.js'
import type { Waiting } from './waiting.js'

type WithoutCommon<Event> = Event extends unknown ? Omit<Event, 'names' | 'namespace' | 'ticket'> : never

export interface ClientParts extends CallParts {
  readonly table: string
  /** How the attributes are called in the table. */
  readonly attributes: LockAttributes
  /** How long the answer to one request is waited for. */
  readonly requestMs: number
  readonly observations: Observations
  readonly waiting: Waiting
  newOwner(): string
  emit(ticket: Ticket, event: WithoutCommon<LockEvent>): void
}
