// Places between two batches, at which a snapshot sees nothing that is not durable yet, so that its readers wait for no
// disk. What is decided after the place has not been acknowledged either, so whoever reads there has missed nothing.
//
//   written so far ....... | being written ....... | being collected
//                     boundary                boundary         now
//
// A boundary is an open snapshot: the images that writes after it replace are kept. So boundaries are only made while clients
// open snapshots, and given up as soon as the batch behind them is durable.
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import type { Line } from '../../line/line.js'
import { recordTimestamp } from '../../line/record.js'
import type { OpenSnapshots } from './snapshots.js'

interface Boundary {
  readonly timestamp: Timestamp
  /** The first write behind it: readers see it as soon as its batch is durable, and not before. */
  readonly first: { readonly address: KeyBytes; readonly timestamp: Timestamp }
  /** What is before it is durable. Told late: the boundary at the beginning of the batch before it knows earlier. */
  isSettled: boolean
  earlier: Boundary | undefined
  /** Somebody holds a lock who must see what was decided before he got it. */
  isPassed: boolean
}

/** A write of an item, after it was put. */
export interface BoundaryWrite {
  readonly address: KeyBytes
  readonly timestamp: Timestamp
  /** The highest timestamp of all writes before. */
  readonly highestBefore: Timestamp
  /** It leaves a record, by which readers can be seen to see it. */
  readonly leavesRecord: boolean
}

export class BatchBoundaries {
  readonly #line: Line
  readonly #snapshots: OpenSnapshots
  /** Oldest first; two at most, because one batch is written while another one is collected. */
  #boundaries: readonly Boundary[] = []
  /** When the last write of an item is durable. */
  #lastBatch: Promise<void> | undefined
  /** The boundary at the beginning of that batch, if there is one. */
  #lastBoundary: Boundary | undefined
  readonly #idleBatchesMax: number
  #idleBatches: number

  constructor(
    line: Line,
    snapshots: OpenSnapshots,
    { idleBoundariesMax }: Pick<Knobs, 'idleBoundariesMax'> = knobs,
  ) {
    this.#line = line
    this.#idleBatchesMax = idleBoundariesMax
    this.#idleBatches = idleBoundariesMax
    this.#snapshots = snapshots
    line.onRollback(() => {
      this.#boundaries = []
      this.#lastBoundary = undefined
    })
  }

  /** Before the image that the write replaces is remembered. */
  wrote(write: BoundaryWrite): void {
    const batch = this.#line.whenAllDurable()
    const before = this.#lastBatch
    if (batch === before) return
    const earlier = this.#lastBoundary
    this.#lastBatch = batch
    this.#lastBoundary = undefined
    // Of a write at or below an earlier one nobody knows what is before it.
    const isBehind = write.timestamp > write.highestBefore && write.leavesRecord
    if (batch === undefined || this.#idleBatches >= this.#idleBatchesMax || !isBehind) return
    this.#idleBatches++
    const { address, timestamp, highestBefore } = write
    const first = { address, timestamp }
    this.#lastBoundary = {
      timestamp: highestBefore,
      first,
      isSettled: before === undefined,
      earlier,
      isPassed: false,
    }
    this.#begin(this.#lastBoundary, before, batch)
  }

  #begin(boundary: Boundary, before: Promise<void> | undefined, batch: Promise<void>): void {
    this.#snapshots.open(boundary.timestamp, before)
    this.#boundaries = [...this.#boundaries, boundary]
    const settle = (): void => {
      boundary.isSettled = true
      boundary.earlier = undefined
    }
    // Of a batch that failed nothing is left, and of its boundaries neither.
    before?.then(settle, () => undefined)
    const giveUp = (): void => {
      if (!this.#boundaries.includes(boundary)) return
      this.#boundaries = this.#boundaries.filter((each) => each !== boundary)
      this.#snapshots.close(boundary.timestamp)
    }
    batch.then(giveUp, () => undefined)
  }

  /** Whoever opens a snapshot from now on sees all that is decided now, and waits for it if he must. */
  pass(): void {
    for (const boundary of this.#boundaries) boundary.isPassed = true
  }

  /** The latest timestamp that is durable and above all that was acknowledged; undefined if it is the present. */
  latest(): Timestamp | undefined {
    this.#idleBatches = 0
    for (let at = this.#boundaries.length - 1; at >= 0; at--) {
      const boundary = this.#boundaries[at] as Boundary
      // What is behind the newest boundary that readers see beyond is acknowledged, or about to be.
      if (boundary.isPassed || this.#isSeen(boundary)) return undefined
      const isSettled =
        boundary.isSettled || (boundary.earlier !== undefined && this.#isSeen(boundary.earlier))
      if (isSettled && this.#snapshots.isOpen(boundary.timestamp)) return boundary.timestamp
    }
    return undefined
  }

  #isSeen({ first }: Boundary): boolean {
    const stored = this.#line.durable.get(first.address)
    return stored !== undefined && recordTimestamp(stored) >= first.timestamp
  }
}
