import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  afterInvocation,
  type RecordBatch,
  type BatchRules,
  newRecordBatch,
  type InvocationOutcome,
  retryDelayMs,
  type TriggerRecord,
  withoutExpired,
} from '../../src/changes/trigger/batch.js'

const RULES: BatchRules = {
  retries: -1,
  bisect: false,
  reportBatchItemFailures: false,
  maximumRecordAgeMs: -1,
}
const REPORTS: BatchRules = { ...RULES, reportBatchItemFailures: true }

const record = (number: number, timestampMs = 0): TriggerRecord => ({
  sequenceNumber: String(number),
  timestampMs,
  number,
  json: '{}',
  hash: 0,
  shardId: 'shardId-1',
})
const batchOf = (...numbers: readonly number[]): RecordBatch =>
  newRecordBatch(numbers.map((number) => record(number)))
const numbersOf = ({ records }: RecordBatch): string =>
  records.map(({ sequenceNumber }) => sequenceNumber).join(' ')

const error: InvocationOutcome = { kind: 'error' }
const answer = (response: unknown): InvocationOutcome => ({ kind: 'answer', response })
const failures = (...identifiers: readonly unknown[]): InvocationOutcome =>
  answer({ batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })) })

/** Of a batch 1 2 3: how many are done, and what is tried next. */
const CASES: readonly (readonly [string, BatchRules, InvocationOutcome, number, readonly string[]])[] = [
  ['an answer', RULES, answer('anything'), 3, []],
  ['an error', RULES, error, 0, ['1 2 3']],
  ['an error, bisect', { ...RULES, bisect: true }, error, 0, ['1 2', '3']],
  ['a report that nothing asks for', RULES, failures('2'), 3, []],
  ['no report', REPORTS, answer(undefined), 3, []],
  ['a report of nothing', REPORTS, answer({}), 3, []],
  ['a report without failures', REPORTS, failures(), 3, []],
  ['a report of null', REPORTS, answer({ batchItemFailures: null }), 3, []],
  ['a failed record', REPORTS, failures('2'), 1, ['2 3']],
  ['failed records in any order: the first counts', REPORTS, failures('3', '2'), 1, ['2 3']],
  ['the first record', REPORTS, failures('1'), 0, ['1 2 3']],
  ['the last record', REPORTS, failures('3'), 2, ['3']],
  ['an error, with reports', REPORTS, error, 0, ['1 2 3']],
  ['an empty identifier', REPORTS, failures(''), 0, ['1 2 3']],
  ['an identifier of null', REPORTS, failures(null), 0, ['1 2 3']],
  ['an identifier of another batch', REPORTS, failures('3', '9'), 0, ['1 2 3']],
  ['a wrong member', REPORTS, answer({ batchItemFailures: [{ id: '2' }] }), 0, ['1 2 3']],
  ['a report that is no list', REPORTS, answer({ batchItemFailures: 'x' }), 0, ['1 2 3']],
  ['an answer that is no object', REPORTS, answer('x'), 0, ['1 2 3']],
  ['bisect where a report splits', { ...REPORTS, bisect: true }, failures('2'), 1, ['2 3']],
  ['bisect where a report cannot split', { ...REPORTS, bisect: true }, failures('1'), 0, ['1 2', '3']],
]

for (const [what, rules, outcome, done, next] of CASES) {
  test(`trigger, batch: after ${what} ${done} of 3 are done, and next comes [${next.join(' | ')}]`, () => {
    const after = afterInvocation(batchOf(1, 2, 3), outcome, rules)
    assert.equal(after.done, done)
    assert.deepEqual(after.next.map(numbersOf), next)
    assert.equal(after.discarded, undefined)
  })
}

