// What a large step can do before it is taken, in turns that let other requests pass: parsing the items that it looks at,
// deciding the updates, and writing the texts that they leave. An item of 400 KB may be 200,000 values, which take tens of milliseconds,
// and a transaction may have ten of them.
//
//   step loads its items --due--> nothing, as a rule: it decides
//                            \--> too much at once: parsed in turns, then the step again, which finds what was worked out
//
// One request at a time works ahead at a node: parsed values take twenty times the memory of their bytes, and it keeps them until
// it is answered. What was worked out counts only for the very version of an item that it was made of: an update is decided by the
// rules, on that version alone, and whatever else is pending there is looked at by the step.
import type { KeyBytes, Lsn } from '../../model/brand.js'
import { type Knobs, knobs as defaultKnobs } from '../../model/knobs.js'
import { limits } from '../../model/limits.js'
import type { TableShape } from '../../model/table.js'
import type { ItemState } from '../../rules/item/item.js'
import { looksAtImage, type Action } from '../../rules/item/contended-item.js'
import { decideWrite, type WriteVerdict } from '../../rules/item/single-write.js'
import type { Clock, Runtime } from '../../runtime/runtime.js'
import type { LoadedItem } from '../items/load-item.js'

/** Items that are written again and again while they are parsed are a conflict. */
const TRIES_MAX = 3
/** Of the bytes that a step may parse, this part is parsed in each turn. */
const TURN_PART = 1 / 8

export interface StepItem {
  readonly action: Action
  readonly item: { readonly address: KeyBytes; readonly state: ItemState }
}

interface Worked {
  readonly lsn: Lsn
  readonly state: ItemState
  readonly update: DecidedUpdate | undefined
}

interface DecidedUpdate {
  /** With the indexes that it has as of this shape. */
  readonly table: TableShape
  readonly verdict: WriteVerdict
  /** The text that it leaves. */
  readonly json: Uint8Array | undefined
}

/** The place at a node where one request at a time works ahead. Requests beyond its line conflict: clients try again. */
export class AheadPlace {
  readonly #lineMax: number
  readonly #lineMsMax: number
  #isTaken = false
  readonly #line: (() => void)[] = []

  constructor({
    aheadLineMax,
    aheadLineMsMax,
  }: Pick<Knobs, 'aheadLineMax' | 'aheadLineMsMax'> = defaultKnobs) {
    this.#lineMax = aheadLineMax
    this.#lineMsMax = aheadLineMsMax
  }

  /** Whether the place is the caller's now, who leaves it once; false if there are too many, or it takes too long. */
  take(clock: Clock): Promise<boolean> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return Promise.resolve(true)
    }
    if (this.#line.length >= this.#lineMax) return Promise.resolve(false)
    return new Promise((resolve) => {
      const called = (): void => {
        cancel()
        resolve(true)
      }
      const cancel = clock.timer(this.#lineMsMax, () => {
        this.#line.splice(this.#line.indexOf(called), 1)
        resolve(false)
      })
      this.#line.push(called)
    })
  }

  leave(): void {
    const next = this.#line.shift()
    if (next === undefined) this.#isTaken = false
    else next()
  }
}

export interface WorkAheadParts {
  readonly runtime: Runtime
  readonly place: AheadPlace
  readonly knobs?: Knobs | undefined
}

/** Done first, and the step is taken again after it; or the step is not taken at all. */
export type Due = Promise<void> | 'too-much' | 'busy'

/** For one request, however often its step is taken. */
export class WorkAhead {
  readonly #parts: WorkAheadParts
  readonly #bytesMax: number
  readonly #makesTexts: boolean
  #worked: Map<KeyBytes, Worked> | undefined
  #place: 'none' | 'taken' | 'refused' = 'none'
  #tries = 0

  /** `texts`: whether updates are decided and the texts that they leave made as well, for a step that writes them. */
  constructor(parts: WorkAheadParts, texts: 'made' | 'not-made') {
    this.#parts = parts
    this.#makesTexts = texts === 'made'
    this.#bytesMax = (parts.knobs ?? defaultKnobs).stepBytesMax
  }

