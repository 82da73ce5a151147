// Every number at which a structure of a node changes its shape: a list is compacted, keys are put in order, a load is
// closed, a segment follows another, a cache forgets. In one place, and passed on to who goes by them, because below such
// a number nothing happens that could go wrong: the simulator and the property tests draw small ones from their seed
// (docs/adr/0023-knobs.md), so that a world of some hundred items goes through what otherwise takes a million.
//
// Not here: the bounds of the data model and the wire (limits.ts), which clients see, and times.

export interface Knobs {
  /** Keys of an index in memory that are put in order together. */
  readonly unsortedKeysMax: number
  /** By so many the keys noted for the overlay's order may exceed twice those that are in it. */
  readonly overlaySpareKeysMax: number
  /** Writers wait while this much is decided but not in the index yet. A third of it is brought there without delay. */
  readonly overlayBytesMax: number
  /** A load for the index waits this long for more, and again while more comes, so many times at most. */
  readonly applyDelayMs: number
  readonly applyDelaysMax: number
  /** Changes in one load. The more at once, the more of them share a page of LMDB, and the fewer pages are written. */
  readonly applyChangesMax: number
  /** What is brought into the index at once when a node starts. */
  readonly replayBytesMax: number
  /** A segment of the journal that has reached this length is followed by a new one. */
  readonly segmentBytesMax: number
  /** How much room is prepared ahead of the journal's frames, 0 for none; and how far ahead. */
  readonly reserveBytes: number
  readonly reserveDistanceBytes: number
  /** A larger buffer for frames is not kept. */
  readonly scratchBytesMax: number
  /** Marks of one generation of reads; of two are kept, and the older ones are the low-water mark. */
  readonly readMarksMax: number
  /** As `overlaySpareKeysMax`, for the order of what snapshots have seen. */
  readonly historySpareKeysMax: number
  /** For images that snapshots may need; beyond it the oldest snapshots are dropped. */
  readonly historyBytesMax: number
  readonly snapshotsMax: number
  /** Batches in which nobody has opened a snapshot, after which no more boundaries are made. */
  readonly idleBoundariesMax: number
  readonly unitLocksMax: number
  /** Bytes of items, as DynamoDB counts them, that one step parses; of more it parses them ahead, in turns. */
  readonly stepBytesMax: number
  /** Requests that wait for the place where one at a time parses ahead, and for how long; beyond that they conflict. */
  readonly aheadLineMax: number
  readonly aheadLineMsMax: number
  /** Requests that wait for a pending transaction. */
  readonly waitersMax: number
  /** Texts of ranges stand in slabs of this size. */
  readonly textSlabBytes: number
  /** With less than this left, the next text begins a new slab. At least the room that is asked for around a text. */
  readonly textSlabBytesMin: number
  /** A buffer for long texts that is larger is not kept. */
  readonly textKeptBytesMax: number
  /** Ranges of the index that are kept because they were read more than once, of all nodes together. */
  readonly recentRangesBytesMax: number
  /** Completed transactions, tokens and fences are kept for one to two epochs. */
  readonly epochMicros: number
  /** Completed transactions are looked for if their slot has these last hexadecimal digits of a recent one. */
  readonly recentSlotDigits: number
  /** Finished transactions that a coordinator takes off the list of the unfinished together. */
  readonly completionsMax: number
  /** The log of commits of a store in memory: beyond this its oldest records go, by whole blocks. */
  readonly logMemoryBytesMax: number
  readonly logBlockBytesMax: number
  /** A segment of the log of commits that has reached this length is followed by a new one. */
  readonly logSegmentBytesMax: number
  /** What one read of the log looks at; the page ends there. */
  readonly logReadBytesMax: number
  /** Frames of the log that are kept decoded, for readers that follow each other; of more the oldest go. */
  readonly logCacheBytesMax: number
  /** Indexes of segments of the log that are kept in memory; of more the oldest go. */
  readonly logIndexesMax: number
  /** Records of the log of commits wait this long for more before they are kept together, or until they take so much. */
  readonly logDelayMs: number
  readonly logFlushBytes: number
  /** So much is written to the log at a time. */
  readonly logWriteBytes: number
  /** What records were packed in is used again, unless it is larger. */
  readonly logSpareBytesMax: number
  /** Writers wait while this much is on its way to the log. */
  readonly logBacklogBytesMax: number
  /** The journal is told that the log needs nothing of it any more when it has grown by this much. */
  readonly logPositionBytes: number
  /** Commits that have become records and stand before others that have not are let go together, once there are so many. */
  readonly logOutMax: number
  /** Items of one page of a table that is copied: one stretch of the thread, for which writers wait. */
  readonly copyItemsMax: number
  /** A base for restores is made when the log has this much of a table, even if the table holds less. */
  readonly baseLoggedBytesMin: number
  /** A frame of a copy that has reached this length is written and synced. */
  readonly copyFrameBytes: number
  /** Records of the log that are read together for a copy or a restore. */
  readonly copyRecordsMax: number
  /** Entries of a restore that are brought into the table together, the last of each key. */
  readonly loadEntriesMax: number
  /** The day that recovery periods are counted in. */
  readonly recoveryDayMicros: number
  /** Records of the log become blocks of ledger tables this long after they were there, so many and so much in one step. */
  readonly blocksDelayMs: number
  readonly blocksRecordsMax: number
  readonly blocksBytesMax: number
  /** Entries of blocks are kept together in pieces, each until it has reached this length. */
  readonly blocksPieceBytes: number
  /** Writers wait while so many records of the log are not in a block. */
  readonly blocksBehindMax: number
  /** Blocks wait while so many records come within the delay, and half as many as may be behind are not. */
  readonly blocksBusyRecords: number
  /** A thread of its own makes blocks while at least so many records are not in one, and takes so many and so much at a time. */
  readonly blocksThreadRecords: number
  readonly blocksThreadRecordsMax: number
  readonly blocksThreadBytesMax: number
  /** The position in the log is kept without a block when it has moved by so many records. */
  readonly blocksPositionRecords: number
}

