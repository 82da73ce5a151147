import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killLoop } from './kill-loop.js'
import { sized } from '../support/sizes.js'

const KILLS = sized(4, 20)
const SEED = 1

for (const nodes of [1, 4]) {
  test(`kill -9: of ${KILLS} kills under load with ${nodes} node(s) no acknowledged transaction is lost or half done (seed ${SEED})`, async () => {
    const report = await killLoop({ nodes, kills: KILLS, seed: SEED })
    assert.deepEqual(report.problems, [])
    assert.ok(report.acknowledged > KILLS, `only ${report.acknowledged} transfers were acknowledged`)
  })
}
