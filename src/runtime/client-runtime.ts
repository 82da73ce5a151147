// The real world for clients: as the store's, but whoever waits keeps the process alive until he has waited.
import { longTimeout } from './long-timeout.js'
import { realRuntime } from './real-runtime.js'
import type { Runtime } from './runtime.js'

/** For the toolkit, whose caller waits for what its timers bring about. */
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
