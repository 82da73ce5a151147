// One ordered picture of overlay and index.
import type { ScanRange, EntryVisitor, OrderedMap } from '../ordered-map/ordered-map.js'
import type { KeyBytes } from '../model/brand.js'
import type { Overlay } from './overlay.js'

export interface MergedView {
  get(key: KeyBytes): Uint8Array | undefined
  /** What to wait for first, so that nobody else waits for the disk; see `OrderedMap.ready`. */
  ready?(key: KeyBytes): Promise<void> | undefined
  readyRange?(range: ScanRange, entriesMax: number, bytesMax: number): Promise<void> | undefined
  /** Consumed before the caller next yields to the event loop. */
  range(range: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]>
  /** Shows the values of a range in order; see `OrderedMap.scan`. */
  scan(range: ScanRange, look: EntryVisitor): void
}

/** `durable`: what readers see. `decided`: what the next decision sees. */
export function viewOf(index: OrderedMap, overlay: Overlay, view: 'durable' | 'decided'): MergedView {
  const version =
    view === 'durable' ? (key: KeyBytes) => overlay.durable(key) : (key: KeyBytes) => overlay.decided(key)
  return {
    get: (key) => {
      const found = version(key)
      return found === undefined ? index.get(key) : found.value
    },
    ready: (key) => index.ready?.(key),
    readyRange: (range, entriesMax, bytesMax) => index.readyRange?.(range, entriesMax, bytesMax),
    range: (range) => (overlay.hasAny(range.from, range.to) ? mergedRange(range) : index.range(range)),
    scan: (range, look) => {
      if (!overlay.hasAny(range.from, range.to)) {
        index.scan(range, look)
        return
      }
      for (const [, value] of mergedRange(range)) if (!look(value, value.length)) return
    },
  }

  function mergedRange(range: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    const { from, to, reverse } = range
    return merged(index.range(range), overlay.range(from, to, { reverse, view }), reverse)
  }
}

/** Both in the same order; where both have a key the upper one counts, and a removed key hides the lower one. */
function* merged(
  lower: Iterable<readonly [KeyBytes, Uint8Array]>,
  upper: Iterable<readonly [KeyBytes, Uint8Array | undefined]>,
  reverse: boolean,
): Iterable<readonly [KeyBytes, Uint8Array]> {
  const above = upper[Symbol.iterator]()
  let next = above.next()
  for (const entry of lower) {
    while (next.done !== true && (reverse ? next.value[0] > entry[0] : next.value[0] < entry[0])) {
      const [key, value] = next.value
      if (value !== undefined) yield [key, value]
      next = above.next()
    }
    if (next.done === true || next.value[0] !== entry[0]) yield entry
  }
  while (next.done !== true) {
    const [key, value] = next.value
    if (value !== undefined) yield [key, value]
    next = above.next()
  }
}
