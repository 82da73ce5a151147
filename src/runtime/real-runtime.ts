// The real clock, random source and event loop.
import { randomFillSync } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Runtime } from './runtime.js'

/** About ten times what a piece of background work holds the thread for. */
const REST_MS = 4

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
      nowMicros: microsClock(),
      timer: (delayMs, callback) => {
        // A pending timer of the store never keeps the process of its user alive.
        const timeout = longTimeout(delayMs, callback)
        timeout.unref()
        return timeout.cancel
      },
      monotonicMicros: () => Math.floor(performance.now() * 1000),
      awaitedTimer: (delayMs, callback) => longTimeout(delayMs, callback).cancel,
    },
    randomBytes: randomPool(),
    defer: (callback) => {
      setImmediate(callback)
    },
    rest: (callback) => {
      setTimeout(callback, REST_MS)
    },
  }
}

/** The same for clients: whoever waits for what a timer of the toolkit brings about keeps the process alive meanwhile. */
export function clientRuntime(): Runtime {
  const runtime = realRuntime()
  return {
    ...runtime,
    clock: {
      nowMicros: () => runtime.clock.nowMicros(),
      timer: (delayMs, callback) => longTimeout(delayMs, callback).cancel,
    },
  }
}

/**
 * Date gives the milliseconds, so that a clock that was set is followed; performance only the microseconds within one. Their
 * milliseconds do not begin together, so what they make together may step back by less than one: then the clock goes on
 * by a microsecond. Otherwise the second of two units of work that begin in one millisecond could be the older one.
 */
function microsClock(): () => number {
  let last = 0
  return () => {
    const now = Date.now() * 1000 + (Math.floor(performance.now() * 1000) % 1000)
    last = now <= last && last - now < 1000 ? last + 1 : now
    return last
  }
}

const POOL_BYTES = 4096

/** A call of the system's source for a few bytes costs more than a few thousand bytes do; none is given out twice. */
function randomPool(): Runtime['randomBytes'] {
  let pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  return (count) => {
    if (count > POOL_BYTES / 4) return randomFillSync(new Uint8Array(count))
    if (used + count > POOL_BYTES) {
      pool = randomFillSync(new Uint8Array(POOL_BYTES))
      used = 0
    }
    used += count
    return pool.subarray(used - count, used)
  }
}

// A timeout of any length. Node takes a delay beyond 2^31-1 ms (24.8 days) for 1 ms, with a warning that few see.

/** The longest that setTimeout can do at once. */
const STEP_MS_MAX = 2 ** 31 - 1

export interface LongTimeout {
  readonly cancel: () => void
  /** It does not keep the process alive. */
  readonly unref: () => void
}

interface Timeout {
  unref(): unknown
}

interface Timers {
  set(callback: () => void, delayMs: number): Timeout
  clear(timeout: Timeout): void
}

const nodeTimers: Timers = {
  set: setTimeout,
  clear: (timeout) => clearTimeout(timeout as NodeJS.Timeout),
}

/**
 * Calls back once after that many milliseconds, however many; never, for Infinity.
 *
 * @example
 * const timeout = longTimeout(90 * 24 * 3_600_000, () => console.log('ninety days later'))
 * timeout.cancel()
 */
export function longTimeout(delayMs: number, callback: () => void, timers = nodeTimers): LongTimeout {
  let leftMs = delayMs
  let isAwaited = true
  let timeout: Timeout
  const step = (): void => {
    const stepMs = Math.min(leftMs, STEP_MS_MAX)
    leftMs -= stepMs
    timeout = timers.set(leftMs > 0 ? step : callback, stepMs)
    if (!isAwaited) timeout.unref()
  }
  step()
  return {
    cancel: () => timers.clear(timeout),
    unref: () => {
      isAwaited = false
      timeout.unref()
    },
  }
}
