// What follows from an invocation: which records of a batch are done, which are tried again and how, which are given up.
// Pure, with the rules of Lambda's event source mapping for streams:
//
//   answered, no failures reported      all done
//   failures reported                   done up to the first failed record, the rest is a batch of its own from here on
//   error, or a report that is none     nothing is done: tried again, in two halves if it may be bisected
//   tried again `retries` times         given up (RetryAttemptsExhausted); halving does not count
//   older than the age that is allowed  given up (RecordAgeExceeded), before an invocation
//
// Records are done or given up in the order of the stream, so that the records of one item stay in order.

export interface TriggerRecord {
  readonly sequenceNumber: string
  /** When it was committed. */
  readonly timestampMs: number
  /** Of the record of the log that it stands in. */
  readonly number: number
  /** As the handler gets it, in JSON: each invocation gets objects of its own. */
  readonly json: string
  /** Records of the same item have the same one. */
  readonly hash: number
  /** Where it is found over the wire. */
  readonly shardId: string
}

export interface RecordBatch {
  /** At least one, in the order of the stream. */
  readonly records: readonly TriggerRecord[]
  /** How often the handler was called with it as it is. */
  readonly invocations: number
  /** How often in a row its first record has failed, also before parts of it were done: so long is waited. */
  readonly failures: number
  /** The last of those ended with an error, and not with a report of failures. */
  readonly endedInError: boolean
}

export type InvocationOutcome =
  { readonly kind: 'answer'; readonly response: unknown } | { readonly kind: 'error' }

export interface BatchRules {
  /** -1: for ever. */
  readonly retries: number
  readonly bisect: boolean
  readonly reportBatchItemFailures: boolean
  /** -1: any. */
  readonly maximumRecordAgeMs: number
}

export interface Discarded {
  readonly condition: 'RetryAttemptsExhausted' | 'RecordAgeExceeded'
  readonly batch: RecordBatch
}

export interface AfterInvocation {
  /** How many records of the front are done. */
  readonly done: number
  /** To be tried next, in this order, before anything newer. */
  readonly next: readonly RecordBatch[]
  readonly discarded?: Discarded
}

export const newRecordBatch = (records: readonly TriggerRecord[]): RecordBatch => ({
  records,
  invocations: 0,
  failures: 0,
  endedInError: false,
})

export function afterInvocation(
  called: RecordBatch,
  outcome: InvocationOutcome,
  rules: BatchRules,
): AfterInvocation {
  const batch = {
    ...called,
    invocations: called.invocations + 1,
    endedInError: outcome.kind === 'error',
  }
  const done = firstFailure(batch.records, outcome, rules)
  if (done === batch.records.length) return { done, next: [] }
  // It came further: what is left has all of its retries.
  if (done > 0) return { done, next: [{ ...newRecordBatch(batch.records.slice(done)), failures: 1 }] }
  if (rules.bisect && batch.records.length > 1) return { done, next: halves(batch) }
  const failed = { ...batch, failures: batch.failures + 1 }
  return rules.retries >= 0 && failed.invocations > rules.retries
    ? { done, next: [], discarded: { condition: 'RetryAttemptsExhausted', batch: failed } }
    : { done, next: [failed] }
}

/** The records of the front that are too old by now, and the rest. */
export function withoutExpired(
  batch: RecordBatch,
  rules: BatchRules,
  nowMs: number,
): { readonly expired?: Discarded; readonly rest?: RecordBatch } {
  const { records } = batch
  if (rules.maximumRecordAgeMs < 0) return { rest: batch }
  const isYoung = ({ timestampMs }: TriggerRecord): boolean => nowMs - timestampMs <= rules.maximumRecordAgeMs
  const young = records.findIndex(isYoung)
  const kept = young < 0 ? records.length : young
  if (kept === 0) return { rest: batch }
  const part = (slice: readonly TriggerRecord[]): RecordBatch => ({ ...batch, records: slice })
  return {
    expired: { condition: 'RecordAgeExceeded', batch: part(records.slice(0, kept)) },
    ...(kept < records.length && { rest: part(records.slice(kept)) }),
  }
}

/** Twice as long each time. Halves of a batch are not waited for. */
export const retryDelayMs = ({ failures }: RecordBatch, firstMs: number, mostMs: number): number =>
  failures === 0 ? 0 : Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, DOUBLINGS_MAX))

const DOUBLINGS_MAX = 30

function halves({ records, failures }: RecordBatch): readonly RecordBatch[] {
  const middle = Math.ceil(records.length / 2)
  return [records.slice(0, middle), records.slice(middle)].map((half) => ({
    ...newRecordBatch(half),
    failures,
  }))
}

/** The index of the first record that is not done; as many as there are if all are. */
function firstFailure(
  records: readonly TriggerRecord[],
  outcome: InvocationOutcome,
  { reportBatchItemFailures }: BatchRules,
): number {
  if (outcome.kind === 'error') return 0
  if (!reportBatchItemFailures) return records.length
  const { response } = outcome
  if (response === undefined || response === null) return records.length
  // An answer of another form reports nothing, and is a mistake: nothing counts as done.
  if (typeof response !== 'object') return 0
  const { batchItemFailures } = response as { readonly batchItemFailures?: unknown }
  if (batchItemFailures === undefined || batchItemFailures === null) return records.length
  if (!Array.isArray(batchItemFailures)) return 0
  let first = records.length
  for (const failure of batchItemFailures as readonly unknown[]) {
    const identifier = (failure as { readonly itemIdentifier?: unknown } | null)?.itemIdentifier
    const at = records.findIndex(({ sequenceNumber }) => sequenceNumber === identifier)
    if (at < 0) return 0
    first = Math.min(first, at)
  }
  return first
}
