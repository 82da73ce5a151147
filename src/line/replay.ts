// Brings an index up to the journal at a start, many frames a commit.
//
//   frame, frame, ... --> one commit --> ... --fails--> what is left is kept in memory, and goes to the overlay
//
// An index that cannot be written (a full disk, say) keeps no store from being read: what it lacks is what the overlay held
// when the last process ended, and there is room for that.
import type { OrderedMap } from '../ordered-map/ordered-map.js'
import type { Frame } from '../journal/frame.js'
import type { KeyBytes, Lsn, Timestamp } from '../model/brand.js'
import { CLOCK_KEY, encodeClock } from './spaces.js'

/** What of the journal the index does not have. */
export interface Unapplied {
  readonly changes: ReadonlyMap<KeyBytes, Uint8Array | undefined>
  readonly timestamp: Timestamp
  readonly lsn: Lsn
  /** Offset of the journal after it. */
  readonly end: number
}

/** Far more than an overlay holds: a journal that is longer belongs to another index. */
const UNAPPLIED_BYTES_MAX = 512 * 1024 * 1024

export class Replay {
  readonly #index: OrderedMap
  readonly #bytesMax: number
  #changes = new Map<KeyBytes, Uint8Array | undefined>()
  #bytes = 0
  #last: Frame | undefined
  #failure: Error | undefined

  constructor(index: OrderedMap, bytesMax: number) {
    this.#index = index
    this.#bytesMax = bytesMax
  }

  /** Why the index could not be written. */
  get failure(): Error | undefined {
    return this.#failure
  }

  async add(frame: Frame): Promise<void> {
    for (const [key, value] of frame.changes) this.#changes.set(key, value)
    this.#bytes += frame.end - frame.position
    this.#last = frame
    if (this.#failure !== undefined && this.#bytes > UNAPPLIED_BYTES_MAX) throw this.#failure
    if (this.#failure === undefined && this.#bytes >= this.#bytesMax) await this.#apply(frame)
  }

  /** Resolves to what the index lacks; undefined: nothing. */
  async finish(): Promise<Unapplied | undefined> {
    if (this.#failure === undefined && this.#last !== undefined) await this.#apply(this.#last)
    if (this.#last === undefined) return undefined
    const { timestamp, lsn, end } = this.#last
    return { changes: this.#changes, timestamp, lsn, end }
  }

  async #apply({ timestamp, lsn, end }: Frame): Promise<void> {
    const changes = new Map(this.#changes).set(CLOCK_KEY, encodeClock(timestamp, lsn))
    try {
      await this.#index.apply(changes, end)
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      return
    }
    this.#changes = new Map()
    this.#bytes = 0
    this.#last = undefined
  }
}
