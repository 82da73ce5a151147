// The real clock, random source and event loop.
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Runtime } from './runtime.js'

/**
 * The world as it is.
 *
 * @example
 * const runtime = realRuntime()
 * runtime.clock.nowMicros() // 1754000000000000
 */
export function realRuntime(): Runtime {
  return {
    clock: {
      nowMicros,
      timer: (delayMs, callback) => {
        // A pending timer of the store never keeps the process of its user alive.
        const timeout = setTimeout(callback, delayMs).unref()
        return () => clearTimeout(timeout)
      },
    },
    randomBytes,
    defer: (callback) => {
      setImmediate(callback)
    },
  }
}

/**
 * Date gives the milliseconds, so that a clock that was set is followed; performance only the microseconds within one.
 * A step back within a millisecond is evened out by the hybrid clock above.
 */
function nowMicros(): number {
  return Date.now() * 1000 + (Math.floor(performance.now() * 1000) % 1000)
}
