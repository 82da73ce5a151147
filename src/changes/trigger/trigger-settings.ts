// The settings of a trigger, with Lambda's defaults and bounds.
import type { BatchRules } from './batch.js'
import { compileFilter, type RecordFilter } from './filter-pattern.js'
import type { TriggerOptions } from './trigger-contract.js'

export interface TriggerSettings {
  readonly batchSize: number
  readonly batchWindowMs: number
  readonly rules: BatchRules
  readonly parallelism: number
  readonly timeoutMs: number
  readonly retryDelayMs: number
  readonly functionName: string
  readonly passes: RecordFilter
}

/** @throws RangeError or TypeError for what is none of Lambda's settings */
export function triggerSettings(options: TriggerOptions): TriggerSettings {
  const { bisect = false, reportBatchItemFailures = false, functionName = 'function' } = options
  return {
    batchSize: whole('batchSize', options.batchSize ?? 100, 1, 10_000),
    batchWindowMs: whole('batchWindowMs', options.batchWindowMs ?? 0, 0, 300_000),
    rules: {
      retries: whole('retries', options.retries ?? -1, -1, 10_000),
      maximumRecordAgeMs: whole('maximumRecordAgeMs', options.maximumRecordAgeMs ?? -1, -1, 604_800_000),
      bisect,
      reportBatchItemFailures,
    },
    parallelism: whole('parallelism', options.parallelism ?? 1, 1, 10),
    timeoutMs: whole('timeoutMs', options.timeoutMs ?? 900_000, 1, 900_000),
    retryDelayMs: whole('retryDelayMs', options.retryDelayMs ?? 100, 0, 60_000),
    functionName,
    passes: options.filter === undefined ? () => true : compileFilter(options.filter),
  }
}

function whole(name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw new RangeError(`${name} is a whole number from ${least} to ${most}, not ${value}`)
  return value
}
