import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseItem } from '../../src/model/parse-value.js'

test('errors: a message repeats no more than the beginning of what a client has sent', () => {
  for (const value of [
    { N: `${'0'.repeat(1_000_000)}x` },
    { SS: Array.from({ length: 500_000 }, () => 'a') },
  ])
    assert.throws(
      () => parseItem({ a: value }),
      (error: Error) => error.name === 'ValidationException' && error.message.length < 70_000,
    )
})

test('numbers: millions of digits are refused by their length, before one of them is looked at', () => {
  for (const text of ['0'.repeat(2_000_000), `${'0'.repeat(2_000_000)}x`, '1'.repeat(2_000_000)])
    assert.throws(
      () => parseItem({ a: { N: text } }),
      (error: Error) =>
        error.name === 'ValidationException' &&
        error.message.endsWith(`0... (${text.length} characters)`.replace('0', text.charAt(0))),
    )
  assert.deepEqual(parseItem({ a: { N: `${'0'.repeat(1_000)}1` } }), { a: { N: '1' } })
})
