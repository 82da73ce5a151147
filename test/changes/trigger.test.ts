import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { follow } from '../../src/changes/changes.js'
import { positionsIn } from '../../src/changes/converted.js'
import { startOf } from '../../src/changes/start.js'
import { sequenceNumberOf } from '../../src/commit-log/sequence-number.js'
import { msOf } from '../../src/changes/times.js'
import type { FailureDocument, StreamEvent, StreamHandler } from '../../src/changes/trigger/stream-event.js'
import { RunningTrigger, type TriggerSource } from '../../src/changes/trigger/trigger.js'
import type { TriggerOptions } from '../../src/changes/trigger/trigger-contract.js'
import { testRuntime } from '../support/test-runtime.js'
import { followedLog } from './followed-log.js'

const START_MS = 1_900_000_000_000

function world() {
  const log = followedLog()
  const stream = log.enable('A')
  const runtime = testRuntime(1)
  const errors: unknown[] = []
  const trigger = (options: TriggerOptions, handler: StreamHandler): RunningTrigger => {
    const start = options.startingPosition === 'LATEST' ? 'now' : 'start'
    const source: TriggerSource = {
      runtime,
      stream,
      region: 'us-east-1',
      last: () => log.log.last,
      follow: (from = start) => follow(log.source, [stream], startOf(log.log, [stream], from)),
      recordsOf: (record) =>
        positionsIn(record, [stream]).map(({ change, position }) => {
          const place = sequenceNumberOf({ number: record.number, position })
          const { id } = JSON.parse(Buffer.from((change.new ?? change.old)!).toString()) as {
            readonly id: { readonly S: string }
          }
          return {
            number: record.number,
            sequenceNumber: place,
            timestampMs: msOf(record.timestamp),
            json: JSON.stringify({ eventName: 'INSERT', dynamodb: { Keys: { id }, SequenceNumber: place } }),
            hash: id.S.charCodeAt(0),
            shardId: 'shardId-1',
          }
        }),
      onError: (error) => errors.push(error),
      onEnd: () => {},
    }
    return new RunningTrigger(source, options, handler)
  }
  return { ...log, runtime, errors, trigger }
}

/** Lets everything happen that needs no clock. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}

/** The ids of each call. */
function recorder(answer: (event: StreamEvent, call: number) => unknown = () => undefined) {
  const calls: string[] = []
  // eslint-disable-next-line typescript/require-await -- what it throws is a rejection
  const handler: StreamHandler = async (event) => {
    calls.push(event.Records.map(({ dynamodb }) => dynamodb.Keys['id']?.S).join(' '))
    return answer(event, calls.length)
  }
  return { calls, handler }
}

const failAt = (event: StreamEvent, id: string): unknown => ({
  batchItemFailures: event.Records.filter(({ dynamodb }) => dynamodb.Keys['id']?.S === id).map(
    ({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber }),
  ),
})

test('trigger: all changes reach the handler in order, in batches of at most batchSize', async () => {
  const { put, trigger } = world()
  for (const id of ['1', '2', '3', '4', '5']) await put('A', id)
  const { calls, handler } = recorder()
  await using running = trigger({ batchSize: 2 }, handler)
  await running.idle()
  assert.equal(calls.join(' '), '1 2 3 4 5')
  assert.ok(calls.every((call) => call.split(' ').length <= 2))
  await put('A', '6')
  await running.idle()
  assert.equal(calls.at(-1), '6')
  assert.equal(running.position, '100000000000000600000')
})

test('trigger: LATEST begins with the next commit after the call', async () => {
  const { put, trigger } = world()
  await put('A', 'before')
  const { calls, handler } = recorder()
  await using running = trigger({ startingPosition: 'LATEST' }, handler)
  await put('A', 'after')
  await running.idle()
  assert.deepEqual(calls, ['after'])
})

