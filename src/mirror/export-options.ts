import type { Checkpoint } from '../verify/checkpoint.js'

/** How a ledger is exported. */
export interface ExportOptions {
  /** Called now and then: so many blocks of so many. */
  readonly onProgress?: (blocks: number, size: number) => void
  /** Files that are fetched at a time: 16, unless it is said. */
  readonly concurrency?: number
}

/** What the folder has now. */
export interface ExportedLedger {
  /** The newest one, which is in the folder. */
  readonly checkpoint: Checkpoint
  /** How many files were written. */
  readonly filesWritten: number
}
