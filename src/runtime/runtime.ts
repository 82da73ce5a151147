// The world as the store sees it. Nothing outside this folder, the file layer and the edges (server, cli) reads a
// clock, a random source or a timer: a test or a simulation that passes its own Runtime decides all of them.

export interface Clock {
  /** Wall clock in microseconds since the epoch. May jump; users order events by a hybrid clock on top of it. */
  nowMicros(): number
  /** Calls back once after that many milliseconds of this clock; the result cancels it. */
  timer(delayMs: number, callback: () => void): () => void
  /** Microseconds since some moment: never set, never going back; may stand still while the machine sleeps. */
  monotonicMicros?(): number
  /** A timer for which somebody waits: it keeps the process alive. Where absent, `timer` will do. */
  awaitedTimer?(delayMs: number, callback: () => void): () => void
}

/**
 * For how long something has been going on: a clock that is set back would make it go on for ever. Where there is no clock
 * that cannot be set, the wall clock has to do.
 */
export const steadyMicros = (clock: Clock): number => clock.monotonicMicros?.() ?? clock.nowMicros()

export interface Runtime {
  readonly clock: Clock
  /** Unpredictable bytes for request ids, transaction ids and jitter. */
  randomBytes(count: number): Uint8Array
  /** Calls back after the current turn of the event loop, so that the requests read in one turn share a batch. */
  defer(callback: () => void): void
}
