import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lsn, Timestamp } from '../../src/model/brand.js'
import { cancelledBy } from '../../src/router/transactions/transact-refusals.js'
import type { ActionVerdict } from '../../src/storage/contract/transactions.js'

const failedOn = (bytes: number): ActionVerdict => ({
  verdict: 'condition-failed',
  current: {
    timestamp: 1 as Timestamp,
    lsn: 1 as Lsn,
    lastWrite: { kind: 'put', blind: true },
    itemBytes: bytes,
    json: Buffer.from(JSON.stringify({ t: { S: 'x'.repeat(bytes - '{"t":{"S":""}}'.length) } })),
  },
})

test('a cancelled transaction shows items of 16 MB of text, and of those beyond it the reasons alone', () => {
  const MB = 1024 * 1024
  const error = cancelledBy(
    [failedOn(10 * MB), failedOn(7 * MB), failedOn(6 * MB), failedOn(100)],
    (position) => position !== 3,
  )
  const reasons = JSON.parse(error.toBody()).CancellationReasons as { Code: string; Item?: object }[]
  assert.deepEqual(
    reasons.map(({ Code, Item }) => [Code, Item !== undefined]),
    [
      ['ConditionalCheckFailed', true],
      ['ConditionalCheckFailed', false],
      ['ConditionalCheckFailed', true],
      ['ConditionalCheckFailed', false],
    ],
  )
})
