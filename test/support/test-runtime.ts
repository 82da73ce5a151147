// A runtime for tests: a clock that stands still, bytes from a seed, the real event loop.
import { type ManualClock, manualClock } from '../../src/runtime/manual-clock.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import { seededRandom } from '../suites/seeded-random.js'

export function testRuntime(seed: number): Runtime & { readonly clock: ManualClock } {
  const random = seededRandom(seed)
  return {
    clock: manualClock(1_900_000_000_000),
    randomBytes: (count) => Uint8Array.from({ length: count }, () => random(256)),
    defer: (callback) => {
      setImmediate(callback)
    },
  }
}
