// A compare-and-set whose outcome is known (point 35). Every change has a version id of its own, and rows keep the last few:
//
//   cas --applied, refused--> so it is
//       --unavailable--> nothing was done: again, a few times
//       --unknown--> read --> own id in a row -----------------------> applied
//                         \-> what was expected of a row is among its last ones --> refused: it can never be applied any more
//                         \-> still what was expected --> the same change again, under the same id
//                         \-> neither -------------------------------> nobody knows: DurabilityUnknown
//
// Nothing is sent again long after it was decided: a server that was frozen meanwhile may find a row absent that has come and gone,
// the tombstone of its transaction for one.
//
// Its rows change together or not at all, so that what one of them tells holds for all. A time-out is neither failure nor success.
import {
  type CasOutcome,
  type Engine,
  type EngineRow,
  EngineUnavailable,
  type RowChange,
  type RowPut,
  type VersionId,
} from '../../engine/engine.js'
import { DurabilityUnknown } from '../../line/errors.js'
import type { Runtime } from '../../runtime/runtime.js'
import { BothClocks } from './both-clocks.js'

/** How many versions a row remembers beside its own. */
export const PAST_MAX = 8
const TRIES_MAX = 12
/** Where the engine says that nothing was done: a host that is going down, or has too much to do for a moment. */
const UNAVAILABLE_TRIES_MAX = 4
const PAUSE_MS = { first: 5, most: 1000 }
/** A minute: longer than all tries take, and much shorter than tombstones are kept. */
export const ACT_WITHIN_MS = 60_000

export type SureOutcome = Exclude<CasOutcome, { outcome: 'unknown' }>

export interface SureCasOptions {
  readonly engine: Pick<Engine, 'cas' | 'read'>
  readonly runtime: Runtime
  /** For those who look: every call, and every outcome that was unknown. */
  readonly counted?: (what: 'cas' | 'refused' | 'unknown' | 'unresolved') => void
  /** For how long after its decision a change may be sent again (60 s). */
  readonly actWithinMs?: number
}

export const newVersionId = (runtime: Runtime): VersionId =>
  Buffer.from(runtime.randomBytes(12)).toString('hex') as VersionId

/** What becomes of a row: its version is fresh, and those before it are kept. */
export function nextPut(row: EngineRow | undefined, version: VersionId, cells: RowPut['cells']): RowPut {
  return { version, past: row === undefined ? [] : [row.version, ...row.past].slice(0, PAST_MAX), cells }
}

/** Functions, so that a simulation can put wrong ones in their places. */
export interface DoubtFunctions {
  readonly judge: typeof judgeDoubt
}

export type Doubt = 'applied' | 'refused' | 'again' | 'unknown'

/** What a row says of a change of it whose answer was lost. */
export function judgeDoubt({ seen, next }: RowChange, row: EngineRow | undefined): Doubt {
  if (next === undefined || seen === 'any') return 'unknown'
  if (next === 'removed') return row === undefined ? 'applied' : row.version === seen ? 'again' : 'refused'
  if (row === undefined) return seen === 'absent' ? 'again' : 'unknown'
  if (row.version === next.version || row.past.includes(next.version)) return 'applied'
  if (row.version === seen) return 'again'
  const isKnown = seen === 'absent' ? row.past.length < PAST_MAX : row.past.includes(seen)
  return isKnown ? 'refused' : 'unknown'
}

/** The rows of one call may be of different moments: one that has not changed yet says less than one that has. */
const STRONGEST_FIRST: readonly Doubt[] = ['applied', 'refused', 'again', 'unknown']

const isPast = ({ seen }: RowChange, row: EngineRow | undefined): boolean =>
  seen !== 'any' && seen !== (row?.version ?? 'absent')

/** The engine names the host in its reason. */
export const because = (cause: unknown): string => (cause instanceof Error ? `: ${cause.message}` : '.')

export class SureCas {
  readonly #options: SureCasOptions
  readonly #judge: typeof judgeDoubt

  constructor(options: SureCasOptions, functions: DoubtFunctions = { judge: judgeDoubt }) {
    this.#options = options
    this.#judge = functions.judge
  }

  /** @throws DurabilityUnknown if nobody can tell, EngineUnavailable or SpaceMissing if nothing was done */
  async cas(changes: readonly RowChange[]): Promise<SureOutcome> {
    const { counted } = this.#options
    counted?.('cas')
    const decided = new BothClocks(this.#options.runtime.clock)
    const first = await this.#carriedOut(changes, decided)
    if (first.outcome === 'refused') counted?.('refused')
    if (first.outcome !== 'unknown') return first
    counted?.('unknown')
    return this.#resolve(changes, decided, first.cause)
  }

  #mayAct(decided: BothClocks): boolean {
    return decided.passedMs <= (this.#options.actWithinMs ?? ACT_WITHIN_MS)
  }

  async #carriedOut(changes: readonly RowChange[], decided: BothClocks): Promise<CasOutcome> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#options.engine.cas(changes)
      } catch (error) {
        if (!(error instanceof EngineUnavailable) || tries >= UNAVAILABLE_TRIES_MAX) throw error
        await this.#pause(tries)
        if (!this.#mayAct(decided)) throw error
      }
    }
  }

  async #resolve(changes: readonly RowChange[], decided: BothClocks, cause: unknown): Promise<SureOutcome> {
    const { engine, counted } = this.#options
    let last = cause
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await this.#pause(tries)
      try {
        const rows = await engine.read(
          changes.map(({ address }) => address),
          'consistent',
        )
        const doubt = this.#judged(changes, rows)
        if (doubt === 'applied') return { outcome: 'applied' }
        if (doubt === 'refused') return { outcome: 'refused', rows }
        if (doubt === 'unknown' || !this.#mayAct(decided)) break
        counted?.('cas')
        const again = await engine.cas(changes)
        if (again.outcome === 'applied') return again
        if (again.outcome === 'unknown') continue
        // The first one may have come in the meantime.
        const late = this.#judged(changes, again.rows)
        if (late === 'applied') return { outcome: 'applied' }
        if (late === 'refused') return again
        if (late === 'unknown') break
        // It was not carried out before this refusal, and what it expected of another row is gone for good.
        if (changes.some((change, at) => isPast(change, again.rows[at]))) return again
      } catch (error) {
        last = error
      }
    }
    counted?.('unresolved')
    throw new DurabilityUnknown(`The engine did not answer, and the rows do not tell${because(last)}`, {
      cause: last,
    })
  }

  /** Rows that go tell less than rows that are put: others may have removed them. */
  #judged(changes: readonly RowChange[], rows: readonly (EngineRow | undefined)[]): Doubt {
    const hasPuts = changes.some(({ seen, next }) => seen !== 'any' && typeof next === 'object')
    const doubts = changes.map((change, at) =>
      hasPuts && typeof change.next !== 'object' ? 'unknown' : this.#judge(change, rows[at]),
    )
    return STRONGEST_FIRST.find((each) => doubts.includes(each)) ?? 'unknown'
  }

  #pause(tries: number): Promise<void> {
    const ms = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** tries)
    return new Promise((resolve) => void this.#options.runtime.clock.timer(ms, resolve))
  }
}
