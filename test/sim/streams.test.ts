// A client that reads a stream shard by shard, through crashes and rolls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '../../sim/faults.js'
import { simulate } from '../../sim/simulate.js'
import { sized } from '../support/sizes.js'

for (const [where, kind] of [
  ['in one process', { processes: 'one' }],
  ['with coordinators elsewhere', { journal: 'shared' }],
] as const)
  test(`sim, streams: ${where} each change is in one shard, in order, and each shard that is over has its children`, async () => {
    const { broken, tally } = await simulate({
      seed: 720,
      transactions: sized(6, 40) * 150,
      worldTransactions: 150,
      nodes: 3,
      faults: new Set(FAULTS),
      rules: 'all',
      workloads: ['mixed', 'bank'],
      log: 'streams',
      ...kind,
    })
    const [anomaly] = broken[0]?.anomalies ?? []
    assert.equal(anomaly, undefined, `seed ${broken[0]?.seed}: ${anomaly?.kind}: ${anomaly?.explanation}`)
    for (const name of ['stream/records', 'stream/shards read to their end', 'fault/killed'])
      assert.ok(tally.of(name) > 0, name)
  })
