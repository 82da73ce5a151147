import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsCompiler } from '../faults/disk-faults.js'
import { sized } from '../support/sizes.js'
import { INDEX_FAULTS, indexFaultRound } from '../faults/index-faults.js'

// All kinds, often: node dist/test/faults/index-faults.js --runs 30
for (const name of sized(
  ['ENOSPC on writes', 'EIO on syncs'] as const,
  ['EIO on one write', 'ENOSPC on writes', 'short writes', 'EIO on syncs'] as const,
))
  test(
    `index: with ${name} of LMDB reads go on, and nothing acknowledged is lost`,
    needsCompiler,
    async () => {
      assert.deepEqual(await indexFaultRound(INDEX_FAULTS[name]), [])
    },
  )

test('index: where LMDB fails under several nodes, reads of all of them go on', needsCompiler, async () => {
  assert.deepEqual(await indexFaultRound(INDEX_FAULTS['EIO on the second write'], { nodes: 4 }), [])
})
