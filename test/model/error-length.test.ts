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
