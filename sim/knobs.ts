// The knobs of a world (model/knobs.ts): each that of the store, or small enough for a world to get past it many times.
//
// Drawn from a source of their own, so that whatever else follows from a seed does not depend on how many there are.
import { type Knobs, knobs } from '../src/model/knobs.js'
import type { Tally } from './faults.js'
import { Random } from '../src/runtime/seeded-random.js'

/** Worlds are small: so are all of these, that segments change and the index is brought up often. */
export const worldKnobs: Knobs = {
  ...knobs,
  segmentBytesMax: 16 * 1024,
  reserveBytes: 0,
  overlayBytesMax: 64 * 1024,
  applyDelayMs: 30,
  applyDelaysMax: 1,
  applyChangesMax: 100,
  recentRangesBytesMax: 128 * 1024,
}

/** Between these each doubling is as likely as the next. What is not here stays: simulated disks have no room to prepare. */
const SMALL: Readonly<Partial<Record<keyof Knobs, readonly [min: number, max: number]>>> = {
  unsortedKeysMax: [1, 100],
  overlaySpareKeysMax: [1, 64],
  overlayBytesMax: [16 * 1024, 64 * 1024],
  applyDelayMs: [1, 500],
  applyChangesMax: [1, 100],
  replayBytesMax: [64, 16 * 1024],
  segmentBytesMax: [2 * 1024, 16 * 1024],
  scratchBytesMax: [1, 64 * 1024],
  readMarksMax: [2, 500],
  historySpareKeysMax: [1, 64],
  historyBytesMax: [8 * 1024, 1024 * 1024],
  snapshotsMax: [8, 500],
  idleBoundariesMax: [1, 8],
  unitLocksMax: [2, 50],
  waitersMax: [1, 100],
  textSlabBytes: [2 * 1024, 8 * 1024],
  textSlabBytesMin: [64, 1024],
  textKeptBytesMax: [1, 64 * 1024],
  // Longer than a world lasts: what became of a transaction is asked of the ledger when all is at rest.
  epochMicros: [300 * 1_000_000, 600 * 1_000_000],
  recentSlotDigits: [1, 5],
  completionsMax: [1, 20],
  stepBytesMax: [1, 4 * 1024],
  logMemoryBytesMax: [64 * 1024, 1024 * 1024],
  logBlockBytesMax: [1, 4 * 1024],
  logSegmentBytesMax: [256, 16 * 1024],
  logReadBytesMax: [1, 16 * 1024],
  logCacheBytesMax: [1, 64 * 1024],
  logIndexesMax: [1, 8],
  logDelayMs: [1, 500],
  logFlushBytes: [1, 16 * 1024],
  logBacklogBytesMax: [1024, 64 * 1024],
  logPositionBytes: [256, 16 * 1024],
  logOutMax: [1, 16],
  copyItemsMax: [1, 8],
  baseLoggedBytesMin: [1, 4096],
  aheadLineMax: [1, 8],
  aheadLineMsMax: [1, 500],
  blocksDelayMs: [1, 200],
  blocksRecordsMax: [1, 32],
  blocksBytesMax: [1, 4096],
  blocksPieceBytes: [1, 4096],
  blocksBehindMax: [4, 200],
  blocksBusyRecords: [1, 32],
  blocksThreadRecords: [1, 32],
  blocksThreadRecordsMax: [1, 32],
  blocksThreadBytesMax: [1, 4096],
  blocksPositionRecords: [1, 32],
  applyDelaysMax: [1, 10],
  copyFrameBytes: [1, 4096],
  copyRecordsMax: [1, 32],
  loadEntriesMax: [1, 50],
  recoveryDayMicros: [100_000, 20 * 1_000_000],
  logWriteBytes: [16, 16 * 1024],
  logSpareBytesMax: [1, 256 * 1024],
  recentRangesBytesMax: [1, 512 * 1024],
}

export const DRAWN_KNOBS = Object.keys(SMALL) as readonly (keyof Knobs)[]

const SOURCE = 2 ** 32
/** Of all worlds those in which all knobs are as they are. */
const PLAIN_WORLDS = 0.25
const EACH = 0.4

/** Whether worlds draw their knobs, or all have those of a world in which none was drawn. */
export type KnobsFrom = 'seed' | 'plain'

export function knobsOf(seed: number, tally: Tally): Knobs {
  const random = new Random(seed + SOURCE)
  const plain = random.chance(PLAIN_WORLDS)
  const drawn = plain ? {} : smallKnobs(random, EACH)
  for (const name of Object.keys(drawn)) tally.add('knob/', name)
  return { ...worldKnobs, ...drawn }
}

/** Each of them with that probability. */
export function smallKnobs(random: Random, each: number): Partial<Knobs> {
  const drawn: Partial<Record<keyof Knobs, number>> = {}
  for (const name of DRAWN_KNOBS) {
    const isSmall = random.chance(each)
    const value = random.skewed(...SMALL[name]!)
    if (isSmall) drawn[name] = value
  }
  return drawn
}
