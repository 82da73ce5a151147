// Places between two batches, at which a snapshot sees nothing that is not durable yet, so that its readers wait for no
// disk. What is decided after the place has not been acknowledged either, so whoever reads there has missed nothing.
//
//   written so far ....... | being written ....... | being collected
//                        cut                     cut          now
//
// A cut is an open snapshot: the images that writes after it replace are kept. So cuts are only made while somebody opens
// snapshots, and given up as soon as the batch behind them is durable.
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import type { Line } from '../../line/line.js'
import { recordTimestamp } from '../../line/record.js'
import type { OpenSnapshots } from './snapshots.js'

interface Cut {
  readonly timestamp: Timestamp
  /** The first write behind it: readers see it as soon as its batch is durable, and not before. */
  readonly first: { readonly address: KeyBytes; readonly timestamp: Timestamp }
  /** What is before it is durable. Told late: the cut at the beginning of the batch before it knows earlier. */
  isSettled: boolean
  earlier: Cut | undefined
  /** Somebody holds a lock who must see what was decided before he got it. */
  isPassed: boolean
}

/** A write of an item, after it was put. */
export interface CutWrite {
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
  #cuts: readonly Cut[] = []
  /** When the last write of an item is durable. */
  #lastBatch: Promise<void> | undefined
  /** The cut at the beginning of that batch, if there is one. */
  #lastCut: Cut | undefined
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
      this.#cuts = []
      this.#lastCut = undefined
    })
  }

  /** Before the image that the write replaces is remembered. */
  wrote(write: CutWrite): void {
    const batch = this.#line.whenAllDurable()
    const before = this.#lastBatch
    if (batch === before) return
    const earlier = this.#lastCut
    this.#lastBatch = batch
    this.#lastCut = undefined
    // Of a write at or below an earlier one nobody knows what is before it.
    const isBehind = write.timestamp > write.highestBefore && write.leavesRecord
    if (batch === undefined || this.#idleBatches >= this.#idleBatchesMax || !isBehind) return
    this.#idleBatches++
    const { address, timestamp, highestBefore } = write
    const first = { address, timestamp }
    this.#lastCut = {
      timestamp: highestBefore,
      first,
      isSettled: before === undefined,
      earlier,
      isPassed: false,
    }
    this.#cut(this.#lastCut, before, batch)
  }

  #cut(cut: Cut, before: Promise<void> | undefined, batch: Promise<void>): void {
    this.#snapshots.open(cut.timestamp, before)
    this.#cuts = [...this.#cuts, cut]
    const settle = (): void => {
      cut.isSettled = true
      cut.earlier = undefined
    }
    // Of a batch that failed nothing is left, and of its cuts neither.
    before?.then(settle, () => undefined)
    const giveUp = (): void => {
      if (!this.#cuts.includes(cut)) return
      this.#cuts = this.#cuts.filter((each) => each !== cut)
      this.#snapshots.close(cut.timestamp)
    }
    batch.then(giveUp, () => undefined)
  }

  /** Whoever opens a snapshot from now on sees all that is decided now, and waits for it if he must. */
  pass(): void {
    for (const cut of this.#cuts) cut.isPassed = true
  }

  /** The latest timestamp that is durable and above all that was acknowledged; undefined if it is the present. */
  latest(): Timestamp | undefined {
    this.#idleBatches = 0
    for (let at = this.#cuts.length - 1; at >= 0; at--) {
      const cut = this.#cuts[at] as Cut
      // What is behind the newest cut that readers see beyond is acknowledged, or about to be.
      if (cut.isPassed || this.#isSeen(cut)) return undefined
      const isSettled = cut.isSettled || (cut.earlier !== undefined && this.#isSeen(cut.earlier))
      if (isSettled && this.#snapshots.isOpen(cut.timestamp)) return cut.timestamp
    }
    return undefined
  }

  #isSeen({ first }: Cut): boolean {
    const stored = this.#line.durable.get(first.address)
    return stored !== undefined && recordTimestamp(stored) >= first.timestamp
  }
}
