// Every bound of units of work, in one place.
export const unitLimits = {
  /** Items read, items buffered and rows held by one unit, together; `for await` holds one page at a time. */
  unitBytesMax: 64 * 1024 * 1024,
  /** Items written or checked by one unit. */
  actionsMax: 10_000,
  retryLimit: 4,
  backoffBaseMs: 20,
  /** The same on a store in this process, where an attempt takes a fraction of a millisecond. */
  backoffBaseInProcessMs: 1,
  backoffMaxMs: 5_000,
  timeoutMs: 30_000,
  /** How long the answer to a commit is waited for, counted from when it was sent. */
  commitWaitMs: 60_000,
  /** Sends of one commit whose answers are lost; then its outcome is unknown. */
  commitSendsMax: 5,
  /** Delay that overloaded answers grow, before each request. */
  paceMaxMs: 5_000,
  paceFirstMs: 25,
  concurrency: 1_000,
  /** Units that wait for their turn; more are refused. */
  queueMax: 100_000,
  layoutsMax: 1_000,
} as const
