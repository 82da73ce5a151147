// How a budget of memory is shared among what a store keeps beside its data: the overlay of writes that are not in the index yet, the
// images that snapshots may need, ranges that were read more than once, and the caches of the log of commits.
import { type Knobs, knobs } from './knobs.js'

export const memoryMbBounds = { min: 16, max: 65_536 } as const

/** The shares of a node are divided by the nodes of the store. What is left is for what has a bound of its own, which is small. */
const SHARES = {
  overlay: 0.25,
  history: 0.32,
  logCache: 0.05,
  logBacklog: 0.2,
  marks: 0.1,
  ranges: 0.03,
} as const
/** Of one mark of a read: its key and its place in a map. */
const MARK_BYTES = 200
const MARKS_MAX = 50_000

export type MemoryKnobs = Pick<
  Knobs,
  | 'overlayBytesMax'
  | 'historyBytesMax'
  | 'logCacheBytesMax'
  | 'logBacklogBytesMax'
  | 'readMarksMax'
  | 'recentRangesBytesMax'
>

export function memoryKnobs(memoryMb: number, nodes: number): MemoryKnobs {
  const bytes = memoryMb * 1024 * 1024
  return {
    overlayBytesMax: Math.floor((bytes * SHARES.overlay) / nodes),
    historyBytesMax: Math.floor((bytes * SHARES.history) / nodes),
    logCacheBytesMax: Math.floor(bytes * SHARES.logCache),
    logBacklogBytesMax: Math.floor(bytes * SHARES.logBacklog),
    recentRangesBytesMax: Math.min(knobs.recentRangesBytesMax, Math.floor(bytes * SHARES.ranges)),
    // Of two generations.
    readMarksMax: Math.min(MARKS_MAX, Math.floor((bytes * SHARES.marks) / nodes / 2 / MARK_BYTES)),
  }
}