test('trigger: a batch window waits for more, until it is over or the batch is full', async () => {
  const { put, trigger, runtime } = world()
  const { calls, handler } = recorder()
  await using running = trigger({ batchWindowMs: 1000, batchSize: 3 }, handler)
  await put('A', '1')
  await settled()
  runtime.clock.advance(999)
  await put('A', '2')
  await settled()
  assert.deepEqual(calls, [])
  runtime.clock.advance(1)
  await running.idle()
  assert.deepEqual(calls, ['1 2'])
  for (const id of ['3', '4', '5']) await put('A', id)
  await running.idle()
  assert.deepEqual(calls, ['1 2', '3 4 5'])
})

test('trigger: records that a filter leaves out count as done', async () => {
  const { put, trigger } = world()
  const saved: string[] = []
  const { calls, handler } = recorder()
  const running = trigger(
    {
      filter: { Filters: [{ Pattern: { dynamodb: { Keys: { id: { S: [{ prefix: 'x' }] } } } } }] },
      checkpoint: { load: () => undefined, save: (position) => void saved.push(position) },
    },
    handler,
  )
  for (const id of ['a', 'x1', 'b', 'x2', 'c']) await put('A', id)
  await running.idle()
  assert.deepEqual(calls.join(' '), 'x1 x2')
  assert.equal(running.position, '100000000000000500000')
  await running.stop()
  assert.equal(saved.at(-1), '100000000000000500000')
})

test('trigger: a failed batch comes again, after a delay that doubles', async () => {
  const { put, trigger, runtime, errors } = world()
  const { calls, handler } = recorder((_, call) => {
    if (call < 4) throw new Error(`call ${call}`)
  })
  await using running = trigger({ retryDelayMs: 100 }, handler)
  await put('A', '1')
  const counts: number[] = []
  for (const ms of [99, 1, 199, 1, 399, 1]) {
    await settled()
    runtime.clock.advance(ms)
    await settled()
    counts.push(calls.length)
  }
  assert.deepEqual(counts, [1, 2, 2, 3, 3, 4])
  await running.idle()
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['call 1', 'call 2', 'call 3'],
  )
})

test('trigger: later changes wait behind a batch that fails', async () => {
  const { put, trigger, runtime } = world()
  const { calls, handler } = recorder((_, call) => {
    if (call === 1) throw new Error('once')
  })
  await using running = trigger({ batchSize: 1, onError: () => {} }, handler)
  await put('A', '1')
  await put('A', '2')
  await settled()
  assert.deepEqual(calls, ['1'])
  runtime.clock.advance(100)
  await running.idle()
  assert.deepEqual(calls, ['1', '1', '2'])
})

