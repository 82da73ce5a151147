// The engine in memory keeps what every engine promises, and one step of it spans what it says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import type { RowChange, VersionId } from '../../src/engine/engine.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { engineSuite } from '../suites/engine.js'

for (const scope of ['partition', 'store'] as const)
  engineSuite(`engine in memory, scope ${scope}`, () => {
    const engine = new MemoryEngine({ scope })
    return Promise.resolve({ engine, close: () => engine.close() })
  })

const change = (partition: string): RowChange => ({
  address: { space: 't1', partition: partition as KeyBytes, row: '' as KeyBytes },
  seen: 'absent',
  next: { version: `v${partition}` as VersionId, past: [], cells: {} },
})

test('a step on two partitions is a mistake where the scope is one, and is done where it is all', async () => {
  const narrow = new MemoryEngine()
  await narrow.createSpace('t1')
  await assert.rejects(narrow.cas([change('a'), change('b')]), RangeError)
  const wide = new MemoryEngine({ scope: 'store' })
  await wide.createSpace('t1')
  assert.deepEqual(await wide.cas([change('a'), change('b')]), { outcome: 'applied' })
})
