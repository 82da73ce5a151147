// Lock clients on a real store in this process, on a clock that the test moves.
import { type ManualClock } from '../../../src/runtime/manual-clock.js'
import type { Runtime } from '../../../src/runtime/runtime.js'
import type { Store } from '../../../src/store/store.js'
import type { Endpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { type LockEvent, type Locks, locks, type LocksOptions } from '../../../src/toolkit/index.js'
import { testRuntime } from '../../support/test-runtime.js'

export const TABLE = 'Locks'

export function storeEndpoint(store: Store): Endpoint {
  return { call: (operation, input) => store.call(operation, input) }
}

export interface TestClient {
  readonly locks: Locks
  readonly events: LockEvent[]
  readonly runtime: Runtime & { readonly clock: ManualClock }
}

/** Every client has a clock of its own; `clocks.move` moves them all. */
export class Clients {
  readonly #runtimes: TestClient['runtime'][] = []
  #seed = 1

  client(endpoint: Endpoint, options: Partial<LocksOptions> = {}): TestClient {
    const runtime = testRuntime(this.#seed++)
    this.#runtimes.push(runtime)
    const events: LockEvent[] = []
    const client = locks(endpoint, {
      table: TABLE,
      leaseMs: 10_000,
      ...options,
      runtime,
      onEvent: (event) => events.push(event),
    })
    return { locks: client, events, runtime }
  }

  /** Moves all clocks but those of clients that stand still, in small steps, letting everything happen in between. */
  async move(ms: number, except: readonly TestClient[] = []): Promise<void> {
    const still = except.map(({ runtime }) => runtime)
    for (let moved = 0; moved < ms; moved += STEP_MS) {
      for (const runtime of this.#runtimes) if (!still.includes(runtime)) runtime.clock.advance(STEP_MS)
      await turns()
    }
  }

  /** Moves them until the promise settles. */
  async until<T>(promise: Promise<T>, except: readonly TestClient[] = []): Promise<T> {
    const state = { settled: false }
    const end = (): void => void (state.settled = true)
    promise.then(end, end)
    for (let moved = 0; !state.settled; moved += STEP_MS) {
      if (moved > UNTIL_MS_MAX) throw new Error(`not settled after ${UNTIL_MS_MAX} ms`)
      await this.move(STEP_MS, except)
    }
    return promise
  }
}

const STEP_MS = 50
const UNTIL_MS_MAX = 10 * 60_000
const TURNS = 12

/** Requests to a store in this process are answered within a few turns of the event loop. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}