export const knobs: Knobs = {
  unsortedKeysMax: 1000,
  overlaySpareKeysMax: 4096,
  overlayBytesMax: 36 * 1024 * 1024,
  applyDelayMs: 500,
  applyDelaysMax: 10,
  applyChangesMax: 12_000,
  replayBytesMax: 4 * 1024 * 1024,
  segmentBytesMax: 16 * 1024 * 1024,
  reserveBytes: 1024 * 1024,
  reserveDistanceBytes: 256 * 1024,
  scratchBytesMax: 1024 * 1024,
  readMarksMax: 50_000,
  historySpareKeysMax: 1000,
  historyBytesMax: 64 * 1024 * 1024,
  snapshotsMax: 100_000,
  idleBoundariesMax: 8,
  unitLocksMax: 100_000,
  stepBytesMax: 512 * 1024,
  aheadLineMax: 64,
  aheadLineMsMax: 500,
  waitersMax: 10_000,
  textSlabBytes: 64 * 1024,
  textSlabBytesMin: 12 * 1024,
  textKeptBytesMax: 4 * 1024 * 1024,
  recentRangesBytesMax: 8 * 1024 * 1024,
  epochMicros: 10 * 60 * 1_000_000,
  recentSlotDigits: 5,
  completionsMax: 100,
  logMemoryBytesMax: 64 * 1024 * 1024,
  logBlockBytesMax: 1024 * 1024,
  logSegmentBytesMax: 16 * 1024 * 1024,
  logReadBytesMax: 4 * 1024 * 1024,
  logCacheBytesMax: 8 * 1024 * 1024,
  logIndexesMax: 16,
  logDelayMs: 500,
  logFlushBytes: 4 * 1024 * 1024,
  logWriteBytes: 1024 * 1024,
  logSpareBytesMax: 8 * 1024 * 1024,
  logBacklogBytesMax: 32 * 1024 * 1024,
  logPositionBytes: 8 * 1024 * 1024,
  logOutMax: 1024,
  copyItemsMax: 32,
  baseLoggedBytesMin: 16 * 1024 * 1024,
  copyFrameBytes: 128 * 1024,
  copyRecordsMax: 128,
  loadEntriesMax: 2000,
  recoveryDayMicros: 24 * 60 * 60 * 1_000_000,
  blocksDelayMs: 100,
  blocksRecordsMax: 128,
  blocksBytesMax: 512 * 1024,
  blocksPieceBytes: 32 * 1024,
  blocksBehindMax: 50_000,
  blocksBusyRecords: 200,
  blocksThreadRecords: 256,
  blocksThreadRecordsMax: 512,
  blocksThreadBytesMax: 1024 * 1024,
  blocksPositionRecords: 1000,
}
