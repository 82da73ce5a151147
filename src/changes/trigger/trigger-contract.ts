// What a program says to a trigger, and has of it.
import type { FilterCriteria } from './filter-pattern.js'
import type { FailureDocument, StreamEvent } from './stream-event.js'

/** The settings of Lambda's event source mapping for streams; each with Lambda's default unless it says otherwise. */
export interface TriggerOptions {
  /** The most records of one invocation, from 1 to 10,000; 100 by default. An event has at most 6 MB besides. */
  readonly batchSize?: number
  /** How long an invocation waits for a full batch after its first record, up to 300,000; 0 by default. */
  readonly batchWindowMs?: number
  /**
   * `TRIM_HORIZON`, the default: with the oldest change that the stream keeps. `LATEST`: with the first one that is committed
   * after this call. A checkpoint goes before it.
   */
  readonly startingPosition?: 'TRIM_HORIZON' | 'LATEST'
  /** Only records that match one of these patterns; the others count as done. */
  readonly filter?: FilterCriteria
  /** Whether a failed batch of several records is tried again in two halves; false by default. */
  readonly bisect?: boolean
  /** How often a failed batch is tried again, up to 10,000; -1, the default: for ever. */
  readonly retries?: number
  /** Records older than this are given up, up to 604,800,000 (7 days); -1, the default: whatever their age. */
  readonly maximumRecordAgeMs?: number
  /** Whether the answer of the handler says which records have failed (`batchItemFailures`); false by default. */
  readonly reportBatchItemFailures?: boolean
  /** How many invocations may run at once, from 1 to 10; 1 by default. Changes of one partition key stay in order. */
  readonly parallelism?: number
  /** After this an invocation counts as failed, up to 900,000 (15 minutes), which is the default. */
  readonly timeoutMs?: number
  /** Before the first retry, in milliseconds; 100 by default. Twice as long before each further one, up to a minute. */
  readonly retryDelayMs?: number
  /** The name of the function in what the handler and `onFailure` are told. */
  readonly functionName?: string
  /** Called with what Lambda sends to the destination of failed records, and with the records themselves. */
  readonly onFailure?: (document: FailureDocument, event: StreamEvent) => void | Promise<void>
  /** Called with what the handler throws, and with what ends the trigger; by default, that of the store. */
  readonly onError?: (error: unknown) => void
  /**
   * Keeps the position over restarts. `load` is called once, and `save` after each batch, one call at a time. Records after
   * the position that was saved last come again after a restart.
   */
  readonly checkpoint?: {
    /** The sequence number that was saved last. */
    load(): string | undefined | Promise<string | undefined>
    /** Resolves when it is kept. */
    save(sequenceNumber: string): void | Promise<void>
  }
}

/** A running trigger. With `await using` it is stopped at the end of its block. */
export interface Trigger extends AsyncDisposable {
  /** The sequence number up to which all changes are done; undefined before the first. */
  readonly position: string | undefined
  /**
   * Resolves when all changes that were committed before this call are done. Rejects if the trigger has ended because of an
   * error, such as a position that is trimmed.
   */
  idle(): Promise<void>
  /** Resolves when no invocation runs any more. What was not done comes again to a trigger with the same checkpoint. */
  stop(): Promise<void>
}
