// The world as the store sees it. Nothing outside this folder, the file layer and the edges (server, cli) reads a
// clock, a random source or a timer: a test or a simulation that passes its own Runtime decides all of them.

/** Time and timers, as the store sees them. */
export interface Clock {
  /** The wall clock, in microseconds since 1970. It may jump: a hybrid clock on top of it orders events. */
  nowMicros(): number
  /** Calls back once, after so many milliseconds of this clock. The result is a function that cancels it. */
  timer(delayMs: number, callback: () => void): () => void
  /** Microseconds since an unspecified moment. It never goes back, and may stand still while the machine sleeps. */
  monotonicMicros?(): number
  /** Like `timer`, but it keeps the process alive. `timer` is used if this is absent. */
  awaitedTimer?(delayMs: number, callback: () => void): () => void
}

/**
 * For how long something has been going on: a clock that is set back would make it go on for ever. Where there is no clock
 * that cannot be set, the wall clock has to do.
 */
export const steadyMicros = (clock: Clock): number => clock.monotonicMicros?.() ?? clock.nowMicros()

/** Calls back after that time; while it waits, the process stays alive where the clock can do that. The result cancels it. */
export const awaitedTimer = (clock: Clock, delayMs: number, callback: () => void): (() => void) =>
  clock.awaitedTimer?.(delayMs, callback) ?? clock.timer(delayMs, callback)

/** Clock, randomness and scheduling: a test or a simulation passes its own. */
export interface Runtime {
  /** Time and timers. */
  readonly clock: Clock
  /** Unpredictable bytes for request ids, transaction ids and jitter. */
  randomBytes(count: number): Uint8Array
  /** Calls back after the current turn of the event loop, so that the requests read in one turn share a batch. */
  defer(callback: () => void): void
  /**
   * Calls back some milliseconds later, so that others go first. Nothing but the pace of background work depends on it, so it is not
   * the clock's: that may stand still. `defer` is used if this is absent.
   */
  rest?(callback: () => void): void
}

export function rest(runtime: Runtime, callback: () => void): void {
  if (runtime.rest === undefined) runtime.defer(callback)
  else runtime.rest(callback)
}
