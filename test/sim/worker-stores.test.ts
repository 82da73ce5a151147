import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStoreWorld } from '../../sim/workers/store-world.js'
import { sized } from '../support/sizes.js'

test('sim, tables at several workers: what one has answered holds at all others, for every key alike', async () => {
  for (let seed = 500; seed < 500 + sized(15, 100); seed++) {
    const { anomalies, tally } = await runStoreWorld({ seed, requests: 400 })
    assert.deepEqual(anomalies, [], `seed ${seed}`)
    assert.ok(tally.of('index looked at') > 0, `seed ${seed}: no index was made`)
    assert.ok(tally.of('answer/UnitCommit done') > 0, `seed ${seed}: no unit was committed`)
  }
})

test('sim, tables at several workers: one seed is one world, to the last event', async () => {
  const [first, second] = [
    await runStoreWorld({ seed: 77, requests: 300 }),
    await runStoreWorld({ seed: 77, requests: 300 }),
  ]
  assert.equal(first.traceHash, second.traceHash)
})
