// What a lock client tells of itself: for metrics and logs.
import type { LockLost } from '../endpoint/errors.js'

interface Common {
  readonly names: readonly string[]
  readonly namespace: string
  /** The ticket; once entered, the fence. */
  readonly ticket: bigint
}

/**
 * What `onEvent` is called with. Every event also has `names`, `namespace` and `ticket`, which is the fence once the lock is
 * held.
 *
 * @example
 *   const seen: string[] = []
 *   const audited = locks(client, { table: 'Locks', onEvent: ({ type }) => seen.push(type) })
 *   await audited.withLock('invoice-9', () => console.log('inside')) // inside
 *   console.log(seen.at(-1)) // released
 */
export type LockEvent =
  /** Reported at first, and whenever the position changes; 1 is next. */
  | (Common & { readonly type: 'waiting'; readonly name: string; readonly position: number })
  /** The lock is held. */
  | (Common & { readonly type: 'acquired'; readonly waitedMs: number; readonly requests: number })
  /** Another ticket was drawn, because the row came too late or was removed while the process was paused. */
  | (Common & { readonly type: 'drawn-again'; readonly why: 'gone' | 'late' })
  /** The row of a dead client was removed. */
  | (Common & { readonly type: 'removed'; readonly name: string; readonly dead: bigint })
  /** The lock was lost: its lease ran out, or it was broken. */
  | (Common & { readonly type: 'lost'; readonly error: LockLost })
  /** The lock was released. With `error` the endpoint did not confirm that, and the lease will run out. */
  | (Common & { readonly type: 'released'; readonly heldMs: number; readonly error?: unknown })