test('trigger: what is given up goes to onFailure as Lambda writes it, and the rest goes on', async () => {
  const { put, trigger, runtime } = world()
  const given: FailureDocument[] = []
  const lost: string[] = []
  const { calls, handler } = recorder((event) => {
    if (event.Records.some(({ dynamodb }) => dynamodb.Keys['id']?.S === 'bad')) throw new Error('bad')
  })
  await using running = trigger(
    {
      bisect: true,
      retries: 1,
      retryDelayMs: 0,
      functionName: 'project',
      batchWindowMs: 10,
      onError: () => {},
      onFailure: (document, event) => {
        given.push(document)
        lost.push(...event.Records.map(({ dynamodb }) => dynamodb.Keys['id']?.S ?? ''))
      },
    },
    handler,
  )
  for (const id of ['1', '2', 'bad', '4']) await put('A', id)
  await settled()
  runtime.clock.advance(10)
  await running.idle()
  assert.deepEqual(calls, ['1 2 bad 4', '1 2', 'bad 4', 'bad', 'bad', '4'])
  assert.deepEqual(lost, ['bad'])
  const [{ requestContext, ...document }] = given as [FailureDocument]
  assert.match(
    requestContext.requestId,
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  assert.deepEqual(
    { ...requestContext, requestId: '' },
    {
      requestId: '',
      functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:project',
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: 2,
    },
  )
  assert.deepEqual(document, {
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: new Date(START_MS + 10).toISOString(),
    DDBStreamBatchInfo: {
      shardId: 'shardId-1',
      startSequenceNumber: '100000000000000300000',
      endSequenceNumber: '100000000000000300000',
      approximateArrivalOfFirstRecord: '2030-03-17T17:46:43Z',
      approximateArrivalOfLastRecord: '2030-03-17T17:46:43Z',
      batchSize: 1,
      streamArn: 'arn:of:A',
    },
  })
})

test('trigger: with reportBatchItemFailures only the rest from the failed record on comes again', async () => {
  const { put, trigger, runtime } = world()
  const { calls, handler } = recorder((event, call) => (call === 1 ? failAt(event, '2') : undefined))
  await using running = trigger({ reportBatchItemFailures: true, batchWindowMs: 10 }, handler)
  for (const id of ['1', '2', '3']) await put('A', id)
  await settled()
  runtime.clock.advance(10)
  await settled()
  assert.equal(running.position, '100000000000000100000')
  runtime.clock.advance(100)
  await running.idle()
  assert.deepEqual(calls, ['1 2 3', '2 3'])
})

test('trigger: records that are too old are given up without a call', async () => {
  const { put, trigger, runtime } = world()
  const given: FailureDocument[] = []
  const { calls, handler } = recorder()
  await put('A', 'old')
  runtime.clock.advance(10_000)
  await using running = trigger(
    { maximumRecordAgeMs: 5000, onFailure: (document) => void given.push(document) },
    handler,
  )
  await running.idle()
  assert.deepEqual(calls, [])
  assert.equal(given[0]?.requestContext.condition, 'RecordAgeExceeded')
  assert.equal(given[0]?.responseContext, undefined)
})

test('trigger: an invocation that takes longer than timeoutMs has failed', async () => {
  const { put, trigger, runtime, errors } = world()
  const remaining: number[] = []
  let calls = 0
  await using running = trigger({ timeoutMs: 1000 }, (_, context) => {
    remaining.push(context.getRemainingTimeInMillis())
    return calls++ === 0 ? new Promise(() => {}) : undefined
  })
  await put('A', '1')
  await settled()
  runtime.clock.advance(1000)
  await settled()
  runtime.clock.advance(100)
  await running.idle()
  assert.equal(calls, 2)
  assert.deepEqual(remaining, [1000, 1000])
  assert.match(String(errors[0]), /took longer than its 1000 ms/)
})

test('trigger: handlers with a callback, and those that change their event, run as in Lambda', async () => {
  const { put, trigger, runtime } = world()
  const seen: number[] = []
  let calls = 0
  await using running = trigger({ onError: () => {} }, (event, _, callback) => {
    seen.push(event.Records.length)
    event.Records.length = 0
    calls++
    setImmediate(() => (calls === 1 ? callback('not yet') : callback(null, 'done')))
  })
  await put('A', '1')
  await settled()
  runtime.clock.advance(100)
  await running.idle()
  assert.deepEqual(seen, [1, 1])
})

test('trigger, parallelism: partition keys run side by side, each in order', async () => {
  const { put, trigger } = world()
  const running = new Map<string, () => void>()
  const done: string[] = []
  let most = 0
  const started = trigger({ parallelism: 2, batchSize: 1 }, async (event) => {
    const id = event.Records[0]?.dynamodb.Keys['id']?.S ?? ''
    most = Math.max(most, running.size + 1)
    await new Promise<void>((resolve) => running.set(id, resolve))
    running.delete(id)
    done.push(id)
  })
  // Even and odd first letters go to different lanes.
  for (const id of ['b1', 'a1', 'b2', 'a2']) await put('A', id)
  await settled()
  assert.deepEqual([...running.keys()].toSorted(), ['a1', 'b1'])
  running.get('a1')?.()
  await settled()
  // a1 is done, but b1 before it is not.
  assert.equal(started.position, undefined)
  running.get('a2')?.()
  running.get('b1')?.()
  await settled()
  running.get('b2')?.()
  await started.idle()
  assert.equal(most, 2)
  assert.ok(done.indexOf('a1') < done.indexOf('a2') && done.indexOf('b1') < done.indexOf('b2'))
  assert.equal(started.position, '100000000000000400000')
  await started.stop()
})

test('trigger, checkpoint: goes on after the position that was saved', async () => {
  const { put, trigger } = world()
  for (const id of ['1', '2', '3']) await put('A', id)
  let saved: string | undefined
  const checkpoint = { load: () => saved, save: (position: string) => void (saved = position) }
  const first = recorder()
  const running = trigger({ checkpoint }, first.handler)
  await running.idle()
  await running.stop()
  assert.equal(saved, '100000000000000300000')
  await put('A', '4')
  const second = recorder()
  const again = trigger({ checkpoint }, second.handler)
  assert.equal(await again.idle().then(() => second.calls.join(' ')), '4')
  await again.stop()
})

test('trigger, checkpoint: a save that fails ends the trigger, and is told', async () => {
  const { put, trigger, errors } = world()
  await put('A', '1')
  const running = trigger(
    { checkpoint: { load: () => undefined, save: () => Promise.reject(new Error('no room')) } },
    () => undefined,
  )
  await assert.rejects(running.idle(), { message: 'no room' })
  await running.stop()
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['no room'],
  )
})

