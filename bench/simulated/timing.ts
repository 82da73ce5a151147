// How long things take in a simulated cluster. Stated parameters: nothing here is measured while it runs.
//
// Processor times are rounded from what `seriatim bench --part fit` measures of this store's own steps (groups/fit.ts), and
// docs/performance.md shows what they were in its run beside them; a coordinator's for each item is what a server takes
// for an item beyond its node's step. Prepare and commit are measured together: which has how much of it is an assumption.
// Syncs are those of the append loop. Networks are assumed: those between machines of one region, with the occasional slow
// message or sync that the paper's large transactions meet (§5.2).

interface Range {
  readonly min: number
  readonly max: number
}

export interface Timing {
  /** One way; each doubling within the range is as likely as the next. */
  readonly networkMicros: Range
  /** Of messages, and of syncs. */
  readonly slowShare: number
  readonly slowMicros: Range
  /** On the wire. */
  readonly kilobyteMicros: number
  readonly itemBytes: number
  /** One write and fdatasync of a journal. */
  readonly syncMicros: Range
  /** Of the processor of whoever receives a message. */
  readonly messageMicros: number
  /** Of a node's processor for each call that reads, and for each that writes. */
  readonly readCallMicros: number
  readonly writeCallMicros: number
  /** Of a node's processor for each item. */
  readonly readMicros: number
  readonly prepareMicros: number
  readonly commitMicros: number
  readonly writeMicros: number
  /** Of a coordinator's processor for each item: parsing, binding expressions. */
  readonly coordinateMicros: number
}

export const REGION: Timing = {
  networkMicros: { min: 100, max: 400 },
  slowShare: 0.002,
  slowMicros: { min: 1_000, max: 5_000 },
  kilobyteMicros: 1,
  itemBytes: 900,
  syncMicros: { min: 150, max: 600 },
  messageMicros: 10,
  readCallMicros: 5,
  writeCallMicros: 20,
  readMicros: 5,
  prepareMicros: 25,
  commitMicros: 20,
  writeMicros: 20,
  coordinateMicros: 4,
}

/** What a method costs the processor that runs it, and how many items travel with the request and with the answer. */
export function workOf(
  timing: Timing,
  method: string,
  items: number,
): { readonly micros: number; readonly sentItems: number; readonly answeredItems: number } {
  const { messageMicros, readMicros, prepareMicros, commitMicros, writeMicros } = timing
  const { readCallMicros, writeCallMicros } = timing
  const cost = (perItem: number, sentItems: number, answeredItems: number, perCall = 0) => ({
    micros: messageMicros + perCall + perItem * items,
    sentItems,
    answeredItems,
  })
  switch (method) {
    case 'prepare':
      return cost(prepareMicros, items, 0, writeCallMicros)
    case 'commit':
    case 'cancel':
      return cost(commitMicros, 0, 0, writeCallMicros)
    case 'transact':
    case 'write':
      return cost(writeMicros, items, 0, writeCallMicros)
    case 'readAt':
    case 'readLatest':
    case 'get':
      return cost(readMicros, 0, items, readCallMicros)
    case 'coordinate-write':
      return cost(timing.coordinateMicros, items, 0)
    case 'coordinate-read':
      return cost(timing.coordinateMicros, 0, items)
    default:
      return cost(0, 0, 0)
  }
}