/** Calls again and again what comes next, always with an error; the numbers of each call, and what was given up. */
function failing(rules: BatchRules, outcomeOf: (batch: RecordBatch) => InvocationOutcome = () => error) {
  const calls: string[] = []
  const given: string[] = []
  const queue = [batchOf(1, 2, 3, 4)]
  for (let at = 0; at < 20 && queue.length > 0; at++) {
    const batch = queue.shift()!
    calls.push(numbersOf(batch))
    const { next, discarded } = afterInvocation(batch, outcomeOf(batch), rules)
    if (discarded !== undefined) {
      given.push(`${numbersOf(discarded.batch)} ${discarded.condition} ${discarded.batch.invocations}`)
    }
    queue.unshift(...next)
  }
  return { calls, given }
}

test('trigger, batch: without retries a failed batch is given up at once', () => {
  assert.deepEqual(failing({ ...RULES, retries: 0 }), {
    calls: ['1 2 3 4'],
    given: ['1 2 3 4 RetryAttemptsExhausted 1'],
  })
})

test('trigger, batch: with two retries it is called three times', () => {
  assert.deepEqual(failing({ ...RULES, retries: 2 }), {
    calls: ['1 2 3 4', '1 2 3 4', '1 2 3 4'],
    given: ['1 2 3 4 RetryAttemptsExhausted 3'],
  })
})

test('trigger, batch: -1 retries for ever', () => {
  assert.equal(failing(RULES).calls.length, 20)
})

test('trigger, batch: bisecting finds the bad record, in order, and does not count as a retry', () => {
  const isBad = (batch: RecordBatch): InvocationOutcome =>
    numbersOf(batch).includes('3') ? error : answer(undefined)
  assert.deepEqual(failing({ ...RULES, retries: 1, bisect: true }, isBad), {
    calls: ['1 2 3 4', '1 2', '3 4', '3', '3', '4'],
    given: ['3 RetryAttemptsExhausted 2'],
  })
})

// As it was seen at Lambda: one record of six that always fails, in batches of three with three retries, comes five times, and its
// document tells of four invocations.
test('trigger, batch: what is left behind a report has all of its retries', () => {
  const failsAt3 = (): InvocationOutcome => failures('3')
  assert.deepEqual(failing({ ...REPORTS, retries: 1 }, failsAt3), {
    calls: ['1 2 3 4', '3 4', '3 4'],
    given: ['3 4 RetryAttemptsExhausted 2'],
  })
  assert.deepEqual(failing({ ...REPORTS, retries: 0 }, failsAt3), {
    calls: ['1 2 3 4', '3 4'],
    given: ['3 4 RetryAttemptsExhausted 1'],
  })
})

test('trigger, batch: it is known whether the last invocation ended with an error or with a report', () => {
  const after = (outcome: InvocationOutcome) =>
    afterInvocation(batchOf(1), outcome, { ...REPORTS, retries: 0 }).discarded?.batch.endedInError
  assert.equal(after(error), true)
  assert.equal(after(failures('1')), false)
})

test('trigger, batch: records that are too old are given up, the others stay', () => {
  const rules = { ...RULES, maximumRecordAgeMs: 1000 }
  const batch = newRecordBatch([record(1, 0), record(2, 500), record(3, 2000)])
  const at = (nowMs: number): string => {
    const { expired, rest } = withoutExpired(batch, rules, nowMs)
    return `${expired === undefined ? '' : numbersOf(expired.batch)} | ${rest === undefined ? '' : numbersOf(rest)}`
  }
  assert.equal(at(1000), ' | 1 2 3')
  assert.equal(at(1001), '1 | 2 3')
  assert.equal(at(2500), '1 2 | 3')
  assert.equal(at(3001), '1 2 3 | ')
  assert.equal(withoutExpired(batch, RULES, 10_000_000).rest, batch)
})

test('trigger, batch: retries wait twice as long each time, up to a bound; halves do not wait', () => {
  const delays = [0, 1, 2, 3, 4, 5000].map((count) =>
    retryDelayMs({ ...batchOf(1), failures: count }, 100, 500),
  )
  assert.deepEqual(delays, [0, 100, 200, 400, 500, 500])
})
