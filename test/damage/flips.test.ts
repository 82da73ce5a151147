import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { drawFlips, filledFolder, tryFlips, type Trial } from './flips.js'

const SEED = 20261116
const IN_PLACES = sized(16, 48)
const ANYWHERE = sized(8, 24)

async function trials(nodes: number, count: number, by: 'byte' | 'place'): Promise<Trial[]> {
  const scratch = testFolder()
  const folder = join(scratch, 'sound')
  mkdirSync(folder)
  const model = await filledFolder(folder, nodes)
  return tryFlips(folder, scratch, model, drawFlips(folder, nodes, count, SEED, by))
}

/** A separator between two pages that separates them as well as before is as good as before. */
const isHarmless = ({ flip, served }: Trial): boolean => flip.place === 'separator' && served === 'unnoticed'

function check(done: readonly Trial[]): void {
  for (const trial of done) {
    assert.notEqual(trial.served, 'WRONG', JSON.stringify(trial))
    assert.notEqual(trial.served, 'crash', JSON.stringify(trial))
    assert.ok(trial.found || isHarmless(trial), JSON.stringify(trial))
  }
}

test(`damage: of ${IN_PLACES} flipped bits in keys, values, lengths, pointers and pages verify finds each, and none is served`, async () => {
  const done = await trials(1, IN_PLACES, 'place')
  assert.equal(done.length, IN_PLACES)
  check(done)
})

test(`damage: of ${ANYWHERE} flipped bits anywhere in the data of two nodes verify finds each, and none is served`, async () => {
  const done = await trials(2, ANYWHERE, 'byte')
  assert.equal(done.length, ANYWHERE)
  check(done)
})
