// Ranges of an index that were scanned more than once stay at hand until the index is written. So the checksums of their
// records, and the search for their neighbours, are paid when they are fetched, and not again for every reader
// (docs/adr/0048-recent-ranges.md).
//
//   scan(range) --kept--> shown
//               \-------> index --asked for a second time--> kept, if it is short
//
// Nothing of it is older than the index: one owner writes, and it writes through here.
import type { KeyBytes } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import type { EntryVisitor, IndexChange, OrderedMap, ScanRange } from './ordered-map.js'

/** What a value that is kept takes beside its bytes. */
const OVERHEAD_BYTES = 250
/** A longer range is not kept: pages of a Scan would take the room of many short ones. */
const RANGE_SHARE_MAX = 128
/** Ranges of which it is known that they were asked for once. With more in between, the second time counts as the first. */
const ASKED_MAX = 8192

/** The index, which is written by nobody else. The bound is for this one. */
export const withRecentRanges = (
  index: OrderedMap,
  { recentRangesBytesMax }: Pick<Knobs, 'recentRangesBytesMax'> = knobs,
): OrderedMap => new RecentRanges(index, recentRangesBytesMax)

interface KeptRange extends ScanRange {
  readonly values: readonly Uint8Array[]
  /** Nothing follows the last one in the range. */
  readonly isWhole: boolean
  readonly bytes: number
}

class RecentRanges implements OrderedMap {
  readonly #index: OrderedMap
  readonly #bytesMax: number
  /** By the lower end; those that were kept first come first. */
  readonly #kept = new Map<KeyBytes, KeptRange>()
  #bytes = 0
  readonly #asked = new Set<KeyBytes>()

  constructor(index: OrderedMap, bytesMax: number) {
    this.#index = index
    this.#bytesMax = bytesMax
  }

  get appliedUpTo(): number {
    return this.#index.appliedUpTo
  }

  get(key: KeyBytes): Uint8Array | undefined {
    return this.#index.get(key)
  }

  ready(key: KeyBytes): Promise<void> | undefined {
    return this.#index.ready?.(key)
  }

  readyRange(range: ScanRange, entriesMax: number, bytesMax: number): Promise<void> | undefined {
    const kept = this.#find(range)
    const isEnough = kept !== undefined && (kept.isWhole || kept.values.length >= entriesMax)
    return isEnough ? undefined : this.#index.readyRange?.(range, entriesMax, bytesMax)
  }

  range(range: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    return this.#index.range(range)
  }

  scan(range: ScanRange, look: EntryVisitor): void {
    const kept = this.#find(range)
    if (kept === undefined) {
      if (this.#isSecond(range.from)) this.#scanAndKeep(range, 0, look)
      else this.#index.scan(range, look)
      return
    }
    for (const value of kept.values) if (!look(value, value.length)) return
    if (!kept.isWhole) this.#scanAndKeep(range, kept.values.length, look)
  }

  async apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    try {
      await this.#index.apply(changes, appliedUpTo)
    } finally {
      // Also after a failure: it may have been written all the same.
      this.#forgetAll()
    }
  }

  close(): Promise<void> {
    this.#forgetAll()
    return this.#index.close()
  }

  #find({ from, to, reverse }: ScanRange): KeptRange | undefined {
    const kept = this.#kept.get(from)
    return kept?.to === to && kept.reverse === reverse ? kept : undefined
  }

  /** Whether it was asked for before, as far as is remembered. */
  #isSecond(from: KeyBytes): boolean {
    if (this.#asked.delete(from)) return true
    if (this.#asked.size >= ASKED_MAX) this.#asked.clear()
    this.#asked.add(from)
    return false
  }

  /** Shows all but the first so many values, which were shown, and keeps what is seen of the range. */
  #scanAndKeep({ from, to, reverse }: ScanRange, shown: number, look: EntryVisitor): void {
    const bytesMax = this.#bytesMax / RANGE_SHARE_MAX
    const values: Uint8Array[] = []
    let bytes = OVERHEAD_BYTES
    let isWhole = true
    let left = shown
    this.#index.scan({ from, to, reverse }, (lent, length) => {
      bytes += OVERHEAD_BYTES + length
      if (bytes <= bytesMax) values.push(copied(lent, length))
      if (left > 0) left--
      else isWhole = look(lent, length)
      return isWhole
    })
    this.#forget(from)
    if (bytes > bytesMax) return
    this.#kept.set(from, { from, to, reverse, values, isWhole, bytes })
    this.#bytes += bytes
    for (const first of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#forget(first)
    }
  }

  #forget(from: KeyBytes): void {
    const kept = this.#kept.get(from)
    if (kept === undefined) return
    this.#kept.delete(from)
    this.#bytes -= kept.bytes
  }

  #forgetAll(): void {
    this.#kept.clear()
    this.#bytes = 0
  }
}

/** With memory of its own: the pool's is shared with what lives shorter. */
function copied(lent: Uint8Array, length: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(length)
  copy.set(lent.length === length ? lent : lent.subarray(0, length))
  return copy
}
