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