test('trigger, checkpoint: a position that is not kept any more ends the trigger with ChangesTrimmed', async () => {
  const { put, trigger, errors, disable, enable } = world()
  await put('A', '1')
  disable('A')
  enable('A')
  const running = trigger(
    { checkpoint: { load: () => '100000000000000000000', save: () => {} } },
    () => undefined,
  )
  await assert.rejects(running.idle(), { name: 'ChangesTrimmed' })
  assert.equal(errors.length, 1)
})

test('trigger: onFailure that fails ends the trigger, and nothing is lost', async () => {
  const { put, trigger } = world()
  await put('A', '1')
  const saved: string[] = []
  const running = trigger(
    {
      retries: 0,
      onError: () => {},
      onFailure: () => Promise.reject(new Error('no queue')),
      checkpoint: { load: () => undefined, save: (position) => void saved.push(position) },
    },
    () => Promise.reject(new Error('bad')),
  )
  await assert.rejects(running.idle(), { message: 'no queue' })
  await running.stop()
  assert.deepEqual(saved, [])
  assert.equal(running.position, undefined)
})

test('trigger: stop() waits for the invocation that runs, and begins no other', async () => {
  const { put, trigger } = world()
  let end: () => void = () => {}
  let calls = 0
  const running = trigger({ batchSize: 1 }, () => {
    calls++
    return new Promise<void>((resolve) => (end = resolve))
  })
  await put('A', '1')
  await put('A', '2')
  await settled()
  let isStopped = false
  const stopped = running.stop().then(() => (isStopped = true))
  await settled()
  assert.equal(isStopped, false)
  const idle = assert.rejects(running.idle(), { message: /stopped before all changes were done/ })
  end()
  await stopped
  await idle
  assert.equal(calls, 1)
  assert.equal(running.position, '100000000000000100000')
})

test('trigger: ends with the stream, after its last change', async () => {
  const { put, trigger, disable } = world()
  const { calls, handler } = recorder()
  const running = trigger({}, handler)
  await put('A', '1')
  disable('A')
  await running.idle()
  await running.stop()
  assert.deepEqual(calls, ['1'])
})

test('trigger: a slow handler bounds what is read', async () => {
  const { put, trigger, reads } = world()
  for (let at = 0; at < 2000; at++) await put('A', String(at))
  const running = trigger({ batchSize: 10 }, () => new Promise(() => {}))
  await settled()
  assert.equal(reads(), 1)
  void running.stop()
})

/** What Lambda does not allow is refused by name. */
const REFUSED: readonly TriggerOptions[] = [
  { batchSize: 0 },
  { batchSize: 10_001 },
  { batchWindowMs: 300_001 },
  { retries: -2 },
  { parallelism: 11 },
  { maximumRecordAgeMs: 604_800_001 },
  { timeoutMs: 0 },
  { batchSize: 1.5 },
]
for (const options of REFUSED) {
  test(`trigger: ${JSON.stringify(options)} is refused`, () => {
    const { trigger } = world()
    assert.throws(() => trigger(options, () => undefined), {
      name: 'RangeError',
      message: new RegExp(`^${Object.keys(options)[0]} is a whole number from`),
    })
  })
}
