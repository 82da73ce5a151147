import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laterOperations } from '../../src/router/later-operations.js'
import { blockOperations } from '../../src/router/blocks/block-operations.js'
import { searchVectors } from '../../src/router/vectors/search-vectors.js'
import { settingsOperations } from '../../src/router/settings/settings-operations.js'
import { statementOperations } from '../../src/router/statements/statement-operations.js'
import { streamOperations } from '../../src/router/streams/stream-operations.js'

test('router: every operation that is loaded later is there, under its own name and target', async () => {
  const loaded = await Promise.all(laterOperations.map((later) => later.load()))
  assert.deepEqual(
    laterOperations.map(({ name, targetPrefix }) => [name, targetPrefix]),
    loaded.map(({ name, targetPrefix }) => [name, targetPrefix]),
  )
  assert.deepEqual(
    new Set(loaded),
    new Set([
      ...statementOperations,
      ...streamOperations,
      ...settingsOperations,
      ...blockOperations,
      searchVectors,
    ]),
  )
})