  get isEmpty(): boolean {
    return this.#worked === undefined
  }

  /** The item with its state as it was parsed, if that is still the one. */
  load(item: LoadedItem): LoadedItem {
    const state = this.#of(item)?.state
    return state === undefined ? item : { ...item, state, item: state.item }
  }

  /** The text that the action leaves, if it is known: a put may bring its own. */
  jsonOf({ action: { mutation }, item }: StepItem): Uint8Array | undefined {
    if (mutation.kind === 'put') return mutation.json
    return this.#worked === undefined ? undefined : this.#of(item)?.update?.json
  }

  /** What the rules say of the update on the item as it is, if they were asked. */
  verdictOf({ action, item }: StepItem): WriteVerdict | undefined {
    const update = this.#worked === undefined ? undefined : this.#of(item)?.update
    return update?.table === action.table ? update.verdict : undefined
  }

  #of({ address, state }: StepItem['item']): Worked | undefined {
    const worked = this.#worked?.get(address)
    return worked !== undefined && worked.lsn === state.record?.lsn ? worked : undefined
  }

  /** Undefined if the step may be taken now. */
  due(steps: readonly StepItem[]): Due | undefined {
    if (lookedAtBytes(steps) <= this.#bytesMax) return undefined
    let bytes = 0
    for (const step of steps) if (this.#isLeft(step)) bytes += bytesOf(step)
    if (bytes <= this.#bytesMax) return undefined
    if (bytes > limits.lookedAtBytesMax) return 'too-much'
    if (this.#place === 'refused' || this.#tries >= TRIES_MAX) return 'busy'
    // Whoever waits for the place keeps nothing of what was loaded: the step loads it again.
    if (this.#place === 'none') return this.#takePlace()
    this.#tries += 1
    return this.#work(steps)
  }

  async #takePlace(): Promise<void> {
    const { place, runtime } = this.#parts
    this.#place = (await place.take(runtime.clock)) ? 'taken' : 'refused'
  }

  /** The request is answered, and needs nothing of this any more. */
  end(): void {
    if (this.#place === 'taken') this.#parts.place.leave()
    this.#place = 'none'
    this.#worked = undefined
  }

  #isLeft({ action, item }: StepItem): boolean {
    return (
      item.state.record !== undefined &&
      looksAtImage(action) &&
      (this.isEmpty || this.#of(item) === undefined)
    )
  }

  async #work(steps: readonly StepItem[]): Promise<void> {
    this.#worked ??= new Map()
    const turnBytes = this.#bytesMax * TURN_PART
    let bytes = 0
    for (const step of steps) {
      const { address, state } = step.item
      if (!this.#isLeft(step) || state.record === undefined) continue
      bytes += bytesOf(step)
      state.item()
      if (bytes > turnBytes) await this.#turn()
      const update = this.#makesTexts ? decidedUpdate(state, step.action) : undefined
      this.#worked.set(address, { lsn: state.record.lsn, state, update })
      if (bytes > turnBytes) {
        bytes = 0
        await this.#turn()
      }
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#parts.runtime.defer(resolve))
  }
}

/** Of all items that the step parses; nearly always little. */
function lookedAtBytes(steps: readonly StepItem[]): number {
  let bytes = 0
  for (const { action, item } of steps) if (looksAtImage(action)) bytes += item.state.record?.itemBytes ?? 0
  return bytes
}

const bytesOf = ({ item }: StepItem): number => item.state.record?.itemBytes ?? 0

function decidedUpdate(state: ItemState, action: Action): DecidedUpdate | undefined {
  const { mutation, table } = action
  if (mutation.kind !== 'update') return undefined
  const verdict = decideWrite(state, { ...action, mutation })
  const next = verdict.verdict === 'done' ? verdict.next : undefined
  return { table, verdict, json: next && Buffer.from(JSON.stringify(next.item)) }
}
