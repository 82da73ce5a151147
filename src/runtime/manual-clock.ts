// A clock that stands still until it is told to move.
import type { Clock } from './runtime.js'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the clock forward, in milliseconds, and fires the timers that become due, in order and each at its own time. */
  advance(ms: number): void
  /** Sets the wall clock forward or back, in milliseconds, as an operator would. Timers keep their remaining time. */
  jump(ms: number): void
}

/**
 * A clock for tests. It begins at `startMs`, in milliseconds since 1970.
 *
 * @example
 *   const clock = manualClock(Date.parse('2030-01-01'))
 *   clock.timer(50, () => console.log('fired')) // fired
 *   clock.advance(50)
 */
export function manualClock(startMs: number): ManualClock {
  let nowMs = startMs
  let jumpedMs = 0
  let sequence = 0
  const timers: { dueMs: number; sequence: number; callback: () => void }[] = []

  return {
    nowMicros: () => Math.floor(nowMs * 1000),
    monotonicMicros: () => Math.floor((nowMs - jumpedMs) * 1000),
    timer: (delayMs, callback) => {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), sequence: sequence++, callback }
      timers.push(timer)
      return () => {
        const at = timers.indexOf(timer)
        if (at >= 0) timers.splice(at, 1)
      }
    },
    advance: (ms) => {
      const untilMs = nowMs + ms
      for (;;) {
        timers.sort((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence)
        const next = timers[0]
        if (next === undefined || next.dueMs > untilMs) break
        timers.shift()
        nowMs = Math.max(nowMs, next.dueMs)
        next.callback()
      }
      nowMs = untilMs
    },
    jump: (ms) => {
      nowMs += ms
      jumpedMs += ms
      for (const timer of timers) timer.dueMs += ms
    },
  }
}
