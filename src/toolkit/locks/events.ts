// What a lock client tells of itself: for metrics and logs.
import type { LockLost } from '../endpoint/errors.js'

interface Common {
  readonly names: readonly string[]
  readonly namespace: string
  /** The ticket; once entered, the fence. */
  readonly ticket: bigint
}

export type LockEvent =
  /** Told at first and whenever the position changes; 1 is next. */
  | (Common & { readonly type: 'waiting'; readonly name: string; readonly position: number })
  | (Common & { readonly type: 'acquired'; readonly waitedMs: number; readonly requests: number })
  /** The row came too late, or was removed while the process stood still: another ticket was drawn. */
  | (Common & { readonly type: 'drawn-again'; readonly why: 'gone' | 'late' })
  /** A row of another that had died was removed. */
  | (Common & { readonly type: 'removed'; readonly name: string; readonly dead: bigint })
  | (Common & { readonly type: 'lost'; readonly error: LockLost })
  /** `error`: the endpoint did not confirm it; the lease will end by itself. */
  | (Common & { readonly type: 'released'; readonly heldMs: number; readonly error?: unknown })
