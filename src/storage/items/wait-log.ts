// Which requests wait for which items, and which have waited lately: for people who look. In memory and bounded; a request that
// need not wait never comes here.
import type { KeyBytes } from '../../model/brand.js'
import { type Clock, steadyMicros } from '../../runtime/runtime.js'

export interface WaitEntry {
  /** With its space. */
  readonly item: KeyBytes
  /** The transaction or the unit that waits; undefined: a single write, or a read. */
  readonly waiter: string | undefined
  /** The transactions that were pending on the item, or the unit that held its lock, when the wait began. */
  readonly holders: readonly string[]
  readonly sinceMicros: number
  /** Undefined while it waits. */
  readonly waitedMicros: number | undefined
  /** `gave-up`: nothing had changed after the longest wait. */
  readonly end: 'went-on' | 'gave-up' | undefined
}

interface Wait extends Omit<WaitEntry, 'waitedMicros' | 'end'> {
  readonly startMicros: number
}

const ENTRIES_MAX = 256
const HOLDERS_MAX = 4

export class WaitLog {
  readonly #clock: Clock
  readonly #now = new Set<Wait>()
  /** A ring, once it is full. */
  readonly #ended: WaitEntry[] = []
  #next = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(item: KeyBytes, waiter: string | undefined, holders: readonly string[]): Wait {
    const wait = {
      item,
      waiter,
      holders: holders.slice(0, HOLDERS_MAX),
      sinceMicros: this.#clock.nowMicros(),
      startMicros: steadyMicros(this.#clock),
    }
    this.#now.add(wait)
    return wait
  }

  end(wait: Wait, end: 'went-on' | 'gave-up'): void {
    this.#now.delete(wait)
    const { startMicros, ...entry } = wait
    this.#ended[this.#next] = { ...entry, waitedMicros: steadyMicros(this.#clock) - startMicros, end }
    this.#next = (this.#next + 1) % ENTRIES_MAX
  }

  /** Those that wait now, the longest first; then those that have waited, the newest first. */
  entries(entriesMax: number): readonly WaitEntry[] {
    const now: WaitEntry[] = []
    for (const { startMicros: _, ...entry } of this.#now) {
      if (now.length >= entriesMax) return now
      now.push({ ...entry, waitedMicros: undefined, end: undefined })
    }
    const ended = [...this.#ended.slice(this.#next), ...this.#ended.slice(0, this.#next)].toReversed()
    return [...now, ...ended].slice(0, entriesMax)
  }
}
