// One call of a handler, as the runtime of Lambda would make it: an async function, or one that calls back.
import type { Runtime } from '../../runtime/runtime.js'
import { uuid } from '../../runtime/uuid.js'
import { isoTextAt, nowMs, secondsTextAt } from '../times.js'
import type { RecordBatch, Discarded, InvocationOutcome, TriggerRecord } from './batch.js'
import type {
  FailureDocument,
  HandlerContext,
  StreamEvent,
  StreamEventRecord,
  StreamHandler,
} from './stream-event.js'

export interface InvocationOptions {
  readonly runtime: Runtime
  readonly handler: StreamHandler
  readonly functionName: string
  readonly region: string
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
}

const VERSION = '$LATEST'
const ACCOUNT = '000000000000'

/** Objects of its own for each call: a handler may change them. */
export const eventOf = (records: readonly TriggerRecord[]): StreamEvent => ({
  Records: records.map(({ json }) => JSON.parse(json) as StreamEventRecord),
})

/** Never rejects: an error of the handler is an outcome, and so is that it takes too long. */
export function invoke(batch: RecordBatch, options: InvocationOptions): Promise<InvocationOutcome> {
  const { runtime, handler, timeoutMs, functionName, onError } = options
  return new Promise((resolve) => {
    let isOver = false
    const settle = (outcome: InvocationOutcome): void => {
      if (isOver) return
      isOver = true
      cancel()
      resolve(outcome)
    }
    const fail = (error: unknown): void => {
      if (!isOver) onError(error)
      settle({ kind: 'error' })
    }
    const answer = (response: unknown): void => settle({ kind: 'answer', response })
    const callback = (error?: unknown, response?: unknown): void =>
      error === undefined || error === null ? answer(response) : fail(error)
    const deadlineMs = nowMs(runtime.clock) + timeoutMs
    const cancel = runtime.clock.timer(timeoutMs, () =>
      fail(new Error(`${functionName} took longer than its ${timeoutMs} ms`)),
    )
    const remainingMs = (): number => Math.max(0, deadlineMs - nowMs(runtime.clock))
    try {
      const returned = handler(eventOf(batch.records), contextOf(options, callback, remainingMs), callback)
      if (isThenable(returned)) returned.then(answer, fail)
      // A function with a third parameter, or that calls back already, answers by its callback.
      else if (handler.length < 3) answer(returned)
    } catch (error) {
      fail(error)
    }
  })
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'

function contextOf(
  options: InvocationOptions,
  callback: (error?: unknown, response?: unknown) => void,
  remainingMs: () => number,
): HandlerContext {
  const { functionName, runtime } = options
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: VERSION,
    invokedFunctionArn: functionArn(options),
    memoryLimitInMB: '128',
    awsRequestId: requestId(runtime),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: `${isoTextAt(nowMs(runtime.clock)).slice(0, 10).replaceAll('-', '/')}/[${VERSION}]`,
    getRemainingTimeInMillis: remainingMs,
    done: callback,
    fail: (error) => callback(error),
    succeed: (response) => callback(undefined, response),
  }
}

/** What Lambda sends to the destination of failed records. */
export function failureDocument(
  { condition, batch }: Discarded,
  streamArn: string,
  options: Pick<InvocationOptions, 'runtime' | 'functionName' | 'region'>,
): FailureDocument {
  const { records, invocations, endedInError } = batch
  const first = records[0] as TriggerRecord
  const last = records.at(-1) as TriggerRecord
  return {
    requestContext: {
      requestId: requestId(options.runtime),
      functionArn: functionArn(options),
      condition,
      approximateInvokeCount: invocations,
    },
    ...(invocations > 0 && {
      responseContext: {
        statusCode: 200,
        executedVersion: VERSION,
        functionError: endedInError ? 'Unhandled' : null,
      },
    }),
    version: '1.0',
    timestamp: isoTextAt(nowMs(options.runtime.clock)),
    DDBStreamBatchInfo: {
      shardId: first.shardId,
      startSequenceNumber: first.sequenceNumber,
      endSequenceNumber: last.sequenceNumber,
      approximateArrivalOfFirstRecord: secondsTextAt(first.timestampMs),
      approximateArrivalOfLastRecord: secondsTextAt(last.timestampMs),
      batchSize: records.length,
      streamArn,
    },
  }
}

const functionArn = ({ region, functionName }: Pick<InvocationOptions, 'region' | 'functionName'>): string =>
  `arn:aws:lambda:${region}:${ACCOUNT}:function:${functionName}`

const requestId = (runtime: Runtime): string => uuid(runtime.randomBytes(16))
