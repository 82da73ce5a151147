import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killLoop } from './kill-loop.js'
import { sized } from '../support/sizes.js'

const KILLS = sized(3, 20)
const SEED = 1

for (const nodes of [1, 4]) {
  test(`kill -9: of ${KILLS} kills under load with ${nodes} node(s) no acknowledged transaction is lost or half done (seed ${SEED})`, async () => {
    const report = await killLoop({ nodes, kills: KILLS, seed: SEED })
    assert.deepEqual(report.problems, [])
    assert.ok(report.acknowledged > KILLS, `only ${report.acknowledged} transfers were acknowledged`)
  })
}

for (const workers of [2, 4]) {
  test(`kill -9 of a server with ${workers} workers, or of one of them: no acknowledged transaction is lost or half done (seed ${SEED})`, async () => {
    const report = await killLoop({ nodes: 4, kills: sized(2, 20), seed: SEED, workers })
    assert.deepEqual(report.problems, [])
    assert.ok(report.acknowledged > 2, `only ${report.acknowledged} transfers were acknowledged`)
  })
}
