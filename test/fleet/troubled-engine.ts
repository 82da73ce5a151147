// An engine in memory, behind a network that loses requests and answers and delivers late, in real time, from one seed: for whole
// stores and servers. What a world of the simulator does to time, this does to the order of calls alone.
import {
  type CasOutcome,
  type Engine,
  EngineUnavailable,
  type PlainOutcome,
} from '../../src/engine/engine.js'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { Random } from '../../src/runtime/seeded-random.js'

/** How often, of one call. */
export interface Troubles {
  readonly lostRequests: number
  readonly lostAnswers: number
  readonly late: number
  readonly unavailable: number
}

const TROUBLES: Troubles = { lostRequests: 0.02, lostAnswers: 0.03, late: 0.02, unavailable: 0.005 }
/** How long a late step is on its way; the caller knows already that nobody knows. */
const LATE_MS_MAX = 30
const ALIVE_MS = 3000

export function troubledEngine(
  seed: number,
  troubles: Troubles = TROUBLES,
  inner: Engine = new MemoryEngine(),
): Engine {
  const random = new Random(seed)
  const cause = new Error('no answer in time')
  async function step<Outcome extends CasOutcome | PlainOutcome>(
    carryOut: () => Promise<Outcome>,
  ): Promise<Outcome | { readonly outcome: 'unknown'; readonly cause: unknown }> {
    const unknown = { outcome: 'unknown', cause } as const
    // The timers of a store keep no process alive, as the sockets of an engine would.
    if (random.chance(0.2)) setTimeout(() => undefined, ALIVE_MS)
    if (random.chance(troubles.unavailable)) throw new EngineUnavailable('no host answers')
    if (random.chance(troubles.lostRequests)) return unknown
    if (random.chance(troubles.late)) {
      setTimeout(() => void carryOut().catch(() => undefined), random.below(LATE_MS_MAX))
      return unknown
    }
    const outcome = await carryOut()
    return random.chance(troubles.lostAnswers) ? unknown : outcome
  }
  return {
    name: `troubled ${inner.name}`,
    limits: inner.limits,
    scopeOf: (address) => inner.scopeOf(address),
    read: (...args) => inner.read(...args),
    range: (request) => inner.range(request),
    cas: (changes) => step(() => inner.cas(changes)),
    write: (rows) => step(() => inner.write(rows)),
    createSpace: (space) => inner.createSpace(space),
    dropSpace: (space) => inner.dropSpace(space),
    close: () => inner.close(),
  }
}
